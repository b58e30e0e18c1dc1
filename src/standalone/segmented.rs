//! Sorts of segments prepared on an owned device.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use bytemuck::Pod;

use super::buffer::DeviceRange;
use super::device::Device;
use super::prepared::{SortRanges, check_keys, read, write};
use super::queries::Queries;
use crate::error::Error;
use crate::record::{BoundSegments, SegmentBuffers, SegmentedSorter, SorterOptions, StepTime};
use crate::segments::{SegmentedRequest, Segments};

/// A [`SegmentedSorter`] on an owned device: the pipelines of one request.
///
/// [`Gpu::segmented_sorter`](super::Gpu::segmented_sorter) builds it, and [`prepare`](Self::prepare) makes buffers for it.
pub struct StandaloneSegmentedSorter {
    sorter: ManuallyDrop<SegmentedSorter>,
    device: Arc<Device>,
    /// Whether a slice was sorted with it.
    pub(super) has_run: AtomicBool,
}

impl fmt::Debug for StandaloneSegmentedSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StandaloneSegmentedSorter").field(&*self.sorter).finish()
    }
}

impl Deref for StandaloneSegmentedSorter {
    type Target = SegmentedSorter;

    fn deref(&self) -> &SegmentedSorter {
        &self.sorter
    }
}

impl Drop for StandaloneSegmentedSorter {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: it goes once, here; sorts that still use its pipelines share them.
            unsafe { ManuallyDrop::drop(&mut self.sorter) };
        }
    }
}

impl StandaloneSegmentedSorter {
    pub(super) fn new(
        device: &Arc<Device>,
        request: &SegmentedRequest,
        options: &SorterOptions,
    ) -> Result<Self, Error> {
        // Pipelines are created one sorter at a time.
        let cache = device.pipeline_cache();
        let options = device.options(*cache, options);
        // SAFETY: the device was created from these requirements and is kept alive; functions and cache are its own, and
        // the cache is locked.
        let sorter = unsafe { SegmentedSorter::new(&device.raw, &device.requirements, request, &options)? };
        Ok(StandaloneSegmentedSorter {
            sorter: ManuallyDrop::new(sorter),
            device: Arc::clone(device),
            has_run: AtomicBool::new(false),
        })
    }

    /// Prepares a sort of up to `capacity` elements and `segment_capacity` segments on new buffers, whose content is undefined at
    /// first.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], [`Error::Unsupported`] for too many segments, [`Error::Allocation`], [`Error::Timeout`],
    /// [`Error::Vulkan`].
    pub fn prepare(&self, capacity: u32, segment_capacity: u32) -> Result<PreparedSegments, Error> {
        let device = &self.device;
        // This checks the capacities, so it comes before allocations.
        let scratch = self.scratch_size(capacity, segment_capacity)?;
        let sizes = self.buffers(capacity, segment_capacity);
        let elements = SortRanges::allocate(device, sizes, scratch, capacity)?;
        let layout = self.request().segments;
        let words = || DeviceRange::allocate(device, 4 * layout.words(segment_capacity));
        let segments = (layout.words(1) > 0).then(words).transpose()?;
        let buffers = SegmentBuffers {
            elements: elements.checked(device)?,
            segments: segments.as_ref().map(|range| range.checked("segments", device)).transpose()?,
            segment_capacity,
        };
        let ranges = SegmentBuffers { elements, segments, segment_capacity };
        // SAFETY: the buffers are this device's, kept alive by the ranges, and have every usage flag.
        let bound = ManuallyDrop::new(unsafe { self.sorter.bind(&buffers)? });
        let request = *self.request();
        let mut sort = PreparedSegments {
            bound,
            queries: None,
            ranges,
            request,
            device: Arc::clone(device),
            running: Mutex::new(()),
        };
        let most = [sort.all(), 1].map(|count| sort.bound.query_count(count));
        sort.queries = Queries::new(device, most[0].max(most[1]))?;
        Ok(sort)
    }
}

/// A sort of segments with its buffers on the device, which can be run repeatedly.
///
/// Elements have any plain type ([`bytemuck::Pod`]), as in a [`PreparedSort`](super::PreparedSort).
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{KeyType, SegmentedRequest, Segments, SortRequest, SorterOptions, ValueType};
///
/// let gpu = vksort::standalone::Gpu::best()?;
/// let pairs = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::F32) };
/// let request = SegmentedRequest::new(pairs, Segments::Offsets);
/// let sort = gpu.segmented_sorter(&request, &SorterOptions::default())?.prepare(1000, 100)?; // elements, segments
/// sort.write_segments(&[0, 2, 5])?;
/// sort.write_keys(&[2.5f32, -1.0, 7.0, 6.0, 5.0])?;
/// sort.write_values(&[0u32, 1, 2, 3, 4])?;
/// for step in sort.run(2)? {
///     println!("{}: {} ns", step.name, step.nanoseconds);
/// }
/// let mut values = [0u32; 5];
/// sort.read_values(&mut values)?;
/// assert_eq!(values, [1, 0, 4, 3, 2]);
/// # Ok(()) }
/// ```
pub struct PreparedSegments {
    bound: ManuallyDrop<BoundSegments>,
    queries: Option<Queries>,
    ranges: SegmentBuffers<DeviceRange>,
    request: SegmentedRequest,
    device: Arc<Device>,
    /// Locked from a run's submission until its times are read, because runs share the queries.
    running: Mutex<()>,
}

impl Drop for PreparedSegments {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: every run was waited for, so the sets are not in use; they go once, before the device that `self` still
            // holds.
            unsafe { ManuallyDrop::drop(&mut self.bound) };
        }
    }
}

impl fmt::Debug for PreparedSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedSegments").field("request", &self.request).field("ranges", &self.ranges).finish()
    }
}

impl PreparedSegments {
    /// Writes the first keys, or records.
    ///
    /// # Errors
    ///
    /// As for [`PreparedSort::write_keys`](super::PreparedSort::write_keys).
    pub fn write_keys<T: Pod>(&self, keys: &[T]) -> Result<(), Error> {
        write("keys", &self.ranges.elements.keys, keys)
    }

    /// Writes the first values. Indices may be written too, where the sort will have them: in no segment they stay as they are.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no such buffer.
    pub fn write_values<T: Pod>(&self, values: &[T]) -> Result<(), Error> {
        let (given, needed) = ("no values to read", "a request with values");
        let elements = &self.ranges.elements;
        let range = elements.values.as_ref().or(elements.values_out.as_ref());
        write("values", range.ok_or(Error::NotInRequest { what: "writing values", given, needed })?, values)
    }

    /// Writes the first words that say where segments are: see [`Segments`].
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when segments have no words.
    pub fn write_segments(&self, words: &[u32]) -> Result<(), Error> {
        let (given, needed) = ("segments without words", "offsets, ranges or lengths of rows");
        let range = self.ranges.segments.as_ref();
        write("segments", range.ok_or(Error::NotInRequest { what: "writing segments", given, needed })?, words)
    }

    /// Reads the first sorted keys, or records.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request discards keys.
    pub fn read_keys<T: Pod>(&self, keys: &mut [T]) -> Result<(), Error> {
        check_keys(&self.request.sort, self.request.fields())?;
        let elements = &self.ranges.elements;
        read("keys", elements.keys_out.as_ref().unwrap_or(&elements.keys), keys)
    }

    /// Reads the first sorted values or indices.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no values.
    pub fn read_values<T: Pod>(&self, values: &mut [T]) -> Result<(), Error> {
        let elements = &self.ranges.elements;
        let range = elements.values_out.as_ref().or(elements.values.as_ref());
        let (given, needed) = ("none", "values or indices");
        read("values", range.ok_or(Error::NotInRequest { what: "reading values", given, needed })?, values)
    }

    /// Sorts the first `segments` segments, or of the whole array so many elements, and waits. Returns the time of each step; the
    /// list is empty if the device has no timestamps.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for more segments than the segment capacity, [`Error::TooManyElements`] for more elements of the whole
    /// array than the capacity; [`Error::Timeout`], [`Error::Vulkan`].
    pub fn run(&self, segments: u32) -> Result<Vec<StepTime>, Error> {
        let device = &self.device;
        let _running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let queries = self.queries.as_ref().map(Queries::range);
        // SAFETY: the command buffer is recording on a compute queue; earlier transfers and sorts were waited for on the host;
        // buffers and queries are kept alive by `self`; `execute` waits until the commands are done.
        unsafe { device.execute("the sort", |commands| self.bound.record(commands, segments, queries))? };
        let Some(queries) = &self.queries else { return Ok(Vec::new()) };
        let ticks = queries.ticks(self.bound.query_count(segments))?;
        Ok(self.bound.step_times(segments, &ticks, device.timestamp_bits))
    }

    /// The count of a run of all elements.
    pub(super) fn all(&self) -> u32 {
        match self.request.segments {
            Segments::Whole => self.ranges.elements.capacity,
            _ => self.ranges.segment_capacity,
        }
    }
}
