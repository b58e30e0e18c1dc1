//! Segments: how the elements of a sort are divided into parts, each of which is sorted by itself.

use std::fmt;

use crate::elements::ValueType;
use crate::error::Error;

/// How elements are divided into segments, each of which is sorted by itself.
///
/// Begins and ends count elements from the first one of the buffers. Begins ascend, also those of empty segments, because workgroups
/// find their segments by binary search. Elements outside of all segments are not read, and neither written nor moved; out of place
/// their part of the result keeps its content.
///
/// The words are read on the device when the sort runs. Begins and ends above the capacity count as the capacity, and a segment whose
/// end is not above its begin is empty; the other segments are sorted all the same. If begins do not ascend, or ranges overlap, the sort
/// still ends, and touches only elements of the ranges that the words name. The order and the content of all these ranges are then
/// unspecified, or of all results of these segments if only their [`top`](crate::SortRequest::top) is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Segments {
    /// A word for each segment and one more: segment `s` is the elements from `words[s]` up to but not including `words[s + 1]`.
    Offsets,
    /// Two words for each segment, its begin and its end. Between segments there may be other elements. An empty range also begins
    /// between its neighbours, as `(17, 17)` after `(9, 17)`; `(0, 0)` only stands before all others, or is the last one.
    Ranges,
    /// Rows of so many elements each, from the first element on. There are no words.
    Rows {
        /// Elements of a row.
        stride: u32,
    },
    /// Rows whose elements do not all count: a word for each row says how many do, from its first one on. A word above the
    /// stride counts as the stride.
    RowsOf {
        /// Elements from the begin of a row to the begin of the next.
        stride: u32,
    },
    /// All elements are one segment, of which the first ones are wanted: see [`SortRequest::top`](crate::SortRequest::top). There are no words, and the
    /// count of a recording is the number of elements.
    Whole,
}

impl Segments {
    /// Words of so many segments.
    pub fn words(self, segments: u32) -> u64 {
        match self {
            Segments::Offsets => u64::from(segments) + 1,
            Segments::Ranges => 2 * u64::from(segments),
            Segments::Rows { .. } | Segments::Whole => 0,
            Segments::RowsOf { .. } => segments.into(),
        }
    }

    /// Elements of a row, if segments are rows.
    pub(crate) fn stride(self) -> Option<u32> {
        match self {
            Segments::Offsets | Segments::Ranges | Segments::Whole => None,
            Segments::Rows { stride } | Segments::RowsOf { stride } => Some(stride),
        }
    }
}

/// For example `offsets`, `ranges`, `rows of 100`, `rows of up to 100`, or `the whole array`.
impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segments::Offsets => f.write_str("offsets"),
            Segments::Ranges => f.write_str("ranges"),
            Segments::Rows { stride } => write!(f, "rows of {stride}"),
            Segments::RowsOf { stride } => write!(f, "rows of up to {stride}"),
            Segments::Whole => f.write_str("the whole array"),
        }
    }
}

/// What the indices of an argsort of segments count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexFrom {
    /// The first element of the buffers.
    #[default]
    Array,
    /// The begin of the element's segment.
    Segment,
}

/// How a request divides its elements: what [`SortRequest::segments`](crate::SortRequest::segments) and the setters behind it have said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SegmentOptions {
    /// How the device finds the segments.
    pub layout: Segments,
    /// The most elements that a segment will have; `None` if that is not known. A sort may take less work and fewer steps with it.
    /// [`Segments::Rows`] have as many as they have, and a smaller number is refused.
    ///
    /// Up to a block of the device ([`SegmentLimits::block`](crate::SegmentLimits::block)), a sort is one dispatch without scratch,
    /// and a longer segment than was promised stays as it is; out of place its part of the result is not written. Otherwise segments
    /// may have any length, whatever this says.
    pub up_to: Option<u32>,
    /// What indices count from, if [`ValueType::Index`] asks for them.
    pub indices_from: IndexFrom,
    /// How many elements of each segment are wanted, the first ones in its order; `None` for all.
    pub top: Option<u32>,
}

impl SegmentOptions {
    /// Segments of any length, and indices from the first element of the buffers.
    pub(crate) const fn new(layout: Segments) -> Self {
        SegmentOptions { layout, up_to: None, indices_from: IndexFrom::Array, top: None }
    }

    /// Refuses what has no meaning.
    pub(crate) fn check(&self, value: ValueType, in_place: bool) -> Result<(), Error> {
        let numbers = [
            ("the stride of rows", self.layout.stride()),
            ("the longest segment", self.up_to),
            ("the top of each segment", self.top),
        ];
        for (what, given) in numbers {
            if given == Some(0) {
                return Err(Error::unsupported(what, "0 elements", "at least 1"));
            }
        }
        if let (Segments::Rows { stride }, Some(longest)) = (self.layout, self.up_to)
            && longest < stride
        {
            let allowed = format!("at least {stride}, as every row has; rows of other lengths are RowsOf");
            return Err(Error::unsupported("the longest segment", format!("{longest} elements"), allowed));
        }
        if self.indices_from == IndexFrom::Segment && value != ValueType::Index {
            let what = "the request for indices from the begin of segments";
            return Err(Error::unsupported(what, "one without indices", "one with indices as values"));
        }
        if self.top.is_some() && in_place {
            return Err(Error::unsupported("the placement of the top of each segment", "in place", "out of place"));
        }
        if self.top.is_none() && self.layout == Segments::Whole {
            let allowed = "with the top of it, or segments of another layout";
            return Err(Error::unsupported("the layout of segments", "the whole array, without a top", allowed));
        }
        Ok(())
    }

    /// The most elements that a segment will have, as far as the request says.
    pub(crate) fn promised(&self) -> Option<u32> {
        match (self.up_to, self.layout.stride()) {
            (Some(longest), Some(stride)) => Some(longest.min(stride)),
            (longest, stride) => longest.or(stride),
        }
    }

    /// Whether the count of a recording is of elements.
    pub(crate) fn counts_elements(&self) -> bool {
        self.layout == Segments::Whole
    }
}

/// For example `ranges`, or `the first 10 of ranges`.
impl fmt::Display for SegmentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(top) = self.top {
            write!(f, "the first {top} of ")?;
        }
        write!(f, "{}", self.layout)
    }
}
