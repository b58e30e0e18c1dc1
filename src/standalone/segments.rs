//! Sorts of the segments of slices, and their first elements.

use bytemuck::{Pod, cast_slice};

use super::gpu::{Gpu, SortBy, check_count};
use super::prepared::PreparedSort;
use crate::error::Error;
use crate::key::Key;
use crate::request::{Capacity, KeyOutput, Placement, SortRequest, ValueType};
use crate::segments::{IndexFrom, Segments};

/// How a slice is divided into segments, each of which is sorted by itself. Elements in no segment stay as they are.
///
/// Begins and ends count elements of the slice. Segments may be empty, and must come in the order of the slice without overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentsOf<'a> {
    /// One number for each segment and one more: segment `s` is the elements from `offsets[s]` up to but not including
    /// `offsets[s + 1]`.
    Offsets(&'a [u32]),
    /// The begin of each segment, and the end, which it does not include. Between segments there may be other elements.
    Ranges(&'a [[u32; 2]]),
    /// Rows of so many elements each. The slice has whole rows.
    Rows(u32),
    /// Rows whose elements do not all count. The slice has one row for each length.
    RowsOf {
        /// Elements from the begin of a row to the begin of the next.
        stride: u32,
        /// How many elements of each row count, from its first one on.
        lengths: &'a [u32],
    },
}

impl SegmentsOf<'_> {
    /// How the device finds the segments.
    pub(super) fn layout(&self) -> Segments {
        match *self {
            SegmentsOf::Offsets(_) => Segments::Offsets,
            SegmentsOf::Ranges(_) => Segments::Ranges,
            SegmentsOf::Rows(stride) => Segments::Rows { stride },
            SegmentsOf::RowsOf { stride, .. } => Segments::RowsOf { stride },
        }
    }

    /// The words that the device reads.
    fn words(&self) -> &[u32] {
        match self {
            SegmentsOf::Offsets(words) | SegmentsOf::RowsOf { lengths: words, .. } => words,
            SegmentsOf::Ranges(ranges) => cast_slice(ranges),
            SegmentsOf::Rows(_) => &[],
        }
    }

    /// The length of each segment of a slice with so many elements.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for segments that are not within the slice, in its order. It names the first of them.
    fn lengths(&self, len: u32) -> Result<Vec<u32>, Error> {
        // Where segments may begin, and where this one ends.
        let within = |what: &str, index: usize, given: u32, least: u32| match (least..=len).contains(&given) {
            true => Ok(given),
            false => Err(Error::unsupported(
                format!("{what} {index}"),
                given,
                format!("{least} to {len}, from where the one before ends to the length of the slice"),
            )),
        };
        let whole_rows = |stride: u32, rows: Option<usize>| {
            let count = len.checked_div(stride).filter(|count| count.checked_mul(stride) == Some(len));
            let allowed = match rows {
                None => format!("a multiple of {stride}, the stride of rows"),
                Some(1) => format!("one row of {stride}"),
                Some(rows) => format!("{rows} rows of {stride}"),
            };
            let count = count.filter(|count| rows.is_none_or(|rows| rows == *count as usize));
            // The request refuses rows of no elements.
            count
                .or((stride == 0).then_some(0))
                .ok_or_else(|| Error::unsupported("the length of the slice", len, allowed))
        };
        match *self {
            SegmentsOf::Offsets([]) => Err(Error::unsupported("the number of offsets", 0, "one more than segments")),
            SegmentsOf::Offsets(offsets) => {
                let mut before = 0;
                for (index, offset) in offsets.iter().enumerate() {
                    before = within("offset", index, *offset, before)?;
                }
                Ok(offsets.windows(2).map(|pair| pair[1] - pair[0]).collect())
            }
            SegmentsOf::Ranges(ranges) => {
                let mut before = 0;
                let length = |(index, [begin, end]): (usize, &[u32; 2])| {
                    let begin = within("the begin of range", index, *begin, before)?;
                    before = within("the end of range", index, *end, begin)?;
                    Ok(before - begin)
                };
                ranges.iter().enumerate().map(length).collect()
            }
            SegmentsOf::Rows(stride) => Ok(vec![stride; whole_rows(stride, None)? as usize]),
            SegmentsOf::RowsOf { stride, lengths } => {
                whole_rows(stride, Some(lengths.len()))?;
                match lengths.iter().enumerate().find(|(_, length)| **length > stride) {
                    None => Ok(lengths.to_vec()),
                    Some((row, length)) => {
                        Err(Error::unsupported(format!("the length of row {row}"), length, format!("up to {stride}")))
                    }
                }
            }
        }
    }
}

impl Gpu {
    /// Sorts each segment of a slice by itself, as [`sort`](Self::sort) sorts a whole one.
    ///
    /// # Errors
    ///
    /// * As for [`sort`](Self::sort).
    /// * [`Error::Unsupported`] for segments that are not within the slice, in its order.
    ///
    /// After an error the slice is unchanged.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, standalone::{Gpu, SegmentsOf}};
    ///
    /// let mut depths = [2.5f32, -1.0, 7.0, 6.0, 5.0];
    /// Gpu::best()?.sort_segments(&mut depths, SegmentsOf::Offsets(&[0, 2, 5]), Order::Ascending)?;
    /// assert_eq!(depths, [-1.0, 2.5, 5.0, 6.0, 7.0]);
    /// # Ok(()) }
    /// ```
    pub fn sort_segments<K: Key>(
        &self,
        keys: &mut [K],
        segments: SegmentsOf<'_>,
        by: impl Into<SortBy>,
    ) -> Result<(), Error> {
        let sort = self.run_segments(by.into().request(K::TYPE), segments, keys, &[0u8; 0])?;
        let mut sorted = bytemuck::zeroed_vec(keys.len());
        sort.read_keys(&mut sorted)?;
        keys.copy_from_slice(&sorted);
        Ok(())
    }

    /// Sorts each segment of a slice by itself, and moves each value with its key, as [`sort_pairs`](Self::sort_pairs).
    ///
    /// # Errors
    ///
    /// As for [`sort_segments`](Self::sort_segments) and [`sort_pairs`](Self::sort_pairs). After an error both slices are unchanged.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, standalone::{Gpu, SegmentsOf}};
    ///
    /// // Candidates of two points; what is between their lists stays.
    /// let (mut distances, mut points) = ([3u16, 1, 0, 9, 8], [10u32, 11, 0, 12, 13]);
    /// let lists = SegmentsOf::Ranges(&[[0, 2], [3, 5]]);
    /// Gpu::best()?.sort_segment_pairs(&mut distances, &mut points, lists, Order::Ascending)?;
    /// assert_eq!((distances, points), ([1, 3, 0, 8, 9], [11, 10, 0, 13, 12]));
    /// # Ok(()) }
    /// ```
    pub fn sort_segment_pairs<K: Key, V: Pod>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        segments: SegmentsOf<'_>,
        by: impl Into<SortBy>,
    ) -> Result<(), Error> {
        let pairs = by.into().pairs_request::<K, V>(keys.len(), values.len())?;
        let sort = self.run_segments(pairs, segments, keys, values)?;
        // Both are read before either is changed.
        let mut sorted = (bytemuck::zeroed_vec(keys.len()), bytemuck::zeroed_vec(values.len()));
        sort.read_keys(&mut sorted.0)?;
        sort.read_values(&mut sorted.1)?;
        keys.copy_from_slice(&sorted.0);
        values.copy_from_slice(&sorted.1);
        Ok(())
    }

    /// The permutation that sorts each segment, as [`argsort`](Self::argsort). Indices count from the first element of the slice,
    /// or from the first one of their segment. An element in no segment has its own index in the slice.
    ///
    /// # Errors
    ///
    /// As for [`sort_segments`](Self::sort_segments).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{IndexFrom, Order, standalone::{Gpu, SegmentsOf}};
    ///
    /// let (gpu, rows) = (Gpu::best()?, SegmentsOf::Rows(3));
    /// let keys = [9u8, 7, 8, 1, 3, 2];
    /// assert_eq!(gpu.argsort_segments(&keys, rows, IndexFrom::Array, Order::Ascending)?, [1, 2, 0, 3, 5, 4]);
    /// assert_eq!(gpu.argsort_segments(&keys, rows, IndexFrom::Segment, Order::Ascending)?, [1, 2, 0, 0, 2, 1]);
    /// # Ok(()) }
    /// ```
    pub fn argsort_segments<K: Key>(
        &self,
        keys: &[K],
        segments: SegmentsOf<'_>,
        from: IndexFrom,
        by: impl Into<SortBy>,
    ) -> Result<Vec<u32>, Error> {
        let request = by.into().request(K::TYPE).value(ValueType::Index).key_output(KeyOutput::Discarded);
        self.permutation(request, segments, from, keys)
    }

    /// The first `count` keys in an order, with their indices: the largest ones with [`Order::Descending`](crate::Order::Descending).
    /// They are in that order, and of equal keys those with the lowest indices come first. If there are fewer keys, these are all.
    ///
    /// Each count is another request, which builds [pipelines](Gpu#what-the-first-sort-of-a-kind-costs).
    ///
    /// # Errors
    ///
    /// As for [`sort`](Self::sort); [`Error::Unsupported`] for a count of 0, and for one of more than
    /// [`SegmentLimits::max_top`](crate::SegmentLimits::max_top) where there are more keys than that, in the slice or in a segment.
    /// More take an [`argsort`](Self::argsort), of which you keep the first.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, standalone::Gpu};
    ///
    /// let scores = [0.5f32, 0.75, 0.25, 0.75];
    /// let (best, places) = Gpu::best()?.top_k(&scores, 3, Order::Descending)?;
    /// assert_eq!((best, places), (vec![0.75, 0.75, 0.5], vec![1, 3, 0]));
    /// # Ok(()) }
    /// ```
    pub fn top_k<K: Key>(&self, keys: &[K], count: u32, by: impl Into<SortBy>) -> Result<(Vec<K>, Vec<u32>), Error> {
        let length = check_count(keys.len())?;
        self.top(Segments::Whole, &[], &[length], keys, count, by.into())
    }

    /// The first `count` keys of each segment in an order, as [`top_k`](Self::top_k) finds those of a slice. Those of all segments come
    /// one after the other: as many as a segment has, and at most `count`. Indices count from the first element of the segment.
    ///
    /// # Errors
    ///
    /// As for [`top_k`](Self::top_k) and [`sort_segments`](Self::sort_segments).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, standalone::{Gpu, SegmentsOf}};
    ///
    /// // The two largest logits of each row, with their columns.
    /// let logits = [0.1f32, 0.7, 0.2, 0.5, 0.0, 0.5];
    /// let (best, columns) = Gpu::best()?.top_k_of_segments(&logits, SegmentsOf::Rows(3), 2, Order::Descending)?;
    /// assert_eq!((best, columns), (vec![0.7, 0.2, 0.5, 0.5], vec![1, 2, 0, 2]));
    /// # Ok(()) }
    /// ```
    pub fn top_k_of_segments<K: Key>(
        &self,
        keys: &[K],
        segments: SegmentsOf<'_>,
        count: u32,
        by: impl Into<SortBy>,
    ) -> Result<(Vec<K>, Vec<u32>), Error> {
        let lengths = segments.lengths(check_count(keys.len())?)?;
        self.top(segments.layout(), segments.words(), &lengths, keys, count, by.into())
    }

    /// The permutation that a request for indices sorts each segment by.
    pub(super) fn permutation<T: Pod>(
        &self,
        request: SortRequest,
        segments: SegmentsOf<'_>,
        from: IndexFrom,
        keys: &[T],
    ) -> Result<Vec<u32>, Error> {
        let lengths = segments.lengths(check_count(keys.len())?)?;
        let in_segments: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        let mut indices = Vec::new();
        if in_segments < keys.len() as u64 {
            indices.extend(0..keys.len() as u32);
        }
        let request = request.segments(segments.layout()).indices_from(from);
        let sort = self.run_segmented(&request, segments.words(), &lengths, keys, &indices)?;
        indices.resize(keys.len(), 0);
        sort.read_values(&mut indices)?;
        Ok(indices)
    }

    /// The first elements of segments, one after the other.
    fn top<K: Key>(
        &self,
        layout: Segments,
        words: &[u32],
        lengths: &[u32],
        keys: &[K],
        count: u32,
        by: SortBy,
    ) -> Result<(Vec<K>, Vec<u32>), Error> {
        // No result has room that no segment can fill.
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let (given, count) = (count, count.min(longest.max(1)));
        // Errors name what was given, and there may be no segments but the slice.
        let named = |error| match error {
            Error::Unsupported { what, allowed, .. } if what == "the top of each segment" => {
                Error::unsupported("the number of first elements", given, allowed)
            }
            error => error,
        };
        let from = if layout == Segments::Whole { IndexFrom::Array } else { IndexFrom::Segment };
        let sort = by.request(K::TYPE).value(ValueType::Index).placement(Placement::OutOfPlace);
        let request = sort.segments(layout).indices_from(from).top(count);
        let sort = self.run_segmented(&request, words, lengths, keys, &[0u8; 0]).map_err(named)?;
        let results = lengths.len() * count as usize;
        let (mut top, mut indices) = (bytemuck::zeroed_vec(results), vec![0u32; results]);
        sort.read_keys(&mut top)?;
        sort.read_values(&mut indices)?;
        if lengths.iter().any(|length| *length < count) {
            // Places behind short segments were not written.
            let is_there = |place: usize| place % (count as usize) < lengths[place / count as usize] as usize;
            let mut places = 0..;
            top.retain(|_| places.next().is_some_and(is_there));
            let mut places = 0..;
            indices.retain(|_| places.next().is_some_and(is_there));
        }
        Ok((top, indices))
    }

    /// Sorts the segments of slices.
    pub(super) fn run_segments<K: Pod, V: Pod>(
        &self,
        request: SortRequest,
        segments: SegmentsOf<'_>,
        keys: &[K],
        values: &[V],
    ) -> Result<PreparedSort, Error> {
        let lengths = segments.lengths(check_count(keys.len())?)?;
        self.run_segmented(&request.segments(segments.layout()), segments.words(), &lengths, keys, values)
    }

    fn run_segmented<K: Pod, V: Pod>(
        &self,
        request: &SortRequest,
        words: &[u32],
        lengths: &[u32],
        keys: &[K],
        values: &[V],
    ) -> Result<PreparedSort, Error> {
        let (elements, segments) = (check_count(keys.len())?, check_count(lengths.len())?);
        // Segments that fit a block take one dispatch if that is promised. Promises are powers of two, so that few sorters are built, and
        // the block itself.
        let longest = lengths.iter().copied().max().unwrap_or(0).max(1);
        let promised = match request.segments.map(|of| of.layout) {
            Some(Segments::Offsets | Segments::Ranges | Segments::RowsOf { .. }) => {
                let sorter = self.kept(&request.up_to(1 << longest.ilog2()), elements)?;
                let block = sorter.segments().map_or(0, |limits| limits.block());
                if longest <= block { request.up_to(longest.next_power_of_two().min(block)) } else { *request }
            }
            _ => *request,
        };
        let sorter = self.kept(&promised, elements)?;
        let sort = sorter.prepare_buffers(Capacity::new(elements).segments(segments), false)?;
        sort.write_keys(keys)?;
        if !words.is_empty() {
            sort.write_segments(words)?;
        }
        if !values.is_empty() {
            sort.write_values(values)?;
        }
        sorter.timed_once(|| sort.run(sort.all()))?;
        Ok(sort)
    }
}
