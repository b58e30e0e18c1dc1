//! Sorts of segments. Once they are created or bound, their handles are those of other sorters and sorts.

use vksort::Capacity;

use super::outcome::run_unit;
use super::record::bind_to;
use super::request;
use super::sorter::{SORTERS, create, needs_of};
use super::structs::{check_pointer, put, read, write};
use super::types::*;

/// Builds the pipelines for a request whose elements are divided into segments, each of which is sorted by itself. A sort of them is
/// one recording, whatever their number.
///
/// - info: the request and its options, as for vksortCreateSorter. The request names no algorithm.
/// - segments: how elements are divided; nothing of it is kept.
/// - sorter: a handle is written, which belongs to the caller until vksortDestroySorter.
/// - vksortGetSegmentProperties, vksortGetSegmentBufferRequirements and vksortBindSegments take the sorter. For the others it is as
///   any sorter: vksortGetSorterProperties gives VKSORT_ALGORITHM_AUTO, as no algorithm is chosen.
/// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
///
/// Fails as vksortCreateSorter; with VKSORT_ERROR_VALUE for a layout that is none, for segments that contradict the request, and for a
/// `top` beyond a block of the device, in a text that names the number.
///
/// # Safety
///
/// * As for vksortCreateSorter.
/// * `segments` is null, or points to a structure whose size is in its first field.
#[unsafe(export_name = "vksortCreateSegmentedSorter")]
pub unsafe extern "C" fn create_segmented_sorter(
    info: *const VksortSorterInfo,
    segments: *const VksortSegmentsInfo,
    sorter: *mut VksortSorter,
) -> VksortResult {
    run_unit("vksortCreateSegmentedSorter", || {
        let divided = |request, options| {
            // SAFETY: the same contract, here and below.
            let given = unsafe { read(segments)? };
            Ok((request::segmented(request, &given)?, options))
        };
        // SAFETY: as above.
        unsafe { create(info, sorter, divided) }
    })
}

/// Returns the properties of a sorter of segments.
///
/// - properties: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_HANDLE for a sorter of another kind.
///
/// # Safety
///
/// `properties` is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetSegmentProperties")]
pub unsafe extern "C" fn get_segment_properties(
    sorter: VksortSorter,
    properties: *mut VksortSegmentProperties,
) -> VksortResult {
    run_unit("vksortGetSegmentProperties", || {
        let made = SORTERS.get("sorter", sorter)?;
        // A sorter of segments has limits.
        made.sorter(true)?.segments().map_or(Ok(()), |limits| {
            let value = VksortSegmentProperties {
                struct_size: 0,
                longest: limits.longest(),
                max_top: limits.max_top(),
                block: limits.block(),
            };
            // SAFETY: by this function's contract.
            unsafe { write(properties, &value) }
        })
    })
}

/// Returns which buffers a sort of up to `capacity` elements in up to `segment_capacity` segments needs, as
/// vksortGetBufferRequirements. A sort with these buffers can be recorded with every smaller number of segments.
///
/// - capacity: elements.
/// - segmentCapacity: segments; 1 for VKSORT_SEGMENTS_WHOLE.
/// - requirements: written; structSize must be set. The count is that of segments, or of elements for VKSORT_SEGMENTS_WHOLE.
/// - segments: written: the buffer of the words that say where segments are; size and usage are 0 if there are none.
/// - Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_TOO_MANY_ELEMENTS, with VKSORT_ERROR_VALUE for more segments than there may be beside so many elements, and
/// with VKSORT_ERROR_HANDLE for a sorter of another kind.
///
/// # Safety
///
/// `requirements` is null, or points to a writable structure whose size is in its first field; `segments` is null or writable.
#[unsafe(export_name = "vksortGetSegmentBufferRequirements")]
pub unsafe extern "C" fn get_segment_buffer_requirements(
    sorter: VksortSorter,
    capacity: u32,
    segment_capacity: u32,
    requirements: *mut VksortBufferRequirements,
    segments: *mut VksortBufferNeed,
) -> VksortResult {
    run_unit("vksortGetSegmentBufferRequirements", || {
        check_pointer(segments, "the pointer to segments")?;
        let capacity = Capacity::new(capacity).segments(segment_capacity);
        let (value, words) = needs_of(SORTERS.get("sorter", sorter)?.sorter(true)?, capacity)?;
        // SAFETY: by this function's contract, here and below.
        unsafe { write(requirements, &value)? };
        // SAFETY: as above.
        unsafe { put(segments, words) }
    })
}

/// Binds a sorter of segments to buffers, as vksortBind binds others. The result is recorded by vksortCmdSort, with the number of
/// segments as its count, or of elements for VKSORT_SEGMENTS_WHOLE. The words of segments are one of the buffers that it reads.
///
/// - buffers: the ranges of elements, in bytes, and the capacity, in elements. The count, if it is on the device, is that of segments,
///   or of elements for VKSORT_SEGMENTS_WHOLE.
/// - segments: the range of words, and the largest number of segments. It may be in the buffer of the count.
/// - sort: a handle is written, which belongs to the caller until vksortDestroySort. It has no algorithm and no verifier.
/// - Any thread may call it at any time.
///
/// Fails as vksortBind; with VKSORT_ERROR_VALUE for more segments than there may be beside so many elements, and for a count buffer with
/// capacity or segmentCapacity 0; with VKSORT_ERROR_HANDLE for a sorter of another kind.
///
/// # Safety
///
/// * As for vksortBind, with what vksortGetSegmentBufferRequirements says.
/// * `segments` is null, or points to a structure whose size is in its first field; its buffer is as the others.
#[unsafe(export_name = "vksortBindSegments")]
pub unsafe extern "C" fn bind_segments(
    sorter: VksortSorter,
    buffers: *const VksortBuffers,
    segments: *const VksortSegmentBuffers,
    sort: *mut VksortSort,
) -> VksortResult {
    // SAFETY: by this function's contract.
    run_unit("vksortBindSegments", || unsafe { bind_to(sorter, buffers, Some(read(segments)?), sort) })
}
