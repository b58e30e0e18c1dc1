//! [`Sorter`]: the pipelines of one request on an owned device.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::buffer::DeviceRange;
use super::device::Device;
use super::prepared::{PreparedSort, SortRanges};
use crate::error::Error;
use crate::record::{self, Access, SegmentLimits, SorterOptions};
use crate::request::{Algorithm, BufferSizes, Capacity, SortRequest};
use crate::shape::Shape;

/// The pipelines of one request on an owned device, as [`vksort::Sorter`](crate::Sorter) holds those of a renderer's device.
/// [`Gpu::sorter`](super::Gpu::sorter) builds it.
///
/// It is a handle: its clones share the pipelines.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{KeyType, Order, SortRequest, SorterOptions};
///
/// let gpu = vksort::standalone::Gpu::best()?;
/// let request = SortRequest::new(KeyType::I16).order(Order::Descending);
/// let sorter = gpu.sorter(&request, &SorterOptions::default())?;
/// // Build it once for sorts of different sizes.
/// for keys in [vec![3i16, -1, 2], vec![0; 1000]] {
///     let sort = sorter.prepare(keys.len() as u32)?;
///     sort.write_keys(&keys)?;
///     sort.run(keys.len() as u32)?;
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Sorter {
    inner: Arc<Inner>,
}

struct Inner {
    sorter: ManuallyDrop<record::Sorter>,
    device: Arc<Device>,
    /// Whether a slice was sorted with it.
    has_run: AtomicBool,
}

impl fmt::Debug for Sorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.sorter.fmt(f)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: it goes once, here; sorts that still use its pipelines share them.
            unsafe { ManuallyDrop::drop(&mut self.sorter) };
        }
    }
}

impl Sorter {
    pub(super) fn new(device: &Arc<Device>, request: &SortRequest, options: &SorterOptions) -> Result<Self, Error> {
        // Pipelines are created one sorter at a time.
        let cache = device.pipeline_cache();
        let options = device.options(*cache, options);
        // SAFETY: the device was created from these requirements and is kept alive; functions and cache are its own, and
        // the cache is locked.
        let sorter = unsafe { record::Sorter::new(&device.raw, &device.requirements, request, &options)? };
        let (sorter, has_run) = (ManuallyDrop::new(sorter), AtomicBool::new(false));
        Ok(Sorter { inner: Arc::new(Inner { sorter, device: Arc::clone(device), has_run }) })
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        self.inner.sorter.request()
    }

    /// The buffers that a sort with this capacity needs, with their sizes, as [`vksort::Sorter::buffer_sizes`](crate::Sorter::buffer_sizes).
    pub fn buffer_sizes(&self, capacity: impl Into<Capacity>) -> BufferSizes {
        self.inner.sorter.buffer_sizes(capacity)
    }

    /// Bytes of scratch for a sort with this capacity, as [`vksort::Sorter::scratch_size`](crate::Sorter::scratch_size).
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], and [`Error::Unsupported`] for too many segments.
    pub fn scratch_size(&self, capacity: impl Into<Capacity>) -> Result<u64, Error> {
        self.inner.sorter.scratch_size(capacity)
    }

    /// The largest number of elements that this sorter can sort on its device.
    pub fn max_count(&self) -> u32 {
        self.inner.sorter.max_count()
    }

    /// The algorithm that sorts `count` elements here; `None` for segments and first elements, which are sorted by other kernels.
    pub fn algorithm(&self, count: u32) -> Option<Algorithm> {
        self.inner.sorter.algorithm(count)
    }

    /// How the kernels access keys and values; never [`Access::Auto`].
    pub fn access(&self) -> Access {
        self.inner.sorter.access()
    }

    /// What the device allows in a sort of segments; `None` for a request of one array.
    pub fn segments(&self) -> Option<SegmentLimits<'_>> {
        self.inner.sorter.segments()
    }

    /// The launch configuration of the kernels: workgroup, items, subgroup.
    #[doc(hidden)]
    pub fn shape(&self) -> &Shape {
        self.inner.sorter.shape()
    }

    /// Elements of a tile, which one workgroup takes in a pass, in a sort with this capacity.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    #[doc(hidden)]
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        self.inner.sorter.tile_size(capacity)
    }

    /// The sorter of the recording API, for tests.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn recording(&self) -> &record::Sorter {
        &self.inner.sorter
    }

    /// Prepares a sort with this capacity on new buffers, for counts from the host or on the device. The count on the device starts as
    /// 0; everything else starts with undefined content. A sort for 0 elements has no count on the device.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], [`Error::Unsupported`] for too many segments, [`Error::Allocation`], [`Error::Timeout`],
    /// [`Error::Vulkan`].
    pub fn prepare(&self, capacity: impl Into<Capacity>) -> Result<PreparedSort, Error> {
        let capacity = capacity.into();
        self.prepare_buffers(capacity, capacity.elements > 0)
    }

    /// The same, with a count buffer only if the count may be on the device.
    pub(super) fn prepare_buffers(&self, capacity: Capacity, counted: bool) -> Result<PreparedSort, Error> {
        let device = &self.inner.device;
        // This checks the capacity, so it comes before allocations.
        let scratch = self.scratch_size(capacity)?;
        let count = counted.then(|| DeviceRange::allocate(device, 4)).transpose()?;
        if let Some(count) = &count {
            count.buffer.write(0, &[0u32])?;
        }
        let ranges = SortRanges::allocate(device, self.buffer_sizes(capacity), scratch, capacity)?;
        self.prepare_on(ranges.count(count))
    }

    /// Prepares a sort on the given ranges.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignBuffer`] for a buffer of another device, [`Error::OutOfBounds`] for a range that exceeds its buffer,
    /// else as for [`vksort::Sorter::bind`](crate::Sorter::bind).
    pub fn prepare_on(&self, ranges: SortRanges) -> Result<PreparedSort, Error> {
        let buffers = ranges.checked(&self.inner.device)?;
        // SAFETY: the buffers are this device's, kept alive by the ranges, and have every usage flag.
        let bound = unsafe { self.inner.sorter.bind(&buffers)? };
        PreparedSort::new(bound, ranges, &self.inner.device)
    }

    /// Runs a sort, and logs how long the first one of the sorter took.
    pub(super) fn timed_once<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let started = Instant::now();
        let result = run()?;
        if !self.inner.has_run.swap(true, Ordering::Relaxed) {
            let (request, milliseconds) = (self.request(), started.elapsed().as_secs_f64() * 1e3);
            log::info!(
                "first sort: {request}: {milliseconds:.0} ms, with what the driver compiles at a first dispatch"
            );
        }
        Ok(result)
    }

    #[cfg(test)]
    pub(super) fn is_same(&self, other: &Sorter) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}
