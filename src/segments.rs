//! The request of a sort of segments: how the elements are divided, and how each part is sorted.

use std::fmt;

use crate::error::Error;
use crate::request::{BufferSizes, SortRequest, ValueType};

/// How elements are divided into segments, each of which is sorted by itself.
///
/// Begins and ends count elements from the first one of the buffers. Begins ascend, also those of empty segments. Elements outside of
/// all segments are not read, and neither written nor moved; out of place their part of the result keeps its content.
///
/// The words are read on the device when the sort runs. If they break these rules, the sort still ends, and touches only elements of
/// the ranges that they name: begins and ends above the capacity count as the capacity, and a segment whose end is not above its begin
/// is empty. The order and the content of all these ranges are then unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Segments {
    /// A word for each segment and one more: segment `s` is the elements from `words[s]` up to but not including `words[s + 1]`.
    Offsets,
    /// Two words for each segment, its begin and its end. Between segments there may be other elements.
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
}

impl Segments {
    /// Words of so many segments.
    pub fn words(self, segments: u32) -> u64 {
        match self {
            Segments::Offsets => u64::from(segments) + 1,
            Segments::Ranges => 2 * u64::from(segments),
            Segments::Rows { .. } => 0,
            Segments::RowsOf { .. } => segments.into(),
        }
    }

    /// Elements of a row, if segments are rows.
    pub(crate) fn stride(self) -> Option<u32> {
        match self {
            Segments::Offsets | Segments::Ranges => None,
            Segments::Rows { stride } | Segments::RowsOf { stride } => Some(stride),
        }
    }
}

/// For example `offsets`, `ranges`, `rows of 100`, or `rows of up to 100`.
impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segments::Offsets => f.write_str("offsets"),
            Segments::Ranges => f.write_str("ranges"),
            Segments::Rows { stride } => write!(f, "rows of {stride}"),
            Segments::RowsOf { stride } => write!(f, "rows of up to {stride}"),
        }
    }
}

/// What the indices of an argsort of segments count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexFrom {
    /// The first element of the buffers.
    #[default]
    Array,
    /// The begin of the element's segment.
    Segment,
}

/// One kind of sort of many segments: everything except the numbers of elements and segments, and the buffers.
///
/// ```
/// use vksort::{IndexFrom, KeyType, Order, SegmentedRequest, Segments, SortRequest, ValueType};
/// // The columns of the largest entries first, for each row of a sparse matrix.
/// let entries = SortRequest { order: Order::Descending, value: ValueType::Index, ..SortRequest::new(KeyType::F32) };
/// let request = SegmentedRequest::new(entries, Segments::Offsets).indices_from(IndexFrom::Segment);
/// assert!(request.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SegmentedRequest {
    /// How each segment is sorted. No algorithm is chosen.
    pub sort: SortRequest,
    /// How the elements are divided.
    pub segments: Segments,
    /// The most elements that a segment will have; `None` if that is not known. A sort may take less work and fewer steps with it.
    ///
    /// A longer segment stays as it is, and out of place its part of the result is not written. Today this also holds for segments
    /// of more than [`SegmentedSorter::longest`](crate::SegmentedSorter::longest) elements, a block of the device.
    pub longest: Option<u32>,
    /// What indices count from, if [`ValueType::Index`] asks for them.
    pub index_from: IndexFrom,
}

impl SegmentedRequest {
    /// Segments of unknown length, and indices from the first element of the buffers.
    pub fn new(sort: SortRequest, segments: Segments) -> Self {
        SegmentedRequest { sort, segments, longest: None, index_from: IndexFrom::Array }
    }

    /// The same for segments of at most so many elements.
    pub fn up_to(self, longest: u32) -> Self {
        SegmentedRequest { longest: Some(longest), ..self }
    }

    /// The same with indices that count from there.
    pub fn indices_from(self, index_from: IndexFrom) -> Self {
        SegmentedRequest { index_from, ..self }
    }

    /// The buffers of elements that a sort of up to `capacity` elements needs: [`SortRequest::buffers`]. Words of segments are apart:
    /// [`Segments::words`].
    pub fn buffers(&self, capacity: u32) -> BufferSizes {
        self.sort.buffers(capacity)
    }

    /// Checks the request for every device. [`SegmentedSorter::new`](crate::SegmentedSorter::new) does so too.
    ///
    /// # Errors
    ///
    /// * As for [`SortRequest::check`].
    /// * [`Error::Unsupported`]: an algorithm, rows of no elements, a longest segment of none, or indices from the begin of segments
    ///   without [`ValueType::Index`].
    pub fn check(&self) -> Result<(), Error> {
        self.sort.check()?;
        if let Some(algorithm) = self.sort.algorithm {
            return Err(Error::unsupported("the algorithm of a sort of segments", algorithm, "none"));
        }
        for (what, given) in [("the stride of rows", self.segments.stride()), ("the longest segment", self.longest)] {
            if given == Some(0) {
                return Err(Error::unsupported(what, "0 elements", "at least 1"));
            }
        }
        if self.index_from == IndexFrom::Segment && self.sort.value != ValueType::Index {
            let allowed = "from the array, or with indices as values";
            return Err(Error::unsupported("the start of indices", "from segments, without indices", allowed));
        }
        Ok(())
    }

    /// The most elements that a segment will have, as far as the request says.
    pub(crate) fn promised(&self) -> Option<u32> {
        match (self.longest, self.segments.stride()) {
            (Some(longest), Some(stride)) => Some(longest.min(stride)),
            (longest, stride) => longest.or(stride),
        }
    }
}

/// For example `ranges: f32 keys with their indices, descending`.
impl fmt::Display for SegmentedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.segments, self.sort)?;
        f.write_str(if self.index_from == IndexFrom::Segment { ", counted from segments" } else { "" })
    }
}
