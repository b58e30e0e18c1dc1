//! Sorts prepared on an owned device: buffers stay there between runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::error::Error;
use crate::request::{Algorithm, Count, SortRequest};
use crate::shape::Shape;
use crate::vk::owned::{BoundRun, Buffer, Device, OwnedSorter};
use crate::vk::{Access, BufferRange, SortBuffers, SorterOptions, StepTime};

/// A buffer in the memory of an owned device. Clones are the same buffer.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// let gpu = vksort::standalone::Gpu::best()?;
/// let buffer = gpu.buffer(16)?; // bytes
/// buffer.write(4, &[1u32, 2, 3])?;
/// let mut last = [0u16; 2];
/// buffer.read(12, &mut last)?;
/// assert_eq!(last, [3, 0]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DeviceBuffer(Arc<Buffer>);

impl DeviceBuffer {
    pub(super) fn new(device: &Arc<Device>, size: u64) -> Result<Self, Error> {
        Buffer::new(device, "a device buffer", size).map(DeviceBuffer)
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Writes elements of any plain type from byte `offset` on, and waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Allocation`] of the memory to copy from, [`Error::Timeout`], [`Error::Vulkan`].
    pub fn write<T: Pod>(&self, offset: u64, elements: &[T]) -> Result<(), Error> {
        self.0.write(offset, cast_slice(elements))
    }

    /// Reads elements of any plain type from byte `offset` on, and waits.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn read<T: Pod>(&self, offset: u64, elements: &mut [T]) -> Result<(), Error> {
        self.0.read(offset, cast_slice_mut(elements))
    }

    /// Copies `size` bytes from byte `from_offset` of another buffer on, to byte `offset` on, all on the device.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`]; [`Error::ForeignBuffer`] for a buffer of another device; [`Error::Unsupported`] for this
    /// buffer itself, and for anything but whole words of 4 bytes; [`Error::Timeout`], [`Error::Vulkan`].
    pub fn copy_from(&self, offset: u64, from: &DeviceBuffer, from_offset: u64, size: u64) -> Result<(), Error> {
        self.0.copy_from(offset, &from.0, from_offset, size)
    }

    /// The bytes from `offset` on, `size` of them. They are held against the buffer when a sort is prepared on them.
    pub fn range(&self, offset: u64, size: u64) -> DeviceRange {
        DeviceRange { buffer: self.clone(), offset, size }
    }
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer").field("handle", &self.0.raw).field("size", &self.0.size).finish()
    }
}

/// A range of a [`DeviceBuffer`].
#[derive(Clone, Debug)]
pub struct DeviceRange {
    /// The buffer.
    pub buffer: DeviceBuffer,
    /// Where the range starts, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

impl DeviceRange {
    /// The range as the recording API takes it, if it lies within a buffer of the device.
    fn checked(&self, name: &'static str, device: &Arc<Device>) -> Result<BufferRange, Error> {
        let DeviceRange { buffer, offset, size } = self;
        if !buffer.0.is_of(device) {
            return Err(Error::ForeignBuffer { buffer: name });
        }
        buffer.0.check(name, *offset, *size)?;
        Ok(BufferRange { buffer: buffer.0.raw, offset: *offset, size: *size, usage: Some(buffer.0.usage) })
    }
}

/// The ranges of one sort: [`SortBuffers`] on owned memory. [`SortRequest::buffers`] says which a request takes, and how
/// long they are.
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
#[derive(Clone, Debug)]
pub struct SortRanges {
    /// The keys; sorted here when the request is in place.
    pub keys: DeviceRange,
    /// The values, when the request has any to read; in place also where indices go.
    pub values: Option<DeviceRange>,
    /// Where the sorted keys go when the request is out of place and does not discard them.
    pub keys_out: Option<DeviceRange>,
    /// Where the sorted values or indices go when the request is out of place.
    pub values_out: Option<DeviceRange>,
    /// Scratch, unless none is needed.
    pub scratch: Option<DeviceRange>,
    /// Four bytes with the number of elements, for sorts that run with [`Count::Device`].
    pub count: Option<DeviceRange>,
    /// Most elements that the sort will run with.
    pub capacity: u32,
}

impl SortRanges {
    /// Keys sorted in place, without values or scratch.
    pub fn in_place(keys: DeviceRange, capacity: u32) -> Self {
        SortRanges { keys, values: None, keys_out: None, values_out: None, scratch: None, count: None, capacity }
    }
}

/// A [`Sorter`](crate::Sorter) on an owned device: the pipelines of one request.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// use vksort::{KeyType, Order, SortRequest, SorterOptions};
///
/// let gpu = vksort::standalone::Gpu::best()?;
/// let request = SortRequest { order: Order::Descending, ..SortRequest::new(KeyType::I16) };
/// let sorter = gpu.sorter(&request, &SorterOptions::default())?;
/// // Built once, it serves sorts of different sizes.
/// for keys in [vec![3i16, -1, 2], vec![0; 1000]] {
///     let sort = sorter.prepare(keys.len() as u32)?;
///     sort.write_keys(&keys)?;
///     sort.run(keys.len() as u32)?;
/// }
/// # Ok(()) }
/// ```
pub struct StandaloneSorter(OwnedSorter);

impl fmt::Debug for StandaloneSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StandaloneSorter").field(&*self.0).finish()
    }
}

impl StandaloneSorter {
    pub(super) fn new(device: &Arc<Device>, request: &SortRequest, options: &SorterOptions) -> Result<Self, Error> {
        OwnedSorter::new(device, request, options).map(StandaloneSorter)
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        self.0.request()
    }

    /// Shape of the kernels.
    #[doc(hidden)]
    pub fn shape(&self) -> &Shape {
        self.0.shape()
    }

    /// How the kernels reach keys and values: never [`Access::Auto`].
    pub fn access(&self) -> Access {
        self.0.access()
    }

    /// Most elements that can be sorted.
    pub fn max_count(&self) -> u32 {
        self.0.max_count()
    }

    /// Elements of a tile in a sort of up to `capacity` elements.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    #[doc(hidden)]
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        self.0.tile_size(capacity)
    }

    /// Bytes of scratch for up to `capacity` elements.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        self.0.scratch_size(capacity)
    }

    /// Prepares a sort of up to `capacity` elements on buffers of its own, for counts from the host or on the device. The
    /// count on the device starts as 0; keys and values start with undefined content.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`].
    pub fn prepare(&self, capacity: u32) -> Result<PreparedSort, Error> {
        self.prepare_buffers(capacity, true)
    }

    /// The same, without a count buffer unless the count may be on the device.
    pub(super) fn prepare_buffers(&self, capacity: u32, counted: bool) -> Result<PreparedSort, Error> {
        let sizes = self.request().buffers(capacity);
        let allocate = |size: u64| DeviceBuffer::new(&self.0.device, size).map(|buffer| buffer.range(0, size));
        let optional = |size: Option<u64>| size.map(allocate).transpose();
        // First of all, as it says whether the capacity is within limits.
        let scratch = Some(self.scratch_size(capacity)?).filter(|size| *size > 0);
        let ranges = SortRanges {
            keys: allocate(sizes.keys)?,
            values: optional(sizes.values)?,
            keys_out: optional(sizes.keys_out)?,
            values_out: optional(sizes.values_out)?,
            scratch: optional(scratch)?,
            count: counted.then(|| self.zero_count()).transpose()?,
            capacity,
        };
        self.prepare_on(ranges)
    }

    /// A count buffer that says 0.
    fn zero_count(&self) -> Result<DeviceRange, Error> {
        let count = DeviceBuffer::new(&self.0.device, 4)?;
        count.0.clear(0, 4)?;
        Ok(count.range(0, 4))
    }

    /// Prepares a sort on the given ranges.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignBuffer`] for a buffer of another device, [`Error::OutOfBounds`] for a range that is not within its
    /// buffer, else as for [`Sorter::bind`](crate::Sorter::bind).
    pub fn prepare_on(&self, ranges: SortRanges) -> Result<PreparedSort, Error> {
        let device = &self.0.device;
        let checked = |name: &'static str, range: &Option<DeviceRange>| {
            range.as_ref().map(|range| range.checked(name, device)).transpose()
        };
        let buffers = SortBuffers {
            keys: ranges.keys.checked("keys", device)?,
            values: checked("values", &ranges.values)?,
            keys_out: checked("keys_out", &ranges.keys_out)?,
            values_out: checked("values_out", &ranges.values_out)?,
            scratch: checked("scratch", &ranges.scratch)?,
            count: checked("count", &ranges.count)?,
            capacity: ranges.capacity,
        };
        let optional = [&ranges.values, &ranges.keys_out, &ranges.values_out, &ranges.scratch, &ranges.count];
        let used = optional.into_iter().flatten().chain([&ranges.keys]);
        let alive = used.map(|range| Arc::clone(&range.buffer.0)).collect();
        let run = BoundRun::new(&self.0, &buffers, alive)?;
        Ok(PreparedSort { run, ranges, request: *self.request() })
    }
}

/// A sort with its buffers on the device, to be run again and again.
///
/// Elements are of any plain type ([`bytemuck::Pod`]): that of the keys, bytes, or a structure of the same size.
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
    run: BoundRun,
    ranges: SortRanges,
    request: SortRequest,
}

impl fmt::Debug for PreparedSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedSort").field("request", &self.request).field("ranges", &self.ranges).finish()
    }
}

impl PreparedSort {
    /// Writes keys, from the first on.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooSmall`] when there are more than the capacity; [`Error::Allocation`], [`Error::Timeout`],
    /// [`Error::Vulkan`] when they cannot be copied.
    pub fn write_keys<T: Pod>(&self, keys: &[T]) -> Result<(), Error> {
        write("keys", &self.ranges.keys, keys)
    }

    /// Writes values, from the first on.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request reads no values.
    pub fn write_values<T: Pod>(&self, values: &[T]) -> Result<(), Error> {
        let (given, needed) = ("no values to read", "values of some bytes");
        let unread = Error::NotInRequest { what: "writing values is", given, needed };
        let range = self.ranges.values.as_ref().filter(|_| self.request.value.is_read());
        write("values", range.ok_or(unread)?, values)
    }

    /// Writes the number of elements that a sort with [`Count::Device`] takes. It is 0 before.
    ///
    /// # Errors
    ///
    /// [`Error::BufferPresence`] when the sort has no count buffer; else as for [`write_keys`](Self::write_keys).
    pub fn write_count(&self, count: u32) -> Result<(), Error> {
        let absent = Error::BufferPresence { buffer: "count", given: "absent", needed: "present" };
        write("count", self.ranges.count.as_ref().ok_or(absent)?, &[count])
    }

    /// Reads sorted keys, from the first on.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request discards keys.
    pub fn read_keys<T: Pod>(&self, keys: &mut [T]) -> Result<(), Error> {
        if self.request.discards_keys() {
            let (given, needed) = ("discarded keys", "sorted keys");
            return Err(Error::NotInRequest { what: "sorted keys are", given, needed });
        }
        read("keys", self.ranges.keys_out.as_ref().unwrap_or(&self.ranges.keys), keys)
    }

    /// Reads sorted values or indices, from the first on.
    ///
    /// # Errors
    ///
    /// As for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no values.
    pub fn read_values<T: Pod>(&self, values: &mut [T]) -> Result<(), Error> {
        let range = self.ranges.values_out.as_ref().or(self.ranges.values.as_ref());
        let (given, needed) = ("no values", "values or indices");
        read("values", range.ok_or(Error::NotInRequest { what: "reading values is", given, needed })?, values)
    }

    /// Sorts the first `count` elements, or as many as the count buffer holds ([`Count::Device`]), and waits; gives the time
    /// of each step, or none where the device has no timestamps.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`] for a count over the capacity, [`Error::BufferPresence`] for a count on the device without
    /// a count buffer, [`Error::Timeout`], [`Error::Vulkan`].
    pub fn run(&self, count: impl Into<Count>) -> Result<Vec<StepTime>, Error> {
        self.run.run(count.into(), 1)
    }

    /// The same sort recorded `times` times into one command buffer; gives the times of the last, and none for no times.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn run_repeatedly(&self, count: impl Into<Count>, times: u32) -> Result<Vec<StepTime>, Error> {
        self.run.run(count.into(), times)
    }

    /// Runs without reading times, which is all that allocates.
    #[doc(hidden)]
    pub fn submit(&self, count: impl Into<Count>) -> Result<(), Error> {
        self.run.submit(count.into(), 1)
    }

    /// How long each of `times` recordings takes on the host. Nothing is submitted.
    #[doc(hidden)]
    pub fn time_recording(&self, count: impl Into<Count>, times: usize) -> Result<Vec<Duration>, Error> {
        self.run.time_recording(count.into(), times)
    }

    /// The algorithm that sorts `count` elements.
    pub fn algorithm(&self, count: u32) -> Algorithm {
        self.run.bound().algorithm(count)
    }
}

fn write<T: Pod>(buffer: &'static str, range: &DeviceRange, elements: &[T]) -> Result<(), Error> {
    fits(buffer, range, size_of_val(elements) as u64)?;
    range.buffer.write(range.offset, elements)
}

fn read<T: Pod>(buffer: &'static str, range: &DeviceRange, elements: &mut [T]) -> Result<(), Error> {
    fits(buffer, range, size_of_val(elements) as u64)?;
    range.buffer.read(range.offset, elements)
}

fn fits(buffer: &'static str, range: &DeviceRange, needed: u64) -> Result<(), Error> {
    match needed > range.size {
        true => Err(Error::BufferTooSmall { buffer, given: range.size, needed }),
        false => Ok(()),
    }
}
