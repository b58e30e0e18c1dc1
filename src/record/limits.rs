//! A device's limits for a sort: how kernels access elements, and the most elements.

use std::ops::Range;

use super::inner::SorterInner;
use super::options::{Access, SorterOptions};
use super::pipelines::Pipelines;
use crate::abi::{self, Push};
use crate::error::Error;
use crate::kernels::ADDRESSES;
use crate::plan::{MAX_COUNT, Plan, reached_by_table};
use crate::profile::DeviceProfile;
use crate::records::Fields;
use crate::request::{Algorithm, Capacity, SortRequest};
use crate::shape::{Shape, ShapeDesc, Windows, choose_subgroup};

/// What limits the elements of a sort by descriptors.
const DESCRIPTOR_LIMIT: &str = match ADDRESSES {
    true => {
        "the device's maxStorageBufferRange; elements by address reach further: Requirements::with_buffer_addresses"
    }
    false => {
        "the device's maxStorageBufferRange; elements by address reach further, with the cargo feature addresses of vksort"
    }
};

/// What limits the elements of a segment on CPUs.
const LOOP_LIMIT: &str =
    "the iterations that the driver gives a loop, for segments longer than a block; see SortRequest::up_to";

/// What limits the number of tiles.
const TABLE_LIMIT: &str = "the device's maxStorageBufferRange, for the table of tiles";

impl SorterInner {
    /// The plan for a capacity within the limits.
    pub(super) fn plan(&self, capacity: Capacity) -> Result<Plan, Error> {
        let (allowed, limit) = self.most;
        if capacity.elements > allowed {
            let given = capacity.elements.into();
            return Err(Error::TooManyElements { given, allowed: allowed.into(), limit: limit.into() });
        }
        let plan = self.unchecked_plan(capacity);
        self.check_segments(&plan)?;
        Ok(plan)
    }
}

/// The most elements of which segments are divided. Windows of children number elements and children together.
const MOST_DIVIDED: (u32, &str) =
    (MAX_COUNT - abi::SPLIT_CHILDREN, "2^32 - 1, with a number for each child of a long segment");

/// The largest number of elements, and the limit that it follows from.
pub(super) fn find_most(
    profile: &DeviceProfile,
    request: &SortRequest,
    algorithm: Algorithm,
    shape: Shape,
) -> (u32, &'static str) {
    // As many segments as elements allow may be listed, and each has words in scratch.
    let has_words = |windows: Windows| windows.lists_rows() || windows.sweeps;
    let segment_capacity = if shape.windows.is_some_and(has_words) { MAX_COUNT } else { 0 };
    let plan = |capacity| Plan { segment_capacity, ..Plan::new(request, algorithm, shape, capacity) };
    let by_algorithm = plan(MAX_COUNT).max_count();
    let reached = if shape.addressed { MAX_COUNT } else { by_descriptors(profile, request, shape.fields) };
    let listed = shape.most_listed(profile, request).map(|most| (most, LOOP_LIMIT));
    let divided = shape.windows.filter(|windows| windows.rounds > 0).map(|_| MOST_DIVIDED);
    // Of equal limits the first is named.
    let limits = [(reached, DESCRIPTOR_LIMIT)].into_iter().chain(listed).chain(divided);
    let most = limits.fold(by_algorithm, |most, limit| if limit.0 < most.0 { limit } else { most });
    let reached = reached_by_table(plan, most.0, profile.max_storage_range_bytes);
    if reached < most.0 { (reached, TABLE_LIMIT) } else { most }
}

/// Whether keys and values are accessed by address: as requested, or for `Auto` if only that supports the capacity. If neither
/// does, descriptors are chosen, whose checks name the limit.
///
/// # Errors
///
/// [`Error::MissingFeature`] where addresses are requested of a build without their kernels.
pub(super) fn choose_addresses(desc: &ShapeDesc<'_>, options: &SorterOptions) -> Result<bool, Error> {
    let &ShapeDesc { profile, request, .. } = desc;
    let reached = options.capacity.is_none_or(|capacity| capacity <= by_descriptors(profile, request, desc.fields));
    let served =
        reached && profile.max_storage_buffers >= Pipelines::descriptors(false, desc.request.segments.is_some());
    // Kernels with emulated subgroups have no variants with addresses.
    let native = choose_subgroup(desc).is_ok_and(|subgroup| !subgroup.emulated);
    match options.access {
        Access::Auto => Ok(!served && profile.buffer_addresses && native && ADDRESSES),
        Access::Addresses if !ADDRESSES => {
            Err(Error::MissingFeature { what: "access by address".into(), feature: "addresses" })
        }
        access => Ok(access == Access::Addresses),
    }
}

/// The largest number of elements that fit one descriptor. A range holds whole words, also for smaller elements.
fn by_descriptors(profile: &DeviceProfile, request: &SortRequest, fields: Option<Fields>) -> u32 {
    let record = fields.map_or(0, |fields| fields.stride.into());
    let widest = request.key.size_bytes().max(request.value.size_bytes()).max(record);
    let whole_words = profile.max_storage_range_bytes / 4 * 4;
    u32::try_from(whole_words / widest).unwrap_or(MAX_COUNT)
}

/// Refuses a device that lacks the features of the access, or has fewer push constants than a visitor and the library need.
pub(super) fn check_device(profile: &DeviceProfile, shape: &Shape, visitor_bytes: Option<u32>) -> Result<(), Error> {
    let (given, needed) =
        (profile.max_storage_buffers, Pipelines::descriptors(shape.addressed, shape.windows.is_some()));
    let (Range { start, end }, max_push) = (Push::range(visitor_bytes, shape.addressed), profile.max_push_bytes);
    let (what, given, needed) = if given < needed {
        ("maxPerStageDescriptorStorageBuffers", &*given.to_string(), &*format!("at least {needed}"))
    } else if shape.addressed && !profile.buffer_addresses {
        ("feature bufferDeviceAddress", "absent", "present")
    } else if shape.addressed && shape.ranking.subgroup.emulated {
        ("subgroup support, with keys and values by address", "emulated", "full subgroups of the device's own")
    } else if end > max_push {
        ("maxPushConstantsSize", &*max_push.to_string(), &*format!("{end}, {start} of them for the visitor"))
    } else {
        return Ok(());
    };
    Err(Error::unsuitable(&profile.name, what, given, needed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::segments::Segments;
    use crate::tuning::Tuning;

    #[test]
    fn children_of_long_segments_have_numbers_beside_the_elements() {
        let profile = DeviceProfile { max_storage_range_bytes: u32::MAX.into(), ..DeviceProfile::default() };
        let tuning = Tuning::for_device(&profile);
        let most = |request: SortRequest| {
            let desc =
                ShapeDesc { addressed: true, ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep) };
            find_most(&profile, &request, Algorithm::OneSweep, Shape::fit(&desc).unwrap()).0
        };
        let any = SortRequest::new(KeyType::U16).segments(Segments::Offsets);
        assert_eq!([most(any), most(any.up_to(100))], [u32::MAX - 256, u32::MAX]);
    }

    #[test]
    fn push_constants_of_any_size_are_refused_without_a_panic() {
        let profile = DeviceProfile::default();
        let (tuning, request) = (Tuning::for_device(&profile), SortRequest::new(KeyType::U32));
        for addressed in [false, true] {
            let desc = ShapeDesc { addressed, ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep) };
            let check = |bytes| check_device(&profile, &Shape::fit(&desc).unwrap(), Some(bytes));
            for bytes in [profile.max_push_bytes, 1 << 31, u32::MAX] {
                let refused = check(bytes).unwrap_err().to_string();
                assert!(refused.contains("maxPushConstantsSize"), "{refused}");
            }
            assert!(check(4).is_ok());
        }
    }
}
