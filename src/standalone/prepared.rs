//! Sorts prepared on an owned device: buffers stay there between runs.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ash::vk;
use bytemuck::Pod;

use super::buffer::{DeviceBuffer, DeviceRange};
use super::device::Device;
use super::queries::Queries;
use crate::abi;
use crate::error::Error;
use crate::record::{AccessScope, BoundSort, SortBuffers, Sorter, SorterOptions, StepTime, Verifier};
use crate::records::{Fields, RecordRequest};
use crate::request::{Algorithm, BufferSizes, Count, SortRequest};

/// The ranges of one sort: [`SortBuffers`] on owned memory. [`SortRequest::buffers`] returns the ranges that a request
/// needs, with their sizes.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{KeyType, SortRequest, SorterOptions};
/// use vksort::standalone::{Gpu, SortRanges};
///
/// // Keys in the middle of a buffer are sorted where they are.
/// let gpu = Gpu::best()?;
/// let request = SortRequest::new(KeyType::U32);
/// let sorter = gpu.sorter(&request, &SorterOptions::default())?;
/// let offset = 4 * gpu.profile().storage_alignment_bytes; // ranges start at multiples of the alignment
/// let (size, scratch) = (request.buffers(200).keys, sorter.scratch_size(200)?);
/// let buffer = gpu.buffer(offset + size + 100)?;
/// buffer.write(offset, &(0..200u32).rev().collect::<Vec<_>>())?;
///
/// let sort = sorter.prepare_on(SortRanges {
///     scratch: (scratch > 0).then(|| gpu.buffer(scratch).map(|buffer| buffer.range(0, scratch))).transpose()?,
///     ..SortRanges::in_place(buffer.range(offset, size), 200)
/// })?;
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
        capacity: u32,
    ) -> Result<SortRanges, Error> {
        let allocate = |size: u64| DeviceRange::allocate(device, size);
        let optional = |size: Option<u64>| size.map(allocate).transpose();
        Ok(SortRanges {
            keys: allocate(sizes.keys)?,
            values: optional(sizes.values)?,
            keys_out: optional(sizes.keys_out)?,
            values_out: optional(sizes.values_out)?,
            scratch: optional(Some(scratch).filter(|size| *size > 0))?,
            count: None,
            capacity,
        })
    }

    /// The ranges for the recording API, if each is within a buffer of the device.
    pub(super) fn checked(&self, device: &Arc<Device>) -> Result<SortBuffers, Error> {
        let optional = |name: &'static str, range: &Option<DeviceRange>| {
            range.as_ref().map(|range| range.checked(name, device)).transpose()
        };
        Ok(SortBuffers {
            keys: self.keys.checked("keys", device)?,
            values: optional("values", &self.values)?,
            keys_out: optional("keys_out", &self.keys_out)?,
            values_out: optional("values_out", &self.values_out)?,
            scratch: optional("scratch", &self.scratch)?,
            count: optional("count", &self.count)?,
            capacity: self.capacity,
        })
    }
}

/// A [`Sorter`] on an owned device: the pipelines of one request.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{KeyType, Order, SortRequest, SorterOptions};
///
/// let gpu = vksort::standalone::Gpu::best()?;
/// let request = SortRequest { order: Order::Descending, ..SortRequest::new(KeyType::I16) };
/// let sorter = gpu.sorter(&request, &SorterOptions::default())?;
/// // Build it once for sorts of different sizes.
/// for keys in [vec![3i16, -1, 2], vec![0; 1000]] {
///     let sort = sorter.prepare(keys.len() as u32)?;
///     sort.write_keys(&keys)?;
///     sort.run(keys.len() as u32)?;
/// }
/// # Ok(()) }
/// ```
pub struct StandaloneSorter {
    sorter: ManuallyDrop<Sorter>,
    device: Arc<Device>,
    /// Whether a slice was sorted with it.
    pub(super) has_run: AtomicBool,
}

impl fmt::Debug for StandaloneSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StandaloneSorter").field(&*self.sorter).finish()
    }
}

impl Deref for StandaloneSorter {
    type Target = Sorter;

    fn deref(&self) -> &Sorter {
        &self.sorter
    }
}

impl Drop for StandaloneSorter {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: it goes once, here; sorts that still use its pipelines share them.
            unsafe { ManuallyDrop::drop(&mut self.sorter) };
        }
    }
}

/// What a sorter sorts.
pub(crate) enum Sort<'a> {
    Keys(&'a SortRequest),
    Records(&'a RecordRequest),
}

impl StandaloneSorter {
    pub(crate) fn new(device: &Arc<Device>, sort: Sort<'_>, options: &SorterOptions) -> Result<Self, Error> {
        // Pipelines are created one sorter at a time.
        let cache = device.pipeline_cache();
        let options = device.options(*cache, options);
        // SAFETY: the device was created from these requirements and is kept alive; functions and cache are its own, and
        // the cache is locked.
        let sorter = unsafe {
            match sort {
                Sort::Keys(request) => Sorter::new(&device.raw, &device.requirements, request, &options)?,
                Sort::Records(request) => Sorter::of_records(&device.raw, &device.requirements, request, &options)?,
            }
        };
        Ok(StandaloneSorter {
            sorter: ManuallyDrop::new(sorter),
            device: Arc::clone(device),
            has_run: AtomicBool::new(false),
        })
    }

    /// Prepares a sort of up to `capacity` elements on new buffers, for counts from the host or on the device. The count on
    /// the device starts as 0; keys and values start with undefined content.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`].
    pub fn prepare(&self, capacity: u32) -> Result<PreparedSort, Error> {
        self.prepare_buffers(capacity, true)
    }

    /// The same, with a count buffer only if the count may be on the device.
    pub(crate) fn prepare_buffers(&self, capacity: u32, counted: bool) -> Result<PreparedSort, Error> {
        // This checks the capacity, so it comes before allocations.
        let scratch = self.scratch_size(capacity)?;
        let count = counted.then(|| DeviceRange::allocate(&self.device, 4)).transpose()?;
        if let Some(count) = &count {
            count.buffer.write(0, &[0u32])?;
        }
        let ranges = SortRanges::allocate(&self.device, self.buffers(capacity), scratch, capacity)?;
        self.prepare_on(SortRanges { count, ..ranges })
    }

    /// Prepares a sort on the given ranges.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignBuffer`] for a buffer of another device, [`Error::OutOfBounds`] for a range that exceeds its buffer,
    /// else as for [`Sorter::bind`](crate::Sorter::bind).
    pub fn prepare_on(&self, ranges: SortRanges) -> Result<PreparedSort, Error> {
        let device = &self.device;
        let buffers = ranges.checked(device)?;
        // SAFETY: the buffers are this device's, kept alive by the ranges, and have every usage flag.
        let bound = ManuallyDrop::new(unsafe { self.sorter.bind(&buffers)? });
        let device = Arc::clone(device);
        let (has_passes, verifier) = Default::default();
        let mut sort = PreparedSort { bound, queries: None, ranges, device, has_passes, verifier };
        let counts = [Count::Host(buffers.capacity), Count::Host(1), Count::Device];
        let most = counts.into_iter().fold(0, |most, count| most.max(sort.bound.query_count(count)));
        sort.queries = Queries::new(&sort.device, most)?;
        Ok(sort)
    }
}

/// A sort with its buffers on the device, which can be run repeatedly.
///
/// Elements have any plain type ([`bytemuck::Pod`]): the type of the keys, bytes, or a structure of the same size.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{Count, KeyType, SortRequest, SorterOptions, ValueType};
///
/// let gpu = vksort::standalone::Gpu::best()?;
/// let request = SortRequest { value: ValueType::Bytes(8), ..SortRequest::new(KeyType::F32) };
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

    /// Writes the first keys, or records.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`] for more keys than the capacity; [`Error::Allocation`], [`Error::Timeout`],
    /// [`Error::Vulkan`] for a failed transfer.
    pub fn write_keys<T: Pod>(&self, keys: &[T]) -> Result<(), Error> {
        write("keys", &self.ranges.keys, keys)
    }

    /// Writes the first values.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request reads no values.
    pub fn write_values<T: Pod>(&self, values: &[T]) -> Result<(), Error> {
        let (given, needed) = ("no values to read", "a request with values");
        let unread = Error::NotInRequest { what: "writing values", given, needed };
        let range = self.ranges.values.as_ref().filter(|_| self.bound.sorter.request.value.is_read());
        write("values", range.ok_or(unread)?, values)
    }

    /// Writes the number of elements for [`Count::Device`]. It starts as 0.
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
        check_keys(&self.bound.sorter.request, self.bound.plan.shape.fields)?;
        read("keys", self.ranges.keys_out.as_ref().unwrap_or(&self.ranges.keys), keys)
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

    /// Sorts the first `count` elements, or the number in the count buffer ([`Count::Device`]), and waits. Returns the time
    /// of each step; the list is empty if the device has no timestamps.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`] for a count over the capacity, [`Error::BufferPresence`] for a count on the device without
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
        let mut has_passes = self.has_passes();
        *has_passes = false;
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
                    self.bound.record(commands, count, queries)?;
                }
            }
            Ok(())
        };
        // SAFETY: see above; `execute` waits until the commands are done.
        unsafe { device.execute("the sort", record)? };
        let plan = &self.bound.plan;
        *has_passes = plan.ranks_tiles(plan.largest(count));
        let Some(queries) = &self.queries else { return Ok(Vec::new()) };
        let ticks = queries.ticks(self.bound.query_count(count))?;
        Ok(self.bound.step_times(count, &ticks, device.timestamp_bits))
    }

    /// Sorts as [`run`](Self::run) does, between the halves of a [`Verifier`], and returns its answer: 0 if the sort is right.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run); [`Error::Allocation`] for the report.
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
    #[cfg(feature = "testing")]
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
                        self.bound.record(commands, count, None)?;
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
                let recorded = unsafe { self.bound.record(commands, count, None) };
                taken = start.elapsed();
                recorded
            };
            // SAFETY: see above.
            unsafe { self.device.record(record) }.map(|_queue| taken)
        };
        (0..times).map(time).collect()
    }

    /// The passes of the last run, read from its scratch. `None` before the first run, if the run was a single workgroup,
    /// and if there was nothing to sort. Another sort on the same scratch makes the numbers meaningless.
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

    /// The algorithm that sorts `count` elements.
    pub fn algorithm(&self, count: u32) -> Algorithm {
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

/// Refuses to read keys that a sort discards, unless there are records in their place.
pub(super) fn check_keys(sort: &SortRequest, fields: Option<Fields>) -> Result<(), Error> {
    let moves_records = fields.is_some() && sort.value.is_read();
    let (given, needed) = ("discarded keys", "sorted keys");
    let refused = Error::NotInRequest { what: "reading keys", given, needed };
    if sort.discards_keys() && !moves_records { Err(refused) } else { Ok(()) }
}

pub(super) fn write<T: Pod>(name: &'static str, range: &DeviceRange, elements: &[T]) -> Result<(), Error> {
    let (buffer, offset) = room(name, range, size_of_val(elements))?;
    buffer.write(offset, elements)
}

pub(super) fn read<T: Pod>(name: &'static str, range: &DeviceRange, elements: &mut [T]) -> Result<(), Error> {
    let (buffer, offset) = room(name, range, size_of_val(elements))?;
    buffer.read(offset, elements)
}
