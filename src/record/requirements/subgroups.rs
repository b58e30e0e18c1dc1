//! What is known of a device's subgroups where pipelines cannot require full ones.

use ash::vk;

use super::Requirements;
use crate::profile::FixedSubgroups;
use crate::record::remedies::Remedies;

impl Requirements {
    /// The same with what is known of subgroups that are not required to be full.
    pub(super) fn with_fixed_subgroups(mut self) -> Self {
        let is_known = self.application.is_some_and(|version| version >= vk::API_VERSION_1_3);
        self.profile.fixed_subgroups = self.profile.find_fixed_subgroups(is_known && self.spirv_1_6_promises_full());
        self
    }

    /// Whether SPIR-V 1.6 promises full subgroups here, if the application may use it.
    fn spirv_1_6_promises_full(&self) -> bool {
        self.offer.one_subgroup_size && self.profile.api_version >= vk::API_VERSION_1_3
    }

    /// The same for callers who know the remedies by these names.
    #[doc(hidden)]
    pub fn with_remedies(self, remedies: Remedies) -> Self {
        Requirements { remedies, ..self }
    }

    /// Why subgroups are emulated, and what the caller can do against it.
    pub(in crate::record) fn why_emulated(&self) -> String {
        let (mut ways, Remedies { features, version }) = (Vec::new(), self.remedies);
        if self.offer.full_subgroups {
            let names =
                "subgroupSizeControl and computeFullSubgroups (of Vulkan 1.3, or of VK_EXT_subgroup_size_control)";
            ways.push(format!("enable the features {names}, {features}"));
        }
        if self.spirv_1_6_promises_full() && self.profile.find_fixed_subgroups(true) == FixedSubgroups::Spirv16 {
            ways.push(format!("create the instance for Vulkan 1.3, and {version}"));
        }
        let remedy = match (self.profile.subgroup_operations, ways.is_empty()) {
            (false, _) => "the device has no ballots, shuffles or sums in subgroups".into(),
            (true, true) => "the device has no other way".into(),
            (true, false) => ways.join("; or "),
        };
        format!("{}: subgroups are emulated, and sorts take several times as long: {remedy}", self.profile.name)
    }

    /// The same for a driver of which nothing is known.
    #[cfg(all(feature = "__testing", feature = "standalone"))]
    pub(crate) fn of_unknown_driver(mut self) -> Self {
        self.profile.fixed_subgroups = FixedSubgroups::No;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::Offer;
    use super::*;
    use crate::profile::DeviceProfile;

    #[test]
    fn full_subgroups_need_no_feature_where_the_application_is_known_to_be_of_vulkan_1_3() {
        let of = |api_version, one_subgroup_size, full_subgroups| Requirements {
            device_extensions: Vec::new(),
            profile: DeviceProfile { api_version, ..DeviceProfile::default() },
            required_subgroup_size: false,
            application: None,
            remedies: Remedies::default(),
            offer: Offer { one_subgroup_size, full_subgroups, ..Offer::default() },
        };
        let fixed = |requirements: Requirements, version| {
            requirements.least().for_api_version(version).unwrap().profile.fixed_subgroups
        };
        let (old, new) = (vk::API_VERSION_1_2, vk::API_VERSION_1_3);
        assert_eq!(of(new, true, true).profile.fixed_subgroups, FixedSubgroups::No, "the version is not known");
        assert_eq!(fixed(of(new, true, true), new), FixedSubgroups::Spirv16);
        assert_eq!(
            fixed(of(vk::make_api_version(0, 1, 4, 0), true, true), vk::make_api_version(0, 1, 4, 0)),
            FixedSubgroups::Spirv16
        );
        assert_eq!(fixed(of(new, true, true), old), FixedSubgroups::No);
        assert_eq!(fixed(of(old, true, true), new), FixedSubgroups::No);
        assert_eq!(fixed(of(new, false, true), new), FixedSubgroups::No);
        let why = |requirements: Requirements| requirements.least().why_emulated();
        assert!(why(of(new, true, true)).contains("subgroupSizeControl"));
        assert!(why(of(new, true, false)).contains("for_api_version"));
        assert!(why(of(old, true, false)).contains("no other way"));
    }
}
