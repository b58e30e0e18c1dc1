//! Times of the steps of a sort on wgpu's queue.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;

use vksort::{Count, StepTime};

use super::commands::WgpuCommands;
use super::error::Error;
use super::held::{Queries, SortInner};
use super::segmented::WgpuSegments;
use super::sort::{WgpuSort, record};

/// The times of the steps of a sort that [`WgpuSort::record_timed`] or [`WgpuSegments::record_timed`] has recorded.
///
/// It keeps the sort alive.
pub struct WgpuStepTimes {
    queries: Arc<Queries>,
}

impl fmt::Debug for WgpuStepTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WgpuStepTimes").field("count", &self.queries.count).finish_non_exhaustive()
    }
}

impl WgpuSort {
    /// Records as [`record`](Self::record), with a timestamp before the first step and one after each.
    ///
    /// The timestamps are Vulkan's, and need no feature of wgpu. Each call creates its own queries.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record); [`vksort::Error::Vulkan`] when the driver fails.
    ///
    /// ```
    /// use vksort_wgpu::{Error, WgpuCommands, WgpuSort};
    /// use vksort_wgpu::wgpu::{Device, PollType, Queue};
    ///
    /// fn print_times(device: &Device, queue: &Queue, sort: &WgpuSort, count: u32) -> Result<(), Error> {
    ///     let (commands, times) = sort.record_timed(count)?;
    ///     WgpuCommands::submit(queue, [commands]);
    ///     device.poll(PollType::wait_indefinitely()).expect("the device is not lost");
    ///     for step in times.read()?.unwrap_or_default() {
    ///         println!("{}: {} ns", step.name, step.nanoseconds);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn record_timed(&self, count: impl Into<Count>) -> Result<(WgpuCommands, WgpuStepTimes), Error> {
        timed(&self.inner, count.into())
    }
}

impl WgpuSegments {
    /// Records as [`record`](Self::record), with timestamps as [`WgpuSort::record_timed`].
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record); [`vksort::Error::Vulkan`] when the driver fails.
    pub fn record_timed(&self, segments: impl Into<Count>) -> Result<(WgpuCommands, WgpuStepTimes), Error> {
        timed(&self.inner, segments.into())
    }
}

fn timed(sort: &Arc<SortInner>, count: Count) -> Result<(WgpuCommands, WgpuStepTimes), Error> {
    let count = sort.sort.check_count(count)?;
    let queries = Arc::new(Queries::new(sort, count)?);
    let commands = record(sort, count, Some(&queries))?;
    Ok((commands, WgpuStepTimes { queries }))
}

impl WgpuStepTimes {
    /// The time of each step, once wgpu has noticed that the commands have completed, in `Device::poll` or in `Queue::submit`;
    /// `None` before. The list is empty if the queue has no timestamps.
    ///
    /// wgpu reports a submission that it refuses like one that has completed. Then there are no times either.
    ///
    /// # Errors
    ///
    /// [`vksort::Error::Vulkan`] when the driver fails.
    pub fn read(&self) -> Result<Option<Vec<StepTime>>, Error> {
        let Queries { range, valid_bits, count, is_done, sort } = &*self.queries;
        if !is_done.load(Ordering::Acquire) {
            return Ok(None);
        }
        let Some(range) = range else { return Ok(Some(Vec::new())) };
        let mut ticks = vec![0u64; range.count as usize];
        let (raw, flags) = (&sort.device.inner.raw, vk::QueryResultFlags::TYPE_64);
        // SAFETY: no commands that write the queries are pending, as they have completed or were refused, and the pool is
        // alive. The call does not wait, so queries that nothing wrote end it.
        match unsafe { raw.get_query_pool_results(range.pool, range.first, &mut ticks, flags) } {
            Err(vk::Result::NOT_READY) => Ok(None),
            read => {
                read.map_err(Error::vulkan("vkGetQueryPoolResults"))?;
                Ok(Some(sort.sort.step_times(*count, &ticks, *valid_bits)))
            }
        }
    }
}
