//! The request of a sort of segments: how the elements are divided, and how each part is sorted.

use std::fmt;

use crate::error::Error;
use crate::records::{Fields, RecordRequest};
use crate::request::{BufferSizes, SortRequest, ValueType};

/// How elements are divided into segments, each of which is sorted by itself.
///
/// Begins and ends count elements from the first one of the buffers. Begins ascend, also those of empty segments, because workgroups
/// find their segments by binary search. Elements outside of all segments are not read, and neither written nor moved; out of place
/// their part of the result keeps its content.
///
/// The words are read on the device when the sort runs. Begins and ends above the capacity count as the capacity, and a segment whose
/// end is not above its begin is empty; the other segments are sorted all the same. If begins do not ascend, or ranges overlap, the sort
/// still ends, and touches only elements of the ranges that the words name. The order and the content of all these ranges are then
/// unspecified, or of all results of these segments if only their [`top`](SegmentedRequest::top) is wanted.
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
    /// All elements are one segment, of which the first ones are wanted: see [`SegmentedRequest::top`]. There are no words, and the
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
    /// [`Segments::Rows`] have as many as they have, and a smaller number is refused.
    ///
    /// Up to a block of the device ([`SegmentedSorter::block`](crate::SegmentedSorter::block)), a sort is one dispatch without scratch,
    /// and a longer segment than was promised stays as it is; out of place its part of the result is not written. Otherwise segments
    /// may have any length, whatever this says.
    pub longest: Option<u32>,
    /// What indices count from, if [`ValueType::Index`] asks for them.
    pub index_from: IndexFrom,
    /// How many elements of each segment are wanted, the first ones in its order; `None` for all. See [`top`](Self::top).
    pub top: Option<u32>,
    /// Of records, what their keys are composed of, and the sort of these keys.
    composed: Option<(Fields, SortRequest)>,
}

impl SegmentedRequest {
    /// Segments of any length, and indices from the first element of the buffers.
    pub fn new(sort: SortRequest, segments: Segments) -> Self {
        SegmentedRequest { sort, segments, longest: None, index_from: IndexFrom::Array, top: None, composed: None }
    }

    /// The same for segments of records, which are sorted by their fields.
    ///
    /// * The records are bound as [`SortBuffers::keys`](crate::SortBuffers::keys), as for
    ///   [`Sorter::of_records`](crate::Sorter::of_records).
    /// * Keys are composed of all records up to the capacity, so those outside of the segments are read too.
    /// * [`sort`](Self::sort) is the sort of these keys, and has to stay as it is.
    ///
    /// ```
    /// use vksort::{IndexFrom, KeyField, KeyType, RecordOutput, RecordRequest, SegmentedRequest, Segments};
    /// // The particles of each cell by their distance, and then by age: which they are, counted from the first one of the cell.
    /// let fields = [KeyField::new(12, KeyType::F16), KeyField::new(20, KeyType::U16)];
    /// let particles = RecordRequest::new(24, fields).with_output(RecordOutput::Permutation);
    /// let request = SegmentedRequest::of_records(&particles, Segments::Ranges)?.indices_from(IndexFrom::Segment);
    /// # Ok::<(), vksort::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`RecordRequest::check`].
    pub fn of_records(records: &RecordRequest, segments: Segments) -> Result<Self, Error> {
        let (sort, fields) = records.as_sort()?;
        let composed = fields.map(|fields| (fields, sort));
        Ok(SegmentedRequest { composed, ..SegmentedRequest::new(sort, segments) })
    }

    /// What keys are composed of, in a sort of records.
    pub(crate) fn fields(&self) -> Option<Fields> {
        self.composed.map(|(fields, _)| fields)
    }

    /// The same for segments of at most so many elements. If that is at most a block of the device
    /// ([`SegmentedSorter::block`](crate::SegmentedSorter::block)), the sort takes one dispatch and no scratch.
    pub fn up_to(self, longest: u32) -> Self {
        SegmentedRequest { longest: Some(longest), ..self }
    }

    /// The same with indices that count from there.
    pub fn indices_from(self, index_from: IndexFrom) -> Self {
        SegmentedRequest { index_from, ..self }
    }

    /// The same for the first `count` elements of each segment, in its order: those that a stable sort of the segment begins with, so
    /// that of equal keys those with the lowest indices come first.
    ///
    /// The request is out of place. The elements of segment `s` begin at element `s * count` of the result. Of a segment that has
    /// fewer elements, the rest of its result keeps its content.
    ///
    /// At most [`SegmentedSorter::max_top`](crate::SegmentedSorter::max_top) elements are possible, a block of the device; more take a
    /// sort of whole segments. Segments may have any length, with scratch if they may be longer than a block.
    ///
    /// ```
    /// use vksort::{IndexFrom, KeyType, Order, Placement, SegmentedRequest, Segments, SortRequest, ValueType};
    /// // The columns of the 40 largest logits of each row, and the 100 nearest of all points with their distances.
    /// let largest = SortRequest {
    ///     order: Order::Descending,
    ///     value: ValueType::Index,
    ///     placement: Placement::OutOfPlace,
    ///     ..SortRequest::new(KeyType::F32)
    /// };
    /// let rows = SegmentedRequest::new(largest, Segments::Rows { stride: 128_256 }).indices_from(IndexFrom::Segment);
    /// assert!(rows.top(40).check().is_ok());
    /// let nearest = SortRequest { order: Order::Ascending, ..largest };
    /// let points = SegmentedRequest::new(nearest, Segments::Whole).top(100);
    /// // Of a million points, 100 keys and 100 indices are written.
    /// assert_eq!(points.buffers(1_000_000, 1).keys_out, Some(400));
    /// ```
    pub fn top(self, count: u32) -> Self {
        SegmentedRequest { top: Some(count), ..self }
    }

    /// The buffers of elements that a sort of up to `capacity` elements and `segment_capacity` segments needs: those of
    /// [`SortRequest::buffers`], or for the first elements of each segment, the results of so many. Words of segments are apart:
    /// [`Segments::words`].
    pub fn buffers(&self, capacity: u32, segment_capacity: u32) -> BufferSizes {
        if let Some(fields) = self.fields() {
            return fields.buffers(&self.sort, capacity);
        }
        let results = self.top.map_or(u64::from(capacity), |top| u64::from(top) * u64::from(segment_capacity));
        self.sort.buffers_of(capacity, results)
    }

    /// Checks the request for every device. [`SegmentedSorter::new`](crate::SegmentedSorter::new) does so too.
    ///
    /// # Errors
    ///
    /// * As for [`SortRequest::check`].
    /// * [`Error::Unsupported`]: a sort that is no longer that of the records, an algorithm, rows of no elements, a longest segment of none
    ///   or of fewer elements than each of the [`Rows`](Segments::Rows), indices from the begin of segments without
    ///   [`ValueType::Index`], the first 0 elements, the first elements in place or of records, or the whole array without a number of
    ///   its first elements.
    pub fn check(&self) -> Result<(), Error> {
        self.sort.check()?;
        if let Some((_, composed)) = self.composed
            && composed != self.sort
        {
            return Err(Error::unsupported("the sort of the keys of records", self.sort, composed));
        }
        if let Some(algorithm) = self.sort.algorithm {
            return Err(Error::unsupported("the algorithm of a sort of segments", algorithm, "none"));
        }
        let numbers = [
            ("the stride of rows", self.segments.stride()),
            ("the longest segment", self.longest),
            ("the top of each segment", self.top),
        ];
        for (what, given) in numbers {
            if given == Some(0) {
                return Err(Error::unsupported(what, "0 elements", "at least 1"));
            }
        }
        if let (Segments::Rows { stride }, Some(longest)) = (self.segments, self.longest)
            && longest < stride
        {
            let allowed = format!("at least {stride}, as every row has; rows of other lengths are RowsOf");
            return Err(Error::unsupported("the longest segment", format!("{longest} elements"), allowed));
        }
        if self.index_from == IndexFrom::Segment && self.sort.value != ValueType::Index {
            let (what, allowed) = (
                "the request for indices from the begin of segments",
                "one with indices as values, or of records as a permutation",
            );
            return Err(Error::unsupported(what, "one without indices", allowed));
        }
        if self.top.is_some() && self.composed.is_some() {
            let allowed =
                "all of each segment; for the first ones take the top of an array of the field, with indices as values";
            return Err(Error::unsupported("the top of each segment", "the first records", allowed));
        }
        if self.top.is_some() && self.sort.in_place() {
            return Err(Error::unsupported("the placement of the top of each segment", "in place", "out of place"));
        }
        if self.top.is_none() && self.segments == Segments::Whole {
            let allowed = "with the top of it; a sort of all elements is a SortRequest";
            return Err(Error::unsupported("the layout of segments", "the whole array, without a top", allowed));
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

/// For example `ranges: f32 keys with their indices, descending`, or the same behind `the first 10 of `.
impl fmt::Display for SegmentedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(top) = self.top {
            write!(f, "the first {top} of ")?;
        }
        write!(f, "{}: {}", self.segments, self.sort)?;
        f.write_str(if self.index_from == IndexFrom::Segment { ", counted from segments" } else { "" })
    }
}
