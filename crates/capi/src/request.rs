//! The requests that structures describe.

use vksort::{IndexFrom, KeyField, RecordOutput, RecordRequest, SegmentedRequest, Segments, SortRequest};

use super::names::{self, check_flags, one_of};
use super::outcome::Failure;
use super::structs::{check_pointer, read};
use super::types::*;

/// What is sorted, before it is divided into segments.
pub(super) enum Request {
    Elements(SortRequest),
    Records(RecordRequest),
}

/// The request that the structure of a sorter leads to.
///
/// # Safety
///
/// Each of its requests is null, or points to a structure whose size is in its first field; the fields of records are null, or as many
/// as the structure says.
pub(super) unsafe fn request(info: &VksortSorterInfo) -> Result<Request, Failure> {
    match (info.request.is_null(), info.records.is_null()) {
        // SAFETY: by this function's contract, here and below.
        (_, true) => Ok(Request::Elements(names::request(&unsafe { read(info.request)? })?)),
        // SAFETY: as above.
        (true, false) => Ok(Request::Records(unsafe { records(&read(info.records)?)? })),
        (false, false) => Err(Failure::value("records of VksortSorterInfo", "not null", "null beside a request")),
    }
}

/// A sort of records.
///
/// # Safety
///
/// The fields are null, or as many as the structure says.
unsafe fn records(given: &VksortRecordRequest) -> Result<RecordRequest, Failure> {
    check_flags("flags of VksortRecordRequest", given.flags, VKSORT_REQUEST_NOT_STABLE)?;
    let (count, most) = (given.field_count as usize, RecordRequest::MAX_FIELDS);
    if !(1..=most).contains(&count) {
        return Err(Failure::value("fieldCount of VksortRecordRequest", count, &format!("1 to {most}")));
    }
    check_pointer(given.fields, "fields of VksortRecordRequest")?;
    // SAFETY: there are as many, by this function's contract.
    let given_fields = unsafe { std::slice::from_raw_parts(given.fields, count) };
    let field = |(index, field): (usize, &VksortKeyField)| {
        let key = names::key(&format!("key of fields[{index}]"), field.key)?;
        let order = names::order(&format!("order of fields[{index}]"), field.order)?;
        Ok(KeyField { offset: field.offset, key, order })
    };
    let fields = given_fields.iter().enumerate().map(field).collect::<Result<Vec<_>, Failure>>()?;
    let outputs = [RecordOutput::InPlace, RecordOutput::OutOfPlace, RecordOutput::Permutation];
    let output = one_of("output of VksortRecordRequest", "VKSORT_RECORD_OUTPUT_", 0, &outputs, given.output)?;
    let mut request = RecordRequest::new(given.stride, fields).with_output(output);
    request.stable = given.flags & VKSORT_REQUEST_NOT_STABLE == 0;
    request.algorithm = names::algorithm(given.algorithm)?;
    request.check()?;
    Ok(request)
}

/// A sort of segments.
pub(super) fn segmented(request: &Request, given: &VksortSegmentsInfo) -> Result<SegmentedRequest, Failure> {
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
    let mut request = match request {
        Request::Elements(sort) => SegmentedRequest::new(*sort, segments),
        Request::Records(records) => SegmentedRequest::of_records(records, segments)?,
    };
    if given.flags & VKSORT_SEGMENTS_INDEX_FROM_SEGMENT != 0 {
        request = request.indices_from(IndexFrom::Segment);
    }
    request.longest = (given.longest > 0).then_some(given.longest);
    request.top = (given.top > 0).then_some(given.top);
    request.check()?;
    Ok(request)
}
