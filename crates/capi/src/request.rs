//! The requests that structures describe.

use vksort::{IndexFrom, KeyField, Order, Placement, Segments, SortRequest, ValueType};

use super::names::{self, check_flags};
use super::outcome::Failure;
use super::structs::{check_pointer, read};
use super::types::*;

/// The request that the structure of a sorter leads to, before it is divided into segments.
///
/// # Safety
///
/// Each of its requests is null, or points to a structure whose size is in its first field; the fields of records are null, or as many
/// as the structure says.
pub(super) unsafe fn request(info: &VksortSorterInfo) -> Result<SortRequest, Failure> {
    match (info.request.is_null(), info.records.is_null()) {
        // SAFETY: by this function's contract, here and below.
        (_, true) => names::request(&unsafe { read(info.request)? }),
        // SAFETY: as above.
        (true, false) => unsafe { records(&read(info.records)?) },
        (false, false) => Err(Failure::value("records of VksortSorterInfo", "not null", "null beside a request")),
    }
}

/// A sort of records.
///
/// # Safety
///
/// The fields are null, or as many as the structure says.
unsafe fn records(given: &VksortRecordRequest) -> Result<SortRequest, Failure> {
    check_flags("flags of VksortRecordRequest", given.flags, VKSORT_REQUEST_NOT_STABLE)?;
    let (count, most) = (given.field_count as usize, SortRequest::MAX_FIELDS);
    if !(1..=most).contains(&count) {
        return Err(Failure::value("fieldCount of VksortRecordRequest", count, &format!("1 to {most}")));
    }
    check_pointer(given.fields, "fields of VksortRecordRequest")?;
    // SAFETY: there are as many, by this function's contract.
    let given_fields = unsafe { std::slice::from_raw_parts(given.fields, count) };
    let field = |(index, field): (usize, &VksortKeyField)| {
        check_flags(&format!("flags of fields[{index}]"), field.flags, 0)?;
        let made = KeyField::new(field.offset, names::key(&format!("key of fields[{index}]"), field.key)?);
        let order = names::order(&format!("order of fields[{index}]"), field.order)?;
        Ok(if order == Order::Descending { made.descending() } else { made })
    };
    let fields = given_fields.iter().enumerate().map(field).collect::<Result<Vec<_>, Failure>>()?;
    let stable = given.flags & VKSORT_REQUEST_NOT_STABLE == 0;
    let request =
        SortRequest::records(given.stride, fields).stable(stable).algorithm(names::algorithm(given.algorithm)?);
    match given.output {
        VKSORT_RECORD_OUTPUT_IN_PLACE => Ok(request),
        VKSORT_RECORD_OUTPUT_OUT_OF_PLACE => Ok(request.placement(Placement::OutOfPlace)),
        VKSORT_RECORD_OUTPUT_PERMUTATION => Ok(request.value(ValueType::Index)),
        other => Err(Failure::value("output of VksortRecordRequest", other, "a VKSORT_RECORD_OUTPUT_ of 0 to 2")),
    }
}

/// The same sort of segments.
pub(super) fn segmented(request: SortRequest, given: &VksortSegmentsInfo) -> Result<SortRequest, Failure> {
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
    let mut request = request.segments(segments);
    if given.flags & VKSORT_SEGMENTS_INDEX_FROM_SEGMENT != 0 {
        request = request.indices_from(IndexFrom::Segment);
    }
    if given.longest > 0 {
        request = request.up_to(given.longest);
    }
    if given.top > 0 {
        request = request.top(given.top);
    }
    Ok(request)
}
