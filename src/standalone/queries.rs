//! The timestamps of a prepared sort.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use crate::error::{Context, Error};
use crate::record::QueryRange;

/// Timestamp queries on an owned device.
pub struct Queries {
    range: QueryRange,
    device: Arc<Device>,
}

impl Queries {
    /// So many queries; `None` if the device has no timestamps.
    pub fn new(device: &Arc<Device>, count: u32) -> Result<Option<Queries>, Error> {
        if device.timestamp_bits == 0 {
            return Ok(None);
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the device is alive; `Drop` destroys the pool, once.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.context("vkCreateQueryPool")?;
        Ok(Some(Queries { range: QueryRange { pool, first: 0, count }, device: Arc::clone(device) }))
    }

    /// All of them.
    pub fn range(&self) -> QueryRange {
        self.range
    }

    /// The ticks of the first `count` queries, which commands that are done have written.
    pub fn ticks(&self, count: u32) -> Result<Vec<u64>, Error> {
        let mut ticks = vec![0u64; count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the pool is alive and has so many queries, by the range that recordings were given.
        unsafe { self.device.raw.get_query_pool_results(self.range.pool, self.range.first, &mut ticks, flags) }
            .context("vkGetQueryPoolResults")?;
        Ok(ticks)
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: every run was waited for, and the pool goes once.
            unsafe { self.device.raw.destroy_query_pool(self.range.pool, None) };
        }
    }
}
