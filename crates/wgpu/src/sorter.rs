//! The pipelines of sorts on a device of wgpu.

use std::sync::Arc;

#[cfg(doc)]
use wgpu::Buffer;

use vksort::{BufferSizes, Capacity, SegmentLimits, SortBuffers, SortRequest};
use wgpu::{BufferSlice, BufferUsages};

use super::bind::{Ranges, SCRATCH_USAGE};
use super::device::Device;
use super::error::Error;
use super::options::SorterOptions;
use super::sort::BoundSort;

/// The pipelines of one kind of sort on a device of wgpu, for every number of elements and segments: a [`vksort::Sorter`].
///
/// A sorter is built once per request. [`bind`](Self::bind) binds it to buffers, and [`BoundSort::record`] records the sort.
///
/// ```no_run
/// use vksort_wgpu::vksort::{Capacity, Count, KeyType, Order, Segments, SortBuffers, SortRequest, ValueType};
/// use vksort_wgpu::wgpu::{Buffer, CommandEncoder, Queue};
/// use vksort_wgpu::{Commands, Device, Error, Sorter, SorterOptions};
///
/// # fn frame(
/// #     device: &Device, queue: &Queue, buffer: impl Fn(u64) -> Buffer, encoder: impl Fn() -> CommandEncoder,
/// # ) -> Result<(), Error> {
/// // Once. Depths with the index of their splat, farthest first; both buffers have the usage STORAGE.
/// let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
/// let sorter = Sorter::new(device, &request, &SorterOptions::default())?;
/// let (depths, indices) = (buffer(4 * 10_000), buffer(4 * 10_000));
/// let buffers = SortBuffers::new(10_000).keys(depths.slice(..)).values(indices.slice(..));
/// // SAFETY: device and buffers are of one instance, and nothing destroys the buffers meanwhile.
/// let sort = unsafe { sorter.bind(&buffers)? };
///
/// // Every frame, with as many elements as there are then.
/// let (cull, draw) = (encoder(), encoder());
/// // ... passes that write depths and indices are recorded into `cull`, passes that read them into `draw`.
/// Commands::submit(queue, [cull.finish().into(), sort.record(9_000)?, draw.finish().into()]);
///
/// // The splats of each screen tile; another pass writes the offsets, and how many tiles there are.
/// let sorter = Sorter::new(device, &request.segments(Segments::Offsets), &SorterOptions::default())?;
/// let (offsets, tiles) = (buffer(4 * 3_601), buffer(4));
/// let buffers = buffers.segments(offsets.slice(..)).count(tiles.slice(..));
/// // SAFETY: as above.
/// let sort = unsafe { sorter.bind(&buffers.capacity(Capacity::new(10_000).segments(3_600)))? };
/// Commands::submit(queue, [sort.record(Count::Device)?]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Sorter {
    // Fields are dropped in this order: the pipelines before the device.
    sorter: vksort::Sorter,
    label: Arc<str>,
    device: Device,
}

impl Sorter {
    /// Builds the pipelines for a request. Sorters of one [`Device`] share pipelines.
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::Unsupported`] for what [`SortRequest::check`] refuses, a tuning out of range, or a
    ///   [`top`](SortRequest::top) of more than [`SegmentLimits::max_top`] elements; [`vksort::Error::MissingFeature`] for keys
    ///   that this build lacks.
    /// * [`vksort::Error::UnsuitableDevice`] when the device does not support the request.
    /// * [`vksort::Error::Vulkan`] when the driver fails.
    pub fn new(device: &Device, request: &SortRequest, options: &SorterOptions) -> Result<Sorter, Error> {
        let inner = &device.inner;
        let SorterOptions { label, tuning, capacity } = options.clone();
        let options = vksort::SorterOptions::default()
            .pipelines(Arc::clone(&inner.pipelines))
            .tuning(tuning)
            .capacity(capacity)
            .debug_utils(inner.debug_utils.clone());
        // SAFETY: the device was created with what the requirements name, by the contract of `Device`. The sorter and its
        // sorts hold it, and a recorded sort is held until wgpu has seen its commands complete. Shared pipelines and label
        // functions are those of this device.
        let sorter = unsafe { vksort::Sorter::new(&inner.raw, &inner.requirements, request, &options)? };
        Ok(Sorter { sorter, label: label.as_deref().unwrap_or("vksort").into(), device: device.clone() })
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        self.sorter.request()
    }

    /// The largest number of elements that this sorter can sort on its device, wgpu's limits on buffer sizes aside.
    pub fn max_count(&self) -> u32 {
        self.sorter.max_count()
    }

    /// What the device allows in this sort of segments; `None` for a request of one array.
    pub fn segments(&self) -> Option<SegmentLimits<'_>> {
        self.sorter.segments()
    }

    /// The buffers that a sort with this capacity needs, with their sizes: [`vksort::Sorter::buffer_sizes`].
    pub fn buffer_sizes(&self, capacity: impl Into<Capacity>) -> BufferSizes {
        self.sorter.buffer_sizes(capacity)
    }

    /// Bytes of scratch for a sort with this capacity; 0 when it needs none. [`vksort::Sorter::scratch_size`] has the formulas.
    ///
    /// # Errors
    ///
    /// [`vksort::Error::TooManyElements`], and [`vksort::Error::Unsupported`] for too many segments.
    pub fn scratch_size(&self, capacity: impl Into<Capacity>) -> Result<u64, Error> {
        Ok(self.sorter.scratch_size(capacity)?)
    }

    /// Usage flags for a scratch buffer of yours: [`vksort::Sorter::scratch_usage`] as wgpu has it.
    pub fn scratch_usage(&self) -> BufferUsages {
        SCRATCH_USAGE
    }

    /// Binds the sorter to buffers. The result can be recorded any number of times.
    ///
    /// * Every buffer needs the usage `STORAGE`, the scratch buffer [`scratch_usage`](Self::scratch_usage).
    /// * Without a scratch buffer, the sort creates its own. Sorts on one queue may share a buffer.
    /// * Records are bound as the keys. The words of segments and the count may be in one buffer.
    /// * The sort keeps the buffers alive. After [`Buffer::destroy`], wgpu refuses submissions with the sort.
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::BufferTooSmall`], [`vksort::Error::MisalignedOffset`], [`vksort::Error::MissingUsage`] (in Vulkan's
    ///   words) or [`vksort::Error::Overlap`] for a range.
    /// * [`vksort::Error::BufferPresence`] for a buffer that is missing or not used, [`vksort::Error::Unsupported`] for a
    ///   destroyed one.
    /// * [`vksort::Error::TooManyElements`] for the elements of the capacity, [`vksort::Error::Unsupported`] for its segments, and
    ///   for a count buffer of a sort whose capacity is 0.
    /// * [`Error::Wgpu`] when wgpu refuses a buffer of another device, or cannot create the scratch buffer.
    /// * [`vksort::Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * The buffers come from the same `wgpu::Instance` as the sorter's device. wgpu identifies resources by
    ///   numbers that each instance counts separately, so it cannot recognize a buffer of another instance.
    /// * No buffer is destroyed ([`Buffer::destroy`]) during the call.
    pub unsafe fn bind(&self, buffers: &SortBuffers<BufferSlice<'_>>) -> Result<BoundSort, Error> {
        let sizes = (self.buffer_sizes(buffers.capacity), self.scratch_size(buffers.capacity)?);
        let ranges = Ranges::new(&self.device, &self.label, sizes, buffers)?;
        self.sorter.check_buffers(&ranges.raw)?;
        let tracked = ranges.track()?;
        // SAFETY: wgpu has just bound the buffers on this device, where all of each buffer has memory. The
        // result holds them, and their usage was checked.
        let sort = unsafe { self.sorter.bind(&ranges.raw)? };
        Ok(BoundSort { inner: ranges.hold(sort, tracked) })
    }
}
