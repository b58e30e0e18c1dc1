//! The buffers of a sort, as wgpu has them and as Vulkan does.

use std::sync::Arc;

use vksort::{BufferRange, BufferSizes, SortBuffers};
use wgpu::{BindGroup, Buffer, BufferSlice, BufferUsages};

use super::device::WgpuDevice;
use super::error::Error;
use super::guarded::guarded;
use super::held::{Bound, SortInner};
use super::range::raw_range;

/// Usage flags for a scratch buffer.
pub(super) const SCRATCH_USAGE: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::INDIRECT);

/// The buffers of a sort.
pub(super) struct Ranges<'a> {
    /// Those of elements as Vulkan has them.
    pub raw: SortBuffers,
    /// That of the words of segments.
    pub segments: Option<BufferRange>,
    /// The caller's, each with its name and the bytes that the sort uses.
    caller: Vec<(&'static str, BufferSlice<'a>, u64)>,
    scratch: Option<Buffer>,
}

impl<'a> Ranges<'a> {
    /// Buffers of these sizes, with so many bytes of scratch, for which a buffer is made if there is none. Words of segments come with
    /// the bytes that the sort uses of them.
    pub fn new(
        device: &WgpuDevice,
        buffers: &SortBuffers<BufferSlice<'a>>,
        (sizes, needed): (BufferSizes, u64),
        segments: Option<(BufferSlice<'a>, u64)>,
    ) -> Result<Ranges<'a>, Error> {
        let mut caller = Vec::new();
        let mut given = |name, slice: BufferSlice<'a>, bytes: Option<u64>| {
            caller.push((name, slice, bytes.unwrap_or_default()));
            raw_range(name, slice)
        };
        let mut raw = SortBuffers {
            keys: given("keys", buffers.keys, Some(sizes.keys))?,
            values: buffers.values.map(|slice| given("values", slice, sizes.values)).transpose()?,
            keys_out: buffers.keys_out.map(|slice| given("keys_out", slice, sizes.keys_out)).transpose()?,
            values_out: buffers.values_out.map(|slice| given("values_out", slice, sizes.values_out)).transpose()?,
            scratch: buffers.scratch.map(|slice| given("scratch", slice, Some(needed))).transpose()?,
            count: buffers.count.map(|slice| given("count", slice, Some(4))).transpose()?,
            capacity: buffers.capacity,
        };
        let segments = segments.map(|(slice, bytes)| given("segments", slice, Some(bytes))).transpose()?;
        if buffers.capacity == 0 {
            // A sort of no elements records nothing.
            caller.clear();
        }
        let mut scratch = buffers.scratch.map(|slice| slice.buffer().clone());
        if scratch.is_none() && needed > 0 {
            let own = create_scratch(device, needed)?;
            raw.scratch = Some(raw_range("scratch", own.slice(..))?);
            scratch = Some(own);
        }
        Ok(Ranges { raw, segments, caller, scratch })
    }

    /// Bind groups over all bytes that the sort uses. wgpu's own check comes after those of vksort, because its message names neither
    /// the range nor its role.
    pub fn track(&self, device: &WgpuDevice) -> Result<Vec<BindGroup>, Error> {
        guarded(&device.inner.device, "Device::create_bind_group", || {
            let groups = self.caller.iter().map(|(_, slice, bytes)| (slice.buffer(), slice.offset(), *bytes));
            groups.flat_map(|(buffer, offset, bytes)| device.bind_groups(buffer, offset, bytes)).collect()
        })
    }

    /// The bound sort with what it needs.
    pub fn hold(self, sort: Bound, tracked: Vec<BindGroup>, device: &WgpuDevice) -> Arc<SortInner> {
        let buffers = self.caller.iter().map(|(name, slice, _)| (*name, slice.buffer().clone())).collect();
        Arc::new(SortInner { sort, buffers, tracked, scratch: self.scratch, device: device.clone() })
    }
}

/// A scratch buffer.
fn create_scratch(device: &WgpuDevice, size: u64) -> Result<Buffer, Error> {
    let (device, usage) = (&device.inner.device, SCRATCH_USAGE);
    let desc = wgpu::BufferDescriptor { label: Some("vksort: scratch"), size, usage, mapped_at_creation: false };
    guarded(device, "Device::create_buffer", || device.create_buffer(&desc))
}
