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

    /// Records a timestamp before the commands that follow.
    ///
    /// # Safety
    ///
    /// The command buffer is recording on a compute queue, outside of a render pass, and there are two queries or more.
    pub unsafe fn begin(&self, commands: vk::CommandBuffer) {
        let (raw, QueryRange { pool, first, .. }) = (&self.device.raw, self.range);
        // SAFETY: by the contract of this function.
        unsafe {
            raw.cmd_reset_query_pool(commands, pool, first, 2);
            raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, first);
        }
    }

    /// Records a timestamp after the commands before.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin), which has been called.
    pub unsafe fn end(&self, commands: vk::CommandBuffer) {
        let (stage, QueryRange { pool, first, .. }) = (vk::PipelineStageFlags::BOTTOM_OF_PIPE, self.range);
        // SAFETY: by the contract of this function.
        unsafe { self.device.raw.cmd_write_timestamp(commands, stage, pool, first + 1) };
    }

    /// The ticks between the two timestamps, after commands that are done.
    pub fn ticks_between(&self) -> Result<u64, Error> {
        let ticks = self.ticks(2)?;
        Ok(ticks[1].wrapping_sub(ticks[0]) & (u64::MAX >> (u64::BITS - self.device.timestamp_bits.min(64))))
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
