//! Constants and structures of sorts of segments.

use super::range::VksortBufferRange;

/// How elements are divided into segments, each of which is sorted by itself. 0 is none, so that it cannot be forgotten.
///
/// Begins and ends count elements from the first one of the buffers, in words of 32 bits that the device reads when the sort runs.
/// Begins ascend, also those of empty segments. Elements in no segment are neither read nor written, except that records may be read.
/// Begins and ends above the capacity count as the capacity, and a segment whose end is not above its begin is empty; the other segments
/// are sorted all the same. If begins do not ascend, or ranges overlap, the sort still ends, and writes only elements of the ranges that
/// the words name, whose order and content are then not specified; with `top` of VksortSegmentsInfo, only results of segments.
pub type VksortSegmentLayout = u32;
/// A word for each segment and one more: segment s goes from words[s] up to but not including words[s + 1].
pub const VKSORT_SEGMENTS_OFFSETS: VksortSegmentLayout = 1;
/// Two words for each segment, its begin and its end. Between segments there may be other elements.
pub const VKSORT_SEGMENTS_RANGES: VksortSegmentLayout = 2;
/// Rows of `stride` elements each. There are no words.
pub const VKSORT_SEGMENTS_ROWS: VksortSegmentLayout = 3;
/// Rows of `stride` elements, and a word for each row that says how many of them count, from its first one on.
pub const VKSORT_SEGMENTS_ROWS_OF: VksortSegmentLayout = 4;
/// All elements are one segment, of which the first ones are wanted (`top`). There are no words, and the count of a recording is the
/// number of elements.
pub const VKSORT_SEGMENTS_WHOLE: VksortSegmentLayout = 5;

/// Flag of segments: the indices of VKSORT_VALUE_INDEX, and those of VKSORT_RECORD_OUTPUT_PERMUTATION, count from the begin of their
/// segment, not from the first element of the buffers.
pub const VKSORT_SEGMENTS_INDEX_FROM_SEGMENT: u32 = 1;

/// How elements are divided, for vksortCreateSegmentedSorter. All zero but structSize and layout, and stride for rows, is: segments of
/// any length, all of whose elements are wanted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortSegmentsInfo {
    /// sizeof(VksortSegmentsInfo).
    pub struct_size: u32,
    /// VKSORT_SEGMENTS_INDEX_FROM_SEGMENT or 0.
    pub flags: u32,
    /// Where segments are.
    pub layout: VksortSegmentLayout,
    /// Elements from the begin of a row to the begin of the next, if segments are rows; else 0.
    pub stride: u32,
    /// The most elements that a segment will have, or 0 if that is not known. Up to a block of the device (`block` of
    /// VksortSegmentProperties), the sort takes fewer steps and less scratch, and a segment that is longer than was promised may stay
    /// as it is.
    pub longest: u32,
    /// How many elements of each segment are wanted, the first ones in its order; 0 for all. The request is then out of place, and
    /// those of segment s begin at element s * top of the result. Of a segment that has fewer elements, the rest of its result keeps
    /// its content. Of equal keys those with the lowest indices come first.
    pub top: u32,
}

/// The properties of a sorter of segments. Written by vksortGetSegmentProperties.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortSegmentProperties {
    /// sizeof(VksortSegmentProperties), set by the caller.
    pub struct_size: u32,
    /// The most elements of a segment that it sorts; 4294967295 if there is no limit. A longer segment stays as it is. The limit is a
    /// block, where `stride` or `longest` of VksortSegmentsInfo promise no more.
    pub longest: u32,
    /// The most elements of each segment that `top` may ask for, in a request with the same keys and values.
    pub max_top: u32,
    /// Elements of a block, which one workgroup sorts. Where `stride` or `longest` promise no more, one dispatch sorts all segments, and
    /// needs no scratch. Records take a dispatch more, and scratch for their keys.
    pub block: u32,
}

/// The segments of one sort, for vksortBindSegments.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortSegmentBuffers {
    /// sizeof(VksortSegmentBuffers).
    pub struct_size: u32,
    /// The largest number of segments that the sort will be recorded with; 1 for VKSORT_SEGMENTS_WHOLE.
    pub segment_capacity: u32,
    /// The words that say where segments are; a null buffer if there are none.
    pub segments: VksortBufferRange,
}
