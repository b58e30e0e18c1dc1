//! Sorters for the ways to solve a problem, and what each takes.

use std::rc::Rc;

use anyhow::Result;
use ash::vk;
use vksort::standalone::{DeviceBuffer, Gpu};
use vksort::{
    BufferSizes, Count, Error, RecordRequest, SegmentedRequest, SegmentedSorter, SortRequest, Sorter, SorterOptions,
};

use super::problem::{Unfit, Way};

/// A sorter for one of the ways.
pub enum AnySorter {
    One(Sorter),
    /// For so many segments, with the words that say where they are.
    Segments {
        sorter: SegmentedSorter,
        words: Option<DeviceBuffer>,
        segments: u32,
    },
    /// For parts of so many elements each, so many of which stand for more.
    Parts {
        sorter: Sorter,
        length: u32,
        parts: u32,
        stands_for: f64,
    },
}

/// What a way takes before it is bound, and what must come of it.
pub struct Planned {
    pub way: Way,
    pub sorter: AnySorter,
    /// How it is described in the results.
    pub request: SortRequest,
    /// The elements that are sorted.
    pub capacity: u32,
    /// The count of a recording, which is in a buffer if it is on the device.
    pub count: Count,
    pub keys: DeviceBuffer,
    pub values: Option<DeviceBuffer>,
    /// Keys and values before each run, of a sort in place.
    pub restored: Option<[Rc<Vec<u8>>; 2]>,
    /// The sorted keys, and the sorted values.
    pub right: [Vec<u8>; 2],
    /// Bytes that have to be read and written, in all.
    pub floor: u64,
}

/// Sorters of up to `n` elements on a device, which share its pipeline cache and tuning.
pub struct Maker<'a>(pub &'a Gpu);

#[allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]
impl Maker<'_> {
    fn options(&self, pipeline_cache: vk::PipelineCache, capacity: u32) -> SorterOptions {
        let tuning = Some(self.0.tuning().clone());
        SorterOptions { pipeline_cache, tuning, capacity: Some(capacity), ..SorterOptions::default() }
    }

    pub fn sorter(&self, request: &SortRequest, n: u32) -> Result<Sorter> {
        let (device, cache) = (self.0.device(), self.0.device().pipeline_cache());
        // SAFETY: the device was created with its requirements, and outlives the sorter; the cache is locked.
        Ok(unsafe { Sorter::new(&device.raw, &device.requirements, request, &self.options(*cache, n))? })
    }

    /// A device has limits of its own for segments, and for how many of the first elements are wanted.
    pub fn segmented(&self, request: &SegmentedRequest, n: u32) -> Result<SegmentedSorter> {
        request.check()?;
        let (device, cache) = (self.0.device(), self.0.device().pipeline_cache());
        // SAFETY: as above.
        let sorter =
            unsafe { SegmentedSorter::new(&device.raw, &device.requirements, request, &self.options(*cache, n)) };
        sorter.map_err(|error| match error {
            Error::Unsupported { .. } => Unfit(error.to_string()).into(),
            error => error.into(),
        })
    }

    pub fn of_records(&self, request: &RecordRequest, n: u32) -> Result<Sorter> {
        let (device, cache) = (self.0.device(), self.0.device().pipeline_cache());
        // SAFETY: as above.
        Ok(unsafe { Sorter::of_records(&device.raw, &device.requirements, request, &self.options(*cache, n))? })
    }

    /// A buffer with this content.
    pub fn buffer(&self, bytes: &[u8]) -> Result<DeviceBuffer> {
        let buffer = self.0.buffer((bytes.len() as u64).next_multiple_of(4).max(4))?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }
}

impl AnySorter {
    /// Buffers of so many elements, and bytes of scratch.
    pub fn sizes(&self, capacity: u32) -> Result<(BufferSizes, u64)> {
        Ok(match self {
            AnySorter::One(sorter) => (sorter.buffers(capacity), sorter.scratch_size(capacity)?),
            AnySorter::Segments { sorter, segments, .. } => {
                (sorter.buffers(capacity, *segments), sorter.scratch_size(capacity, *segments)?)
            }
            AnySorter::Parts { sorter, length, .. } => (sorter.buffers(capacity), sorter.scratch_size(*length)?),
        })
    }

    /// How many times as long as a run all takes that it stands for.
    pub fn stands_for(&self) -> f64 {
        if let AnySorter::Parts { stands_for, .. } = self { *stands_for } else { 1.0 }
    }
}
