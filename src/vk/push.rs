//! Sorts whose buffers come with each recording, by pushed descriptors: nothing is kept of them, so nothing can be stale.

use std::sync::Arc;

use ash::vk;

use super::bind::BoundSort;
use super::buffers::SortBuffers;
use super::sorter::Sorter;
use crate::error::Error;
use crate::plan::{Plan, StepName};
use crate::request::Count;
use crate::shape::largest;

impl Sorter {
    /// Bytes of scratch that serve every capacity up to this one, which is more than the largest needs where fewer elements
    /// are sorted in smaller tiles.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub(crate) fn scratch_size_up_to(&self, capacity: u32) -> Result<u64, Error> {
        self.inner.plan(capacity)?;
        Ok(most_scratch(|capacity| self.inner.unchecked_plan(capacity), capacity))
    }

    /// Checks a sort of these buffers, to be recorded once, with this count. The sorter was built for pushed descriptors.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind) and [`BoundSort::record`].
    pub(crate) fn prepare_pushed(&self, buffers: &SortBuffers, count: Count) -> Result<BoundSort, Error> {
        let sort = BoundSort::placed(Arc::clone(&self.inner), buffers)?;
        sort.check_count(count).map(|_| sort)
    }
}

impl BoundSort {
    /// Records a sort whose descriptors are pushed. `after` is called behind each step.
    ///
    /// # Safety
    ///
    /// * The sorter was built for pushed descriptors, reaches elements by descriptors, and made this sort by
    ///   [`Sorter::prepare_pushed`] with this count.
    /// * `push` is the function of its device, and what it belongs to is enabled.
    /// * The buffers are as for [`Sorter::bind`], but that they need to live until the commands have completed only.
    /// * As for [`BoundSort::record`].
    pub(crate) unsafe fn record_pushed(
        &self,
        commands: vk::CommandBuffer,
        count: Count,
        push: vk::PFN_vkCmdPushDescriptorSetKHR,
        after: &mut dyn FnMut(StepName),
    ) {
        if self.capacity() == 0 {
            return;
        }
        // SAFETY: the command buffer is recording and the buffers are alive, by this function's contract.
        unsafe { self.record_steps(commands, count, Some(push), after) };
    }
}

/// The most scratch of all capacities up to this one. Scratch grows with the capacity as long as tiles have one size, and tiles
/// do not shrink, so the largest capacity of each size of tiles is asked.
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
