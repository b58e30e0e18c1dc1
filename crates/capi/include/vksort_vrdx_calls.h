/*
 * What vksort_vrdx.h calls. Programs include that file.
 *
 * Generated from crates/capi/src/ by scripts/header.sh: change it there.
 */

#ifndef VKSORT_VRDX_CALLS_H
#define VKSORT_VRDX_CALLS_H

#include "vksort.h"


// Timestamps that vksortVrdxCmdSort writes.
#define VKSORT_VRDX_QUERIES 15

// A sorter that takes its buffers with each recording. Programs that use vk_radix_sort.h forward-declare it by this name.
typedef struct VrdxSorter_T VrdxSorter_T;

// For vksortVrdxCreate.
typedef struct VksortVrdxInfo {
  // sizeof(VksortVrdxInfo).
  uint32_t structSize;
  // 0.
  uint32_t flags;
  // Finds the functions of Vulkan; it is called with instance.
  PFN_vkGetInstanceProcAddr getInstanceProcAddr;
  // The instance, or null where getInstanceProcAddr needs none.
  VkInstance instance;
  // The physical device.
  VkPhysicalDevice physicalDevice;
  // The device, with VK_KHR_push_descriptor or Vulkan 1.4's pushDescriptor enabled.
  VkDevice device;
  // A cache of the device for the pipelines, or null.
  VkPipelineCache pipelineCache;
  // The structure that the device was created with, or null when it is not known: then no other extension or feature is used,
  // which costs speed.
  const VkDeviceCreateInfo *deviceCreateInfo;
  // VkApplicationInfo::apiVersion of the instance, Vulkan 1.2 or newer, or 0 if it is not known. From 1.3 on, many
  // devices sort with their own subgroups even where full ones are not enabled.
  uint32_t apiVersion;
  // 0.
  uint32_t reserved;
  // Null, or written: a text when sorts are several times slower than they could be on the device, with what the program can do,
  // else null. Only the first sorter of a device has it, and only if the process has no logger
  // (vksortSetLogCallback), which gets it otherwise. It lives as long as a sorter of the device.
  const char **warning;
} VksortVrdxInfo;

// A handle: a sorter that takes its buffers with each recording.
typedef struct VrdxSorter_T *VksortVrdx;

// One recording of a sort of 32-bit keys, for vksortVrdxCmdSort.
typedef struct VksortVrdxSort {
  // sizeof(VksortVrdxSort).
  uint32_t structSize;
  // The number of elements, or the most that indirectBuffer may hold.
  uint32_t elementCount;
  // A buffer with the number of elements, or null.
  VkBuffer indirectBuffer;
  // Where in indirectBuffer, in bytes.
  VkDeviceSize indirectOffset;
  // The keys, 32-bit unsigned integers.
  VkBuffer keysBuffer;
  // Where the keys start, in bytes.
  VkDeviceSize keysOffset;
  // The values of 32 bits, or null.
  VkBuffer valuesBuffer;
  // Where the values start, in bytes.
  VkDeviceSize valuesOffset;
  // The storage.
  VkBuffer storageBuffer;
  // Where the storage starts, in bytes.
  VkDeviceSize storageOffset;
  // A pool for timestamps, or null.
  VkQueryPool queryPool;
  // The first of VKSORT_VRDX_QUERIES queries.
  uint32_t query;
  // 0.
  uint32_t reserved;
} VksortVrdxSort;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Builds the pipelines that sort 32-bit unsigned keys, alone and with values of 32 bits. Programs call it through
// vksort_vrdx.h.
//
// Sorters of one device share the pipelines, which live as long as one of the sorters. So a sorter that is created while another
// one lives builds none.
//
// - info: the device and its properties; nothing that it points to is kept.
// - sorter: a handle is written, which belongs to the caller until vksortVrdxDestroy.
// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
// - The instance lives until the call returns. No other function uses it.
//
// Fails with VKSORT_ERROR_MISSING_FUNCTION when the device has no function that pushes descriptors, and with
// VKSORT_ERROR_NOT_ENABLED when deviceCreateInfo has neither VK_KHR_push_descriptor nor Vulkan 1.4's pushDescriptor. A device of
// Vulkan 1.4 has the function in any case, so without deviceCreateInfo a missing feature is not seen.
//
// Duties of the caller:
//
// - info is null, or points to a structure whose size is in its first field; its pointers are null or valid.
// - The device is of the physical device, and outlives the sorter: another device may get its handle. Where deviceCreateInfo is null, it was created with
//   VK_KHR_push_descriptor or Vulkan 1.4's pushDescriptor.
// - The pipeline cache is null or the device's, and no other thread uses it during the call.
// - warning of info is null or writable. sorter is null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortVrdxCreate(const struct VksortVrdxInfo *info,
                                                     VksortVrdx *sorter);

// Destroys a sorter of vksortVrdxCreate, and with the last one of a device the pipelines that they share.
//
// - sorter: a handle, or null, which is a no-op.
// - Its device must be alive, and no command buffer with one of its sorts pending.
// - Any thread may call it at any time. If another thread is in a call with the handle, the sorter is destroyed when that call
//   returns.
VKSORT_API VksortResult VKSORT_CALL vksortVrdxDestroy(VksortVrdx sorter);

// Returns the size of a storage buffer that is enough for every sort of up to maxElementCount elements.
//
// - keyValue: 0 for keys alone, 1 for keys with values. The storage for keys with values is enough for keys alone, too.
// - size: written, in bytes.
// - usage: written, VkBufferUsageFlags: STORAGE_BUFFER and TRANSFER_DST, as in vk_radix_sort.h.
// - Any thread may call it at any time.
//
// Duties of the caller:
//
// Both pointers are null or writable.
VKSORT_API VksortResult VKSORT_CALL vksortVrdxGetStorageRequirements(VksortVrdx sorter,
                                                                     uint32_t maxElementCount,
                                                                     uint32_t keyValue,
                                                                     VkDeviceSize *size,
                                                                     VkFlags *usage);

// Records a sort in place.
//
// - info: the buffers and the count; it is not kept. Buffers and storage live until the commands have completed.
// - With a count in a buffer, dispatches have the workgroups for elementCount, and those beyond the count leave at once. A count
//   above elementCount is clamped to it.
// - The queries are not reset. All VKSORT_VRDX_QUERIES of them are written: one at the start, one after clearing, three for
//   each of four passes (after counting, scanning and moving), one at the end. The query of a step that the sort does not have
//   is written with the next one.
// - Any thread may call it. One sorter may be recorded by several threads at once, into a command buffer each.
//
// When it fails, nothing is recorded.
//
// Duties of the caller:
//
// - The command buffer is null, or recording, outside a render pass, on a queue family with compute.
// - info is null, or points to a structure whose size is in its first field.
// - The buffers belong to the device and hold that many elements. Keys and values have the usage STORAGE_BUFFER, the
//   indirect buffer has TRANSFER_SRC, and the storage is as vksortVrdxGetStorageRequirements says.
// - Writes before the sort are made visible to reads of compute shaders; those of the indirect count may be made visible to
//   reads of transfers instead. Uses after it wait for writes of compute shaders.
// - While the sort runs nothing else accesses its buffers.
VKSORT_API VksortResult VKSORT_CALL vksortVrdxCmdSort(VkCommandBuffer commandBuffer,
                                                      VksortVrdx sorter,
                                                      const struct VksortVrdxSort *info);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VKSORT_VRDX_CALLS_H */
