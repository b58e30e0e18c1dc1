/*
 * vksort: a radix sort for data that already lives in Vulkan buffers, recorded into your own command buffer.
 *
 * Generated from crates/capi/src/ by scripts/header.sh: change it there.
 *
 * All Vulkan functions come from the vkGetInstanceProcAddr that the caller passes: the loader's, volk's, or any other.
 * vksort links to no Vulkan library and opens none. It passes no VkAllocationCallbacks to any of them, and takes none.
 *
 * This file includes vulkan/vulkan_core.h. With volk, include volk.h before it, or define VK_NO_PROTOTYPES: volk's pointers have
 * the names of the prototypes.
 *
 * Functions return 0 or VKSORT_INCOMPLETE, which is positive, or a negative code and a text: vksortGetLastErrorText. Handles of
 * vksort that are null, destroyed or of another kind, structures of a size that this version does not know, and numbers outside
 * an enumeration are refused, and crash nothing. Handles of Vulkan, pointers to memory and the sizes of that memory are not
 * checked.
 *
 * Every structure that has a structSize begins with it. Set it to the sizeof of the structure, and all fields that you do not
 * need to zero. Later versions add fields at the end, and accept structures of an earlier version. A structure of a later version
 * is accepted if what this version does not know is zero; up to 4096 bytes are read.
 *
 * Handles belong to the caller. A call on a handle that another thread destroys at the same time either finishes or fails.
 *
 * docs/RELIABILITY.md of the repository names a test for each of these promises.
 */

#ifndef VKSORT_H
#define VKSORT_H

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

// In front of each function. A program that links the DLL may define it as __declspec(dllimport), which saves a jump for each call.
#ifndef VKSORT_API
#define VKSORT_API
#endif

// How functions are called, and the callback: as C functions are where Vulkan's have a convention of their own.
#ifndef VKSORT_CALL
#ifdef _WIN32
#define VKSORT_CALL __cdecl
#else
#define VKSORT_CALL
#endif
#endif


// The first number of the version of this header. That of the library is in VksortCapabilities.
#define VKSORT_VERSION_MAJOR 0

// The second number.
#define VKSORT_VERSION_MINOR 1

// The third number.
#define VKSORT_VERSION_PATCH 0

// All three in one that the preprocessor compares, packed as by VK_MAKE_API_VERSION with the variant 0.
#define VKSORT_VERSION 4096

// Flag of requirements: they name bufferDeviceAddress if the physical device has it, for ranges longer than
// maxStorageBufferRange.
#define VKSORT_REQUIREMENTS_BUFFER_ADDRESSES 1

// Flag of a visitor: the device was created with shaderStorageBufferArrayDynamicIndexing, which code needs that indexes an array of
// storage buffers by a number that varies. Without the flag such code is refused.
#define VKSORT_VISITOR_DYNAMIC_INDEXING 1

// Flag of a sorter: every step is labelled in captures. VK_EXT_debug_utils must be enabled on the instance.
#define VKSORT_SORTER_LABELS 1

// Flag of a key type: a float, sorted in total order.
#define VKSORT_KEY_IS_FLOAT 1

// Flag of a key type: negative keys come before zero.
#define VKSORT_KEY_IS_SIGNED 2

// Flag of a key type: this build of vksort has the kernels for it.
#define VKSORT_KEY_IS_BUILT 4

// As a count: the number of elements, or of segments, is in the count buffer when the sort runs. It is clamped to the
// capacity.
#define VKSORT_COUNT_ON_DEVICE 18446744073709551615ull

// How a sort first accesses the caller's keys, values and count: VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, the destination of
// the barrier before it. The bits of stages and accesses here are the same in VkPipelineStageFlags2 and VkAccessFlags2.
#define VKSORT_INPUT_STAGES 2048

// VK_ACCESS_SHADER_READ_BIT and VK_ACCESS_SHADER_WRITE_BIT.
#define VKSORT_INPUT_ACCESS 96

// How a sort last accesses the caller's keys and values: VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, the source of the barrier
// after it. It is also how a sort accesses the buffers that it only writes, the destination of a barrier before it.
#define VKSORT_OUTPUT_STAGES 2048

// VK_ACCESS_SHADER_WRITE_BIT.
#define VKSORT_OUTPUT_ACCESS 64

// A bit of a verifier's answer: the elements after the sort are not those before it.
#define VKSORT_WRONG_ELEMENTS 1

// A bit of a verifier's answer: a key comes before one that it has to follow.
#define VKSORT_WRONG_ORDER 2

// A bit of a verifier's answer: equal keys are not in the order that they had.
#define VKSORT_WRONG_STABILITY 4

// A verifier's answer while vksortCmdVerifyAfter has not run.
#define VKSORT_WRONG_UNFINISHED 2147483648u

// Length of VksortStepTime::name in bytes, with its zero.
#define VKSORT_STEP_NAME_SIZE 32

// Key types are numbered from 1 to this.
#define VKSORT_KEY_TYPES 14

// Algorithms are numbered from 1 to this.
#define VKSORT_ALGORITHMS 3

// Flag of a request: equal keys may come in any order, which may differ between runs and is faster on some devices.
#define VKSORT_REQUEST_NOT_STABLE 1

// Flag of segments: the indices of VKSORT_VALUE_INDEX, and those of VKSORT_RECORD_OUTPUT_PERMUTATION, count from the begin of their
// segment, not from the first element of the buffers.
#define VKSORT_SEGMENTS_INDEX_FROM_SEGMENT 1

// Reports what a sort was asked for, and what it left out.
typedef struct VksortInspector_T VksortInspector_T;

// The properties of a device, and the extensions and features that it must be created with.
typedef struct VksortRequirements_T VksortRequirements_T;

// A sorter bound to buffers.
typedef struct VksortSort_T VksortSort_T;

// The pipelines of one kind of sort.
typedef struct VksortSorter_T VksortSorter_T;

// Finds on the device whether a sort is right.
typedef struct VksortVerifier_T VksortVerifier_T;

// The result of a function: 0 or VKSORT_INCOMPLETE, or a negative code. Codes of vksort are -101 to -199. Any other
// negative code is the VkResult of a Vulkan call that failed.
typedef int32_t VksortResult;

// How severe a message is; smaller numbers are more severe.
typedef uint32_t VksortLogLevel;

// Takes a message. The text is UTF-8 with a zero at its end, and is valid during the call.
//
// - userData: the pointer that vksortSetLogCallback was given.
// - Threads that call vksort call it, several at once.
// - It returns normally: no exceptions, no longjmp.
// - Calls of vksort within it give no messages.
typedef void (VKSORT_CALL *PFN_vksortLog)(VksortLogLevel level, const char *text, void *userData);

// The capabilities of this build of vksort. Written by vksortGetCapabilities.
typedef struct VksortCapabilities {
  // sizeof(VksortCapabilities), set by the caller.
  uint32_t structSize;
  // The version of vksort as VK_MAKE_API_VERSION(0, major, minor, patch).
  uint32_t version;
  // The lowest Vulkan version for VkApplicationInfo::apiVersion.
  uint32_t vulkanVersion;
  // Key types are numbered from 1 to this.
  uint32_t keyTypes;
  // Algorithms are numbered from 1 to this.
  uint32_t algorithms;
  // The largest number of elements of a sort, where the device allows it.
  uint32_t maxCount;
  // The largest value that travels with its key, in bytes.
  uint32_t maxInlineValueBytes;
  // The largest value, in bytes.
  uint32_t maxValueBytes;
} VksortCapabilities;

// Type of the keys: a number from 1 to VKSORT_KEY_TYPES. 0 is none, so that it cannot be forgotten.
typedef uint32_t VksortKeyType;

// A key type. Written by vksortGetKeyTypeProperties.
typedef struct VksortKeyTypeProperties {
  // sizeof(VksortKeyTypeProperties), set by the caller.
  uint32_t structSize;
  // Width of a key in bits.
  uint32_t bits;
  // VKSORT_KEY_IS_FLOAT, VKSORT_KEY_IS_SIGNED, VKSORT_KEY_IS_BUILT.
  uint32_t flags;
  // A bit 1 << VKSORT_ALGORITHM_... for each algorithm that a request with such keys may name.
  uint32_t algorithms;
  // The name, as in "u32"; static.
  const char *name;
} VksortKeyTypeProperties;

// The algorithm of a sort. All algorithms give the same result, except for the order of equal keys with
// VKSORT_REQUEST_NOT_STABLE.
typedef uint32_t VksortAlgorithm;

// The requirements of an instance. Written by vksortGetInstanceRequirements.
typedef struct VksortInstanceRequirements {
  // sizeof(VksortInstanceRequirements), set by the caller.
  uint32_t structSize;
  // The lowest version for VkApplicationInfo::apiVersion.
  uint32_t apiVersion;
  // For VkInstanceCreateInfo::flags.
  VkFlags flags;
  // Number of extensions.
  uint32_t extensionCount;
  // Names of the extensions to enable; static.
  const char *const *extensions;
} VksortInstanceRequirements;

// For vksortCreateRequirements.
typedef struct VksortRequirementsInfo {
  // sizeof(VksortRequirementsInfo).
  uint32_t structSize;
  // 0 or VKSORT_REQUIREMENTS_BUFFER_ADDRESSES.
  uint32_t flags;
  // All Vulkan functions come from here.
  PFN_vkGetInstanceProcAddr getInstanceProcAddr;
  // Created for Vulkan 1.2 or newer.
  VkInstance instance;
  // A device of the instance.
  VkPhysicalDevice physicalDevice;
  // Null to learn the extensions and features that a device should be created with. For an existing device, the structure
  // that it was created with: the requirements then leave out what the device lacks, which may cost speed, and name
  // bufferDeviceAddress if the device has it.
  const VkDeviceCreateInfo *deviceCreateInfo;
  // VkApplicationInfo::apiVersion of the instance, Vulkan 1.2 or newer, or 0 if it is not known. What became core in a version
  // above this one needs its extension. From 1.3 on, many devices sort with their own subgroups even where full ones are not
  // enabled; with 0 they may be emulated, which costs speed.
  uint32_t apiVersion;
  // 0.
  uint32_t reserved;
} VksortRequirementsInfo;

// A handle: the properties of a device, and the extensions and features that it must be created with.
typedef struct VksortRequirements_T *VksortRequirements;

// The extensions and features that a device must be created with, written by vksortGetDeviceRequirements. The arrays and
// structures that it points to belong to the requirements, and live as long.
typedef struct VksortDeviceRequirements {
  // sizeof(VksortDeviceRequirements), set by the caller.
  uint32_t structSize;
  // Number of device extensions.
  uint32_t extensionCount;
  // Names of the device extensions to enable.
  const char *const *extensions;
  // The features to enable, as a chain for VkDeviceCreateInfo::pNext with pEnabledFeatures null. A caller with features of
  // its own adds these to them by vksortAddDeviceFeatures instead.
  const VkPhysicalDeviceFeatures2 *features;
} VksortDeviceRequirements;

// The kind of value that moves with each key.
typedef uint32_t VksortValueType;

// Direction. Equal keys keep their order in both, except with VKSORT_REQUEST_NOT_STABLE.
typedef uint32_t VksortOrder;

// Where the result goes.
typedef uint32_t VksortPlacement;

// Whether the sorted keys are written.
typedef uint32_t VksortKeyOutput;

// One kind of sort. All zero but structSize and key is: keys alone, by all bits, ascending, in place, stable.
typedef struct VksortSortRequest {
  // sizeof(VksortSortRequest).
  uint32_t structSize;
  // VKSORT_REQUEST_NOT_STABLE or 0.
  uint32_t flags;
  // Type of the keys.
  VksortKeyType key;
  // The kind of value that moves with each key.
  VksortValueType value;
  // Size of a value in bytes with VKSORT_VALUE_BYTES, else 0.
  uint32_t valueBytes;
  // Direction.
  VksortOrder order;
  // The lowest bit to sort by.
  uint32_t lowBit;
  // The highest bit to sort by, plus 1; 0 for all bits from lowBit on.
  uint32_t highBit;
  // Where the result goes.
  VksortPlacement placement;
  // Whether the sorted keys are written.
  VksortKeyOutput keyOutput;
  // The algorithm.
  VksortAlgorithm algorithm;
} VksortSortRequest;

// A handle: the pipelines of one kind of sort.
typedef struct VksortSorter_T *VksortSorter;

// How kernels access keys and values.
typedef uint32_t VksortAccess;

// A field of a record that records are sorted by.
typedef struct VksortKeyField {
  // Where the field begins in the record, in bytes. It may be any byte.
  uint32_t offset;
  // Type of the field.
  VksortKeyType key;
  // Direction of this field.
  VksortOrder order;
  // 0; a later version may have some.
  uint32_t flags;
} VksortKeyField;

// What a sort of records writes.
typedef uint32_t VksortRecordOutput;

// One kind of sort of records: arrays of structures that are sorted by some of their fields. All zero but structSize, stride,
// fieldCount and fields is: in place, stable.
//
// Records are compared by the first field, equal ones by the second, and so on. They take the place of keys: they are bound as the
// keys of VksortBuffers, capacities and counts are numbers of records, and there are no values.
typedef struct VksortRecordRequest {
  // sizeof(VksortRecordRequest).
  uint32_t structSize;
  // VKSORT_REQUEST_NOT_STABLE or 0.
  uint32_t flags;
  // Bytes from a record to the next: a multiple of 4 up to 65536.
  uint32_t stride;
  // Number of fields, 1 to 4.
  uint32_t fieldCount;
  // The fields, of up to 128 bits together.
  const struct VksortKeyField *fields;
  // What is written.
  VksortRecordOutput output;
  // The algorithm.
  VksortAlgorithm algorithm;
} VksortRecordRequest;

// For vksortCreateSorter, vksortCreateVisitedSorter and vksortCreateSegmentedSorter.
typedef struct VksortSorterInfo {
  // sizeof(VksortSorterInfo).
  uint32_t structSize;
  // VKSORT_SORTER_LABELS or 0.
  uint32_t flags;
  // The device, created with what the requirements name.
  VkDevice device;
  // Requirements of its physical device.
  VksortRequirements requirements;
  // The request; null for records.
  const struct VksortSortRequest *request;
  // A cache of the device for the pipelines, or null. No other thread uses it during the call.
  VkPipelineCache pipelineCache;
  // A sorter of the same device to share pipelines with, or null. It may be destroyed before the new one. One of another
  // device is refused. Pipelines with a visitor in them are not shared.
  VksortSorter shareWith;
  // How kernels access keys and values.
  VksortAccess access;
  // The largest number of elements that will be sorted, by which tiles are sized and VKSORT_ACCESS_AUTO chooses; 0 if not known. It is
  // not a limit, but more elements may take longer.
  uint32_t capacity;
  // The request of a sort of records, in place of request; else null. There is none with a visitor.
  const struct VksortRecordRequest *records;
} VksortSorterInfo;

// The caller's GLSL in place of buffers of a sort, compiled to bytes. For vksortCreateVisitedSorter.
typedef struct VksortVisitorInfo {
  // sizeof(VksortVisitorInfo).
  uint32_t structSize;
  // 0 or VKSORT_VISITOR_DYNAMIC_INDEXING.
  uint32_t flags;
  // The bytes that the program vksort-compile-visitor of a version of vksort with the same first two numbers has made, at any alignment.
  const void *code;
  // Their number.
  size_t codeSize;
  // The layout of the visitor's resources, set 1 in its code; null if it has none.
  VkDescriptorSetLayout setLayout;
} VksortVisitorInfo;

// The properties of a sorter. Written by vksortGetSorterProperties.
typedef struct VksortSorterProperties {
  // sizeof(VksortSorterProperties), set by the caller.
  uint32_t structSize;
  // The largest number of elements that it can sort on its device.
  uint32_t maxCount;
  // The algorithm that sorts maxCount elements; VKSORT_ALGORITHM_AUTO for segments, for which none is chosen.
  VksortAlgorithm algorithm;
  // How its kernels access keys and values; never VKSORT_ACCESS_AUTO.
  VksortAccess access;
} VksortSorterProperties;

// The requirements of a buffer of a sort.
typedef struct VksortBufferNeed {
  // The minimum size of the range in bytes; 0 for a buffer that the sort does not use. Such a buffer must not be given, except
  // for scratch. With capacity 0, buffers that the request has may be given or not, but no count. Vulkan has no buffers of 0 bytes.
  VkDeviceSize size;
  // The alignment in bytes: the offset of the range is a multiple of it.
  VkDeviceSize alignment;
  // The VkBufferUsageFlags that the buffer needs; 0 for a buffer that no sort of this sorter uses. Those of scratch and of count
  // are there in any case. With VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT its memory needs VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
  VkFlags usage;
  // 0.
  uint32_t reserved;
} VksortBufferNeed;

// The buffers of a sort. Written by vksortGetBufferRequirements.
typedef struct VksortBufferRequirements {
  // sizeof(VksortBufferRequirements), set by the caller.
  uint32_t structSize;
  // The largest count that these buffers are enough for.
  uint32_t capacity;
  // The keys, or the records; sorted here when the request is in place.
  struct VksortBufferNeed keys;
  // The values, when the request reads any; in place also where indices go.
  struct VksortBufferNeed values;
  // Where the sorted keys or records go when the request is out of place and does not discard them.
  struct VksortBufferNeed keysOut;
  // Where the sorted values or indices go when the request is out of place, and the permutation of records.
  struct VksortBufferNeed valuesOut;
  // Memory for the sort alone. Sorts on one queue may share it. A few elements may need none: its size is then 0, and its usage
  // that of other capacities.
  struct VksortBufferNeed scratch;
  // The number of elements; needed only to record with VKSORT_COUNT_ON_DEVICE.
  struct VksortBufferNeed count;
} VksortBufferRequirements;

// A range of a buffer.
typedef struct VksortBufferRange {
  // The buffer; null when there is none.
  VkBuffer buffer;
  // Where the range starts, in bytes.
  VkDeviceSize offset;
  // Length of the range in bytes.
  VkDeviceSize size;
  // The VkBufferUsageFlags that the buffer was created with, to have them checked; 0 when they are not known.
  VkFlags usage;
  // 0.
  uint32_t reserved;
} VksortBufferRange;

// The buffers of one sort, for vksortBind. Ranges must not overlap.
typedef struct VksortBuffers {
  // sizeof(VksortBuffers).
  uint32_t structSize;
  // The largest count that the sort will be recorded with.
  uint32_t capacity;
  // As in VksortBufferRequirements.
  struct VksortBufferRange keys;
  // As in VksortBufferRequirements.
  struct VksortBufferRange values;
  // As in VksortBufferRequirements.
  struct VksortBufferRange keysOut;
  // As in VksortBufferRequirements.
  struct VksortBufferRange valuesOut;
  // As in VksortBufferRequirements.
  struct VksortBufferRange scratch;
  // As in VksortBufferRequirements.
  struct VksortBufferRange count;
} VksortBuffers;

// A handle: a sorter bound to buffers.
typedef struct VksortSort_T *VksortSort;

// Queries of a pool of type VK_QUERY_TYPE_TIMESTAMP.
typedef struct VksortQueryRange {
  // The pool.
  VkQueryPool pool;
  // The first query to use.
  uint32_t first;
  // Queries that may be used.
  uint32_t count;
} VksortQueryRange;

// The resources of a visitor in one recording. For vksortCmdSortVisited.
typedef struct VksortVisitorResources {
  // sizeof(VksortVisitorResources).
  uint32_t structSize;
  // Bytes of the push constants, as many as the visitor was compiled with.
  uint32_t pushSize;
  // The push constants; null if there are none.
  const void *push;
  // The descriptor set of the layout that the sorter was given; null if it was given none.
  VkDescriptorSet set;
} VksortVisitorResources;

// How long one step of a sort took on the device.
typedef struct VksortStepTime {
  // Nanoseconds.
  double nanoseconds;
  // The name of the step, and its pass where there are several.
  char name[VKSORT_STEP_NAME_SIZE];
  // 0; room for later versions, as there is an array of these.
  uint64_t reserved;
} VksortStepTime;

// How elements are divided into segments, each of which is sorted by itself. 0 is none, so that it cannot be forgotten.
//
// Begins and ends count elements from the first one of the buffers, in words of 32 bits that the device reads when the sort runs.
// Begins ascend, also those of empty segments. Elements in no segment are neither read nor written, except that records may be read.
// Begins and ends above the capacity count as the capacity, and a segment whose end is not above its begin is empty; the other segments
// are sorted all the same. If begins do not ascend, or ranges overlap, the sort still ends, and writes only elements of the ranges that
// the words name, whose order and content are then not specified; with top of VksortSegmentsInfo, only results of segments.
typedef uint32_t VksortSegmentLayout;

// How elements are divided, for vksortCreateSegmentedSorter. All zero but structSize and layout, and stride for rows, is: segments of
// any length, all of whose elements are wanted.
typedef struct VksortSegmentsInfo {
  // sizeof(VksortSegmentsInfo).
  uint32_t structSize;
  // VKSORT_SEGMENTS_INDEX_FROM_SEGMENT or 0.
  uint32_t flags;
  // Where segments are.
  VksortSegmentLayout layout;
  // Elements from the begin of a row to the begin of the next, if segments are rows; else 0.
  uint32_t stride;
  // The most elements that a segment will have, or 0 if that is not known. Up to a block of the device (block of
  // VksortSegmentProperties), the sort takes fewer steps and less scratch, and a segment that is longer than was promised may stay
  // as it is.
  uint32_t longest;
  // How many elements of each segment are wanted, the first ones in its order; 0 for all. The request is then out of place, and
  // those of segment s begin at element s * top of the result. Of a segment that has fewer elements, the rest of its result keeps
  // its content. Of equal keys those with the lowest indices come first.
  uint32_t top;
} VksortSegmentsInfo;

// The properties of a sorter of segments. Written by vksortGetSegmentProperties.
typedef struct VksortSegmentProperties {
  // sizeof(VksortSegmentProperties), set by the caller.
  uint32_t structSize;
  // The most elements of a segment that it sorts; 4294967295 if there is no limit. A longer segment stays as it is. The limit is a
  // block, where stride or longest of VksortSegmentsInfo promise no more.
  uint32_t longest;
  // The most elements of each segment that top may ask for, in a request with the same keys and values.
  uint32_t maxTop;
  // Elements of a block, which one workgroup sorts. Where stride or longest promise no more, one dispatch sorts all segments, and
  // needs no scratch. Records take a dispatch more, and scratch for their keys.
  uint32_t block;
} VksortSegmentProperties;

// The segments of one sort, for vksortBindSegments.
typedef struct VksortSegmentBuffers {
  // sizeof(VksortSegmentBuffers).
  uint32_t structSize;
  // The largest number of segments that the sort will be recorded with; 1 for VKSORT_SEGMENTS_WHOLE.
  uint32_t segmentCapacity;
  // The words that say where segments are; a null buffer if there are none.
  struct VksortBufferRange segments;
} VksortSegmentBuffers;

// A handle: finds on the device whether a sort is right.
typedef struct VksortVerifier_T *VksortVerifier;

// A handle: reports what a sort was asked for, and what it left out.
typedef struct VksortInspector_T *VksortInspector;

// The keys of a visitor that comes with vksort: depths of positions. 0 is none, so that it cannot be forgotten.
//
// Positions are in a storage buffer at binding 0 of set 1. Each is three neighbouring floats. The depth is the product of a
// position and a row of the view matrix.
typedef uint32_t VksortDepthKeys;

// Depths and the places of their positions. For vksortGetDepthPush.
typedef struct VksortDepthInfo {
  // sizeof(VksortDepthInfo).
  uint32_t structSize;
  // The keys.
  VksortDepthKeys keys;
  // The depth is x * row[0] + y * row[1] + z * row[2] + row[3].
  float row[4];
  // The depth of the first step; not used with VKSORT_DEPTH_F32.
  float nearDepth;
  // The depth of the last step; not used with VKSORT_DEPTH_F32. The distance from
  // nearDepth is clamped to 1e-30 at least, and to more where depths are so large that the row would not be finite.
  float farDepth;
  // Floats from one position to the next: 3 for packed positions, 4 for vec4.
  uint32_t stride;
  // Floats before the first position.
  uint32_t first;
} VksortDepthInfo;

// The push constants of the visitors for depths. Written by vksortGetDepthPush.
typedef struct VksortDepthPush {
  // The row, which maps nearDepth to 0 and farDepth to 1 where keys are steps.
  float row[4];
  // Floats from one position to the next.
  uint32_t stride;
  // Floats before the first position.
  uint32_t first;
} VksortDepthPush;

// The report of an inspector, as vksortCmdInspect writes it into the caller's buffer. All of a sort was done if the last four are 0.
typedef struct VksortInspection {
  // What the recording's count was, in elements or in segments, before it was clamped to the capacity.
  uint32_t count;
  // Elements of the longest segment, before its end is clamped to the capacity; of one array, the count.
  uint32_t longest;
  // Segments of the count beyond the segment capacity, which have not been sorted. Their words are not looked at.
  uint32_t segmentsBeyond;
  // Elements beyond the capacity, up to the last one of a segment, or of the count: a capacity with so many more takes them all.
  uint32_t elementsBeyond;
  // Segments that are longer than longest of VksortSegmentsInfo, or than the stride of VKSORT_SEGMENTS_ROWS_OF, which cuts them off.
  // Where longest is within a block, they have not been sorted.
  uint32_t tooLong;
  // Segments that begin before the segment in front of them, as an empty range (0, 0) between others does, and a last offset below the
  // one in front of it. The order of the ranges that such words name is not specified.
  uint32_t descending;
} VksortInspection;

// The call succeeded.
#define VKSORT_SUCCESS 0

// An array was too short, and holds the first part of the result.
#define VKSORT_INCOMPLETE 5

// A pointer is null or misaligned.
#define VKSORT_ERROR_POINTER -101

// A handle of vksort is null, destroyed, of another kind, of another device, or was never one.
#define VKSORT_ERROR_HANDLE -102

// This version of vksort does not know the structSize of a structure.
#define VKSORT_ERROR_STRUCT -103

// A value is outside its enumeration or range, or contradicts another value.
#define VKSORT_ERROR_VALUE -104

// The device does not support the request, or an option of it.
#define VKSORT_ERROR_UNSUITABLE_DEVICE -105

// The device was created without features or extensions that are needed; the text names each.
#define VKSORT_ERROR_NOT_ENABLED -106

// vkGetInstanceProcAddr or vkGetDeviceProcAddr returns null for a Vulkan function.
#define VKSORT_ERROR_MISSING_FUNCTION -107

// This build of vksort lacks the key type or the part that the call needs.
#define VKSORT_ERROR_NOT_BUILT -108

// More elements than the device, the sorter or the bound sort allows.
#define VKSORT_ERROR_TOO_MANY_ELEMENTS -109

// A buffer is missing, superfluous, too small, misaligned, overlaps another, or lacks a usage flag.
#define VKSORT_ERROR_BUFFER -110

// The range of timestamp queries is shorter than the sort needs.
#define VKSORT_ERROR_TOO_FEW_QUERIES -111

// The process has another logger, or a log callback sets one.
#define VKSORT_ERROR_LOGGER -112

// The bytes are not a visitor, or were compiled for other kernels or for another request; or its code has
// resources and no layout for them.
#define VKSORT_ERROR_VISITOR -113

// A bug in vksort. Nothing unwinds into the caller.
#define VKSORT_ERROR_INTERNAL -199

// A call failed.
#define VKSORT_LOG_ERROR 1

// A problem that does not end the call.
#define VKSORT_LOG_WARNING 2

// The shape, the tuning and the algorithm of each sorter.
#define VKSORT_LOG_INFO 3

// The time that each pipeline took.
#define VKSORT_LOG_DEBUG 4

// By descriptors if they are large enough for VksortSorterInfo::capacity elements, else by address.
#define VKSORT_ACCESS_AUTO 0

// By descriptors. A range has at most maxStorageBufferRange bytes.
#define VKSORT_ACCESS_DESCRIPTORS 1

// By device address. A range may have any length. Buffers need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and their memory
// VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
#define VKSORT_ACCESS_ADDRESSES 2

// 8-bit unsigned integers.
#define VKSORT_KEY_U8 1

// 8-bit signed integers.
#define VKSORT_KEY_I8 2

// 16-bit unsigned integers.
#define VKSORT_KEY_U16 3

// 16-bit signed integers.
#define VKSORT_KEY_I16 4

// 16-bit IEEE floats, in total order, as all floats: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN.
#define VKSORT_KEY_F16 5

// The upper halves of 32-bit IEEE floats.
#define VKSORT_KEY_BF16 6

// 32-bit unsigned integers.
#define VKSORT_KEY_U32 7

// 32-bit signed integers.
#define VKSORT_KEY_I32 8

// 32-bit IEEE floats.
#define VKSORT_KEY_F32 9

// 64-bit unsigned integers.
#define VKSORT_KEY_U64 10

// 64-bit signed integers.
#define VKSORT_KEY_I64 11

// 64-bit IEEE floats.
#define VKSORT_KEY_F64 12

// 128-bit unsigned integers, as two of 64 bits with the lower first.
#define VKSORT_KEY_U128 13

// 128-bit signed integers.
#define VKSORT_KEY_I128 14

// Nothing: only the keys are sorted.
#define VKSORT_VALUE_NONE 0

// A value of this many bytes: 1, 2, or a multiple of 4 up to 65536. Up to 16 bytes travel with the keys; larger values are
// gathered once.
#define VKSORT_VALUE_BYTES 1

// The key's own index in the input, 32 bits: the result is the sorting permutation, and nothing is read for it.
#define VKSORT_VALUE_INDEX 2

// Smallest key first.
#define VKSORT_ORDER_ASCENDING 0

// Largest key first.
#define VKSORT_ORDER_DESCENDING 1

// The result overwrites the input.
#define VKSORT_PLACEMENT_IN_PLACE 0

// The result goes to other buffers. The input is not written to.
#define VKSORT_PLACEMENT_OUT_OF_PLACE 1

// Sorted keys are written.
#define VKSORT_KEY_OUTPUT_SORTED 0

// The sorted keys are not written. In place, the content of the keys' buffer is then not specified.
#define VKSORT_KEY_OUTPUT_DISCARDED 1

// Chosen by device and number of elements.
#define VKSORT_ALGORITHM_AUTO 0

// One histogram of all digits, then one pass with decoupled look-back per digit.
#define VKSORT_ALGORITHM_ONESWEEP 1

// Count, scan and scatter per digit; no workgroup waits for another.
#define VKSORT_ALGORITHM_REDUCE_THEN_SCAN 2

// All digits in the shared memory of one workgroup, for up to one block of elements.
#define VKSORT_ALGORITHM_SINGLE_WORKGROUP 3

// The sorted records overwrite those that were given.
#define VKSORT_RECORD_OUTPUT_IN_PLACE 0

// The sorted records go to keysOut. Those that were given are not written to.
#define VKSORT_RECORD_OUTPUT_OUT_OF_PLACE 1

// The index of each sorted record among those that were given, 32 bits, goes to valuesOut. The records are not written to.
#define VKSORT_RECORD_OUTPUT_PERMUTATION 2

// The depth as 32-bit float: four passes of 8 bits. Every NaN is the greatest key.
#define VKSORT_DEPTH_F32 1

// The depth between near and far in 2^16 - 1 steps, as 16-bit unsigned integer: two passes. NaN becomes near.
#define VKSORT_DEPTH_BITS16 2

// The depth between near and far in 2^24 - 1 steps, as 24 bits of a 32-bit unsigned integer: three passes. NaN becomes
// near.
#define VKSORT_DEPTH_BITS24 3

// A word for each segment and one more: segment s goes from words[s] up to but not including words[s + 1].
#define VKSORT_SEGMENTS_OFFSETS 1

// Two words for each segment, its begin and its end. Between segments there may be other elements.
#define VKSORT_SEGMENTS_RANGES 2

// Rows of stride elements each. There are no words.
#define VKSORT_SEGMENTS_ROWS 3

// Rows of stride elements, and a word for each row that says how many of them count, from its first one on.
#define VKSORT_SEGMENTS_ROWS_OF 4

// All elements are one segment, of which the first ones are wanted (top). There are no words, and the count of a recording is the
// number of elements.
#define VKSORT_SEGMENTS_WHOLE 5

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The error of the last call of this thread that failed, as UTF-8 text that ends with a zero; empty if none has failed.
//
// - Never null. The text belongs to vksort and stays until another call of the same thread fails.
// - Any thread may call it at any time. Each thread has its own text.
VKSORT_API const char *VKSORT_CALL vksortGetLastErrorText(void);

// Sets where messages go, for the whole process. Until then there are none.
//
// - level: the least severe messages that are wanted, one of VKSORT_LOG_...; any number if callback is null.
// - callback: it replaces the previous one. Null ends messages.
// - userData: handed to the callback. It belongs to the caller.
// - Any thread may call it at any time. It waits until running callbacks have returned, and the previous one is not called
//   any more. So the calling thread must not hold a lock that the callback takes.
//
// Fails with VKSORT_ERROR_LOGGER within a callback. It also fails if the process has another logger of the Rust crate
// log, unless callback is null. Messages go there then, and the callback is not called.
//
// Duties of the caller:
//
// - The callback behaves as its type says, and may be called with userData from any thread until it is replaced.
VKSORT_API VksortResult VKSORT_CALL vksortSetLogCallback(VksortLogLevel level,
                                                         PFN_vksortLog callback,
                                                         void *userData);

// Returns the capabilities of this build of vksort.
//
// - capabilities: written; structSize must be set.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// The pointer is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetCapabilities(struct VksortCapabilities *capabilities);

// Returns the properties of a key type. Calls with the numbers from 1 to VKSORT_KEY_TYPES make a table of all key types. Every
// key type can be sorted with every value, order, window of bits and placement.
//
// - key: one of VKSORT_KEY_...
// - properties: written; structSize must be set.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// The pointer is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetKeyTypeProperties(VksortKeyType key,
                                                               struct VksortKeyTypeProperties *properties);

// The name of an algorithm as in "onesweep"; null for a number that is not an algorithm. The text is static.
// Any thread may call it.
VKSORT_API const char *VKSORT_CALL vksortGetAlgorithmName(VksortAlgorithm algorithm);

// Returns the requirements of an instance: Vulkan 1.2, and an extension if drivers may be layered on another API.
//
// - getInstanceProcAddr: Vulkan's function; it is called without an instance.
// - requirements: written; structSize must be set. What it points to is static.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// - The function is null or vkGetInstanceProcAddr, or behaves like it.
// - The pointer is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetInstanceRequirements(PFN_vkGetInstanceProcAddr getInstanceProcAddr,
                                                                  struct VksortInstanceRequirements *requirements);

// Reads the properties of a physical device, and decides which extensions and features vksort needs there.
//
// - info: the physical device. For an existing device, deviceCreateInfo describes how it was created.
// - requirements: a handle is written, which belongs to the caller until vksortDestroyRequirements.
// - Any thread may call it; vkGetInstanceProcAddr is called from that thread.
// - The instance lives until the call returns, and while vksortCreateSorter is called with the handle. No other function
//   uses it.
//
// Fails with VKSORT_ERROR_UNSUITABLE_DEVICE for a device below Vulkan 1.2, without a compute queue, or with MoltenVK before 1.3,
// and with VKSORT_ERROR_VALUE for an apiVersion that is neither 0 nor 1.2 or a later version of Vulkan 1.
//
// Duties of the caller:
//
// - info is null, or points to a structure whose size is in its first field.
// - The instance was created for Vulkan 1.2 or newer, and the physical device is its own.
// - deviceCreateInfo of info is null, or points to a valid structure with a valid chain.
// - requirements is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortCreateRequirements(const struct VksortRequirementsInfo *info,
                                                             VksortRequirements *requirements);

// Destroys requirements. Sorters that were created with them stay.
//
// - requirements: a handle, or null, which is a no-op. The arrays of vksortGetDeviceRequirements are freed with it.
// - Any thread may call it, while no other thread uses these arrays.
VKSORT_API VksortResult VKSORT_CALL vksortDestroyRequirements(VksortRequirements requirements);

// Returns the extensions and features that a device must be created with.
//
// - requirements: a handle, which owns the arrays that the result points to.
// - result: written; structSize must be set.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// result is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetDeviceRequirements(VksortRequirements requirements, struct VksortDeviceRequirements *result);

// Sets the features that vksort needs in the caller's own structures. It clears none.
//
// - features: the head of a chain as for VkDeviceCreateInfo::pNext. It has a structure for each feature: one of Vulkan 1.1,
//   1.2 or 1.3, or that of the extension which brought the feature. It belongs to the caller, and is not kept.
// - Any thread may call it at any time, on chains that no other thread uses.
//
// Fails with VKSORT_ERROR_NOT_ENABLED when a structure is missing; the text names the features that it would hold. The
// features of the other structures are set.
//
// Duties of the caller:
//
// features is null, or the head of a valid chain that may be written to.
VKSORT_API VksortResult VKSORT_CALL vksortAddDeviceFeatures(VksortRequirements requirements,
                                                            VkPhysicalDeviceFeatures2 *features);

// Checks that a device was created with everything that requirements name. Validation layers do not notice every missing
// feature.
//
// - info: the structure that the device was created with; it is not kept.
// - Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_NOT_ENABLED; the text names every feature and extension that is missing.
//
// Duties of the caller:
//
// info is null, or leads to a valid structure with a valid chain.
VKSORT_API VksortResult VKSORT_CALL vksortCheckDevice(VksortRequirements requirements,
                                                      const VkDeviceCreateInfo *info);

// Builds the pipelines for a request of elements or of records, which takes from milliseconds to seconds.
//
// - info: the request and its options; nothing that it points to is kept.
// - sorter: a handle is written, which belongs to the caller until vksortDestroySorter.
// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
//
// Fails with VKSORT_ERROR_VALUE for an invalid request, with VKSORT_ERROR_NOT_BUILT for keys that this build lacks, with
// VKSORT_ERROR_UNSUITABLE_DEVICE for a request that the device does not support, with VKSORT_ERROR_HANDLE for a shareWith of
// another device, with VKSORT_ERROR_MISSING_FUNCTION for labels without VK_EXT_debug_utils, or with the VkResult of the driver.
//
// Duties of the caller:
//
// - info is null, or points to a structure whose size is in its first field, and so do its request and its records.
// - The fields of records are null, or as many as fieldCount says.
// - The device was created with everything that the requirements name, and is of their physical device.
// - The device outlives the sorter and every sort bound from it.
// - The pipeline cache is null or the device's, and no other thread uses it during the call.
// - sorter is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortCreateSorter(const struct VksortSorterInfo *info,
                                                       VksortSorter *sorter);

// Builds the pipelines for a request whose keys or values a visitor computes, or whose result it receives.
//
// - info: the request and its options, as for vksortCreateSorter. The request is out of place. Pipelines with a visitor are
//   this sorter's own: shareWith shares none.
// - visitor: its bytes and the layout of its resources; the bytes are not kept. Bytes that were compiled for a
//   request can also be used with another order, other bits, or another key type of as many words.
// - sorter: a handle is written, which belongs to the caller until vksortDestroySorter.
// - Buffers that the visitor replaces are not bound: vksortGetBufferRequirements has size 0 for them.
// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
//
// Fails as vksortCreateSorter; with VKSORT_ERROR_VISITOR for bytes that are not a visitor or are damaged, for a visitor of
// a version of vksort with other kernels or of another request, and for a missing layout; with VKSORT_ERROR_VALUE for records, and for a request
// that does not fit the visitor; with VKSORT_ERROR_UNSUITABLE_DEVICE if its push constants are more than the device has.
//
// Duties of the caller:
//
// - As for vksortCreateSorter.
// - visitor is null, or points to a structure whose size is in its first field. Its code is null, or leads to as many
//   bytes as codeSize says, which the program vksort-compile-visitor has made.
// - The layout is null or the device's, and has the bindings that the visitor's code declares, for compute.
// - The device was created with the features that the visitor's code uses.
// - The visitor's code meets the duties that docs/VISITORS.md lists: it gives the same bits for an index throughout a sort,
//   reads and writes within its buffers, ends, and has no barriers, shared memory or subgroup operations.
VKSORT_API VksortResult VKSORT_CALL vksortCreateVisitedSorter(const struct VksortSorterInfo *info,
                                                              const struct VksortVisitorInfo *visitor,
                                                              VksortSorter *sorter);

// Destroys a sorter. Sorts bound from it stay, and keep its pipelines.
//
// - sorter: a handle, or null, which is a no-op.
// - When the last of a sorter and its sorts is destroyed, its device must be alive, and no command buffer with one of its sorts
//   pending.
// - Any thread may call it at any time. If another thread is in a call with the handle, the sorter is destroyed when that call
//   returns.
VKSORT_API VksortResult VKSORT_CALL vksortDestroySorter(VksortSorter sorter);

// Returns the properties of a sorter.
//
// - properties: written; structSize must be set.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// properties is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetSorterProperties(VksortSorter sorter, struct VksortSorterProperties *properties);

// Returns which buffers a sort of up to capacity elements needs, scratch included, with size in bytes, alignment and usage. A
// sort with these buffers can be recorded with every smaller count.
//
// - capacity: elements.
// - requirements: written; structSize must be set. A buffer with size 0 must not be given, except for scratch. With capacity
//   0 the sizes of elements are 0, and no buffer needs to be given.
// - Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_TOO_MANY_ELEMENTS.
//
// Duties of the caller:
//
// requirements is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetBufferRequirements(VksortSorter sorter,
                                                                uint32_t capacity,
                                                                struct VksortBufferRequirements *requirements);

// Binds a sorter to buffers. The result can be recorded any number of times, in any number of command buffers.
//
// - buffers: the ranges, in bytes, and the capacity, in elements; nothing of it is kept but the handles of the buffers,
//   which belong to the caller and must outlive the sort.
// - sort: a handle is written, which belongs to the caller until vksortDestroySort.
// - With capacity 0 the buffers may be null, and the sort has no steps. It takes only the count 0: a count buffer is refused here, and
//   VKSORT_COUNT_ON_DEVICE by vksortCmdSort.
// - Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_BUFFER, VKSORT_ERROR_TOO_MANY_ELEMENTS, VKSORT_ERROR_VALUE for a count buffer with capacity 0,
// VKSORT_ERROR_HANDLE for a sorter of segments, or the VkResult of the driver.
//
// Duties of the caller:
//
// - buffers is null, or points to a structure whose size is in its first field.
// - The buffers belong to the sorter's device, are bound to memory over the given ranges, have the usage that
//   vksortGetBufferRequirements says, and outlive the sort.
// - With the usage VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, a buffer's memory has VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
// - sort is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortBind(VksortSorter sorter,
                                               const struct VksortBuffers *buffers,
                                               VksortSort *sort);

// Destroys a bound sort.
//
// - sort: a handle, or null, which is a no-op.
// - Its device must be alive, and no command buffer with the sort pending.
// - Any thread may call it at any time. If another thread is in a call with the handle, the sort is destroyed when that call
//   returns.
VKSORT_API VksortResult VKSORT_CALL vksortDestroySort(VksortSort sort);

// Records a sort of the first count elements. Nothing is allocated or submitted, and no work of the device is waited for; handles
// are looked up under a lock that other calls hold for less than a microsecond.
//
// - commandBuffer: recording, outside a render pass, on a queue family with compute. The compute
//   pipeline, descriptor set 0 of the compute bind point, and the push constants are changed.
// - count: elements, up to the capacity; or VKSORT_COUNT_ON_DEVICE to read their number from the bound count buffer when
//   the sort runs. For a sort of vksortBindSegments these are segments, or elements for VKSORT_SEGMENTS_WHOLE.
// - timestamps: null, or queries of the command buffer's device, as many as vksortGetQueryCount says. They are reset and
//   written: one before the first step and one after each. It is not kept.
// - Barriers around the sort are the caller's. Before it: from the writes of keys, values and count to VKSORT_INPUT_STAGES
//   with VKSORT_INPUT_ACCESS. Also before it: from the last accesses to the buffers that the sort writes to
//   VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS; if these were reads, the stages alone are enough. Such buffers are keysOut
//   and valuesOut, and the values of a sort in place that makes indices. After the sort: from VKSORT_OUTPUT_STAGES with
//   VKSORT_OUTPUT_ACCESS to the uses of the result, and to later writes of any of the buffers.
// - Sorts on one queue may share a scratch buffer without a barrier of the caller's. If other resources use its memory between
//   sorts, the barrier before the sort goes from their last accesses to VKSORT_INPUT_STAGES and VK_PIPELINE_STAGE_TRANSFER_BIT
//   with VKSORT_INPUT_ACCESS and VK_ACCESS_TRANSFER_WRITE_BIT. The barrier after the sort goes from VKSORT_OUTPUT_STAGES with
//   VKSORT_OUTPUT_ACCESS to their first accesses.
// - Any thread may call it. One sort may be recorded by several threads at once, into a command buffer each.
// - Sort, sorter and buffers must live until the commands have completed.
//
// When it fails, nothing is recorded: VKSORT_ERROR_TOO_MANY_ELEMENTS, VKSORT_ERROR_BUFFER for a count on the device without
// a count buffer, VKSORT_ERROR_TOO_FEW_QUERIES, VKSORT_ERROR_VALUE for a sorter with a visitor, or a count on the device with
// capacity 0.
//
// Duties of the caller:
//
// - The command buffer is null, or recording, outside a render pass, on a queue family with compute.
// - Barriers are as above; nothing else accesses the buffers while the sort runs.
// - timestamps is null, or leads to a range of queries that are not in use, and the queue family supports timestamps.
// - Sort, sorter and buffers live until the commands have completed.
VKSORT_API VksortResult VKSORT_CALL vksortCmdSort(VkCommandBuffer commandBuffer,
                                                  VksortSort sort,
                                                  uint64_t count,
                                                  const struct VksortQueryRange *timestamps);

// Records a sort whose sorter has a visitor, with the visitor's resources.
//
// - commandBuffer, count and timestamps: as for vksortCmdSort. Descriptor set 1 of the compute bind point is changed too.
// - resources: the descriptor set, which is bound as set 1, and the push constants; both before the first step. The push
//   constants are not kept. The set is not changed until the commands have completed.
// - Barriers around the sort are as for vksortCmdSort. The visitor reads and writes in compute shaders, so
//   VKSORT_INPUT_STAGES, VKSORT_INPUT_ACCESS, VKSORT_OUTPUT_STAGES and VKSORT_OUTPUT_ACCESS hold for its buffers too. A step
//   does not see what the visitor has written in an earlier step.
// - Any thread may call it. One sort may be recorded by several threads at once, into a command buffer each.
// - Sort, sorter, buffers and set must live until the commands have completed.
//
// When it fails, nothing is recorded: as for vksortCmdSort; VKSORT_ERROR_VALUE for a sorter without a visitor, push constants
// of another size, a set where the sorter was given no layout, or none where it was given one.
//
// Duties of the caller:
//
// - As for vksortCmdSort; the visitor's resources are treated as buffers of the sort.
// - resources is null, or points to a structure whose size is in its first field. Its push is null, or leads to as
//   many bytes as pushSize says.
// - The set is null, or was allocated with a layout like that of the sorter, and its descriptors are valid.
// - The visitor writes no memory that the sort or the visitor reads.
VKSORT_API VksortResult VKSORT_CALL vksortCmdSortVisited(VkCommandBuffer commandBuffer,
                                                         VksortSort sort,
                                                         uint64_t count,
                                                         const struct VksortQueryRange *timestamps,
                                                         const struct VksortVisitorResources *resources);

// Records every kernel of a sort with nothing to do, so that a driver which compiles kernels at their first dispatch does so now, and
// not in a frame. It reads and writes no elements, whatever the buffers hold. Submit it while the program loads.
//
// - commandBuffer and barriers: as for vksortCmdSort, or vksortCmdSortVisited with resources.
// - resources: those of the visitor if the sorter has one, as for vksortCmdSortVisited, else null.
// - Any thread may call it. Sort, sorter, buffers and set must live until the commands have completed.
//
// When it fails, nothing is recorded: VKSORT_ERROR_VALUE for resources that vksortCmdSortVisited refuses.
//
// Duties of the caller:
//
// - As for vksortCmdSort, or vksortCmdSortVisited with resources.
VKSORT_API VksortResult VKSORT_CALL vksortCmdWarmUp(VkCommandBuffer commandBuffer,
                                                    VksortSort sort,
                                                    const struct VksortVisitorResources *resources);

// Returns how many timestamp queries a recording with this count writes.
//
// - count: as for vksortCmdSort.
// - queries: written.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// queries is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortGetQueryCount(VksortSort sort, uint64_t count, uint32_t *queries);

// Returns which algorithm sorts count elements. A sort of segments has none.
//
// - count: elements, or VKSORT_COUNT_ON_DEVICE.
// - algorithm: written; one of VKSORT_ALGORITHM_... but VKSORT_ALGORITHM_AUTO.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// algorithm is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortGetAlgorithm(VksortSort sort, uint64_t count, VksortAlgorithm *algorithm);

// Turns the ticks of a recording's queries into the time of each step.
//
// - count: the count that the sort was recorded with.
// - tickCount, ticks: one 64-bit result per query, in order.
// - validBits: timestampValidBits of the queue family.
// - stepCount: the length of steps on entry; the number of steps on return. One less than the number of queries is enough.
// - steps: written; null to learn stepCount alone. Names end with a zero.
// - Any thread may call it at any time.
//
// Returns VKSORT_INCOMPLETE when steps is too short for all; it then holds the first ones. Fails with VKSORT_ERROR_TOO_FEW_QUERIES
// for fewer ticks than queries.
//
// Duties of the caller:
//
// - ticks is null, or leads to tickCount numbers.
// - stepCount is null or writable; steps is null, or writable for as many as stepCount says.
VKSORT_API VksortResult VKSORT_CALL vksortGetStepTimes(VksortSort sort,
                                                       uint64_t count,
                                                       uint32_t tickCount,
                                                       const uint64_t *ticks,
                                                       uint32_t validBits,
                                                       uint32_t *stepCount,
                                                       struct VksortStepTime *steps);

// Builds the pipelines for a request whose elements are divided into segments, each of which is sorted by itself. A sort of them is
// one recording, whatever their number.
//
// - info: the request and its options, as for vksortCreateSorter. The request names no algorithm.
// - segments: how elements are divided; nothing of it is kept.
// - sorter: a handle is written, which belongs to the caller until vksortDestroySorter.
// - vksortGetSegmentProperties, vksortGetSegmentBufferRequirements and vksortBindSegments take the sorter. For the others it is as
//   any sorter: vksortGetSorterProperties gives VKSORT_ALGORITHM_AUTO, as no algorithm is chosen.
// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
//
// Fails as vksortCreateSorter; with VKSORT_ERROR_VALUE for a layout that is none, for segments that contradict the request, and for a
// top beyond a block of the device, in a text that names the number.
//
// Duties of the caller:
//
// - As for vksortCreateSorter.
// - segments is null, or points to a structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortCreateSegmentedSorter(const struct VksortSorterInfo *info,
                                                                const struct VksortSegmentsInfo *segments,
                                                                VksortSorter *sorter);

// Returns the properties of a sorter of segments.
//
// - properties: written; structSize must be set.
// - Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_HANDLE for a sorter of another kind.
//
// Duties of the caller:
//
// properties is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetSegmentProperties(VksortSorter sorter, struct VksortSegmentProperties *properties);

// Returns which buffers a sort of up to capacity elements in up to segmentCapacity segments needs, as
// vksortGetBufferRequirements. A sort with these buffers can be recorded with every smaller number of segments.
//
// - capacity: elements.
// - segmentCapacity: segments; 1 for VKSORT_SEGMENTS_WHOLE.
// - requirements: written; structSize must be set. The count is that of segments, or of elements for VKSORT_SEGMENTS_WHOLE.
// - segments: written: the buffer of the words that say where segments are; size and usage are 0 if there are none.
// - Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_TOO_MANY_ELEMENTS, with VKSORT_ERROR_VALUE for more segments than there may be beside so many elements, and
// with VKSORT_ERROR_HANDLE for a sorter of another kind.
//
// Duties of the caller:
//
// requirements is null, or points to a writable structure whose size is in its first field; segments is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortGetSegmentBufferRequirements(VksortSorter sorter,
                                                                       uint32_t capacity,
                                                                       uint32_t segmentCapacity,
                                                                       struct VksortBufferRequirements *requirements,
                                                                       struct VksortBufferNeed *segments);

// Binds a sorter of segments to buffers, as vksortBind binds others. The result is recorded by vksortCmdSort, with the number of
// segments as its count, or of elements for VKSORT_SEGMENTS_WHOLE. The words of segments are one of the buffers that it reads.
//
// - buffers: the ranges of elements, in bytes, and the capacity, in elements. The count, if it is on the device, is that of segments,
//   or of elements for VKSORT_SEGMENTS_WHOLE.
// - segments: the range of words, and the largest number of segments. It may be in the buffer of the count.
// - sort: a handle is written, which belongs to the caller until vksortDestroySort. It has no algorithm and no verifier.
// - Any thread may call it at any time.
//
// Fails as vksortBind; with VKSORT_ERROR_VALUE for more segments than there may be beside so many elements, and for a count buffer with
// capacity or segmentCapacity 0; with VKSORT_ERROR_HANDLE for a sorter of another kind.
//
// Duties of the caller:
//
// - As for vksortBind, with what vksortGetSegmentBufferRequirements says.
// - segments is null, or points to a structure whose size is in its first field; its buffer is as the others.
VKSORT_API VksortResult VKSORT_CALL vksortBindSegments(VksortSorter sorter,
                                                       const struct VksortBuffers *buffers,
                                                       const struct VksortSegmentBuffers *segments,
                                                       VksortSort *sort);

// Returns how many bytes the report of a verifier of this sort has.
//
// - size: written, in bytes.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// size is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortGetReportSize(VksortSort sort, uint64_t *size);

// Builds a verifier: it finds on the device whether a recorded sort is right, and whether something else has changed its elements
// meanwhile. vksortCmdVerifyBefore is recorded before the sort, and vksortCmdVerifyAfter after it. The answer is the first word of the
// report: 0 if the sort is right, otherwise bits of VKSORT_WRONG_...
//
// - The elements are compared by sums of 64 bits, and the order of keys by the sort's request. The order of equal keys is checked in
//   stable sorts with indices. Without sorted keys, their order is checked only if the request makes indices out of place.
// - report: as many bytes as vksortGetReportSize says, at a multiple of minStorageBufferOffsetAlignment, in a buffer with
//   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, apart from all ranges of the sort. The buffer belongs to the caller and must outlive the
//   verifier; nothing else of it is kept.
// - verifier: a handle is written, which belongs to the caller until vksortDestroyVerifier. It outlives the sort's handle.
// - It compiles a pipeline. Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_BUFFER for the report, with VKSORT_ERROR_VALUE for a sort with a visitor or of records whose keys are composed
// of their fields, with VKSORT_ERROR_HANDLE for a sort of segments, of which vksortCreateInspector tells whether all
// were sorted, or with the VkResult of the driver.
//
// Duties of the caller:
//
// - report is null, or points to a range whose buffer belongs to the sort's device and is bound to memory.
// - The sort's buffers and its device outlive the verifier.
// - verifier is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortCreateVerifier(VksortSort sort,
                                                         const struct VksortBufferRange *report,
                                                         VksortVerifier *verifier);

// Destroys a verifier.
//
// - verifier: a handle, or null, which is a no-op.
// - Its device must be alive, and no command buffer with the verifier pending.
// - Any thread may call it at any time. If another thread is in a call with the handle, the verifier is destroyed when that call
//   returns.
VKSORT_API VksortResult VKSORT_CALL vksortDestroyVerifier(VksortVerifier verifier);

// Records the first half of a verifier, directly before vksortCmdSort, after the barriers for it.
//
// - commandBuffer: as for vksortCmdSort. The compute pipeline, descriptor set 0 of the compute bind point, and the push constants
//   are changed.
// - count: that of the sort.
// - It records no barrier before it reads keys, values and count, so that one of the caller's that is missing is not hidden. Barriers
//   are the caller's, as before vksortCmdSort. The report is a buffer that it writes: its earlier accesses end before
//   VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS.
// - Any thread may call it. Verifier and buffers must live until the commands have completed.
//
// When it fails, nothing is recorded: VKSORT_ERROR_TOO_MANY_ELEMENTS, or VKSORT_ERROR_BUFFER for a count on the device without a
// count buffer.
//
// Duties of the caller:
//
// - The command buffer is null, or recording, outside a render pass, on a queue family with compute.
// - Barriers are as above, and verifier and buffers live until the commands have completed.
VKSORT_API VksortResult VKSORT_CALL vksortCmdVerifyBefore(VkCommandBuffer commandBuffer,
                                                          VksortVerifier verifier,
                                                          uint64_t count);

// Records the second half of a verifier, after vksortCmdSort, and the answer.
//
// - commandBuffer, count: as for vksortCmdVerifyBefore, which is recorded before the sort.
// - Barriers are the caller's. Before it: from VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS to
//   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT with VK_ACCESS_SHADER_READ_BIT. After it: from VKSORT_OUTPUT_STAGES with
//   VKSORT_OUTPUT_ACCESS to the reads of the answer, such as those of the host.
// - Any thread may call it. Verifier and buffers must live until the commands have completed.
//
// When it fails, nothing is recorded: as for vksortCmdVerifyBefore.
//
// Duties of the caller:
//
// - As for vksortCmdVerifyBefore.
VKSORT_API VksortResult VKSORT_CALL vksortCmdVerifyAfter(VkCommandBuffer commandBuffer, VksortVerifier verifier, uint64_t count);

// Builds an inspector: it reports what a sort with a count or segments on the device was asked for, and what it left out, because a
// sort clamps its count to the capacity, and begins and ends of segments too.
//
// - sort: of vksortBind or vksortBindSegments.
// - report: sizeof(VksortInspection) bytes, at a multiple of minStorageBufferOffsetAlignment, in a buffer with
//   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT and VK_BUFFER_USAGE_TRANSFER_DST_BIT, apart from all ranges of the sort. The buffer belongs to
//   the caller and must outlive the inspector; nothing else of it is kept.
// - inspector: a handle is written, which belongs to the caller until vksortDestroyInspector. It outlives the sort's handle.
// - It compiles a pipeline. Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_BUFFER for the report, or with the VkResult of the driver.
//
// Duties of the caller:
//
// - report is null, or points to a range whose buffer belongs to the sort's device and is bound to memory.
// - The sort's buffers and its device outlive the inspector.
// - inspector is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortCreateInspector(VksortSort sort,
                                                          const struct VksortBufferRange *report,
                                                          VksortInspector *inspector);

// Destroys an inspector.
//
// - inspector: a handle, or null, which is a no-op.
// - Its device must be alive, and no command buffer with the inspector pending.
// - Any thread may call it at any time. If another thread is in a call with the handle, the inspector is destroyed when that call
//   returns.
VKSORT_API VksortResult VKSORT_CALL vksortDestroyInspector(VksortInspector inspector);

// Records an inspection, before or after vksortCmdSort: it clears the report, and writes a VksortInspection there.
//
// - commandBuffer: as for vksortCmdSort. The compute pipeline, descriptor set 0 of the compute bind point, and the push constants
//   are changed.
// - count: that of the sort.
// - Barriers are the caller's. Before it: from the writes of the count and of the words of segments to VKSORT_INPUT_STAGES with
//   VKSORT_INPUT_ACCESS, and from the last accesses to the report to VK_PIPELINE_STAGE_TRANSFER_BIT with
//   VK_ACCESS_TRANSFER_WRITE_BIT. After it: from VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS to the reads of the report, such as those
//   of the host.
// - Any thread may call it. Inspector and buffers must live until the commands have completed.
//
// When it fails, nothing is recorded: VKSORT_ERROR_TOO_MANY_ELEMENTS, VKSORT_ERROR_BUFFER for a count on the device without a count
// buffer, or VKSORT_ERROR_VALUE for too many segments.
//
// Duties of the caller:
//
// - The command buffer is null, or recording, outside a render pass, on a queue family with compute.
// - Barriers are as above, and inspector and buffers live until the commands have completed.
VKSORT_API VksortResult VKSORT_CALL vksortCmdInspect(VkCommandBuffer commandBuffer,
                                                     VksortInspector inspector,
                                                     uint64_t count);

// Returns a request for the indices of positions, farthest first, without keys. Every field but key, lowBit, highBit and
// placement may be changed. vksort-compile-visitor --depth makes the visitor for it.
//
// - keys: one of VKSORT_DEPTH_...
// - request: written; structSize must be set.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// request is null, or points to a writable structure whose size is in its first field.
VKSORT_API VksortResult VKSORT_CALL vksortGetDepthRequest(VksortDepthKeys keys,
                                                          struct VksortSortRequest *request);

// Returns the push constants of a visitor for depths.
//
// - info: the row, the range of depths where keys are steps, and the places of the positions in floats; it is not kept.
// - push: written. It is the push of VksortVisitorResources, and its size is the pushSize.
// - Any thread may call it at any time.
//
// Fails with VKSORT_ERROR_VALUE for a range of depths that is not finite.
//
// Duties of the caller:
//
// - info is null, or points to a structure whose size is in its first field.
// - push is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortGetDepthPush(const struct VksortDepthInfo *info, struct VksortDepthPush *push);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VKSORT_H */
