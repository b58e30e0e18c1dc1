//! Extensions and features by their names, for programs whose structures of features are not ash's.

use std::ffi::{CStr, CString};

use ash::vk;

use super::chain::VersionFeatures;
use super::requirements::{DeviceFeatures, Requirements};
use crate::error::Error;

impl Requirements {
    /// Names of the [`features`](Self::features) to enable on the device, as Vulkan spells them.
    ///
    /// ```
    /// # fn enable(needed: &vksort::Requirements, mut enable: impl FnMut(&str)) {
    /// for name in needed.feature_names() {
    ///     enable(name); // such as "subgroupSizeControl"
    /// }
    /// # }
    /// ```
    pub fn feature_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let VersionFeatures { mut v11, mut v12, mut v13 } = VersionFeatures::default();
        let pairs = self.features().pairs(&mut v11, &mut v12, &mut v13);
        pairs.map(|(name, needed, _)| (needed == vk::TRUE).then_some(name)).into_iter().flatten()
    }

    /// [`check_enabled`](Self::check_enabled) by names of the extensions and features that the device was created with, as Vulkan
    /// spells them. It does not matter which structure has a feature. Names that vksort does not use are ignored.
    ///
    /// ```
    /// # fn check(needed: &vksort::Requirements) -> Result<(), vksort::Error> {
    /// let features = ["timelineSemaphore", "storageBuffer8BitAccess", "subgroupSizeControl", "computeFullSubgroups"];
    /// needed.check_enabled_names(&["VK_KHR_swapchain", "VK_EXT_subgroup_size_control"], &features)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotEnabled`] names every missing feature and extension, also those that are spelled differently.
    pub fn check_enabled_names(&self, extensions: &[&str], features: &[&str]) -> Result<(), Error> {
        named(extensions, features, |extensions, features| {
            self.check_enabled(extensions, &features.v11, &features.v12, &features.v13)
        })
    }

    /// [`only_enabled`](Self::only_enabled) by names of the extensions and features that the device was created with, as Vulkan
    /// spells them. A name that is spelled differently counts as not enabled; to find it, call
    /// [`check_enabled_names`](Self::check_enabled_names) of the requirements that [`query`](Self::query) returned.
    pub fn only_enabled_names(self, extensions: &[&str], features: &[&str]) -> Self {
        named(extensions, features, |extensions, features| {
            self.only_enabled(extensions, &features.v11, &features.v12, &features.v13)
        })
    }
}

/// Gives `work` the extensions and features of these names as ash has them.
fn named<R>(extensions: &[&str], features: &[&str], work: impl FnOnce(&[&CStr], &VersionFeatures) -> R) -> R {
    // No name of Vulkan contains a zero.
    let extensions: Vec<_> = extensions.iter().filter_map(|name| CString::new(*name).ok()).collect();
    let mut enabled = VersionFeatures::default();
    for given in features {
        let VersionFeatures { v11, v12, v13 } = &mut enabled;
        for (name, _, feature) in DeviceFeatures::default().pairs(v11, v12, v13) {
            *feature |= vk::Bool32::from(name == *given);
        }
    }
    work(&extensions.iter().map(CString::as_c_str).collect::<Vec<_>>(), &enabled)
}
