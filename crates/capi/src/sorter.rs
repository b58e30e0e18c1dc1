//! Sorters, and the buffers that they take.

use std::sync::Arc;

use ash::vk::{BufferUsageFlags as Usage, Device as VkDevice};
use vksort::{Access, Capacity, PipelineSet, SortRequest, Sorter, SorterOptions, Visitor};

use super::device::{self, REQUIREMENTS};
use super::fault::Fault;
use super::handles::Register;
use super::names::{check_flags, number_of, one_of};
use super::outcome::{Failure, run_unit};
use super::request;
use super::structs::{bytes, check_pointer, put, read, write};
use super::types::*;

/// The object of a sorter's handle.
pub(super) struct Made {
    sorter: Sorter,
    device: VkDevice,
    /// For sorters that share them.
    pipelines: Arc<PipelineSet>,
}

impl Made {
    /// The sorter, if it is one of segments where the call takes segments, and else none of segments.
    pub fn sorter(&self, of_segments: bool) -> Result<&Sorter, Failure> {
        let (given, kind) = match of_segments {
            _ if self.sorter.request().segments.is_some() == of_segments => return Ok(&self.sorter),
            true => ("a VksortSorter without segments", "VksortSorter of vksortCreateSegmentedSorter"),
            false => {
                ("a VksortSorter of segments, which vksortBindSegments takes", "VksortSorter of vksortCreateSorter")
            }
        };
        Err(Fault::Handle { what: "sorter", given: given.into(), kind }.into())
    }
}

pub(super) static SORTERS: Register<Made> = Register::new("VksortSorter");

/// Builds the pipelines for a request of elements or of records, which takes from milliseconds to seconds.
///
/// - info: the request and its options; nothing that it points to is kept.
/// - sorter: a handle is written, which belongs to the caller until vksortDestroySorter.
/// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
///
/// Fails with VKSORT_ERROR_VALUE for an invalid request, with VKSORT_ERROR_NOT_BUILT for keys that this build lacks, with
/// VKSORT_ERROR_UNSUITABLE_DEVICE for a request that the device does not support, with VKSORT_ERROR_HANDLE for a shareWith of
/// another device, with VKSORT_ERROR_MISSING_FUNCTION for labels without VK_EXT_debug_utils, or with the VkResult of the driver.
///
/// # Safety
///
/// * `info` is null, or points to a structure whose size is in its first field, and so do its `request` and its `records`.
/// * The fields of records are null, or as many as fieldCount says.
/// * The device was created with everything that the requirements name, and is of their physical device.
/// * The device outlives the sorter and every sort bound from it.
/// * The pipeline cache is null or the device's, and no other thread uses it during the call.
/// * `sorter` is null or writable.
#[unsafe(export_name = "vksortCreateSorter")]
pub unsafe extern "C" fn create_sorter(info: *const VksortSorterInfo, sorter: *mut VksortSorter) -> VksortResult {
    // SAFETY: by this function's contract.
    run_unit("vksortCreateSorter", || unsafe { create(info, sorter, |request, options| Ok((request, options))) })
}

/// Builds the pipelines for a request whose keys or values a visitor computes, or whose result it receives.
///
/// - info: the request and its options, as for vksortCreateSorter. The request is out of place. Pipelines with a visitor are
///   this sorter's own: shareWith shares none.
/// - visitor: its bytes and the layout of its resources; the bytes are not kept. Bytes that were compiled for a
///   request can also be used with another order, other bits, or another key type of as many words.
/// - sorter: a handle is written, which belongs to the caller until vksortDestroySorter.
/// - Buffers that the visitor replaces are not bound: vksortGetBufferRequirements has size 0 for them.
/// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
///
/// Fails as vksortCreateSorter; with VKSORT_ERROR_VISITOR for bytes that are not a visitor or are damaged, for a visitor of
/// a version of vksort with other kernels or of another request, and for a missing layout; with VKSORT_ERROR_VALUE for records, and for a request
/// that does not fit the visitor; with VKSORT_ERROR_UNSUITABLE_DEVICE if its push constants are more than the device has.
///
/// # Safety
///
/// * As for vksortCreateSorter.
/// * `visitor` is null, or points to a structure whose size is in its first field. Its code is null, or leads to as many
///   bytes as codeSize says, which the program vksort-compile-visitor has made.
/// * The layout is null or the device's, and has the bindings that the visitor's code declares, for compute.
/// * The device was created with the features that the visitor's code uses.
/// * The visitor's code meets the duties that docs/VISITORS.md lists: it gives the same bits for an index throughout a sort,
///   reads and writes within its buffers, ends, and has no barriers, shared memory or subgroup operations.
#[unsafe(export_name = "vksortCreateVisitedSorter")]
pub unsafe extern "C" fn create_visited_sorter(
    info: *const VksortSorterInfo,
    visitor: *const VksortVisitorInfo,
    sorter: *mut VksortSorter,
) -> VksortResult {
    run_unit("vksortCreateVisitedSorter", || {
        let visited = |request: SortRequest, options| match request.stride() {
            // SAFETY: the same contract, here and below.
            None => Ok((request, unsafe { with_visitor(options, visitor)? })),
            Some(_) => Err(Failure::value("records of VksortSorterInfo", "not null", "null with a visitor")),
        };
        // SAFETY: as above.
        unsafe { create(info, sorter, visited) }
    })
}

/// The same options with the visitor that a structure describes.
///
/// # Safety
///
/// As for [`create_visited_sorter`].
unsafe fn with_visitor(options: SorterOptions, visitor: *const VksortVisitorInfo) -> Result<SorterOptions, Failure> {
    const CODE: &str = "code of VksortVisitorInfo";
    // SAFETY: it is null or a structure, by this function's contract.
    let info = unsafe { read(visitor)? };
    check_flags("flags of VksortVisitorInfo", info.flags, VKSORT_VISITOR_DYNAMIC_INDEXING)?;
    check_pointer(info.code.cast::<u8>(), CODE)?;
    // SAFETY: the code has as many bytes, by this function's contract.
    let code = unsafe { bytes(info.code, info.code_size, CODE)? };
    let mut visitor = Visitor::from_bytes(code)?;
    if info.flags & VKSORT_VISITOR_DYNAMIC_INDEXING != 0 {
        visitor = visitor.with_dynamic_indexing();
    }
    Ok(options.visitor(visitor, info.set_layout))
}

/// Builds a sorter for what `complete` makes of its request and its options, and writes its handle.
///
/// # Safety
///
/// As for [`create_sorter`]; with a visitor, as for [`create_visited_sorter`].
pub(super) unsafe fn create(
    info: *const VksortSorterInfo,
    sorter: *mut VksortSorter,
    complete: impl FnOnce(SortRequest, SorterOptions) -> Result<(SortRequest, SorterOptions), Failure>,
) -> Result<(), Failure> {
    // SAFETY: it is null or a structure, by this function's contract.
    let info = unsafe { read(info)? };
    check_flags("flags of VksortSorterInfo", info.flags, VKSORT_SORTER_LABELS)?;
    // SAFETY: it is null or writable, by this function's contract.
    unsafe { put(sorter, std::ptr::null_mut())? };
    let known = REQUIREMENTS.get("requirements of VksortSorterInfo", info.requirements)?;
    // SAFETY: the structures that it points to are as the function asks, by this function's contract.
    let (request, options) = complete(unsafe { request::request(&info)? }, SorterOptions::default())?;
    let pipelines = match info.share_with.is_null() {
        true => Arc::default(),
        false => {
            let other = SORTERS.get("shareWith", info.share_with)?;
            if other.device != info.device {
                return Err(Fault::ForeignSorter { given: other.device, allowed: info.device }.into());
            }
            Arc::clone(&other.pipelines)
        }
    };
    let accesses = [Access::Auto, Access::Descriptors, Access::Addresses];
    let mut options = options
        .pipeline_cache(info.pipeline_cache)
        .pipelines(Arc::clone(&pipelines))
        .access(one_of("access", "VKSORT_ACCESS_", VKSORT_ACCESS_AUTO, &accesses, info.access)?)
        .capacity((info.capacity > 0).then_some(info.capacity));
    // SAFETY: the device is of the requirements' instance, by this function's contract.
    let device = unsafe { device::load_device(&known.instance, info.device)? };
    if info.flags & VKSORT_SORTER_LABELS != 0 {
        for name in [c"vkCmdBeginDebugUtilsLabelEXT", c"vkCmdEndDebugUtilsLabelEXT"] {
            // SAFETY: as for `load_device`.
            if unsafe { device::function(&known.instance, info.device, name) }.is_null() {
                return Err(device::missing(name, "vkGetDeviceProcAddr", "VK_EXT_debug_utils"));
            }
        }
        options = options.debug_utils(ash::ext::debug_utils::Device::new(&known.instance, &device));
    }
    // SAFETY: device, cache, pipelines, layout and visitor are as the functions ask, by this function's contract.
    let made = unsafe { Sorter::new(&device, &known.requirements, &request, &options)? };
    // SAFETY: it is writable, as it was above.
    unsafe { put(sorter, SORTERS.add(Made { sorter: made, device: info.device, pipelines })) }
}

/// Destroys a sorter. Sorts bound from it stay, and keep its pipelines.
///
/// - sorter: a handle, or null, which is a no-op.
/// - When the last of a sorter and its sorts is destroyed, its device must be alive, and no command buffer with one of its sorts
///   pending.
/// - Any thread may call it at any time. If another thread is in a call with the handle, the sorter is destroyed when that call
///   returns.
#[unsafe(export_name = "vksortDestroySorter")]
pub extern "C" fn destroy_sorter(sorter: VksortSorter) -> VksortResult {
    run_unit("vksortDestroySorter", || SORTERS.remove("sorter", sorter))
}

/// Returns the properties of a sorter.
///
/// - properties: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `properties` is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetSorterProperties")]
pub unsafe extern "C" fn get_sorter_properties(
    sorter: VksortSorter,
    properties: *mut VksortSorterProperties,
) -> VksortResult {
    run_unit("vksortGetSorterProperties", || {
        let sorter = &SORTERS.get("sorter", sorter)?.sorter;
        let max_count = sorter.max_count();
        let addressed = sorter.access() == Access::Addresses;
        let value = VksortSorterProperties {
            struct_size: 0,
            max_count,
            algorithm: sorter.algorithm(max_count).map_or(VKSORT_ALGORITHM_AUTO, number_of),
            access: if addressed { VKSORT_ACCESS_ADDRESSES } else { VKSORT_ACCESS_DESCRIPTORS },
        };
        // SAFETY: by this function's contract.
        unsafe { write(properties, &value) }
    })
}

/// Returns which buffers a sort of up to `capacity` elements needs, scratch included, with size in bytes, alignment and usage. A
/// sort with these buffers can be recorded with every smaller count.
///
/// - capacity: elements.
/// - requirements: written; structSize must be set. A buffer with size 0 must not be given, except for scratch. With capacity
///   0 the sizes of elements are 0, and no buffer needs to be given.
/// - Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_TOO_MANY_ELEMENTS.
///
/// # Safety
///
/// `requirements` is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetBufferRequirements")]
pub unsafe extern "C" fn get_buffer_requirements(
    sorter: VksortSorter,
    capacity: u32,
    requirements: *mut VksortBufferRequirements,
) -> VksortResult {
    run_unit("vksortGetBufferRequirements", || {
        let (value, _) = needs_of(SORTERS.get("sorter", sorter)?.sorter(false)?, capacity.into())?;
        // SAFETY: by this function's contract.
        unsafe { write(requirements, &value) }
    })
}

/// The requirements of the buffers of a sorter, with that of segments apart.
pub(super) fn needs_of(
    sorter: &Sorter,
    capacity: Capacity,
) -> Result<(VksortBufferRequirements, VksortBufferNeed), Failure> {
    let (scratch, sizes) = (sorter.scratch_size(capacity)?, sorter.buffer_sizes(capacity));
    let need = |size: Option<u64>, usage: Usage| {
        let (size, usage) = size.map_or((0, 0), |size| (size, usage.as_raw()));
        VksortBufferNeed { size, alignment: sorter.alignment(), usage, reserved: 0 }
    };
    let reached = sorter.element_usage();
    let value = VksortBufferRequirements {
        struct_size: 0,
        capacity: capacity.elements,
        keys: need(sizes.keys, reached),
        values: need(sizes.values, reached),
        keys_out: need(sizes.keys_out, reached),
        values_out: need(sizes.values_out, reached),
        // Its usage does not depend on the capacity, so that callers may ask once, and create a buffer in any case.
        scratch: need(Some(scratch), sorter.scratch_usage()),
        count: VksortBufferNeed { alignment: 4, ..need(Some(4), Usage::STORAGE_BUFFER) },
    };
    Ok((value, need(sizes.segments, Usage::STORAGE_BUFFER)))
}
