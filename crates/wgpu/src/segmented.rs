//! Sorts of many segments on a device of wgpu.

use std::fmt;
use std::sync::Arc;

use vksort::{BoundSegments, BufferSizes, Count, SegmentBuffers, SegmentedRequest, SegmentedSorter, Tuning};
use wgpu::BufferSlice;

use super::bind::Ranges;
use super::commands::WgpuCommands;
use super::device::WgpuDevice;
use super::error::Error;
use super::held::{Bound, SortInner};
use super::sort::record;

/// The pipelines of one kind of sort of segments on a device of wgpu, for every number of elements and segments: a
/// [`SegmentedSorter`].
///
/// ```no_run
/// use vksort::{Count, KeyType, SegmentBuffers, SegmentedRequest, Segments, SortBuffers, SortRequest, ValueType};
/// use vksort_wgpu::wgpu::{Buffer, CommandEncoder, Device, Queue};
/// use vksort_wgpu::{Error, WgpuCommands, WgpuDevice, WgpuSegmentedSorter, WgpuSegments};
///
/// /// Once: the splats of each screen tile by their depth. Buffers have the usage STORAGE.
/// fn prepare(device: &WgpuDevice, [depths, splats, offsets, tiles]: &[Buffer; 4]) -> Result<WgpuSegments, Error> {
///     let pairs = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::F32) };
///     let sorter = WgpuSegmentedSorter::new(device, &SegmentedRequest::new(pairs, Segments::Offsets), None)?;
///     let elements = SortBuffers {
///         values: Some(splats.slice(..)),
///         count: Some(tiles.slice(..)), // a word: how many tiles there are
///         ..SortBuffers::in_place(depths.slice(..), 1_000_000)
///     };
///     let buffers = SegmentBuffers { elements, segments: Some(offsets.slice(..)), segment_capacity: 3_600 };
///     // SAFETY: device and buffers are of one instance, and nothing destroys the buffers meanwhile.
///     unsafe { sorter.bind(&buffers) }
/// }
///
/// /// Every frame. `bin` writes depths, splats, offsets and tiles, and `draw` reads them.
/// fn frame(queue: &Queue, sort: &WgpuSegments, bin: CommandEncoder, draw: CommandEncoder) -> Result<(), Error> {
///     WgpuCommands::submit(queue, [bin.finish().into(), sort.record(Count::Device)?, draw.finish().into()]);
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct WgpuSegmentedSorter {
    // Fields are dropped in this order: the pipelines before the device.
    sorter: SegmentedSorter,
    device: WgpuDevice,
}

impl WgpuSegmentedSorter {
    /// Builds the pipelines for a request, as [`WgpuSorter::new`](crate::WgpuSorter::new). Records are those of
    /// [`SegmentedRequest::of_records`], and are bound as the keys.
    ///
    /// # Errors
    ///
    /// As for [`WgpuSorter::new`](crate::WgpuSorter::new), and [`vksort::Error::Unsupported`] for what [`SegmentedSorter::new`] refuses.
    pub fn new(
        device: &WgpuDevice,
        request: &SegmentedRequest,
        tuning: Option<&Tuning>,
    ) -> Result<WgpuSegmentedSorter, Error> {
        let (inner, options) = (&device.inner, device.options(tuning));
        // SAFETY: the device was created with what the requirements name, by the contract of `WgpuDevice`. The sorter and its
        // sorts hold it, and a recorded sort is held until wgpu has seen its commands complete. Shared pipelines and label
        // functions are those of this device.
        let sorter = unsafe { SegmentedSorter::new(&inner.raw, &inner.requirements, request, &options)? };
        Ok(WgpuSegmentedSorter { sorter, device: device.clone() })
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SegmentedRequest {
        self.sorter.request()
    }

    /// The most elements of a segment that this sorter sorts: [`SegmentedSorter::longest`].
    pub fn longest(&self) -> u32 {
        self.sorter.longest()
    }

    /// Elements of a block: [`SegmentedSorter::block`].
    pub fn block(&self) -> u32 {
        self.sorter.block()
    }

    /// The most elements that the top of each segment may have: [`SegmentedSorter::max_top`].
    pub fn max_top(&self) -> u32 {
        self.sorter.max_top()
    }

    /// The largest number of elements, wgpu's limits on buffer sizes aside.
    pub fn max_count(&self) -> u32 {
        self.sorter.max_count()
    }

    /// The largest number of segments beside so many elements: [`SegmentedSorter::max_segments`].
    ///
    /// # Errors
    ///
    /// [`vksort::Error::TooManyElements`].
    pub fn max_segments(&self, capacity: u32) -> Result<u32, Error> {
        Ok(self.sorter.max_segments(capacity)?)
    }

    /// The buffers of elements that a sort of up to so many elements and segments needs: [`SegmentedSorter::buffers`].
    pub fn buffers(&self, capacity: u32, segment_capacity: u32) -> BufferSizes {
        self.sorter.buffers(capacity, segment_capacity)
    }

    /// Bytes of scratch that a sort of so many elements and segments needs; 0 when it needs none.
    ///
    /// # Errors
    ///
    /// [`vksort::Error::TooManyElements`], [`vksort::Error::Unsupported`] for too many segments.
    pub fn scratch_size(&self, capacity: u32, segment_capacity: u32) -> Result<u64, Error> {
        Ok(self.sorter.scratch_size(capacity, segment_capacity)?)
    }

    /// Binds the sorter to buffers, as [`WgpuSorter::bind`](crate::WgpuSorter::bind). The buffer of segments needs the usage `STORAGE`,
    /// and may be that of the count.
    ///
    /// # Errors
    ///
    /// As for [`WgpuSorter::bind`](crate::WgpuSorter::bind); [`vksort::Error::Unsupported`] for more segments than there may be beside so
    /// many elements.
    ///
    /// # Safety
    ///
    /// As for [`WgpuSorter::bind`](crate::WgpuSorter::bind).
    pub unsafe fn bind(&self, buffers: &SegmentBuffers<BufferSlice<'_>>) -> Result<WgpuSegments, Error> {
        let (capacity, segment_capacity) = (buffers.elements.capacity, buffers.segment_capacity);
        let sizes = self.buffers(capacity, segment_capacity);
        let needed = self.scratch_size(capacity, segment_capacity)?;
        let words = 4 * self.request().segments.words(segment_capacity);
        let segments = buffers.segments.map(|slice| (slice, words));
        let ranges = Ranges::new(&self.device, &buffers.elements, (sizes, needed), segments)?;
        let raw = SegmentBuffers { elements: ranges.raw, segments: ranges.segments, segment_capacity };
        self.sorter.check_buffers(&raw)?;
        let tracked = ranges.track(&self.device)?;
        // SAFETY: wgpu has just bound the buffers on this device, where all of each buffer has memory. The
        // result holds them, and their usage was checked.
        let sort = unsafe { self.sorter.bind(&raw)? };
        Ok(WgpuSegments { inner: ranges.hold(Bound::Segments(sort), tracked, &self.device) })
    }
}

/// A sort of segments bound to buffers of wgpu. Owners and lifetimes are those of a [`WgpuSort`](crate::WgpuSort).
pub struct WgpuSegments {
    pub(super) inner: Arc<SortInner>,
}

impl fmt::Debug for WgpuSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bound().fmt(f)
    }
}

impl WgpuSegments {
    fn bound(&self) -> &BoundSegments {
        match &self.inner.sort {
            Bound::Segments(sort) => sort,
            Bound::Elements(_) => unreachable!("a sorter of segments has bound it"),
        }
    }

    /// The largest number of segments that the sort can be recorded with.
    pub fn segment_capacity(&self) -> u32 {
        self.bound().segment_capacity()
    }

    /// Records the sort of the first `segments` segments, as [`WgpuSort::record`](crate::WgpuSort::record). With [`Count::Device`] the
    /// count buffer holds their number. If the whole array is the segment ([`vksort::Segments::Whole`]), the number is that of elements.
    ///
    /// # Errors
    ///
    /// As for [`WgpuSort::record`](crate::WgpuSort::record), but [`vksort::Error::Unsupported`] for more segments than the segment
    /// capacity.
    pub fn record(&self, segments: impl Into<Count>) -> Result<WgpuCommands, Error> {
        record(&self.inner, self.inner.sort.check_count(segments.into())?, None)
    }
}
