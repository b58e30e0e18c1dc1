//! [`SegmentedSorter`] and [`BoundSegments`]: sorts of segments, through the sorters and bound sorts of elements.

use ash::vk;

use super::bind::BoundSort;
use super::buffers::{BufferRange, SortBuffers};
use super::commands::{AccessScope, QueryRange, StepTime};
use super::memory::Beside;
use super::options::{Access, SorterOptions};
use super::requirements::Requirements;
use super::sorter::{Extras, Sorter};
use crate::error::Error;
use crate::plan::{Plan, StepName};
use crate::request::{BufferSizes, Count};
use crate::segments::{SegmentedRequest, Segments};
use crate::shape::{Windows, largest};

/// The pipelines of one kind of sort of segments, for every number of elements and segments.
///
/// ```
/// use ash::vk::{BufferUsageFlags as Usage, CommandBuffer};
/// use vksort::{BufferRange, Count, Error, KeyType, Requirements, SegmentBuffers, SegmentedRequest, SegmentedSorter};
/// use vksort::{Segments, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
///
/// # unsafe fn record(
/// #     device: &ash::Device,
/// #     requirements: &Requirements,
/// #     commands: CommandBuffer,
/// #     allocate: impl Fn(u64, Usage) -> BufferRange,
/// # ) -> Result<(), Error> {
/// # // SAFETY: never called.
/// # unsafe {
/// // The splats of each screen tile by depth; another pass writes the offsets, and how many tiles there are.
/// let splats = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::F32) };
/// let request = SegmentedRequest::new(splats, Segments::Offsets);
/// let sorter = SegmentedSorter::new(device, requirements, &request, &SorterOptions::default())?;
///
/// let (splats, tiles) = (1_000_000, 3_600);
/// let elements = SortBuffers {
///     values: Some(allocate(4_000_000, Usage::STORAGE_BUFFER)),
///     count: Some(allocate(4, Usage::STORAGE_BUFFER)), // tiles
///     scratch: Some(allocate(sorter.scratch_size(splats, tiles)?, Sorter::SCRATCH_USAGE)),
///     ..SortBuffers::in_place(allocate(4_000_000, Usage::STORAGE_BUFFER), splats)
/// };
/// let offsets = allocate(4 * Segments::Offsets.words(tiles), Usage::STORAGE_BUFFER);
/// let sort = sorter.bind(&SegmentBuffers { elements, segments: Some(offsets), segment_capacity: tiles })?;
///
/// sort.record(commands, Count::Device, None)?;
/// # }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SegmentedSorter {
    sorter: Sorter,
    request: SegmentedRequest,
    windows: Windows,
}

/// The buffers of a sort of segments. Ranges must not overlap.
///
/// `R` is the type of a range, as in [`SortBuffers`].
#[derive(Clone, Copy, Debug)]
pub struct SegmentBuffers<R = BufferRange> {
    /// The elements: their capacity is that of elements, but the count, if it is on the device, is the number of *segments*, unless
    /// the whole array is the segment.
    pub elements: SortBuffers<R>,
    /// The words that say where segments are, [`Segments::words`](crate::Segments::words) of 4 bytes for `segment_capacity`; `None` if
    /// there are none. The offset is a multiple of `minStorageBufferOffsetAlignment`, as those of elements.
    pub segments: Option<R>,
    /// The largest number of segments that the sort will be recorded with; 1 for the whole array.
    pub segment_capacity: u32,
}

impl SegmentedSorter {
    /// Builds the pipelines for a request.
    ///
    /// # Errors
    ///
    /// * As for [`Sorter::new`].
    /// * [`Error::Unsupported`] for what [`SegmentedRequest::check`] refuses, and for a [`top`](SegmentedRequest::top) of more than
    ///   [`max_top`](Self::max_top) elements: the error names the number.
    ///
    /// # Safety
    ///
    /// As for [`Sorter::new`].
    pub unsafe fn new(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SegmentedRequest,
        options: &SorterOptions,
    ) -> Result<SegmentedSorter, Error> {
        request.check()?;
        let extras = Extras { segments: Some(request), fields: request.fields(), ..Extras::default() };
        // SAFETY: the same contract.
        let sorter = unsafe { Sorter::build(device, requirements, &request.sort, options, extras)? };
        let windows = sorter.shape().windows.expect("the shape of a sort of segments has windows");
        Ok(SegmentedSorter { sorter, request: *request, windows })
    }

    /// The most elements of a segment that this sorter sorts on its device, if the request does not say fewer: there is a limit, a block
    /// of the device, where the request promises that no segment is longer.
    pub fn longest(&self) -> u32 {
        let unlimited = self.windows.survivors.is_some() || self.windows.rounds > 0;
        if unlimited { u32::MAX } else { self.windows.block.elements() }
    }

    /// Elements of a block, which one workgroup sorts: if the request promises that no segment is longer
    /// ([`up_to`](SegmentedRequest::up_to)), the sort is one dispatch without scratch.
    pub fn block(&self) -> u32 {
        self.windows.block.elements()
    }

    /// The most elements that the [`top`](SegmentedRequest::top) of each segment may have, in a request with the same keys and values.
    pub fn max_top(&self) -> u32 {
        self.windows.block.elements()
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SegmentedRequest {
        &self.request
    }

    /// The buffers of elements that a sort of up to so many elements and segments needs: [`SegmentedRequest::buffers`].
    pub fn buffers(&self, capacity: u32, segment_capacity: u32) -> BufferSizes {
        self.request.buffers(capacity, segment_capacity)
    }

    /// Bytes of scratch for so many elements and segments, as [`Sorter::scratch_size`]. It holds the composed keys of records, and if
    /// segments may be longer than a [`block`](Self::block), by the request and by the number of elements,
    ///
    /// * to sort, a second copy of keys and values, a third one of keys that are discarded out of place, as composed ones are, and lists:
    ///   with blocks of `b` elements and `n` in all, 528 bytes and 48 for each digit of 8 bits, and for `p = n / (b + 1)` longer segments
    ///   1,084 `p` + 8 `w` + 1,024 `r` bytes, where `w = (n + 255 p) / (3 b / 4) + p` and `r = 2 n / (4 b + 1)`; that is 0.4 bytes for
    ///   each element if `b` is 4,096;
    /// * for the [`top`](SegmentedRequest::top) of rows, or of the whole array, with room for `c` elements of a row to be sorted, 784
    ///   bytes and 8,260 + 4 `c` bytes for each row. `c` is twice the top, at least a quarter of a block, and at most a block, which it
    ///   is for the whole array;
    /// * for that of offsets or ranges, 784 bytes and 8,276 + 4 `c` bytes for each tile of the longer segments. A tile has `t` elements, at
    ///   least 2 `b` + 2, and more if there are many. With a segment capacity of `s` there are at most `n / (b + 1)` tiles, and at most
    ///   `s + n / t`: up to 3 to 6 bytes for each element if `b` is 4,096, and much less for few segments. The sort touches only the
    ///   bytes of segments that are there.
    ///
    /// Each part has whole 256 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], and [`Error::Unsupported`] for too many segments.
    pub fn scratch_size(&self, capacity: u32, segment_capacity: u32) -> Result<u64, Error> {
        Ok(self.plan(capacity, segment_capacity)?.scratch().size)
    }

    /// Usage flags that buffers of keys and values need, as [`Sorter::element_usage`].
    pub fn element_usage(&self) -> vk::BufferUsageFlags {
        self.sorter.element_usage()
    }

    /// How the kernels access keys and values; never [`Access::Auto`].
    pub fn access(&self) -> Access {
        self.sorter.access()
    }

    /// The largest number of elements that this sorter takes on its device, as [`Sorter::max_count`].
    pub fn max_count(&self) -> u32 {
        self.sorter.max_count()
    }

    /// The largest number of segments beside so many elements.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn max_segments(&self, capacity: u32) -> Result<u32, Error> {
        let plan = self.sorter.inner.plan(capacity)?;
        Ok(largest(0, u32::MAX, |segment_capacity| self.exceeded(&Plan { segment_capacity, ..plan }).is_none()))
    }

    /// The plan for so many elements and segments.
    fn plan(&self, capacity: u32, segment_capacity: u32) -> Result<Plan, Error> {
        let plan = Plan { segment_capacity, ..self.sorter.inner.plan(capacity)? };
        if self.request.segments == Segments::Whole && segment_capacity == 0 {
            return Err(too_many(0, "1, the whole array".into()));
        }
        if self.exceeded(&plan).is_some() {
            let most = self.max_segments(capacity)?;
            let limit = self.exceeded(&Plan { segment_capacity: most + 1, ..plan }).unwrap_or_default();
            return Err(too_many(segment_capacity.into(), format!("up to {most}, {limit}")));
        }
        Ok(plan)
    }

    /// A limit of the number of segments that a plan exceeds.
    fn exceeded(&self, plan: &Plan) -> Option<String> {
        let (elements, segments) = (u64::from(plan.capacity), u64::from(plan.segment_capacity));
        let (layout, most, sort) = (self.request.segments, u64::from(u32::MAX), &self.request.sort);
        let range = self.sorter.inner.profile.max_storage_range_bytes;
        let of_range = |what| format!("whose {what} have the {range} bytes of the device's maxStorageBufferRange");
        let (results, scratch) = (plan.results(), plan.scratch());
        if layout == Segments::Whole && segments > 1 {
            return Some("the whole array".into());
        }
        if elements + segments > most {
            return Some(format!("with the {elements} elements 2^32 - 1"));
        }
        if let Some(stride) = layout.stride().filter(|stride| segments * u64::from(*stride) > elements) {
            return Some(format!("the rows of {stride} in {elements} elements"));
        }
        if 4 * layout.words(plan.segment_capacity) > range {
            return Some(of_range("words"));
        }
        if results > most {
            return Some(format!("whose results are 2^32 - 1, {} of each", self.windows.top));
        }
        let widest = sort.key.size_bytes().max(sort.value.size_bytes());
        if self.access() == Access::Descriptors && results.saturating_mul(widest) > range {
            return Some(of_range("results"));
        }
        (scratch.counters.size.max(scratch.table.size) > range).then(|| of_range("words in scratch"))
    }

    /// The checked sort, before its descriptors.
    fn placed(&self, buffers: &SegmentBuffers) -> Result<BoundSort, Error> {
        let SegmentBuffers { elements, segments, segment_capacity } = buffers;
        let plan = self.plan(elements.capacity, *segment_capacity)?;
        let words = self.request.segments.words(*segment_capacity);
        // Some words, if these segments have any.
        let taken = self.request.segments.words(1) > 0;
        let beside = Beside { name: "segments", range: *segments, taken, count: *segment_capacity, bytes: 4 * words };
        BoundSort::placed(&self.sorter, plan, elements, beside)
    }

    /// Binds the sorter to buffers. The result can be recorded any number of times, in any number of command buffers.
    ///
    /// # Errors
    ///
    /// * As for [`Sorter::bind`], where the buffer of segments is called `segments`.
    /// * [`Error::Unsupported`] for more segments than there may be: with the elements 2^32 - 1, of rows as many as the elements have,
    ///   and as many as have words within the device's `maxStorageBufferRange`.
    ///
    /// # Safety
    ///
    /// As for [`Sorter::bind`]. The buffers of segments and of the count are not accessed by address.
    pub unsafe fn bind(&self, buffers: &SegmentBuffers) -> Result<BoundSegments, Error> {
        let mut bound = self.placed(buffers)?;
        // SAFETY: by this function's contract.
        unsafe { bound.complete()? };
        Ok(BoundSegments { bound })
    }

    /// Refuses buffers that [`bind`](Self::bind) refuses for what is known without the device.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind), but for [`Error::Vulkan`].
    pub fn check_buffers(&self, buffers: &SegmentBuffers) -> Result<(), Error> {
        self.placed(buffers).map(drop)
    }
}

/// A sort of segments bound to its buffers. Recording it allocates nothing and changes no descriptor, as with [`BoundSort`].
///
/// It may be dropped before or after its [`SegmentedSorter`], but not while a command buffer with the recorded sort is pending.
#[derive(Debug)]
pub struct BoundSegments {
    bound: BoundSort,
}

impl BoundSegments {
    /// The first accesses to keys, values, segments and count: the destination scope of the barrier before the sort.
    pub const INPUT_SCOPE: AccessScope = BoundSort::INPUT_SCOPE;
    /// The last accesses to them: the source scope of the barrier after the sort.
    pub const OUTPUT_SCOPE: AccessScope = BoundSort::OUTPUT_SCOPE;

    /// The largest number of segments that the sort can be recorded with.
    pub fn segment_capacity(&self) -> u32 {
        self.bound.plan.segment_capacity
    }

    /// Names of the steps that sort so many segments, in order.
    pub fn step_names(&self, segments: impl Into<Count>) -> Vec<StepName> {
        self.bound.step_names(segments)
    }

    /// Refuses a number of segments that [`record`](Self::record) refuses, and returns any other.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record), but for queries.
    pub fn check_count(&self, segments: impl Into<Count>) -> Result<Count, Error> {
        let (segments, most) = (segments.into(), self.segment_capacity());
        let counts_elements = self.bound.plan.shape.windows.is_some_and(|windows| windows.segments == Segments::Whole);
        match segments {
            Count::Host(given) if given > most && !counts_elements => {
                Err(too_many(given.into(), format!("up to {most}, the segment capacity")))
            }
            segments => self.bound.check_count(segments),
        }
    }

    /// How many timestamp queries the recorded sort writes: one before the first step and one after each.
    pub fn query_count(&self, segments: impl Into<Count>) -> u32 {
        self.bound.query_count(segments)
    }

    /// Turns the ticks of a recording's queries into the time of each step, as [`BoundSort::step_times`].
    pub fn step_times(&self, segments: impl Into<Count>, ticks: &[u64], valid_bits: u32) -> Vec<StepTime> {
        self.bound.step_times(segments, ticks, valid_bits)
    }

    /// Records the sort of the first `segments` segments. With [`Count::Device`] their number is read from the count buffer, and is
    /// at most the segment capacity. If the whole array is the segment ([`Segments::Whole`]), the number is that of its elements, and
    /// at most their capacity.
    ///
    /// It allocates nothing, submits nothing and waits for nothing. It changes the bound compute pipeline, descriptor set 0 of
    /// compute, and the push constants. The recorded steps depend on the capacities, and on a count from the host.
    ///
    /// The sort touches nothing outside the bound ranges, and no element outside the segments' ranges, whatever the buffers of
    /// segments and count hold: see [`Segments`](crate::Segments).
    ///
    /// The barriers around the sort are those of [`BoundSort::record`], with the words of segments among the buffers that it reads.
    ///
    /// # Errors
    ///
    /// After an error nothing has been recorded.
    ///
    /// * [`Error::Unsupported`]: there are more segments than the segment capacity; of the whole array, [`Error::TooManyElements`].
    /// * [`Error::BufferPresence`]: the count is on the device, and no count buffer was bound.
    /// * [`Error::TooFewQueries`]: `timestamps` has fewer queries than [`query_count`](Self::query_count) says.
    ///
    /// # Safety
    ///
    /// As for [`BoundSort::record`]; the words of segments are one of the buffers.
    pub unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        segments: impl Into<Count>,
        timestamps: Option<QueryRange>,
    ) -> Result<(), Error> {
        let segments = self.check_count(segments)?;
        // SAFETY: the same contract.
        unsafe { self.bound.record(commands, segments, timestamps) }
    }
}

fn too_many(given: u64, allowed: String) -> Error {
    Error::unsupported("the number of segments", given, allowed)
}
