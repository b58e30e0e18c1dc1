//! Times of the steps of a sort on wgpu's queue.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;

use vksort::{Count, StepTime};

use super::commands::Commands;
use super::error::Error;
use super::held::{Queries, Recorded};
use super::sort::{BoundSort, record};

/// The times of the steps of a sort that [`BoundSort::record_timed`] has recorded.
///
/// It keeps the sort alive.
pub struct StepTimes {
    queries: Arc<Queries>,
}

impl fmt::Debug for StepTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepTimes").field("count", &self.queries.count).finish_non_exhaustive()
    }
}

impl BoundSort {
    /// Records as [`record`](Self::record), with a timestamp before the first step and one after each.
    ///
    /// The timestamps are Vulkan's, and need no feature of wgpu. Each call creates its own queries.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record); [`vksort::Error::Vulkan`] when the driver fails.
    ///
    /// ```
    /// use vksort_wgpu::{BoundSort, Commands, Error};
    /// use vksort_wgpu::wgpu::{self, PollType, Queue};
    ///
    /// fn print_times(device: &wgpu::Device, queue: &Queue, sort: &BoundSort, count: u32) -> Result<(), Error> {
    ///     let (commands, times) = sort.record_timed(count)?;
    ///     Commands::submit(queue, [commands]);
    ///     device.poll(PollType::wait_indefinitely()).expect("the device is not lost");
    ///     for step in times.read()?.unwrap_or_default() {
    ///         println!("{}: {} ns", step.name, step.nanoseconds);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn record_timed(&self, count: impl Into<Count>) -> Result<(Commands, StepTimes), Error> {
        let count = self.inner.sort.check_count(count)?;
        let queries = Arc::new(Queries::new(&self.inner, count)?);
        let commands = record(&self.inner, count, Recorded::Timed(Arc::clone(&queries)))?;
        Ok((commands, StepTimes { queries }))
    }
}

impl StepTimes {
    /// The time of each step, once wgpu has noticed that the commands have completed, in `wgpu::Device::poll` or in
    /// `Queue::submit`;
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
                Ok(Some(sort.sort.step_times(*count, &ticks, *valid_bits)?))
            }
        }
    }
}
