//! The pipelines of sorts on a device of wgpu.

#[cfg(doc)]
use wgpu::Buffer;

use vksort::{BufferSizes, RecordRequest, SortBuffers, SortRequest, Sorter, Tuning};
use wgpu::{BufferSlice, BufferUsages};

use super::bind::{self, Ranges};
use super::device::WgpuDevice;
use super::error::Error;
use super::held::Bound;
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
    pub const SCRATCH_USAGE: BufferUsages = bind::SCRATCH_USAGE;

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
        let (inner, options) = (&device.inner, device.options(tuning));
        // SAFETY: the device was created with what the requirements name, by the contract of `WgpuDevice`. The sorter and its
        // sorts hold it, and a recorded sort is held until wgpu has seen its commands complete. Shared pipelines and label
        // functions are those of this device.
        let sorter = unsafe { Sorter::new(&inner.raw, &inner.requirements, request, &options)? };
        Ok(WgpuSorter { sorter, device: device.clone() })
    }

    /// Builds the pipelines for records that are sorted by their fields: [`Sorter::of_records`].
    ///
    /// The records are bound as the keys, and the result as `keys_out` or `values_out`, as [`vksort::RecordOutput`] says;
    /// [`buffers`](Self::buffers) has their sizes. Capacities and counts are of records.
    ///
    /// ```no_run
    /// use vksort::{KeyField, KeyType, RecordRequest, SortBuffers};
    /// use vksort_wgpu::wgpu::Buffer;
    /// use vksort_wgpu::{Error, WgpuDevice, WgpuSort, WgpuSorter};
    ///
    /// /// Draws of 32 bytes by material, and then the nearest first.
    /// fn prepare(device: &WgpuDevice, draws: &Buffer) -> Result<WgpuSort, Error> {
    ///     let request = RecordRequest::new(32, [KeyField::new(0, KeyType::U16), KeyField::new(4, KeyType::F32)]);
    ///     let sorter = WgpuSorter::of_records(device, &request, None)?;
    ///     // SAFETY: device and buffer are of one instance, and nothing destroys the buffer meanwhile.
    ///     unsafe { sorter.bind(&SortBuffers::in_place(draws.slice(..), 10_000)) }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and for what [`RecordRequest::check`] refuses.
    pub fn of_records(
        device: &WgpuDevice,
        request: &RecordRequest,
        tuning: Option<&Tuning>,
    ) -> Result<WgpuSorter, Error> {
        let (inner, options) = (&device.inner, device.options(tuning));
        // SAFETY: as in `new`.
        let sorter = unsafe { Sorter::of_records(&inner.raw, &inner.requirements, request, &options)? };
        Ok(WgpuSorter { sorter, device: device.clone() })
    }

    /// The request that the sorter was built for; of records, the sort of their keys.
    pub fn request(&self) -> &SortRequest {
        self.sorter.request()
    }

    /// The largest number of elements that this sorter can sort on its device, wgpu's limits on buffer sizes aside.
    pub fn max_count(&self) -> u32 {
        self.sorter.max_count()
    }

    /// The buffers of elements that a sort of up to `capacity` elements needs: [`Sorter::buffers`].
    pub fn buffers(&self, capacity: u32) -> BufferSizes {
        self.sorter.buffers(capacity)
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
        let sizes = self.buffers(buffers.capacity);
        let needed = self.scratch_size(buffers.capacity)?;
        let ranges = Ranges::new(&self.device, buffers, (sizes, needed), None)?;
        self.sorter.check_buffers(&ranges.raw)?;
        let tracked = ranges.track(&self.device)?;
        // SAFETY: wgpu has just bound the buffers on this device, where all of each buffer has memory. The
        // result holds them, and their usage was checked.
        let sort = unsafe { self.sorter.bind(&ranges.raw)? };
        Ok(WgpuSort { inner: ranges.hold(Bound::Elements(sort), tracked, &self.device) })
    }
}
