//! What a device's limits and features mean for a sort: how elements are reached, and how many of them.

use super::pipelines::Pipelines;
use super::sorter::{Access, SorterOptions};
use crate::error::Error;
use crate::plan::{MAX_COUNT, Plan};
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, SortRequest};
use crate::shape::{Shape, SubgroupChoice};

/// What limits the number of tiles.
pub(super) const TABLE_LIMIT: &str = "the device's maxStorageBufferRange, for the table of tiles";

/// Most elements up to `most` whose table one descriptor reaches.
pub(super) fn reached_by_table(profile: &DeviceProfile, most: u32, plan: impl Fn(u32) -> Plan) -> u32 {
    let fits = |count| plan(count).scratch().table.size <= profile.max_storage_range_bytes;
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

/// Most elements of a sort, and the limit that says so; `plan` makes the plan for a capacity.
pub(super) fn max_count(
    profile: &DeviceProfile,
    request: &SortRequest,
    access: Access,
    shape: &Shape,
    algorithm: Algorithm,
    plan: impl Fn(u32) -> Plan,
) -> (u32, &'static str) {
    let mut most = (MAX_COUNT, "2^32 - 1, the largest index");
    let mut limit = |count: u32, limit| {
        if count < most.0 {
            most = (count, limit);
        }
    };
    if access == Access::Descriptors {
        let reach = "the device's maxStorageBufferRange, beyond which addresses reach: Access::Auto with a capacity";
        limit(by_descriptors(profile, request), reach);
    }
    if algorithm == Algorithm::SingleWorkgroup {
        limit(shape.single_block(), "one block of the single-workgroup sort");
    }
    let reached = reached_by_table(profile, most.0, plan);
    if reached < most.0 { (reached, TABLE_LIMIT) } else { most }
}

/// The way to reach elements that is asked for, or the one that serves the capacity. What no way serves is left to
/// descriptors, whose checks name what the device lacks.
pub(super) fn choose_access(profile: &DeviceProfile, request: &SortRequest, options: &SorterOptions) -> Access {
    let reached = options.capacity.is_none_or(|capacity| capacity <= by_descriptors(profile, request));
    // Kernels with emulated subgroups have no variants that take addresses.
    let emulated = matches!(options.subgroup, SubgroupChoice::Emulated(_)) || !profile.has_sure_subgroups();
    match options.access {
        Access::Auto if reached && profile.serves_descriptors() => Access::Descriptors,
        Access::Auto if profile.buffer_addresses && !emulated => Access::Addresses,
        Access::Auto => Access::Descriptors,
        access => access,
    }
}

/// Most elements that descriptors reach: their ranges hold whole words, also of smaller elements.
fn by_descriptors(profile: &DeviceProfile, request: &SortRequest) -> u32 {
    let widest = request.key.size_bytes().max(request.value.size_bytes());
    let whole_words = profile.max_storage_range_bytes / 4 * 4;
    u32::try_from(whole_words / widest).unwrap_or(MAX_COUNT)
}

/// Refuses a device that lacks what its kernels reach keys and values by.
pub(super) fn check_access(profile: &DeviceProfile, access: Access, shape: &Shape) -> Result<(), Error> {
    let unsuitable = |what: &str, given: String, needed: String| Error::UnsuitableDevice {
        device: profile.name.clone(),
        what: what.into(),
        given,
        needed,
    };
    let descriptors = Pipelines::descriptors(access == Access::Addresses);
    let (is, absent, present) = (profile.max_storage_buffers, "absent".to_string(), "present".to_string());
    if is < descriptors {
        return Err(unsuitable(
            "maxPerStageDescriptorStorageBuffers",
            is.to_string(),
            format!("at least {descriptors}"),
        ));
    }
    match access {
        Access::Descriptors if !profile.dynamic_indexing => {
            Err(unsuitable("feature shaderStorageBufferArrayDynamicIndexing", absent, present))
        }
        Access::Addresses if !profile.buffer_addresses => {
            Err(unsuitable("feature bufferDeviceAddress", absent, present))
        }
        Access::Addresses if shape.subgroup.emulated => Err(unsuitable(
            "subgroup support, with keys and values by address",
            "emulated".into(),
            "full subgroups of the device's own".into(),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::shape::ShapeDesc;
    use crate::tuning::Tuning;

    fn most(
        profile: &DeviceProfile,
        request: &SortRequest,
        algorithm: Algorithm,
        access: Access,
    ) -> (u32, &'static str) {
        let tuning = Tuning::for_device(profile);
        let shape = Shape::fit(&ShapeDesc::new(profile, &tuning, request, algorithm)).unwrap();
        let plan = |capacity| Plan::new(request, algorithm, shape, capacity, None);
        let (most, limit) = max_count(profile, request, access, &shape, algorithm, plan);
        // Every descriptor is as long as its range, which holds whole words.
        let layout = plan(most).scratch();
        let elements = request.key.size_bytes().max(request.value.size_bytes()) * u64::from(most);
        let reached = if access == Access::Descriptors { elements.next_multiple_of(4) } else { 0 };
        assert!(layout.table.size.max(reached) <= profile.max_storage_range_bytes, "{most} ({limit})");
        (most, limit)
    }

    #[test]
    fn ranges_are_held_against_the_device_s_limit_as_they_are_rounded() {
        for range in [(1u64 << 32) - 1, 1 << 27, (1 << 27) + 2, 4097] {
            let profile = DeviceProfile { max_storage_range_bytes: range, ..DeviceProfile::default() };
            for key in [KeyType::U8, KeyType::F16, KeyType::U32, KeyType::U128] {
                let (most, limit) =
                    most(&profile, &SortRequest::new(key), Algorithm::SingleWorkgroup, Access::Descriptors);
                assert!(most > 0 && (limit.contains("block") || limit.contains("addresses")), "{most} ({limit})");
                let most = by_descriptors(&profile, &SortRequest::new(key));
                assert_eq!(u64::from(most), range / 4 * 4 / key.size_bytes());
            }
        }
        let usual = DeviceProfile { max_storage_range_bytes: u32::MAX.into(), ..DeviceProfile::default() };
        let bytes = SortRequest::new(KeyType::U8);
        assert_eq!(most(&usual, &bytes, Algorithm::OneSweep, Access::Descriptors).0, u32::MAX - 3);
        assert_eq!(most(&usual, &bytes, Algorithm::OneSweep, Access::Addresses).0, u32::MAX);
    }

    #[test]
    fn tables_are_held_against_the_device_s_limit() {
        let narrow = DeviceProfile { max_storage_range_bytes: 1 << 24, ..DeviceProfile::default() };
        let wide = SortRequest::new(KeyType::U128);
        for algorithm in [Algorithm::OneSweep, Algorithm::ReduceThenScan] {
            let (count, limit) = most(&narrow, &wide, algorithm, Access::Addresses);
            assert!(count > 1 << 20 && limit.contains("table"), "{algorithm}: {count} ({limit})");
        }
        // Descriptors do not reach so far that the table would be too long.
        let (count, limit) = most(&narrow, &wide, Algorithm::OneSweep, Access::Descriptors);
        assert!(count == 1 << 20 && limit.contains("addresses"), "{count} ({limit})");
    }

    #[test]
    fn elements_are_reached_by_address_where_descriptors_do_not_reach() {
        let common = DeviceProfile { max_storage_range_bytes: 1 << 20, ..DeviceProfile::default() };
        let choose = |profile: &DeviceProfile, options: SorterOptions| {
            choose_access(profile, &SortRequest::new(KeyType::U32), &options)
        };
        let auto = |capacity| SorterOptions { capacity, ..SorterOptions::default() };
        assert_eq!(choose(&common, auto(None)), Access::Descriptors);
        assert_eq!(choose(&common, auto(Some(1 << 18))), Access::Descriptors);
        assert_eq!(choose(&common, auto(Some((1 << 18) + 1))), Access::Addresses);
        let few = DeviceProfile { max_storage_buffers: 4, ..common.clone() };
        assert_eq!(choose(&few, auto(None)), Access::Addresses);
        let without = DeviceProfile { buffer_addresses: false, ..common.clone() };
        assert_eq!(choose(&without, auto(Some(1 << 20))), Access::Descriptors);
        let gaps = DeviceProfile { full_subgroups: false, ..common.clone() };
        assert_eq!(choose(&gaps, auto(Some(1 << 20))), Access::Descriptors);
        let emulated = SorterOptions { subgroup: SubgroupChoice::Emulated(32), ..auto(Some(1 << 20)) };
        assert_eq!(choose(&common, emulated), Access::Descriptors);
        for access in [Access::Descriptors, Access::Addresses] {
            assert_eq!(choose(&common, SorterOptions { access, ..auto(Some(1 << 20)) }), access);
        }
    }

    /// What is said of a device that lacks something, with elements reached in some way.
    fn refusal(profile: &DeviceProfile, access: Access, subgroup: SubgroupChoice) -> Option<String> {
        let request = SortRequest::new(KeyType::U32);
        let tuning = Tuning::for_device(profile);
        let desc = ShapeDesc { subgroup, ..ShapeDesc::new(profile, &tuning, &request, Algorithm::OneSweep) };
        let shape = Shape::fit(&desc).unwrap();
        check_access(profile, access, &shape).err().map(|error| error.to_string())
    }

    #[test]
    fn devices_that_lack_a_way_to_reach_elements_are_refused_by_name() {
        let common = DeviceProfile::default();
        let (descriptors, addresses) = (Access::Descriptors, Access::Addresses);
        let auto = SubgroupChoice::Auto;
        assert_eq!(refusal(&common, descriptors, auto), None);
        assert_eq!(refusal(&common, addresses, auto), None);
        let few = DeviceProfile { max_storage_buffers: 4, ..common.clone() };
        let text = refusal(&few, descriptors, auto).unwrap();
        assert!(text.contains("StorageBuffers is 4") && text.contains("at least 9"), "{text}");
        assert!(!few.serves_descriptors() && common.serves_descriptors());
        assert_eq!(Pipelines::descriptors(false), crate::profile::DESCRIPTORS);
        // Addresses take fewer descriptors, and need no choosing among them.
        assert_eq!(refusal(&few, addresses, auto), None);
        let fixed = DeviceProfile { dynamic_indexing: false, buffer_addresses: false, ..common.clone() };
        assert!(refusal(&fixed, descriptors, auto).unwrap().contains("DynamicIndexing is absent"));
        assert!(refusal(&fixed, addresses, auto).unwrap().contains("bufferDeviceAddress is absent"));
        let text = refusal(&common, addresses, SubgroupChoice::Emulated(32)).unwrap();
        assert!(text.contains("address") && text.contains("emulated"), "{text}");
    }
}
