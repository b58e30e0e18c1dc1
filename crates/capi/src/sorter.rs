//! Sorters, and the buffers that they take.

use std::sync::Arc;

use ash::vk::{BufferUsageFlags as Usage, DescriptorSetLayout, Device as VkDevice};
use vksort::{
    Access, BufferSizes, KeyType, PipelineSet, SegmentedRequest, SegmentedSorter, SortRequest, Sorter, SorterOptions,
    Visitor,
};

use super::device::{self, REQUIREMENTS};
use super::fault::Fault;
use super::handles::Register;
use super::names::{check_flags, number_of, one_of};
use super::outcome::{Failure, run_unit};
use super::request::{self, Request};
use super::structs::{bytes, check_pointer, put, read, write};
use super::types::*;

/// The object of a sorter's handle.
pub(super) struct Made {
    kind: Kind,
    device: VkDevice,
    /// For sorters that share them.
    pipelines: Arc<PipelineSet>,
    /// Of a storage buffer's offset, in bytes.
    pub alignment: u64,
}

/// What a sorter sorts.
enum Kind {
    Elements(Sorter),
    Segments(SegmentedSorter),
}

impl Made {
    /// The sorter, if it is not one of segments.
    pub fn elements(&self) -> Result<&Sorter, Failure> {
        match &self.kind {
            Kind::Elements(sorter) => Ok(sorter),
            Kind::Segments(_) => {
                let given = "a VksortSorter of segments, which vksortBindSegments takes".into();
                Err(Fault::Handle { given, kind: "VksortSorter of vksortCreateSorter" }.into())
            }
        }
    }

    /// The sorter, if it is one of segments.
    pub fn segments(&self) -> Result<&SegmentedSorter, Failure> {
        match &self.kind {
            Kind::Segments(sorter) => Ok(sorter),
            Kind::Elements(_) => {
                let given = "a VksortSorter without segments".into();
                Err(Fault::Handle { given, kind: "VksortSorter of vksortCreateSegmentedSorter" }.into())
            }
        }
    }
}

/// What a sorter is created for.
pub(super) enum Purpose {
    Whole(Request),
    Visited(SortRequest, (Visitor, DescriptorSetLayout)),
    Segments(SegmentedRequest),
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
    run_unit("vksortCreateSorter", || unsafe { create(info, sorter, &|request| Ok(Purpose::Whole(request))) })
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
/// another version of vksort or of another request, and for a missing layout; with VKSORT_ERROR_VALUE for records, and for a request
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
        let purpose = |request| match request {
            // SAFETY: the same contract, here and below.
            Request::Elements(request) => Ok(Purpose::Visited(request, unsafe { visitor_of(visitor)? })),
            Request::Records(_) => {
                Err(Failure::value("records of VksortSorterInfo", "not null", "null with a visitor"))
            }
        };
        // SAFETY: as above.
        unsafe { create(info, sorter, &purpose) }
    })
}

/// The visitor that a structure describes, with the layout of its resources.
///
/// # Safety
///
/// As for [`create_visited_sorter`].
unsafe fn visitor_of(visitor: *const VksortVisitorInfo) -> Result<(Visitor, DescriptorSetLayout), Failure> {
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
    Ok((visitor, info.set_layout))
}

/// Builds a sorter for what becomes of its request, and writes its handle.
///
/// # Safety
///
/// As for [`create_sorter`]; with a visitor, as for [`create_visited_sorter`].
pub(super) unsafe fn create(
    info: *const VksortSorterInfo,
    sorter: *mut VksortSorter,
    purpose: &dyn Fn(Request) -> Result<Purpose, Failure>,
) -> Result<(), Failure> {
    // SAFETY: it is null or a structure, by this function's contract.
    let info = unsafe { read(info)? };
    check_flags("flags of VksortSorterInfo", info.flags, VKSORT_SORTER_LABELS)?;
    // SAFETY: it is null or writable, by this function's contract.
    unsafe { put(sorter, std::ptr::null_mut())? };
    let known = REQUIREMENTS.get(info.requirements)?;
    // SAFETY: the structures that it points to are as the function asks, by this function's contract.
    let purpose = purpose(unsafe { request::request(&info)? })?;
    let pipelines = match info.share_with.is_null() {
        true => Arc::default(),
        false => {
            let other = SORTERS.get(info.share_with)?;
            if other.device != info.device {
                return Err(Fault::ForeignSorter { given: other.device, allowed: info.device }.into());
            }
            Arc::clone(&other.pipelines)
        }
    };
    let accesses = [Access::Auto, Access::Descriptors, Access::Addresses];
    let mut options = SorterOptions {
        pipeline_cache: info.pipeline_cache,
        pipelines: Some(Arc::clone(&pipelines)),
        access: one_of("access", "VKSORT_ACCESS_", VKSORT_ACCESS_AUTO, &accesses, info.access)?,
        capacity: (info.capacity > 0).then_some(info.capacity),
        ..SorterOptions::default()
    };
    // SAFETY: the device is of the requirements' instance, by this function's contract.
    let device = unsafe { device::load_device(&known.instance, info.device)? };
    if info.flags & VKSORT_SORTER_LABELS != 0 {
        for name in [c"vkCmdBeginDebugUtilsLabelEXT", c"vkCmdEndDebugUtilsLabelEXT"] {
            // SAFETY: as for `load_device`.
            if unsafe { device::function(&known.instance, info.device, name) }.is_null() {
                return Err(device::missing(name, "vkGetDeviceProcAddr", "VK_EXT_debug_utils"));
            }
        }
        options.debug_utils = Some(ash::ext::debug_utils::Device::new(&known.instance, &device));
    }
    let requirements = &known.requirements;
    // SAFETY: device, cache, pipelines, layout and visitor are as the functions ask, by this function's contract.
    let made = unsafe {
        match &purpose {
            Purpose::Whole(Request::Elements(request)) => {
                Kind::Elements(Sorter::new(&device, requirements, request, &options)?)
            }
            Purpose::Whole(Request::Records(request)) => {
                Kind::Elements(Sorter::of_records(&device, requirements, request, &options)?)
            }
            Purpose::Visited(request, (visitor, layout)) => {
                Kind::Elements(Sorter::new_visited(&device, requirements, request, &options, visitor, *layout)?)
            }
            Purpose::Segments(request) => {
                Kind::Segments(SegmentedSorter::new(&device, requirements, request, &options)?)
            }
        }
    };
    let alignment = requirements.profile.storage_alignment_bytes;
    // SAFETY: it is writable, as it was above.
    unsafe { put(sorter, SORTERS.add(Made { kind: made, device: info.device, pipelines, alignment })) }
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
    run_unit("vksortDestroySorter", || SORTERS.remove(sorter))
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
        let made = SORTERS.get(sorter)?;
        let (max_count, algorithm, access) = match &made.kind {
            Kind::Elements(sorter) => {
                let most = sorter.max_count();
                (most, number_of(sorter.algorithm(most)), sorter.access())
            }
            Kind::Segments(sorter) => (sorter.max_count(), VKSORT_ALGORITHM_AUTO, sorter.access()),
        };
        let addressed = access == Access::Addresses;
        let value = VksortSorterProperties {
            struct_size: 0,
            max_count,
            algorithm,
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
        let made = SORTERS.get(sorter)?;
        let sorter = made.elements()?;
        let scratch = sorter.scratch_size(capacity)?;
        let sizes = sorter.buffers(capacity);
        // Other sorts have them also where the capacity is 0.
        let keys = (sorter.buffers(1).keys > 0).then_some(sizes.keys);
        let (key, reached) = (sorter.request().key, sorter.element_usage());
        let value = needs_of(capacity, (sizes, keys), scratch, (key, reached), made.alignment);
        // SAFETY: by this function's contract.
        unsafe { write(requirements, &value) }
    })
}

/// The requirements of a buffer, if there is one.
pub(super) fn need(size: Option<u64>, alignment: u64, usage: Usage) -> VksortBufferNeed {
    let (size, usage) = size.map_or((0, 0), |size| (size, usage.as_raw()));
    VksortBufferNeed { size, alignment, usage, reserved: 0 }
}

/// Those of all buffers of elements, where keys have buffers of their own or not.
pub(super) fn needs_of(
    capacity: u32,
    (sizes, keys): (BufferSizes, Option<u64>),
    scratch: u64,
    (key, reached): (KeyType, Usage),
    alignment: u64,
) -> VksortBufferRequirements {
    // Addresses are multiples of a key, which may be more than the device asks of offsets.
    let elements = alignment.max(key.size_bytes());
    VksortBufferRequirements {
        struct_size: 0,
        capacity,
        keys: need(keys, elements, reached),
        values: need(sizes.values, elements, reached),
        keys_out: need(sizes.keys_out, elements, reached),
        values_out: need(sizes.values_out, elements, reached),
        // Its usage does not depend on the capacity, so that callers may ask once, and create a buffer in any case.
        scratch: need(Some(scratch), elements, reached | Sorter::SCRATCH_USAGE),
        count: need(Some(4), 4, Usage::STORAGE_BUFFER),
    }
}
