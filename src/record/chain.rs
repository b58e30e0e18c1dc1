//! Features in chains of structures of Vulkan.

use std::ffi::c_void;
use std::iter::successors;
use std::mem::offset_of;
use std::ptr::NonNull;

use ash::vk::{self, TaggedStructure};

use super::requirements::DeviceFeatures;

/// A type of structure, and the offset of a feature in it.
pub type Place = (vk::StructureType, usize);

/// Where a chain has a feature, if the structure is in it.
///
/// # Safety
///
/// The chain is null or valid.
pub unsafe fn feature_in(chain: *const c_void, (of_type, offset): Place) -> Option<NonNull<vk::Bool32>> {
    let head = NonNull::new(chain.cast_mut().cast::<vk::BaseOutStructure<'_>>());
    // SAFETY: every structure of a valid chain begins alike, and ends after its features.
    unsafe {
        let mut structures = successors(head, |at| NonNull::new((*at.as_ptr()).p_next));
        Some(structures.find(|at| (*at.as_ptr()).s_type == of_type)?.byte_add(offset).cast())
    }
}

/// The features of a device by version.
#[derive(Debug, Default)]
pub struct VersionFeatures {
    /// Those of Vulkan 1.1.
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    /// Those of Vulkan 1.2.
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Those of Vulkan 1.3.
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
}

impl From<DeviceFeatures> for VersionFeatures {
    fn from(features: DeviceFeatures) -> VersionFeatures {
        let mut this = VersionFeatures::default();
        features.add_to(&mut this.v11, &mut this.v12, &mut this.v13);
        this
    }
}

impl VersionFeatures {
    /// Brings each feature that vksort uses together with its places in a chain, in the structures of an extension and of a
    /// version. Tells which features have a place: 16-bit storage, 8-bit storage, addresses, and the two of subgroup size control.
    ///
    /// # Safety
    ///
    /// The chain is null or valid, and `meet` may be called on each of its features.
    pub unsafe fn meet(
        &mut self,
        chain: *const c_void,
        meet: unsafe fn(&mut vk::Bool32, *mut vk::Bool32),
    ) -> [bool; 5] {
        macro_rules! row {
            ($version:ident.$feature:ident, $($structure:ident),+) => {
                (
                    &mut self.$version.$feature,
                    &[$((vk::$structure::STRUCTURE_TYPE, offset_of!(vk::$structure<'_>, $feature))),+],
                )
            };
        }
        let rows: [(&mut vk::Bool32, &[Place]); 5] = [
            row!(v11.storage_buffer16_bit_access, PhysicalDevice16BitStorageFeatures, PhysicalDeviceVulkan11Features),
            row!(v12.storage_buffer8_bit_access, PhysicalDevice8BitStorageFeatures, PhysicalDeviceVulkan12Features),
            row!(v12.buffer_device_address, PhysicalDeviceBufferDeviceAddressFeatures, PhysicalDeviceVulkan12Features),
            row!(v13.subgroup_size_control, PhysicalDeviceSubgroupSizeControlFeatures, PhysicalDeviceVulkan13Features),
            row!(v13.compute_full_subgroups, PhysicalDeviceSubgroupSizeControlFeatures, PhysicalDeviceVulkan13Features),
        ];
        rows.map(|(own, places)| {
            // SAFETY: by this function's contract, here and below.
            let found = places.iter().filter_map(|place| unsafe { feature_in(chain, *place) });
            found.fold(false, |_, theirs| {
                // SAFETY: as above.
                unsafe { meet(own, theirs.as_ptr()) };
                true
            })
        })
    }
}
