//! Constants and structures of the header.

mod inspection;
mod range;
mod request;
mod segments;
mod visited;
mod vk_radix_sort;
mod vulkan;

use std::ffi::c_char;

use ash::vk::{
    Device as VkDevice, DeviceCreateInfo as VkDeviceCreateInfo, Instance as VkInstance,
    PhysicalDevice as VkPhysicalDevice, PhysicalDeviceFeatures2 as VkPhysicalDeviceFeatures2,
    PipelineCache as VkPipelineCache, QueryPool as VkQueryPool,
};

pub use inspection::*;
pub use range::*;
pub use request::*;
pub use segments::*;
pub use visited::*;
pub use vk_radix_sort::*;
pub use vulkan::*;

/// The first number of the version of this header. That of the library is in VksortCapabilities.
pub const VKSORT_VERSION_MAJOR: u32 = 0;
/// The second number.
pub const VKSORT_VERSION_MINOR: u32 = 1;
/// The third number.
pub const VKSORT_VERSION_PATCH: u32 = 0;
/// All three in one that the preprocessor compares, packed as by VK_MAKE_API_VERSION with the variant 0.
pub const VKSORT_VERSION: u32 = 4096;

/// The result of a function: 0 or `VKSORT_INCOMPLETE`, or a negative code. Codes of vksort are -101 to -199. Any other
/// negative code is the VkResult of a Vulkan call that failed.
pub type VksortResult = i32;
/// The call succeeded.
pub const VKSORT_SUCCESS: VksortResult = 0;
/// An array was too short, and holds the first part of the result.
pub const VKSORT_INCOMPLETE: VksortResult = 5;
/// A pointer is null or misaligned.
pub const VKSORT_ERROR_POINTER: VksortResult = -101;
/// A handle of vksort is null, destroyed, of another kind, of another device, or was never one.
pub const VKSORT_ERROR_HANDLE: VksortResult = -102;
/// This version of vksort does not know the structSize of a structure.
pub const VKSORT_ERROR_STRUCT: VksortResult = -103;
/// A value is outside its enumeration or range, or contradicts another value.
pub const VKSORT_ERROR_VALUE: VksortResult = -104;
/// The device does not support the request, or an option of it.
pub const VKSORT_ERROR_UNSUITABLE_DEVICE: VksortResult = -105;
/// The device was created without features or extensions that are needed; the text names each.
pub const VKSORT_ERROR_NOT_ENABLED: VksortResult = -106;
/// vkGetInstanceProcAddr or vkGetDeviceProcAddr returns null for a Vulkan function.
pub const VKSORT_ERROR_MISSING_FUNCTION: VksortResult = -107;
/// This build of vksort lacks the key type or the part that the call needs.
pub const VKSORT_ERROR_NOT_BUILT: VksortResult = -108;
/// More elements than the device, the sorter or the bound sort allows.
pub const VKSORT_ERROR_TOO_MANY_ELEMENTS: VksortResult = -109;
/// A buffer is missing, superfluous, too small, misaligned, overlaps another, or lacks a usage flag.
pub const VKSORT_ERROR_BUFFER: VksortResult = -110;
/// The range of timestamp queries is shorter than the sort needs.
pub const VKSORT_ERROR_TOO_FEW_QUERIES: VksortResult = -111;
/// The process has another logger, or a log callback sets one.
pub const VKSORT_ERROR_LOGGER: VksortResult = -112;
/// The bytes are not a visitor, or were compiled for other kernels or for another request; or its code has
/// resources and no layout for them.
pub const VKSORT_ERROR_VISITOR: VksortResult = -113;
/// A bug in vksort. Nothing unwinds into the caller.
pub const VKSORT_ERROR_INTERNAL: VksortResult = -199;

/// How severe a message is; smaller numbers are more severe.
pub type VksortLogLevel = u32;
/// A call failed.
pub const VKSORT_LOG_ERROR: VksortLogLevel = 1;
/// A problem that does not end the call.
pub const VKSORT_LOG_WARNING: VksortLogLevel = 2;
/// The shape, the tuning and the algorithm of each sorter.
pub const VKSORT_LOG_INFO: VksortLogLevel = 3;
/// The time that each pipeline took.
pub const VKSORT_LOG_DEBUG: VksortLogLevel = 4;

/// How kernels access keys and values.
pub type VksortAccess = u32;
/// By descriptors if they are large enough for `VksortSorterInfo::capacity` elements, else by address.
pub const VKSORT_ACCESS_AUTO: VksortAccess = 0;
/// By descriptors. A range has at most maxStorageBufferRange bytes.
pub const VKSORT_ACCESS_DESCRIPTORS: VksortAccess = 1;
/// By device address. A range may have any length. Buffers need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and their memory
/// VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
pub const VKSORT_ACCESS_ADDRESSES: VksortAccess = 2;

/// Flag of requirements: they name bufferDeviceAddress if the physical device has it, for ranges longer than
/// maxStorageBufferRange.
pub const VKSORT_REQUIREMENTS_BUFFER_ADDRESSES: u32 = 1;
/// Flag of a visitor: the device was created with shaderStorageBufferArrayDynamicIndexing, which code needs that indexes an array of
/// storage buffers by a number that varies. Without the flag such code is refused.
pub const VKSORT_VISITOR_DYNAMIC_INDEXING: u32 = 1;
/// Flag of a sorter: every step is labelled in captures. VK_EXT_debug_utils must be enabled on the instance.
pub const VKSORT_SORTER_LABELS: u32 = 1;

/// Flag of a key type: a float, sorted in total order.
pub const VKSORT_KEY_IS_FLOAT: u32 = 1;
/// Flag of a key type: negative keys come before zero.
pub const VKSORT_KEY_IS_SIGNED: u32 = 2;
/// Flag of a key type: this build of vksort has the kernels for it.
pub const VKSORT_KEY_IS_BUILT: u32 = 4;

/// As a count: the number of elements, or of segments, is in the count buffer when the sort runs. It is clamped to the
/// capacity.
pub const VKSORT_COUNT_ON_DEVICE: u64 = 18446744073709551615;
const _: () = assert!(VKSORT_COUNT_ON_DEVICE == u64::MAX);

/// How a sort first accesses the caller's keys, values and count: VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, the destination of
/// the barrier before it. The bits of stages and accesses here are the same in VkPipelineStageFlags2 and VkAccessFlags2.
pub const VKSORT_INPUT_STAGES: u32 = 0x800;
/// VK_ACCESS_SHADER_READ_BIT and VK_ACCESS_SHADER_WRITE_BIT.
pub const VKSORT_INPUT_ACCESS: u32 = 0x60;
/// How a sort last accesses the caller's keys and values: VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, the source of the barrier
/// after it. It is also how a sort accesses the buffers that it only writes, the destination of a barrier before it.
pub const VKSORT_OUTPUT_STAGES: u32 = 0x800;
/// VK_ACCESS_SHADER_WRITE_BIT.
pub const VKSORT_OUTPUT_ACCESS: u32 = 0x40;

/// A bit of a verifier's answer: the elements after the sort are not those before it.
pub const VKSORT_WRONG_ELEMENTS: u32 = 1;
/// A bit of a verifier's answer: a key comes before one that it has to follow.
pub const VKSORT_WRONG_ORDER: u32 = 2;
/// A bit of a verifier's answer: equal keys are not in the order that they had.
pub const VKSORT_WRONG_STABILITY: u32 = 4;
/// A verifier's answer while vksortCmdVerifyAfter has not run.
pub const VKSORT_WRONG_UNFINISHED: u32 = 0x80000000;

const _: () = {
    use vksort::{BoundSort, Verifier};
    assert!(VKSORT_WRONG_ELEMENTS == Verifier::ELEMENTS);
    assert!(VKSORT_WRONG_ORDER == Verifier::ORDER);
    assert!(VKSORT_WRONG_STABILITY == Verifier::STABILITY);
    assert!(VKSORT_WRONG_UNFINISHED == Verifier::UNFINISHED);
    assert!(VKSORT_INPUT_STAGES == BoundSort::INPUT_SCOPE.stages.as_raw());
    assert!(VKSORT_INPUT_ACCESS == BoundSort::INPUT_SCOPE.access.as_raw());
    assert!(VKSORT_OUTPUT_STAGES == BoundSort::OUTPUT_SCOPE.stages.as_raw());
    assert!(VKSORT_OUTPUT_ACCESS == BoundSort::OUTPUT_SCOPE.access.as_raw());
};

/// The properties of a device, and the extensions and features that it must be created with.
#[derive(Debug)]
pub struct VksortRequirements_T;
/// A handle: the properties of a device, and the extensions and features that it must be created with.
pub type VksortRequirements = *mut VksortRequirements_T;
/// The pipelines of one kind of sort.
#[derive(Debug)]
pub struct VksortSorter_T;
/// A handle: the pipelines of one kind of sort.
pub type VksortSorter = *mut VksortSorter_T;
/// A sorter bound to buffers.
#[derive(Debug)]
pub struct VksortSort_T;
/// A handle: a sorter bound to buffers.
pub type VksortSort = *mut VksortSort_T;
/// Finds on the device whether a sort is right.
#[derive(Debug)]
pub struct VksortVerifier_T;
/// A handle: finds on the device whether a sort is right.
pub type VksortVerifier = *mut VksortVerifier_T;
/// Reports what a sort was asked for, and what it left out.
#[derive(Debug)]
pub struct VksortInspector_T;
/// A handle: reports what a sort was asked for, and what it left out.
pub type VksortInspector = *mut VksortInspector_T;

/// The capabilities of this build of vksort. Written by vksortGetCapabilities.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortCapabilities {
    /// sizeof(VksortCapabilities), set by the caller.
    pub struct_size: u32,
    /// The version of vksort as VK_MAKE_API_VERSION(0, major, minor, patch).
    pub version: u32,
    /// The lowest Vulkan version for VkApplicationInfo::apiVersion.
    pub vulkan_version: u32,
    /// Key types are numbered from 1 to this.
    pub key_types: u32,
    /// Algorithms are numbered from 1 to this.
    pub algorithms: u32,
    /// The largest number of elements of a sort, where the device allows it.
    pub max_count: u32,
    /// The largest value that travels with its key, in bytes.
    pub max_inline_value_bytes: u32,
    /// The largest value, in bytes.
    pub max_value_bytes: u32,
}

/// A key type. Written by vksortGetKeyTypeProperties.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortKeyTypeProperties {
    /// sizeof(VksortKeyTypeProperties), set by the caller.
    pub struct_size: u32,
    /// Width of a key in bits.
    pub bits: u32,
    /// VKSORT_KEY_IS_FLOAT, VKSORT_KEY_IS_SIGNED, VKSORT_KEY_IS_BUILT.
    pub flags: u32,
    /// A bit 1 << VKSORT_ALGORITHM_... for each algorithm that a request with such keys may name.
    pub algorithms: u32,
    /// The name, as in "u32"; static.
    pub name: *const c_char,
}

/// The requirements of an instance. Written by vksortGetInstanceRequirements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortInstanceRequirements {
    /// sizeof(VksortInstanceRequirements), set by the caller.
    pub struct_size: u32,
    /// The lowest version for VkApplicationInfo::apiVersion.
    pub api_version: u32,
    /// For VkInstanceCreateInfo::flags.
    pub flags: VkFlags,
    /// Number of extensions.
    pub extension_count: u32,
    /// Names of the extensions to enable; static.
    pub extensions: *const *const c_char,
}

/// For vksortCreateRequirements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortRequirementsInfo {
    /// sizeof(VksortRequirementsInfo).
    pub struct_size: u32,
    /// 0 or VKSORT_REQUIREMENTS_BUFFER_ADDRESSES.
    pub flags: u32,
    /// All Vulkan functions come from here.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// Created for Vulkan 1.2 or newer.
    pub instance: VkInstance,
    /// A device of the instance.
    pub physical_device: VkPhysicalDevice,
    /// Null to learn the extensions and features that a device should be created with. For an existing device, the structure
    /// that it was created with: the requirements then leave out what the device lacks, which may cost speed, and name
    /// bufferDeviceAddress if the device has it.
    pub device_create_info: *const VkDeviceCreateInfo<'static>,
    /// VkApplicationInfo::apiVersion of the instance, Vulkan 1.2 or newer, or 0 if it is not known. What became core in a version
    /// above this one needs its extension. From 1.3 on, many devices sort with their own subgroups even where full ones are not
    /// enabled; with 0 they may be emulated, which costs speed.
    pub api_version: u32,
    /// 0.
    pub reserved: u32,
}

/// The extensions and features that a device must be created with, written by vksortGetDeviceRequirements. The arrays and
/// structures that it points to belong to the requirements, and live as long.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortDeviceRequirements {
    /// sizeof(VksortDeviceRequirements), set by the caller.
    pub struct_size: u32,
    /// Number of device extensions.
    pub extension_count: u32,
    /// Names of the device extensions to enable.
    pub extensions: *const *const c_char,
    /// The features to enable, as a chain for VkDeviceCreateInfo::pNext with pEnabledFeatures null. A caller with features of
    /// its own adds these to them by vksortAddDeviceFeatures instead.
    pub features: *const VkPhysicalDeviceFeatures2<'static>,
}

/// For vksortCreateSorter, vksortCreateVisitedSorter and vksortCreateSegmentedSorter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortSorterInfo {
    /// sizeof(VksortSorterInfo).
    pub struct_size: u32,
    /// VKSORT_SORTER_LABELS or 0.
    pub flags: u32,
    /// The device, created with what the requirements name.
    pub device: VkDevice,
    /// Requirements of its physical device.
    pub requirements: VksortRequirements,
    /// The request; null for records.
    pub request: *const VksortSortRequest,
    /// A cache of the device for the pipelines, or null. No other thread uses it during the call.
    pub pipeline_cache: VkPipelineCache,
    /// A sorter of the same device to share pipelines with, or null. It may be destroyed before the new one. One of another
    /// device is refused. Pipelines with a visitor in them are not shared.
    pub share_with: VksortSorter,
    /// How kernels access keys and values.
    pub access: VksortAccess,
    /// The largest number of elements that will be sorted, by which tiles are sized and VKSORT_ACCESS_AUTO chooses; 0 if not known. It is
    /// not a limit, but more elements may take longer.
    pub capacity: u32,
    /// The request of a sort of records, in place of `request`; else null. There is none with a visitor.
    pub records: *const VksortRecordRequest,
}

/// The properties of a sorter. Written by vksortGetSorterProperties.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortSorterProperties {
    /// sizeof(VksortSorterProperties), set by the caller.
    pub struct_size: u32,
    /// The largest number of elements that it can sort on its device.
    pub max_count: u32,
    /// The algorithm that sorts maxCount elements; VKSORT_ALGORITHM_AUTO for segments, for which none is chosen.
    pub algorithm: VksortAlgorithm,
    /// How its kernels access keys and values; never VKSORT_ACCESS_AUTO.
    pub access: VksortAccess,
}

/// The requirements of a buffer of a sort.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortBufferNeed {
    /// The minimum size of the range in bytes; 0 for a buffer that the sort does not use. Such a buffer must not be given, except
    /// for scratch. With capacity 0, buffers that the request has may be given or not, but no count. Vulkan has no buffers of 0 bytes.
    pub size: VkDeviceSize,
    /// The alignment in bytes: the offset of the range is a multiple of it.
    pub alignment: VkDeviceSize,
    /// The VkBufferUsageFlags that the buffer needs; 0 for a buffer that no sort of this sorter uses. Those of scratch and of count
    /// are there in any case. With VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT its memory needs VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
    pub usage: VkFlags,
    /// 0.
    pub reserved: u32,
}

/// The buffers of a sort. Written by vksortGetBufferRequirements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortBufferRequirements {
    /// sizeof(VksortBufferRequirements), set by the caller.
    pub struct_size: u32,
    /// The largest count that these buffers are enough for.
    pub capacity: u32,
    /// The keys, or the records; sorted here when the request is in place.
    pub keys: VksortBufferNeed,
    /// The values, when the request reads any; in place also where indices go.
    pub values: VksortBufferNeed,
    /// Where the sorted keys or records go when the request is out of place and does not discard them.
    pub keys_out: VksortBufferNeed,
    /// Where the sorted values or indices go when the request is out of place, and the permutation of records.
    pub values_out: VksortBufferNeed,
    /// Memory for the sort alone. Sorts on one queue may share it. A few elements may need none: its size is then 0, and its usage
    /// that of other capacities.
    pub scratch: VksortBufferNeed,
    /// The number of elements; needed only to record with VKSORT_COUNT_ON_DEVICE.
    pub count: VksortBufferNeed,
}

/// The buffers of one sort, for vksortBind. Ranges must not overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortBuffers {
    /// sizeof(VksortBuffers).
    pub struct_size: u32,
    /// The largest count that the sort will be recorded with.
    pub capacity: u32,
    /// As in VksortBufferRequirements.
    pub keys: VksortBufferRange,
    /// As in VksortBufferRequirements.
    pub values: VksortBufferRange,
    /// As in VksortBufferRequirements.
    pub keys_out: VksortBufferRange,
    /// As in VksortBufferRequirements.
    pub values_out: VksortBufferRange,
    /// As in VksortBufferRequirements.
    pub scratch: VksortBufferRange,
    /// As in VksortBufferRequirements.
    pub count: VksortBufferRange,
}

/// Queries of a pool of type VK_QUERY_TYPE_TIMESTAMP.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortQueryRange {
    /// The pool.
    pub pool: VkQueryPool,
    /// The first query to use.
    pub first: u32,
    /// Queries that may be used.
    pub count: u32,
}

/// Length of VksortStepTime::name in bytes, with its zero.
pub const VKSORT_STEP_NAME_SIZE: usize = 32;

/// How long one step of a sort took on the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortStepTime {
    /// Nanoseconds.
    pub nanoseconds: f64,
    /// The name of the step, and its pass where there are several.
    pub name: [c_char; VKSORT_STEP_NAME_SIZE],
    /// 0; room for later versions, as there is an array of these.
    pub reserved: u64,
}
