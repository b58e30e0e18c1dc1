//! The requests that structures describe.

use vksort::{IndexFrom, SegmentedRequest, Segments, SortRequest};

use super::names::check_flags;
use super::outcome::Failure;
use super::types::*;

/// A sort of segments.
pub(super) fn segmented(sort: SortRequest, given: &VksortSegmentsInfo) -> Result<SegmentedRequest, Failure> {
    check_flags("flags of VksortSegmentsInfo", given.flags, VKSORT_SEGMENTS_INDEX_FROM_SEGMENT)?;
    let stride = given.stride;
    let segments = match given.layout {
        VKSORT_SEGMENTS_ROWS => Segments::Rows { stride },
        VKSORT_SEGMENTS_ROWS_OF => Segments::RowsOf { stride },
        VKSORT_SEGMENTS_OFFSETS | VKSORT_SEGMENTS_RANGES | VKSORT_SEGMENTS_WHOLE if stride > 0 => {
            return Err(Failure::value("stride of VksortSegmentsInfo", stride, "0 for segments that are no rows"));
        }
        VKSORT_SEGMENTS_OFFSETS => Segments::Offsets,
        VKSORT_SEGMENTS_RANGES => Segments::Ranges,
        VKSORT_SEGMENTS_WHOLE => Segments::Whole,
        other => return Err(Failure::value("layout of VksortSegmentsInfo", other, "a VKSORT_SEGMENTS_ of 1 to 5")),
    };
    let mut request = SegmentedRequest::new(sort, segments);
    if given.flags & VKSORT_SEGMENTS_INDEX_FROM_SEGMENT != 0 {
        request = request.indices_from(IndexFrom::Segment);
    }
    request.longest = (given.longest > 0).then_some(given.longest);
    request.top = (given.top > 0).then_some(given.top);
    request.check()?;
    Ok(request)
}
