//! The buffers of a sort, as wgpu has them and as Vulkan does.

use std::sync::Arc;

use vksort::{BufferSizes, SortBuffers};
use wgpu::{BindGroup, Buffer, BufferSlice, BufferUsages};

use super::device::Device;
use super::error::Error;
use super::guarded::guarded;
use super::held::SortInner;
use super::range::raw_range;

/// Usage flags for a scratch buffer.
pub(super) const SCRATCH_USAGE: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::INDIRECT);

/// The buffers of a sort.
pub(super) struct Ranges<'a> {
    device: &'a Device,
    /// What wgpu calls its objects.
    label: &'a Arc<str>,
    /// As Vulkan has them.
    pub raw: SortBuffers,
    /// The caller's, each with its name and the bytes that the sort uses.
    caller: Vec<(&'static str, BufferSlice<'a>, u64)>,
    scratch: Option<Buffer>,
}

impl<'a> Ranges<'a> {
    /// The caller's buffers, and a buffer for the scratch, of which so many bytes are needed, if there is none.
    pub fn new(
        device: &'a Device,
        label: &'a Arc<str>,
        (sizes, needed): (BufferSizes, u64),
        buffers: &SortBuffers<BufferSlice<'a>>,
    ) -> Result<Ranges<'a>, Error> {
        let capacity = buffers.capacity;
        let mut caller = Vec::new();
        let mut given = |name, slice: Option<BufferSlice<'a>>, bytes: Option<u64>| {
            caller.extend(slice.map(|slice| (name, slice, bytes.unwrap_or_default())));
            slice.map(|slice| raw_range(name, slice)).transpose()
        };
        let mut raw = SortBuffers::new(capacity)
            .keys(given("keys", buffers.keys, sizes.keys)?)
            .values(given("values", buffers.values, sizes.values)?)
            .keys_out(given("keys_out", buffers.keys_out, sizes.keys_out)?)
            .values_out(given("values_out", buffers.values_out, sizes.values_out)?)
            .scratch(given("scratch", buffers.scratch, Some(needed))?)
            .count(given("count", buffers.count, Some(4))?)
            .segments(given("segments", buffers.segments, sizes.segments)?);
        if capacity.elements == 0 {
            // A sort of no elements records nothing.
            caller.clear();
        }
        let mut scratch = buffers.scratch.map(|slice| slice.buffer().clone());
        if scratch.is_none() && needed > 0 {
            let own = create_scratch(device, label, needed)?;
            raw.scratch = Some(raw_range("scratch", own.slice(..))?);
            scratch = Some(own);
        }
        Ok(Ranges { device, label, raw, caller, scratch })
    }

    /// Bind groups over all bytes that the sort uses. wgpu's own check comes after those of vksort, because its message names neither
    /// the range nor its role.
    pub fn track(&self) -> Result<Vec<BindGroup>, Error> {
        let (device, label) = (self.device, format!("{}: a buffer of a sort", self.label));
        guarded(&device.inner.device, "Device::create_bind_group", || {
            let groups = self.caller.iter().map(|(_, slice, bytes)| (slice.buffer(), slice.offset(), *bytes));
            groups.flat_map(|(buffer, offset, bytes)| device.bind_groups(&label, buffer, offset, bytes)).collect()
        })
    }

    /// The bound sort with what it needs.
    pub fn hold(self, sort: vksort::BoundSort, tracked: Vec<BindGroup>) -> Arc<SortInner> {
        let buffers = self.caller.iter().map(|(name, slice, _)| (*name, slice.buffer().clone())).collect();
        let (label, device) = (Arc::clone(self.label), self.device.clone());
        Arc::new(SortInner { sort, label, buffers, tracked, scratch: self.scratch, device })
    }
}

/// A scratch buffer.
fn create_scratch(device: &Device, label: &str, size: u64) -> Result<Buffer, Error> {
    let (device, label) = (&device.inner.device, format!("{label}: scratch"));
    let desc = wgpu::BufferDescriptor { label: Some(&label), size, usage: SCRATCH_USAGE, mapped_at_creation: false };
    guarded(device, "Device::create_buffer", || device.create_buffer(&desc))
}
