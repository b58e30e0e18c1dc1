//! [`SegmentLimits`]: what a device allows in a sort of segments.

use std::fmt;

use super::inner::SorterInner;
use super::memory::check_counted;
use super::sorter::Sorter;
use crate::error::Error;
use crate::plan::Plan;
use crate::request::{Capacity, Count};
use crate::segments::{SegmentOptions, Segments};
use crate::shape::{Windows, largest};

/// What a sorter of segments can do on its device: [`Sorter::segments`].
#[derive(Clone, Copy)]
pub struct SegmentLimits<'a> {
    sorter: &'a SorterInner,
    windows: Windows,
}

impl fmt::Debug for SegmentLimits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (longest, block) = (self.longest(), self.block());
        f.debug_struct("SegmentLimits").field("longest", &longest).field("block", &block).finish()
    }
}

impl Sorter {
    /// What the device allows in this sort of segments; `None` for a request of one array.
    pub fn segments(&self) -> Option<SegmentLimits<'_>> {
        let windows = self.inner.shape.windows?;
        Some(SegmentLimits { sorter: &self.inner, windows })
    }
}

impl SegmentLimits<'_> {
    /// The most elements of a segment that the sorter sorts, if the request does not say fewer: there is a limit, a block of the device,
    /// where the request promises that no segment is longer.
    pub fn longest(&self) -> u32 {
        let unlimited = self.windows.survivors.is_some() || self.windows.rounds > 0 || self.windows.sweeps;
        if unlimited { u32::MAX } else { self.windows.block.elements() }
    }

    /// Elements of a block, which one workgroup sorts: if the request promises that no segment is longer
    /// ([`SortRequest::up_to`](crate::SortRequest::up_to)), the sort is one dispatch without scratch.
    pub fn block(&self) -> u32 {
        self.windows.block.elements()
    }

    /// The most elements that the [`top`](crate::SortRequest::top) of each segment may have, in a request with the same keys and values.
    pub fn max_top(&self) -> u32 {
        self.windows.block.elements()
    }

    /// The largest number of segments beside so many elements.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn max_segments(&self, elements: u32) -> Result<u32, Error> {
        let plan = self.sorter.plan(Capacity::new(elements))?;
        Ok(self.sorter.most_segments(&plan))
    }
}

impl SorterInner {
    /// The most segments beside the elements of a plan.
    fn most_segments(&self, plan: &Plan) -> u32 {
        match self.sort.segments {
            Some(of) if !of.counts_elements() => largest(0, u32::MAX, |segment_capacity| {
                self.exceeded_by_segments(&Plan { segment_capacity, ..*plan }).is_none()
            }),
            _ => 1,
        }
    }

    /// Refuses a count that recordings refuse: over the capacity, or on the device without a count buffer.
    pub(super) fn check_count(&self, plan: &Plan, count: Count, counted: bool) -> Result<Count, Error> {
        let most = plan.most();
        match (count, self.sort.segments) {
            (Count::Device, _) => {
                check_counted(plan)?;
                let absent = Error::BufferPresence { buffer: "count", given: "absent", needed: "present" };
                if counted { Ok(count) } else { Err(absent) }
            }
            (Count::Host(given), _) if given <= most => Ok(count),
            (Count::Host(given), Some(of)) if !of.counts_elements() => {
                Err(too_many_segments(given, format!("up to {most}, the segment capacity")))
            }
            (Count::Host(given), _) => Err(Error::TooManyElements {
                given: given.into(),
                allowed: most.into(),
                limit: "the capacity that the sort was bound with".into(),
            }),
        }
    }

    /// Refuses a plan with more segments than there may be.
    pub(super) fn check_segments(&self, plan: &Plan) -> Result<(), Error> {
        if self.exceeded_by_segments(plan).is_none() {
            return Ok(());
        }
        let most = self.most_segments(plan);
        let limit = self.exceeded_by_segments(&Plan { segment_capacity: most + 1, ..*plan }).unwrap_or_default();
        Err(too_many_segments(plan.segment_capacity, format!("up to {most}, {limit}")))
    }

    /// A limit of the number of segments that a plan exceeds.
    fn exceeded_by_segments(&self, plan: &Plan) -> Option<String> {
        let SegmentOptions { layout, top, .. } = self.sort.segments?;
        let (elements, segments) = (u64::from(plan.capacity), u64::from(plan.segment_capacity));
        let (most, range) = (u64::from(u32::MAX), self.profile.max_storage_range_bytes);
        let of_range = |what| format!("whose {what} have the {range} bytes of the device's maxStorageBufferRange");
        let (results, scratch) = (plan.results(), plan.scratch());
        if layout != Segments::Whole && elements + segments > most {
            return Some(format!("with the {elements} elements 2^32 - 1"));
        }
        if let Some(stride) = layout.stride().filter(|stride| segments * u64::from(*stride) > elements) {
            return Some(format!("the rows of {stride} in {elements} elements"));
        }
        if 4 * layout.words(plan.segment_capacity) > range {
            return Some(of_range("words"));
        }
        if results > most {
            return Some(format!("whose results are 2^32 - 1, {} of each", top.unwrap_or(0)));
        }
        let widest = self.sort.key.size_bytes().max(self.sort.value.size_bytes());
        if !self.shape.addressed && results.saturating_mul(widest) > range {
            return Some(of_range("results"));
        }
        (scratch.counters.size.max(scratch.table.size) > range).then(|| of_range("words in scratch"))
    }
}

fn too_many_segments(given: u32, allowed: String) -> Error {
    Error::unsupported("the number of segments", given, allowed)
}
