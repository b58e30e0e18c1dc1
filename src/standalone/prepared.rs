//! Sorts prepared on an owned device: buffers stay there between runs.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ash::vk;
use bytemuck::Pod;

use super::buffer::{DeviceBuffer, DeviceRange};
use super::device::Device;
use super::queries::Queries;
use crate::abi;
use crate::error::Error;
use crate::record::{AccessScope, BoundSort, SortBuffers, StepTime, Verifier};
use crate::request::{Algorithm, BufferSizes, Capacity, Count};

/// The ranges of one sort: [`SortBuffers`] on owned memory. [`Sorter::buffer_sizes`](super::Sorter::buffer_sizes) returns the ranges
/// that a sort needs, with their sizes.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{KeyType, SortRequest, SorterOptions};
/// use vksort::standalone::{Gpu, SortRanges};
///
/// // Keys in the middle of a buffer are sorted where they are.
/// let gpu = Gpu::best()?;
/// let sorter = gpu.sorter(&SortRequest::new(KeyType::U32), &SorterOptions::default())?;
/// let offset = 4 * gpu.profile().storage_alignment_bytes; // ranges start at multiples of the alignment
/// let (size, scratch) = (4 * 200, sorter.scratch_size(200)?);
/// let buffer = gpu.buffer(offset + size + 100)?;
/// buffer.write(offset, &(0..200u32).rev().collect::<Vec<_>>())?;
///
/// let scratch = (scratch > 0).then(|| gpu.buffer(scratch).map(|buffer| buffer.range(0, scratch))).transpose()?;
/// let sort = sorter.prepare_on(SortRanges::new(200).keys(buffer.range(offset, size)).scratch(scratch))?;
/// sort.run(200)?;
/// let mut sorted = [0u32; 200];
/// sort.read_keys(&mut sorted)?;
/// assert!(sorted.is_sorted());
/// # Ok(()) }
/// ```
pub type SortRanges = SortBuffers<DeviceRange>;

impl SortRanges {
    /// New buffers of these sizes, without one for a count.
    pub(super) fn allocate(
        device: &Arc<Device>,
        sizes: BufferSizes,
        scratch: u64,
        capacity: Capacity,
    ) -> Result<SortRanges, Error> {
        let allocate = |size: Option<u64>| size.map(|size| DeviceRange::allocate(device, size)).transpose();
        Ok(SortRanges {
            keys: allocate(sizes.keys)?,
            values: allocate(sizes.values)?,
            keys_out: allocate(sizes.keys_out)?,
            values_out: allocate(sizes.values_out)?,
            scratch: allocate(Some(scratch).filter(|size| *size > 0))?,
            count: None,
            segments: allocate(sizes.segments)?,
            capacity,
        })
    }

    /// The ranges for the recording API, if each is within a buffer of the device.
    pub(super) fn checked(&self, device: &Arc<Device>) -> Result<SortBuffers, Error> {
        let checked = |name: &'static str, range: &Option<DeviceRange>| {
            range.as_ref().map(|range| range.checked(name, device)).transpose()
        };
        Ok(SortBuffers {
            keys: checked("keys", &self.keys)?,
            values: checked("values", &self.values)?,
            keys_out: checked("keys_out", &self.keys_out)?,
            values_out: checked("values_out", &self.values_out)?,
            scratch: checked("scratch", &self.scratch)?,
            count: checked("count", &self.count)?,
            segments: checked("segments", &self.segments)?,
            capacity: self.capacity,
        })
    }
}

/// A sort with its buffers on the device, which can be run repeatedly.
///
/// Elements have any plain type ([`bytemuck::Pod`]): the type of the keys, bytes, or a structure of the same size.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{Capacity, Count, KeyType, Segments, SortRequest, SorterOptions, ValueType};
///
/// let gpu = vksort::standalone::Gpu::best()?;
/// let request = SortRequest::new(KeyType::F32).value(ValueType::Bytes(8));
/// let sort = gpu.sorter(&request, &SorterOptions::default())?.prepare(1000)?; // elements
/// sort.write_keys(&[2.5f32, -1.0, 7.0])?;
/// sort.write_values(&[[0u32, 10], [1, 11], [2, 12]])?;
/// for step in sort.run(3)? {
///     println!("{}: {} ns", step.name, step.nanoseconds);
/// }
/// let (mut keys, mut values) = ([0.0f32; 3], [[0u32; 2]; 3]);
/// sort.read_keys(&mut keys)?;
/// sort.read_values(&mut values)?;
/// assert_eq!((keys, values), ([-1.0, 2.5, 7.0], [[1, 11], [0, 10], [2, 12]]));
///
/// // The number of elements may be on the device as well.
/// sort.write_count(2)?;
/// sort.run(Count::Device)?;
///
/// // In segments: the first two elements, and the other three.
/// let sorter = gpu.sorter(&request.segments(Segments::Offsets), &SorterOptions::default())?;
/// let sort = sorter.prepare(Capacity::new(1000).segments(100))?;
/// sort.write_segments(&[0, 2, 5])?;
/// sort.write_keys(&[2.5f32, -1.0, 7.0, 6.0, 5.0])?;
/// sort.write_values(&[[0u32, 0], [1, 0], [2, 0], [3, 0], [4, 0]])?;
/// sort.run(2)?;
/// let mut values = [[0u32; 2]; 5];
/// sort.read_values(&mut values)?;
/// assert_eq!(values.map(|[index, _]| index), [1, 0, 4, 3, 2]);
/// # Ok(()) }
/// ```
pub struct PreparedSort {
    bound: ManuallyDrop<BoundSort>,
    queries: Option<Queries>,
    ranges: SortRanges,
    device: Arc<Device>,
    /// Whether the last run took passes over tiles. Locked from a run's submission until its times are read, because runs
    /// share the queries.
    has_passes: Mutex<bool>,
    /// The verifier of verified runs, with its report.
    verifier: Mutex<Option<(ManuallyDrop<Verifier>, DeviceBuffer)>>,
}

impl Drop for PreparedSort {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        // SAFETY: every run was waited for, so the sets are not in use; each goes once, before the device that `self` still
        // holds.
        unsafe {
            let verifier = self.verifier.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            drop(verifier.map(|(verifier, _)| ManuallyDrop::into_inner(verifier)));
            ManuallyDrop::drop(&mut self.bound);
        }
    }
}

impl fmt::Debug for PreparedSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedSort")
            .field("request", &self.bound.sorter.request)
            .field("ranges", &self.ranges)
            .finish()
    }
}

impl PreparedSort {
    /// The largest number of runs in one command buffer. A sort takes some hundred commands at most, and drivers hold all of them
    /// in memory, so this many may take a gigabyte.
    pub const MAX_REPETITIONS: u32 = 1 << 14;

    pub(super) fn new(bound: BoundSort, ranges: SortRanges, device: &Arc<Device>) -> Result<PreparedSort, Error> {
        let (has_passes, verifier) = Default::default();
        let device = Arc::clone(device);
        let bound = ManuallyDrop::new(bound);
        let mut sort = PreparedSort { bound, queries: None, ranges, device, has_passes, verifier };
        let counts = [sort.all(), Count::Host(1), Count::Device];
        let most = counts.into_iter().fold(0, |most, count| most.max(sort.bound.query_count(count)));
        sort.queries = Queries::new(&sort.device, most.max(2))?;
        Ok(sort)
    }

    /// The count of all elements, or segments.
    pub(super) fn all(&self) -> Count {
        Count::Host(self.bound.plan.most())
    }

    /// Writes the first keys, or records.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`] for more keys than the capacity, [`Error::NotInRequest`] when a visitor makes the keys;
    /// [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`] for a failed transfer.
    pub fn write_keys<T: Pod>(&self, keys: &[T]) -> Result<(), Error> {
        let (given, needed) = ("keys that a visitor makes", "a request with keys in a buffer");
        let absent = Error::NotInRequest { what: "writing keys", given, needed };
        write("keys", self.ranges.keys.as_ref().ok_or(absent)?, keys)
    }

    /// Writes the first values. In a sort of segments, indices may be written too, where the sort will have them: in no segment they stay
    /// as they are.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no such values.
    pub fn write_values<T: Pod>(&self, values: &[T]) -> Result<(), Error> {
        let (given, needed) = ("no values to read", "a request with values");
        let unread = Error::NotInRequest { what: "writing values", given, needed };
        let request = &self.bound.sorter.sort;
        let range = match request.segments {
            Some(_) => self.ranges.values.as_ref().or(self.ranges.values_out.as_ref()),
            None => self.ranges.values.as_ref().filter(|_| request.value.is_read()),
        };
        write("values", range.ok_or(unread)?, values)
    }

    /// Writes the first words that say where segments are: see [`Segments`](crate::Segments).
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no segments with words.
    pub fn write_segments(&self, words: &[u32]) -> Result<(), Error> {
        let (given, needed) = ("no segments with words", "offsets, ranges or lengths of rows");
        let range = self.ranges.segments.as_ref();
        write("segments", range.ok_or(Error::NotInRequest { what: "writing segments", given, needed })?, words)
    }

    /// Writes the number that [`Count::Device`] takes, of elements or of segments. It starts as 0.
    ///
    /// # Errors
    ///
    /// [`Error::BufferPresence`] when the sort has no count buffer; else as for [`write_keys`](Self::write_keys).
    pub fn write_count(&self, count: u32) -> Result<(), Error> {
        let absent = Error::BufferPresence { buffer: "count", given: "absent", needed: "present" };
        write("count", self.ranges.count.as_ref().ok_or(absent)?, &[count])
    }

    /// Reads the first sorted keys, or records.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request discards keys.
    pub fn read_keys<T: Pod>(&self, keys: &mut [T]) -> Result<(), Error> {
        let (request, fields) = (&self.bound.sorter.sort, self.bound.plan.shape.fields);
        let moves_records = fields.is_some() && request.value.is_read();
        let is_there = !request.discards_keys() || moves_records;
        let (given, needed) = ("discarded keys", "sorted keys");
        let range = self.ranges.keys_out.as_ref().or(self.ranges.keys.as_ref()).filter(|_| is_there);
        read("keys", range.ok_or(Error::NotInRequest { what: "reading keys", given, needed })?, keys)
    }

    /// Reads the first sorted values or indices.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no values.
    pub fn read_values<T: Pod>(&self, values: &mut [T]) -> Result<(), Error> {
        let range = self.ranges.values_out.as_ref().or(self.ranges.values.as_ref());
        let (given, needed) = ("none", "values or indices");
        read("values", range.ok_or(Error::NotInRequest { what: "reading values", given, needed })?, values)
    }

    /// Sorts the first `count` elements or segments ([`Count`] says which), or the number in the count buffer, and waits. Returns the time
    /// of each step; the list is empty if the device has no timestamps. That behind each step takes time too: [`time`](Self::time) has none
    /// between steps.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`] for a count over the capacity, of segments [`Error::Unsupported`]; [`Error::BufferPresence`] for a count on the device without
    /// a count buffer, [`Error::Timeout`], [`Error::Vulkan`].
    pub fn run(&self, count: impl Into<Count>) -> Result<Vec<StepTime>, Error> {
        self.run_repeatedly(count, 1)
    }

    /// Runs the sort `times` times in one command buffer; returns the step times of the last run, and nothing for 0 runs.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for more than [`MAX_REPETITIONS`](Self::MAX_REPETITIONS) runs, else as for [`run`](Self::run).
    pub fn run_repeatedly(&self, count: impl Into<Count>, times: u32) -> Result<Vec<StepTime>, Error> {
        let count = count.into();
        if times > Self::MAX_REPETITIONS {
            let allowed = format!("at most {}", Self::MAX_REPETITIONS);
            return Err(Error::unsupported("number of runs in one command buffer", times, allowed));
        }
        if times == 0 {
            // Without a run no query is written, and reading it would wait for ever.
            return self.bound.check_count(count).map(|_| Vec::new());
        }
        let device = &self.device;
        let record = |commands| {
            for time in 0..times {
                let queries = self.queries.as_ref().filter(|_| time + 1 == times).map(Queries::range);
                // SAFETY: the command buffer is recording on a compute queue; earlier transfers were waited for on the
                // host, earlier sorts are ordered by the barrier; buffers and queries are kept alive by `self`.
                unsafe {
                    if time > 0 {
                        BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &device.raw, commands);
                    }
                    match queries {
                        Some(queries) => self.bound.record_timed(commands, count, queries)?,
                        None => self.bound.record(commands, count)?,
                    }
                }
            }
            Ok(())
        };
        // SAFETY: see above.
        let _running = unsafe { self.submit(count, record)? };
        let Some(queries) = &self.queries else { return Ok(Vec::new()) };
        let ticks = queries.ticks(self.bound.query_count(count))?;
        self.bound.step_times(count, &ticks, device.timestamp_bits)
    }

    /// Sorts as [`run`](Self::run) does. Returns the nanoseconds between a timestamp before the sort and one after it, as it takes in a
    /// frame; `None` if the device has no timestamps.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn time(&self, count: impl Into<Count>) -> Result<Option<f64>, Error> {
        let count = count.into();
        let record = |commands| {
            // SAFETY: as in `run_repeatedly`; the pool has two queries or more.
            unsafe {
                self.queries.iter().for_each(|queries| queries.begin(commands));
                self.bound.record(commands, count)?;
                self.queries.iter().for_each(|queries| queries.end(commands));
            }
            Ok(())
        };
        // SAFETY: see above.
        let _running = unsafe { self.submit(count, record)? };
        let period = f64::from(self.bound.sorter.profile.timestamp_period_ns);
        self.queries.as_ref().map(|queries| Ok(queries.ticks_between()? as f64 * period)).transpose()
    }

    /// Runs every kernel of the sort with nothing to do.
    pub(super) fn warm_up(&self) -> Result<(), Error> {
        // SAFETY: as in `run_repeatedly`.
        let record = |commands| unsafe { self.bound.record_warm_up(commands, None) };
        // SAFETY: see above.
        unsafe { self.device.execute("the warm-up", record) }
    }

    /// Sorts as [`run`](Self::run) does, between the halves of a [`Verifier`], and returns its answer: 0 if the sort is right.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run); [`Error::Allocation`] for the report; [`Error::Unsupported`] for what a verifier does not check
    /// ([`BoundSort::verifier`]).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{KeyType, SortRequest, SorterOptions, Verifier};
    ///
    /// let gpu = vksort::standalone::Gpu::best()?;
    /// let sort = gpu.sorter(&SortRequest::new(KeyType::F32), &SorterOptions::default())?.prepare(3)?;
    /// sort.write_keys(&[2.5f32, -1.0, 7.0])?;
    /// let answer = sort.run_verified(3)?;
    /// assert_eq!(answer, 0, "{}", Verifier::explain(answer));
    /// # Ok(()) }
    /// ```
    pub fn run_verified(&self, count: impl Into<Count>) -> Result<u32, Error> {
        self.verified(count.into(), &|_commands, _sorted| ())
    }

    /// The same, with further commands between the first half and the sort, and between the sort and the second half, for tests.
    /// A barrier on each side orders what they copy.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn run_tampered(
        &self,
        count: impl Into<Count>,
        tamper: &dyn Fn(vk::CommandBuffer, bool),
    ) -> Result<u32, Error> {
        self.verified(count.into(), tamper)
    }

    fn verified(&self, count: Count, tamper: &dyn Fn(vk::CommandBuffer, bool)) -> Result<u32, Error> {
        let device = &self.device;
        let mut has_passes = self.has_passes();
        *has_passes = false;
        let mut made = self.verifier.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (verifier, report) = match &mut *made {
            Some(made) => made,
            none => {
                let report = DeviceBuffer::new(device, self.bound.report_size())?;
                let range = report.range(0, report.size()).checked("report", device)?;
                // SAFETY: the buffers are this device's, and live as long as the verifier.
                none.insert((ManuallyDrop::new(unsafe { self.bound.verifier(range)? }), report))
            }
        };
        let any = BoundSort::INPUT_SCOPE | AccessScope::TRANSFER_READ | AccessScope::TRANSFER_WRITE;
        let record = |commands| {
            // SAFETY: the command buffer is recording on a compute queue; barriers order the halves, the sort and the copies.
            unsafe {
                verifier.record_before(commands, count)?;
                for sorted in [false, true] {
                    any.record_barrier(any, &device.raw, commands);
                    tamper(commands, sorted);
                    any.record_barrier(any, &device.raw, commands);
                    if !sorted {
                        self.bound.record(commands, count)?;
                    }
                }
                verifier.record_after(commands, count)
            }
        };
        // SAFETY: see above.
        unsafe { device.execute("the verified sort", record)? };
        *has_passes = self.bound.plan.ranks_tiles(self.bound.plan.largest(count));
        let mut answer = [0u32];
        report.read(0, &mut answer)?;
        Ok(answer[0])
    }

    /// Submits a recorded sort, and waits until it is done. Others wait while the guard lives, so that the timestamps are this run's.
    ///
    /// # Safety
    ///
    /// What is recorded is valid, and uses what `self` keeps alive.
    unsafe fn submit(
        &self,
        count: Count,
        record: impl FnOnce(vk::CommandBuffer) -> Result<(), Error>,
    ) -> Result<MutexGuard<'_, bool>, Error> {
        let mut has_passes = self.has_passes();
        *has_passes = false;
        // SAFETY: by the contract of this function; `execute` waits until the commands are done.
        unsafe { self.device.execute("the sort", record)? };
        let plan = &self.bound.plan;
        *has_passes = plan.ranks_tiles(plan.largest(count));
        Ok(has_passes)
    }

    fn has_passes(&self) -> MutexGuard<'_, bool> {
        self.has_passes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The host's time of each of `times` recordings. Nothing is submitted.
    #[doc(hidden)]
    pub fn time_recording(&self, count: impl Into<Count>, times: usize) -> Result<Vec<Duration>, Error> {
        let count = count.into();
        let time = |_| {
            let mut taken = Duration::ZERO;
            let record = |commands| {
                let start = Instant::now();
                // SAFETY: the command buffer is recording on a compute queue; what it refers to is kept alive by `self`.
                let recorded = unsafe { self.bound.record(commands, count) };
                taken = start.elapsed();
                recorded
            };
            // SAFETY: see above.
            unsafe { self.device.record(record) }.map(|_queue| taken)
        };
        (0..times).map(time).collect()
    }

    /// The passes of the last run, read from its scratch. `None` before the first run, if the run was a single workgroup,
    /// if there was nothing to sort, and for requests with segments or first elements. Another sort on the same scratch makes the numbers meaningless.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`].
    pub fn passes(&self) -> Result<Option<Passes>, Error> {
        let has_passes = self.has_passes();
        let Some(scratch) = self.ranges.scratch.as_ref().filter(|_| *has_passes) else { return Ok(None) };
        let plan = &self.bound.plan;
        let mut counters = [0; abi::COUNTERS_HISTOGRAM as usize];
        scratch.buffer.read(scratch.offset + plan.scratch().counters.offset, &mut counters)?;
        let (ran, skipped) = plan.passes_of(&counters);
        Ok(Some(Passes { ran, skipped }))
    }

    /// The algorithm that sorts `count` elements; `None` for segments and first elements, which are sorted by other kernels.
    pub fn algorithm(&self, count: u32) -> Option<Algorithm> {
        self.bound.algorithm(count)
    }
}

/// The passes of a run: [`PreparedSort::passes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passes {
    /// Passes that moved elements.
    pub ran: u32,
    /// Passes that the device skipped, because their digit is the same in all keys.
    pub skipped: u32,
}

/// The buffer and the offset of a range, if it has `needed` bytes.
fn room<'a>(name: &'static str, range: &'a DeviceRange, needed: usize) -> Result<(&'a DeviceBuffer, u64), Error> {
    let needed = needed as u64;
    match needed > range.size {
        true => Err(Error::BufferTooSmall { buffer: name, given: range.size, needed }),
        false => Ok((&range.buffer, range.offset)),
    }
}

fn write<T: Pod>(name: &'static str, range: &DeviceRange, elements: &[T]) -> Result<(), Error> {
    let (buffer, offset) = room(name, range, size_of_val(elements))?;
    buffer.write(offset, elements)
}

fn read<T: Pod>(name: &'static str, range: &DeviceRange, elements: &mut [T]) -> Result<(), Error> {
    let (buffer, offset) = room(name, range, size_of_val(elements))?;
    buffer.read(offset, elements)
}
