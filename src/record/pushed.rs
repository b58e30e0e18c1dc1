//! Sorts whose buffers come with each recording, by pushed descriptors: nothing is kept of them, so nothing can be stale.

use std::sync::Arc;

use ash::vk;

use super::bind::BoundSort;
use super::buffers::SortBuffers;
use super::memory::DIRECT_SCRATCH_USAGE;
use super::options::{Access, SorterOptions};
use super::requirements::Requirements;
use super::sorter::Sorter;
use crate::error::Error;
use crate::plan::{Plan, StepName};
use crate::request::{Count, SortRequest};
use crate::shape::largest;

/// A sorter whose buffers come with each recording. It accesses elements by descriptors, and pushes these.
#[derive(Debug)]
pub struct PushedSorter {
    sorter: Sorter,
    push: vk::PFN_vkCmdPushDescriptorSetKHR,
}

/// A checked sort of a [`PushedSorter`], to be recorded once.
#[derive(Debug)]
pub struct PushedSort {
    sort: BoundSort,
    count: Count,
    push: vk::PFN_vkCmdPushDescriptorSetKHR,
}

impl PushedSorter {
    /// Usage flags of the scratch buffer. Its dispatches are never indirect, because a caller may not say what usage it has.
    pub const SCRATCH_USAGE: vk::BufferUsageFlags = DIRECT_SCRATCH_USAGE;

    /// Builds the pipelines for a request. Whatever `options` say, elements are accessed by descriptors.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::new`].
    ///
    /// # Safety
    ///
    /// * As for [`Sorter::new`].
    /// * `push` is `vkCmdPushDescriptorSet` of `device`, which was created with pushed descriptors.
    pub unsafe fn new(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
        push: vk::PFN_vkCmdPushDescriptorSetKHR,
    ) -> Result<PushedSorter, Error> {
        let options = SorterOptions { access: Access::Descriptors, ..options.clone() };
        // SAFETY: the same contract.
        let sorter = unsafe { Sorter::build(device, requirements, request, &options, true, None)? };
        Ok(PushedSorter { sorter, push })
    }

    /// Bytes of scratch that a sort of up to `capacity` elements needs, as [`Sorter::scratch_size`].
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        self.sorter.scratch_size(capacity)
    }

    /// Bytes of scratch that are enough for every capacity up to this one. It may be more than this capacity needs, because
    /// fewer elements may be sorted in smaller tiles.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn scratch_size_up_to(&self, capacity: u32) -> Result<u64, Error> {
        let inner = &self.sorter.inner;
        inner.plan(capacity)?;
        Ok(most_scratch(|capacity| inner.unchecked_plan(capacity), capacity))
    }

    /// Checks a sort of these buffers with this count.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::bind`] and [`BoundSort::record`].
    pub fn prepare(&self, buffers: &SortBuffers, count: Count) -> Result<PushedSort, Error> {
        let sort = BoundSort::placed(Arc::clone(&self.sorter.inner), buffers)?;
        let count = sort.check_count(count)?;
        Ok(PushedSort { sort, count, push: self.push })
    }
}

impl PushedSort {
    /// Records the sort. `after` is called after each step.
    ///
    /// # Safety
    ///
    /// * The buffers are as for [`Sorter::bind`], but need to live only until the commands have completed. The scratch buffer
    ///   needs [`PushedSorter::SCRATCH_USAGE`].
    /// * As for [`BoundSort::record`].
    pub unsafe fn record(self, commands: vk::CommandBuffer, after: &mut dyn FnMut(StepName)) {
        let PushedSort { sort, count, push } = self;
        if sort.capacity() > 0 {
            // SAFETY: the command buffer is recording and the buffers are alive, by this function's contract; the sorter was built
            // for pushed descriptors, of which `push` is the function.
            unsafe { sort.record_steps(commands, count, Some(push), after) };
        }
    }
}

/// The largest scratch size of all capacities up to this one. Scratch grows with the capacity as long as tiles keep their size,
/// and tiles do not shrink, so this asks for the largest capacity of each tile size.
fn most_scratch(plan: impl Fn(u32) -> Plan, capacity: u32) -> u64 {
    let (mut most, mut first) = (0, 0);
    loop {
        let tile = plan(first).tile;
        let last = largest(first, capacity, |middle| plan(middle).tile == tile);
        most = most.max(plan(last).scratch().size);
        if last == capacity {
            return most;
        }
        first = last + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::profile::DeviceProfile;
    use crate::request::{Algorithm, SortRequest, ValueType};
    use crate::shape::{Shape, ShapeDesc};
    use crate::tuning::Tuning;

    #[test]
    fn scratch_for_a_capacity_serves_every_smaller_one() {
        let (mut shrinks, most) = (0, 400_000);
        for is_cpu in [false, true] {
            let driver_id = if is_cpu { crate::profile::driver::LLVMPIPE } else { 0 };
            let profile = DeviceProfile { is_cpu, driver_id, ..DeviceProfile::default() };
            for algorithm in [Algorithm::OneSweep, Algorithm::ReduceThenScan] {
                let request = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::U32) };
                let tuning = Tuning::for_device(&profile);
                let shape = Shape::fit(&ShapeDesc::new(&profile, &tuning, &request, algorithm)).unwrap();
                let plan = |capacity| Plan::new(&request, algorithm, shape, capacity);
                let (mut so_far, mut before) = (0, 0);
                for capacity in 0..most {
                    let size = plan(capacity).scratch().size;
                    shrinks += u32::from(size < before);
                    before = size;
                    so_far = so_far.max(size);
                    if capacity % 977 == 0 {
                        let served = most_scratch(plan, capacity);
                        assert_eq!(served, so_far, "{algorithm}, {capacity} elements, CPU: {is_cpu}");
                    }
                }
            }
        }
        assert!(shrinks > 0, "no capacity needs less scratch than the one before, so the largest would do");
    }
}
