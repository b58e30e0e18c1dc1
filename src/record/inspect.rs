//! [`Inspector`]: what a sort on the device was asked for, and what it left out.

use std::fmt;

use ash::vk;

use super::beside::Beside;
use super::bind::BoundSort;
use super::buffers::BufferRange;
use super::scopes::AccessScope;
use crate::abi;
use crate::error::Error;
use crate::kernels::Kernel;
use crate::request::Count;

/// Reports what a sort with a count or segments on the device was asked for, and what it left out.
///
/// A sort clamps its count to the capacity, and begins and ends of segments too, without a word. A renderer that wants to know
/// records an inspector beside the sort, reads the report of six words when the frame has ended, and grows its buffers.
///
/// | word | [`Inspection`] |
/// |---|---|
/// | 0 | [`count`](Inspection::count) |
/// | 1 | [`longest`](Inspection::longest) |
/// | 2 | [`segments_beyond`](Inspection::segments_beyond) |
/// | 3 | [`elements_beyond`](Inspection::elements_beyond) |
/// | 4 | [`too_long`](Inspection::too_long) |
/// | 5 | [`descending`](Inspection::descending) |
///
/// It reads the count and the words of segments alone, in a clear of the report and one dispatch, with an invocation for each segment.
///
/// ```
/// use vksort::ash::vk;
/// use vksort::{AccessScope, BoundSort, Count, Error, Inspection, Inspector};
///
/// /// # Safety
/// ///
/// /// As for [`BoundSort::record`], but for the barriers.
/// unsafe fn frame(
///     device: &vksort::ash::Device,
///     commands: vk::CommandBuffer,
///     (sort, inspector): (&BoundSort, &Inspector),
/// ) -> Result<(), Error> {
///     // SAFETY: the command buffer is recording, by this function's contract.
///     unsafe {
///         AccessScope::COMPUTE_WRITE.record_barrier(BoundSort::INPUT_SCOPE, device, commands);
///         inspector.record(commands, Count::Device)?;
///         sort.record(commands, Count::Device)?;
///         BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::HOST_READ, device, commands);
///     }
///     Ok(())
/// }
///
/// /// The capacity for the next frames, once the fence of this one has been signalled.
/// fn grown(capacity: u32, report: [u32; Inspector::WORDS]) -> u32 {
///     let found = Inspection::from(report);
///     if !found.is_complete() {
///         println!("the sort left something out: {found:?}");
///     }
///     capacity + found.elements_beyond
/// }
/// # assert_eq!(grown(100, [130, 130, 0, 30, 0, 0]), 130);
/// ```
pub struct Inspector {
    beside: Beside,
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (request, capacity) = (&self.beside.sorter.request, self.beside.plan.capacity);
        f.debug_struct("Inspector").field("request", request).field("capacity", &capacity).finish_non_exhaustive()
    }
}

impl BoundSort {
    /// Builds an inspector of this sort. Its pipeline is compiled now, unless [`SorterOptions::pipelines`](crate::SorterOptions)
    /// has it.
    ///
    /// * `report`: [`Inspector::WORDS`] words with the usage `STORAGE_BUFFER` and `TRANSFER_DST`, at a multiple of the device's
    ///   `minStorageBufferOffsetAlignment`, apart from all ranges of the sort.
    ///
    /// # Errors
    ///
    /// * [`Error::BufferTooSmall`], [`Error::MisalignedOffset`], [`Error::Overlap`], [`Error::OutOfBounds`], [`Error::MissingUsage`]
    ///   or [`Error::BufferPresence`] for the report.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * As for [`Sorter::bind`](crate::Sorter::bind); the report's buffer is one of the buffers.
    /// * The device outlives the inspector, and when it is dropped, no command buffer with it is pending.
    pub unsafe fn inspector(&self, report: BufferRange) -> Result<Inspector, Error> {
        let (bytes, usage) = (4 * Inspector::WORDS as u64, vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the same contract.
        Ok(Inspector { beside: unsafe { Beside::new(self, Kernel::Inspect, (report, bytes, usage))? } })
    }
}

impl Inspector {
    /// Words of the report.
    pub const WORDS: usize = abi::INSPECTION_WORDS as usize;

    /// Records the inspection: clears the report, and writes it.
    ///
    /// Record it before the sort or after it, with the count of the sort. It changes the bound compute pipeline, descriptor set 0 of
    /// compute, and the push constants.
    ///
    /// # Errors
    ///
    /// After an error nothing has been recorded: as for [`BoundSort::record`].
    ///
    /// # Safety
    ///
    /// * `commands` is recording, outside a render pass, on a queue family with compute.
    /// * Writes to the count and to the words of segments before it are made available and visible to [`BoundSort::INPUT_SCOPE`].
    /// * Earlier accesses to the report are by compute shaders or transfers on the same queue, or end before
    ///   [`AccessScope::TRANSFER_WRITE`]. Later ones wait for [`BoundSort::OUTPUT_SCOPE`].
    /// * Inspector and buffers stay alive until the commands have completed.
    pub unsafe fn record(&self, commands: vk::CommandBuffer, count: impl Into<Count>) -> Result<(), Error> {
        let Beside { plan, report, .. } = &self.beside;
        let count = self.beside.check_count(count.into())?;
        let (device, cleared) = (self.beside.device(), AccessScope::TRANSFER_WRITE);
        // SAFETY: by this function's contract; the report was checked, and has TRANSFER_DST.
        unsafe {
            (AccessScope::COMPUTE_WRITE | cleared).record_barrier(cleared, device, commands);
            device.cmd_fill_buffer(commands, report.buffer, report.offset, report.range, 0);
            cleared.record_barrier(AccessScope::COMPUTE_READ | AccessScope::COMPUTE_WRITE, device, commands);
            if let Some((groups, push)) = plan.inspection(count) {
                self.beside.record(commands, count, 0, push, groups);
            }
        }
        Ok(())
    }
}

/// A report of an [`Inspector`], read by the host. `Inspection::from` takes its words.
///
/// It says nothing about segments beyond the capacity, because their words are not bound.
///
/// ```
/// use vksort::Inspection;
/// let found = Inspection::from([30_000, 700, 10_000, 0, 0, 0]);
/// assert_eq!(found.segments_beyond, 10_000);
/// assert!(!found.is_complete());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Inspection {
    /// What the recording's count was, in elements or in segments, before it was clamped to the capacity.
    pub count: u32,
    /// Elements of the longest segment, before its end is clamped to the capacity; of one array, the count.
    pub longest: u32,
    /// Segments of the count beyond the segment capacity. They have not been sorted.
    pub segments_beyond: u32,
    /// Elements beyond the capacity, up to the last one of a segment, or of the count: a capacity with so many more takes them all.
    pub elements_beyond: u32,
    /// Segments that are longer than the request promises ([`SortRequest::up_to`](crate::SortRequest::up_to)), or than the stride of
    /// [`Segments::RowsOf`](crate::Segments::RowsOf), which cuts them off. With a promise within a block
    /// ([`SegmentLimits::block`](crate::SegmentLimits::block)) they have not been sorted.
    pub too_long: u32,
    /// Segments that begin before the segment in front of them, as an empty range `(0, 0)` between others does, and a last offset below
    /// the one in front of it. Ranges named by such words have an unspecified order: see [`Segments`](crate::Segments).
    pub descending: u32,
}

impl Inspection {
    /// Whether all that was asked for has been sorted: nothing is beyond the capacity or longer than promised, and begins ascend.
    pub fn is_complete(&self) -> bool {
        [self.segments_beyond, self.elements_beyond, self.too_long, self.descending] == [0; 4]
    }
}

impl From<[u32; Inspector::WORDS]> for Inspection {
    fn from(report: [u32; Inspector::WORDS]) -> Inspection {
        let [count, longest, segments_beyond, elements_beyond, too_long, descending] = report;
        Inspection { count, longest, segments_beyond, elements_beyond, too_long, descending }
    }
}
