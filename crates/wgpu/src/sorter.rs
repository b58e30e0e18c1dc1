//! The pipelines of sorts on a device of wgpu.

use std::sync::Arc;

use vksort::{SortBuffers, SortRequest, Sorter, SorterOptions, Tuning};
use wgpu::{Buffer, BufferSlice, BufferUsages};

use super::device::WgpuDevice;
use super::error::Error;
use super::guarded::guarded;
use super::held::SortInner;
use super::range::raw_range;
use super::sort::WgpuSort;

/// The pipelines of one kind of sort on a device of wgpu, for every element count.
///
/// A sorter is built once per request. [`bind`](Self::bind) binds it to buffers, and [`WgpuSort::record`] records the sort.
///
/// ```no_run
/// use vksort_wgpu::wgpu::{Buffer, Device, Queue};
/// use vksort::{KeyType, Order, SortBuffers, SortRequest, ValueType};
/// use vksort_wgpu::{WgpuCommands, WgpuDevice, WgpuSorter};
///
/// # fn frame(device: &Device, queue: &Queue, buffer: impl Fn(u64) -> Buffer) -> Result<(), vksort_wgpu::Error> {
/// // Once. Depths with the index of their splat, farthest first; both buffers have the usage STORAGE.
/// let request = SortRequest { value: ValueType::U32, order: Order::Descending, ..SortRequest::new(KeyType::F32) };
/// let sorter = WgpuSorter::new(&WgpuDevice::new(device)?, &request, None)?;
/// let (depths, indices) = (buffer(4 * 10_000), buffer(4 * 10_000));
/// let in_place = SortBuffers::in_place(depths.slice(..), 10_000);
/// // SAFETY: device and buffers are of one instance, and nothing destroys the buffers meanwhile.
/// let sort = unsafe { sorter.bind(&SortBuffers { values: Some(indices.slice(..)), ..in_place })? };
///
/// // Every frame, with as many elements as there are then.
/// let (cull, draw) = (device.create_command_encoder(&Default::default()), device.create_command_encoder(&Default::default()));
/// // ... passes that write depths and indices are recorded into `cull`, passes that read them into `draw`.
/// WgpuCommands::submit(queue, [cull.finish().into(), sort.record(9_000)?, draw.finish().into()]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct WgpuSorter {
    // Fields are dropped in this order: the pipelines before the device.
    sorter: Sorter,
    device: WgpuDevice,
}

impl WgpuSorter {
    /// Usage flags for a scratch buffer of yours: [`Sorter::SCRATCH_USAGE`] as wgpu has it.
    pub const SCRATCH_USAGE: BufferUsages =
        BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::INDIRECT);

    /// Builds the pipelines for a request. Sorters of one [`WgpuDevice`] share pipelines.
    ///
    /// `tuning` replaces the built-in row of the device.
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::Unsupported`] for a request out of range, [`vksort::Error::MissingFeature`] for keys that this build
    ///   lacks.
    /// * [`vksort::Error::UnsuitableDevice`] when the device does not support the request.
    /// * [`vksort::Error::Vulkan`] when the driver fails.
    pub fn new(device: &WgpuDevice, request: &SortRequest, tuning: Option<&Tuning>) -> Result<WgpuSorter, Error> {
        let inner = &device.inner;
        let options = SorterOptions {
            pipelines: Some(Arc::clone(&inner.pipelines)),
            tuning: tuning.cloned(),
            debug_utils: inner.debug_utils.clone(),
            ..SorterOptions::default()
        };
        // SAFETY: the device was created with what the requirements name, by the contract of `WgpuDevice`. The sorter and its
        // sorts hold it, and a recorded sort is held until wgpu has seen its commands complete. Shared pipelines and label
        // functions are those of this device.
        let sorter = unsafe { Sorter::new(&inner.raw, &inner.requirements, request, &options)? };
        Ok(WgpuSorter { sorter, device: device.clone() })
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        self.sorter.request()
    }

    /// The largest number of elements that this sorter can sort on its device, wgpu's limits on buffer sizes aside.
    pub fn max_count(&self) -> u32 {
        self.sorter.max_count()
    }

    /// Bytes of scratch that a sort of up to `capacity` elements needs; 0 when it needs none.
    ///
    /// # Errors
    ///
    /// [`vksort::Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        Ok(self.sorter.scratch_size(capacity)?)
    }

    /// Binds the sorter to buffers. The result can be recorded any number of times.
    ///
    /// * Every buffer needs the usage `STORAGE`, the scratch buffer [`SCRATCH_USAGE`](Self::SCRATCH_USAGE).
    /// * Without a scratch buffer, the sort creates its own. Sorts on one queue may share a buffer.
    /// * The sort keeps the buffers alive. After [`Buffer::destroy`], wgpu refuses submissions with the sort.
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::BufferTooSmall`], [`vksort::Error::MisalignedOffset`], [`vksort::Error::MissingUsage`] (in Vulkan's
    ///   words) or [`vksort::Error::Overlap`] for a range.
    /// * [`vksort::Error::BufferPresence`] for a buffer that is missing or not used, [`vksort::Error::Unsupported`] for a
    ///   destroyed one.
    /// * [`vksort::Error::TooManyElements`] for the capacity.
    /// * [`Error::Wgpu`] when wgpu refuses a buffer of another device, or cannot create the scratch buffer.
    /// * [`vksort::Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * The buffers come from the same `wgpu::Instance` as the sorter's device. wgpu identifies resources by
    ///   numbers that each instance counts separately, so it cannot recognize a buffer of another instance.
    /// * No buffer is destroyed ([`Buffer::destroy`]) during the call.
    pub unsafe fn bind(&self, buffers: &SortBuffers<BufferSlice<'_>>) -> Result<WgpuSort, Error> {
        let inner = &self.device.inner;
        let needed = self.sorter.scratch_size(buffers.capacity)?;
        let own = match buffers.scratch {
            None if needed > 0 => Some(self.create_scratch(needed)?),
            _ => None,
        };
        let sizes = self.sorter.request().buffers(buffers.capacity);
        let caller = [
            ("keys", Some(buffers.keys), sizes.keys),
            ("values", buffers.values, sizes.values.unwrap_or_default()),
            ("keys_out", buffers.keys_out, sizes.keys_out.unwrap_or_default()),
            ("values_out", buffers.values_out, sizes.values_out.unwrap_or_default()),
            ("scratch", buffers.scratch, needed),
            ("count", buffers.count, 4),
        ];
        let given = |name, slice: Option<BufferSlice<'_>>| slice.map(|slice| raw_range(name, slice)).transpose();
        let raw = SortBuffers {
            keys: raw_range("keys", buffers.keys)?,
            values: given("values", buffers.values)?,
            keys_out: given("keys_out", buffers.keys_out)?,
            values_out: given("values_out", buffers.values_out)?,
            scratch: given("scratch", buffers.scratch.or(own.as_ref().map(|buffer| buffer.slice(..))))?,
            count: given("count", buffers.count)?,
            capacity: buffers.capacity,
        };
        // wgpu's own check comes after these, because its message names neither the range nor its role.
        self.sorter.check_buffers(&raw)?;
        let caller = caller.into_iter().filter_map(|(name, slice, bytes)| Some((name, slice?, bytes)));
        let caller: Vec<_> = caller.filter(|_| buffers.capacity > 0).collect();
        let tracked = guarded(&inner.device, "Device::create_bind_group", || {
            let groups = caller.iter().map(|(_, slice, bytes)| (slice.buffer(), slice.offset(), *bytes));
            groups.flat_map(|(buffer, offset, bytes)| self.device.bind_groups(buffer, offset, bytes)).collect()
        })?;
        // SAFETY: wgpu has just bound the buffers on this device, where all of each buffer has memory. The
        // result holds them, and their usage was checked.
        let sort = unsafe { self.sorter.bind(&raw)? };
        let scratch = own.or(buffers.scratch.map(|slice| slice.buffer().clone()));
        let buffers = caller.iter().map(|(name, slice, _)| (*name, slice.buffer().clone())).collect();
        let device = self.device.clone();
        Ok(WgpuSort { inner: Arc::new(SortInner { sort, buffers, tracked, scratch, device }) })
    }

    /// A scratch buffer.
    fn create_scratch(&self, size: u64) -> Result<Buffer, Error> {
        let (device, usage) = (&self.device.inner.device, Self::SCRATCH_USAGE);
        let desc = wgpu::BufferDescriptor { label: Some("vksort: scratch"), size, usage, mapped_at_creation: false };
        guarded(device, "Device::create_buffer", || device.create_buffer(&desc))
    }
}
