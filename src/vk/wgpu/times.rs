//! Times of the steps of a sort on wgpu's queue.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use wgpu::hal::api::Vulkan;

use super::device::foreign;
use super::{SortInner, WgpuCommands, WgpuSort};
use crate::error::{Context, Error};
use crate::request::Count;
use crate::vk::record::{QueryRange, StepTime};

/// The times of the steps of a sort that [`WgpuSort::record_timed`] has recorded.
///
/// It keeps the sort alive.
pub struct WgpuStepTimes {
    queries: Arc<Queries>,
    count: Count,
}

/// Timestamps of one recording. Its commands hold it until they are dropped or have completed.
pub(super) struct Queries {
    pool: vk::QueryPool,
    range: QueryRange,
    valid_bits: u32,
    /// Whether the commands have completed, or wgpu has refused them.
    is_done: AtomicBool,
    sort: Arc<SortInner>,
}

impl Queries {
    /// Timestamps for a recording; nothing if the queue has none.
    fn new(sort: &Arc<SortInner>, count: Count) -> Result<Queries, Error> {
        let device = &sort.device.inner;
        // SAFETY: handles are not destroyed here, and the physical device is the instance's.
        let families = unsafe {
            let hal = device.device.as_hal::<Vulkan>().ok_or_else(|| foreign(&device.device))?;
            let instance = hal.shared_instance().raw_instance();
            let families = instance.get_physical_device_queue_family_properties(hal.raw_physical_device());
            families[hal.queue_family_index() as usize]
        };
        let (valid_bits, count) = (families.timestamp_valid_bits, sort.sort.query_count(count));
        let mut pool = vk::QueryPool::null();
        if valid_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
            // SAFETY: the device is alive; `Drop` destroys the pool.
            pool = unsafe { device.raw.create_query_pool(&info, None).context("vkCreateQueryPool")? };
        }
        let (range, sort) = (QueryRange { pool, first: 0, count }, Arc::clone(sort));
        Ok(Queries { pool, range, valid_bits, is_done: AtomicBool::new(false), sort })
    }

    pub fn range(&self) -> Option<QueryRange> {
        (self.valid_bits > 0).then_some(self.range)
    }

    pub fn set_done(&self) {
        self.is_done.store(true, Ordering::Release);
    }
}

impl fmt::Debug for WgpuStepTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WgpuStepTimes").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        // SAFETY: the commands have completed or were never submitted, as they hold this; the sort keeps the device alive.
        unsafe { self.sort.device.inner.raw.destroy_query_pool(self.pool, None) };
    }
}

impl WgpuSort {
    /// Records as [`record`](Self::record), with a timestamp before the first step and one behind each.
    ///
    /// The timestamps are Vulkan's, and need no feature of wgpu. Each call makes queries of its own.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record); [`Error::Vulkan`] when the driver fails.
    ///
    /// ```
    /// use vksort::{Error, WgpuCommands, WgpuSort};
    /// use vksort::wgpu::{Device, PollType, Queue};
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
        let count = self.inner.sort.check_count(count.into())?;
        let queries = Arc::new(Queries::new(&self.inner, count)?);
        let commands = self.record_with(count, Some(&queries))?;
        Ok((commands, WgpuStepTimes { queries, count }))
    }
}

impl WgpuStepTimes {
    /// The time of each step, once wgpu has seen that the commands have completed, in `Device::poll` or in `Queue::submit`;
    /// `None` before. The list is empty if the queue has no timestamps.
    ///
    /// wgpu reports a submission that it refuses like one that has completed. Then there are no times either.
    ///
    /// # Errors
    ///
    /// [`Error::Vulkan`] when the driver fails.
    pub fn read(&self) -> Result<Option<Vec<StepTime>>, Error> {
        let Queries { range, valid_bits, is_done, sort, .. } = &*self.queries;
        if !is_done.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut ticks = vec![0u64; if *valid_bits > 0 { range.count as usize } else { 0 }];
        if !ticks.is_empty() {
            let (raw, flags) = (&sort.device.inner.raw, vk::QueryResultFlags::TYPE_64);
            // SAFETY: no commands that write the queries are pending, as they have completed or were refused, and the pool is
            // alive. The call does not wait, so queries that nothing wrote end it.
            match unsafe { raw.get_query_pool_results(range.pool, range.first, &mut ticks, flags) } {
                Err(vk::Result::NOT_READY) => return Ok(None),
                read => read.context("vkGetQueryPoolResults")?,
            }
        }
        Ok(Some(sort.sort.step_times(self.count, &ticks, *valid_bits)))
    }
}
