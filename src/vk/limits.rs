//! A device's limits for a sort: how kernels access elements, and the most elements.

use super::inner::SorterInner;
use super::options::{Access, SorterOptions};
use super::pipelines::Pipelines;
use crate::error::Error;
use crate::plan::{MAX_COUNT, Plan};
use crate::profile::DeviceProfile;
use crate::request::SortRequest;
use crate::shape::{Shape, SubgroupChoice};

/// The limit on the number of tiles.
const TABLE_LIMIT: &str = "the device's maxStorageBufferRange, for the table of tiles";

impl SorterInner {
    /// The plan for a capacity within the limits.
    pub(super) fn plan(&self, capacity: u32) -> Result<Plan, Error> {
        let (mut allowed, mut limit) = self.max_count();
        if capacity <= allowed {
            // With many small tiles, the table may be larger than the table of more elements in larger tiles.
            (allowed, limit) = (self.reached_by_table(capacity), TABLE_LIMIT);
        }
        match capacity > allowed {
            true => {
                Err(Error::TooManyElements { given: capacity.into(), allowed: allowed.into(), limit: limit.into() })
            }
            false => Ok(self.unchecked_plan(capacity)),
        }
    }

    /// Most elements, up to `most`, whose table fits one descriptor.
    fn reached_by_table(&self, most: u32) -> u32 {
        let fits = |count| self.unchecked_plan(count).scratch().table.size <= self.profile.max_storage_range_bytes;
        if fits(most) {
            return most;
        }
        let (mut fitting, mut beyond) = (0, most);
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            if fits(middle) { fitting = middle } else { beyond = middle }
        }
        fitting
    }

    /// Most elements of a sorter, and the limit that this follows from.
    pub(super) fn max_count(&self) -> (u32, &'static str) {
        let mut most = self.unchecked_plan(MAX_COUNT).max_count();
        if self.access == Access::Descriptors {
            let reached = by_descriptors(&self.profile, &self.request);
            if reached < most.0 {
                most = (reached, "the device's maxStorageBufferRange; elements by address reach further");
            }
        }
        let reached = self.reached_by_table(most.0);
        if reached < most.0 { (reached, TABLE_LIMIT) } else { most }
    }
}

/// The requested access, or for `Auto` one that serves the capacity. If no access serves it, the result is descriptors,
/// whose checks name the limit.
pub(super) fn choose_access(profile: &DeviceProfile, request: &SortRequest, options: &SorterOptions) -> Access {
    let reached = options.capacity.is_none_or(|capacity| capacity <= by_descriptors(profile, request));
    // Kernels with emulated subgroups have no variants with addresses.
    let emulated = matches!(options.subgroup, SubgroupChoice::Emulated(_)) || !profile.has_sure_subgroups();
    match options.access {
        Access::Auto if reached && profile.serves_descriptors() => Access::Descriptors,
        Access::Auto if profile.buffer_addresses && !emulated => Access::Addresses,
        Access::Auto => Access::Descriptors,
        access => access,
    }
}

/// Most elements that fit one descriptor. A range holds whole words, also for smaller elements.
fn by_descriptors(profile: &DeviceProfile, request: &SortRequest) -> u32 {
    let widest = request.key.size_bytes().max(request.value.size_bytes());
    let whole_words = profile.max_storage_range_bytes / 4 * 4;
    u32::try_from(whole_words / widest).unwrap_or(MAX_COUNT)
}

/// Refuses a device that lacks the features of the access.
pub(super) fn check_access(profile: &DeviceProfile, access: Access, shape: &Shape) -> Result<(), Error> {
    let unsuitable = |what, given: &str, needed: &str| Err(Error::unsuitable(&profile.name, what, given, needed));
    let (given, needed) = (profile.max_storage_buffers, Pipelines::descriptors(access == Access::Addresses));
    if given < needed {
        let needed = format!("at least {needed}");
        return unsuitable("maxPerStageDescriptorStorageBuffers", &given.to_string(), &needed);
    }
    match access {
        Access::Addresses if !profile.buffer_addresses => {
            unsuitable("feature bufferDeviceAddress", "absent", "present")
        }
        Access::Addresses if shape.subgroup.emulated => {
            let what = "subgroup support, with keys and values by address";
            unsuitable(what, "emulated", "full subgroups of the device's own")
        }
        _ => Ok(()),
    }
}

/// Refuses a device with fewer push constants than a visitor and the library need.
pub(super) fn check_push(profile: &DeviceProfile, visitor_bytes: Option<u32>, addressed: bool) -> Result<(), Error> {
    let (offset, needed) = Pipelines::push_range(visitor_bytes, addressed);
    match needed > profile.max_push_bytes {
        true => {
            let needed = format!("{needed}, {offset} of them for the visitor");
            Err(Error::unsuitable(&profile.name, "maxPushConstantsSize", profile.max_push_bytes, needed))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_constants_of_any_size_are_refused_without_a_panic() {
        let profile = DeviceProfile::default();
        for bytes in [profile.max_push_bytes, 1 << 31, u32::MAX] {
            for addressed in [false, true] {
                let refused = check_push(&profile, Some(bytes), addressed).unwrap_err().to_string();
                assert!(refused.contains("maxPushConstantsSize"), "{refused}");
            }
        }
        assert!(check_push(&profile, Some(4), false).is_ok());
    }
}
