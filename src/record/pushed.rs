//! Sorts whose buffers come with each recording, by pushed descriptors: nothing is kept of them, so nothing can be stale.

use ash::vk;

use super::bind::BoundSort;
use super::buffers::SortBuffers;
use super::commands::Steps;
use super::memory::DIRECT_SCRATCH_USAGE;
use super::options::{Access, SorterOptions};
use super::requirements::Requirements;
use super::sorter::Sorter;
use crate::error::Error;
use crate::plan::{StepName, most_scratch};
use crate::request::{Count, SortRequest};

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
        if options.visitor.is_some() {
            return Err(Error::unsupported(
                "the options of a sorter with pushed descriptors",
                "with a visitor",
                "without one",
            ));
        }
        let options = options.clone().access(Access::Descriptors);
        // SAFETY: the same contract.
        let sorter = unsafe { Sorter::build(device, requirements, request, &options, true)? };
        Ok(PushedSorter { sorter, push })
    }

    /// The warning that the sorter has logged as the first one of its device, if it is slow there.
    pub fn warning(&self) -> Option<&str> {
        self.sorter.inner.warning.as_deref()
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
        inner.plan(capacity.into())?;
        Ok(most_scratch(|capacity| inner.unchecked_plan(capacity.into()), capacity))
    }

    /// Checks a sort of these buffers with this count.
    ///
    /// # Errors
    ///
    /// As for [`Sorter::bind`] and [`BoundSort::record`].
    pub fn prepare(&self, buffers: &SortBuffers, count: Count) -> Result<PushedSort, Error> {
        let sort = BoundSort::placed(&self.sorter, buffers)?;
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
        if sort.capacity().elements > 0 {
            // SAFETY: the command buffer is recording and the buffers are alive, by this function's contract; the sorter was built
            // for pushed descriptors, of which `push` is the function.
            unsafe { sort.record_steps(commands, Steps::Of(count), Some(push), after) };
        }
    }
}
