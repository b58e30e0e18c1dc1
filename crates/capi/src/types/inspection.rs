//! The report of an inspector.

/// The report of an inspector, as vksortCmdInspect writes it into the caller's buffer. All of a sort was done if the last four are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VksortInspection {
    /// What the recording's count was, in elements or in segments, before it was clamped to the capacity.
    pub count: u32,
    /// Elements of the longest segment, before its end is clamped to the capacity; of one array, the count.
    pub longest: u32,
    /// Segments of the count beyond the segment capacity, which have not been sorted. Their words are not looked at.
    pub segments_beyond: u32,
    /// Elements beyond the capacity, up to the last one of a segment, or of the count: a capacity with so many more takes them all.
    pub elements_beyond: u32,
    /// Segments that are longer than `longest` of VksortSegmentsInfo, or than the stride of VKSORT_SEGMENTS_ROWS_OF, which cuts them off.
    /// Where `longest` is within a block, they have not been sorted.
    pub too_long: u32,
    /// Segments that begin before the segment in front of them, as an empty range (0, 0) between others does, and a last offset below the
    /// one in front of it. The order of the ranges that such words name is not specified.
    pub descending: u32,
}

const _: () = assert!(size_of::<VksortInspection>() == 4 * vksort::Inspector::WORDS);
