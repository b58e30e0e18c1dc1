//! Sorts prepared on an owned device: buffers stay there between runs.

use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;
use crate::request::{Algorithm, Count, SortRequest};
use crate::shape::Shape;
use crate::vk::owned::{BoundRun, Buffer, Device, OwnedSorter};
use crate::vk::{BufferRange, SortBuffers, SorterOptions, StepTime};

/// A buffer in the memory of an owned device. Clones are the same buffer.
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

    /// Writes bytes from byte `offset` on.
    ///
    /// Errors: [`Error::BufferTooSmall`], [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`].
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.0.write(offset, bytes)
    }

    /// Reads bytes from byte `offset` on.
    ///
    /// Errors: as for [`write`](Self::write).
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.0.read(offset, bytes)
    }

    /// Copies `size` bytes from byte `from_offset` of another buffer on, to byte `offset` on, all on the device.
    ///
    /// Errors: [`Error::BufferTooSmall`]; [`Error::Unsupported`] for a buffer of another device or this one itself, and
    /// for anything but whole words of 4 bytes; [`Error::Timeout`], [`Error::Vulkan`].
    pub fn copy_from(&self, offset: u64, from: &DeviceBuffer, from_offset: u64, size: u64) -> Result<(), Error> {
        self.0.copy_from(offset, &from.0, from_offset, size)
    }

    /// The bytes from `offset` on, `size` of them.
    pub fn range(&self, offset: u64, size: u64) -> DeviceRange {
        DeviceRange { buffer: self.clone(), offset, size }
    }
}

/// A range of a [`DeviceBuffer`].
#[derive(Clone)]
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

/// The ranges of one sort: [`SortBuffers`] on owned memory.
#[derive(Clone)]
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

/// A [`Sorter`](crate::Sorter) on an owned device.
pub struct StandaloneSorter(OwnedSorter);

impl StandaloneSorter {
    pub(super) fn new(device: &Arc<Device>, request: &SortRequest, options: &SorterOptions) -> Result<Self, Error> {
        OwnedSorter::new(device, request, options).map(StandaloneSorter)
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        self.0.request()
    }

    /// Shape of the kernels.
    pub fn shape(&self) -> &Shape {
        self.0.shape()
    }

    /// Most elements that can be sorted.
    pub fn max_count(&self) -> u32 {
        self.0.max_count()
    }

    /// Elements of a tile in a sort of up to `capacity` elements.
    ///
    /// Errors: [`Error::TooManyElements`].
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        self.0.tile_size(capacity)
    }

    /// Bytes of scratch for up to `capacity` elements.
    ///
    /// Errors: [`Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        self.0.scratch_size(capacity)
    }

    /// Prepares a sort of up to `capacity` elements on buffers of its own, for counts from the host or on the device.
    ///
    /// Errors: [`Error::TooManyElements`], [`Error::Allocation`], [`Error::Vulkan`].
    pub fn prepare(&self, capacity: u32) -> Result<PreparedSort, Error> {
        self.prepare_buffers(capacity, true)
    }

    /// The same, without a count buffer unless the count may be on the device.
    pub(super) fn prepare_buffers(&self, capacity: u32, counted: bool) -> Result<PreparedSort, Error> {
        let sizes = self.request().buffers(capacity);
        let allocate = |size: u64| DeviceBuffer::new(&self.0.device, size).map(|buffer| buffer.range(0, size));
        let optional = |size: Option<u64>| size.map(allocate).transpose();
        let ranges = SortRanges {
            keys: allocate(sizes.keys)?,
            values: optional(sizes.values)?,
            keys_out: optional(sizes.keys_out)?,
            values_out: optional(sizes.values_out)?,
            scratch: optional(Some(self.scratch_size(capacity)?).filter(|size| *size > 0))?,
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
    /// Errors: as for [`Sorter::bind`](crate::Sorter::bind).
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
        let request = self.request();
        let (keys_discarded, reads_values) = (request.discards_keys(), request.value.is_read());
        Ok(PreparedSort { run, ranges, keys_discarded, reads_values })
    }
}

/// A sort with its buffers on the device, to be run again and again.
pub struct PreparedSort {
    run: BoundRun,
    ranges: SortRanges,
    keys_discarded: bool,
    reads_values: bool,
}

impl PreparedSort {
    /// Writes keys, from the first on.
    ///
    /// Errors: [`Error::BufferTooSmall`] when there are more than the capacity; else as for [`DeviceBuffer::write`].
    pub fn write_keys(&self, bytes: &[u8]) -> Result<(), Error> {
        write("keys", &self.ranges.keys, bytes)
    }

    /// Writes values, from the first on.
    ///
    /// Errors: as for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request reads no values.
    pub fn write_values(&self, bytes: &[u8]) -> Result<(), Error> {
        let (given, needed) = ("no values to read", "values of some bytes");
        let unread = Error::NotInRequest { what: "writing values is", given, needed };
        let values = self.ranges.values.as_ref().filter(|_| self.reads_values);
        write("values", values.ok_or(unread)?, bytes)
    }

    /// Writes the number of elements that a sort with [`Count::Device`] takes. It is 0 before.
    ///
    /// Errors: [`Error::BufferPresence`] when the sort has no count buffer; else as for [`DeviceBuffer::write`].
    pub fn write_count(&self, count: u32) -> Result<(), Error> {
        let absent = Error::BufferPresence { buffer: "count", given: "absent", needed: "present" };
        write("count", self.ranges.count.as_ref().ok_or(absent)?, &count.to_ne_bytes())
    }

    /// Reads sorted keys, from the first on.
    ///
    /// Errors: as for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request discards keys.
    pub fn read_keys(&self, bytes: &mut [u8]) -> Result<(), Error> {
        if self.keys_discarded {
            let (given, needed) = ("discarded keys", "sorted keys");
            return Err(Error::NotInRequest { what: "sorted keys are", given, needed });
        }
        read("keys", self.ranges.keys_out.as_ref().unwrap_or(&self.ranges.keys), bytes)
    }

    /// Reads sorted values, from the first on.
    ///
    /// Errors: as for [`write_keys`](Self::write_keys); [`Error::NotInRequest`] when the request has no values.
    pub fn read_values(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let range = self.ranges.values_out.as_ref().or(self.ranges.values.as_ref());
        let (given, needed) = ("no values", "values or indices");
        read("values", range.ok_or(Error::NotInRequest { what: "reading values is", given, needed })?, bytes)
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

fn write(buffer: &'static str, range: &DeviceRange, bytes: &[u8]) -> Result<(), Error> {
    fits(buffer, range, bytes.len())?;
    range.buffer.write(range.offset, bytes)
}

fn read(buffer: &'static str, range: &DeviceRange, bytes: &mut [u8]) -> Result<(), Error> {
    fits(buffer, range, bytes.len())?;
    range.buffer.read(range.offset, bytes)
}

fn fits(buffer: &'static str, range: &DeviceRange, len: usize) -> Result<(), Error> {
    match len as u64 > range.size {
        true => Err(Error::BufferTooSmall { buffer, given: range.size, needed: len as u64 }),
        false => Ok(()),
    }
}
