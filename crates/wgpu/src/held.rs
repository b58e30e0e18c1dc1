//! What recorded commands hold until they have completed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use vksort::{BoundSort, Count, Inspector, QueryRange};
use wgpu::hal::api::Vulkan;
use wgpu::{BindGroup, Buffer};

use super::device::{Device, foreign};
use super::error::Error;

/// What recorded commands hold until they have completed. Fields are dropped in this order: the device last.
pub(super) struct SortInner {
    pub sort: BoundSort,
    /// What wgpu calls its objects.
    pub label: Arc<str>,
    /// The caller's buffers, with their names.
    pub buffers: Vec<(&'static str, Buffer)>,
    /// Bind groups over all bytes of them that the sort uses.
    pub tracked: Vec<BindGroup>,
    pub scratch: Option<Buffer>,
    pub device: Device,
}

/// Timestamps of one recording. Its commands hold it until they are dropped or have completed.
pub(super) struct Queries {
    /// Nothing if the queue has no timestamps.
    pub range: Option<QueryRange>,
    pub valid_bits: u32,
    /// What the sort was recorded with.
    pub count: Count,
    /// Whether the commands have completed, or wgpu has refused them.
    pub is_done: AtomicBool,
    pub sort: Arc<SortInner>,
}

impl Queries {
    /// Timestamps for a recording.
    pub fn new(sort: &Arc<SortInner>, count: Count) -> Result<Queries, Error> {
        let device = &sort.device.inner;
        // SAFETY: handles are not destroyed here, and the physical device is the instance's.
        let family = unsafe {
            let hal = device.device.as_hal::<Vulkan>().ok_or_else(|| foreign(&device.device))?;
            let instance = hal.shared_instance().raw_instance();
            let families = instance.get_physical_device_queue_family_properties(hal.raw_physical_device());
            families[hal.queue_family_index() as usize]
        };
        let (valid_bits, queries) = (family.timestamp_valid_bits, sort.sort.query_count(count));
        let mut range = None;
        if valid_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(queries);
            // SAFETY: the device is alive; `Drop` destroys the pool.
            let pool =
                unsafe { device.raw.create_query_pool(&info, None).map_err(Error::vulkan("vkCreateQueryPool"))? };
            range = Some(QueryRange::new(pool, 0, queries));
        }
        Ok(Queries { range, valid_bits, count, is_done: AtomicBool::new(false), sort: Arc::clone(sort) })
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        if let Some(range) = self.range {
            // SAFETY: the commands have completed or were never submitted, as they hold this; the sort keeps the device alive.
            unsafe { self.sort.device.inner.raw.destroy_query_pool(range.pool, None) };
        }
    }
}

/// An inspector, and its report.
pub(super) struct InspectorInner {
    pub inspector: Inspector,
    pub report: Buffer,
    /// Bind groups over the report.
    pub tracked: Vec<BindGroup>,
    pub sort: Arc<SortInner>,
}

/// What is recorded for a sort.
#[derive(Clone)]
pub(super) enum Recorded {
    Sort,
    /// Its kernels, with nothing to do.
    WarmUp,
    /// With timestamps.
    Timed(Arc<Queries>),
    /// An inspection beside it.
    Inspection(Arc<InspectorInner>),
}

/// What commands hold until they have completed. A panic within wgpu's `Queue::submit` drops the callbacks of commands that are
/// submitted already, so it leaks them.
pub(super) struct Held(pub Option<(Arc<SortInner>, Recorded)>);

impl Held {
    pub fn release(mut self) {
        if let Some((_, Recorded::Timed(queries))) = self.0.take() {
            queries.is_done.store(true, Ordering::Release);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::mem::forget(self.0.take());
        }
    }
}
