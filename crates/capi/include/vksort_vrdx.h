/*
 * The calls of vk_radix_sort.h (github.com/jaesung-cs/vulkan_radix_sort) on vksort, for programs that use them today. Change
 * the include, link vksort, create the device as below, and keep defining VRDX_IMPLEMENTATION before it in one source file.
 * crates/capi/MIGRATING-VRDX.md of vksort lists each change, and says what differs.
 *
 * - As there, define VRDX_IMPLEMENTATION in exactly one file. The Vulkan functions are those in scope: the loader's prototypes, or
 *   volk's pointers if volk.h is included before or VRDX_USE_VOLK is defined.
 * - The device needs VK_KHR_push_descriptor or Vulkan 1.4's pushDescriptor. vrdxCreateSorterForDevice also uses the other
 *   features that the device was created with, which is faster.
 * - A call that fails records nothing, and passes a text to VRDX_ERROR, which prints it unless you define it.
 * - Buffers come with each call and are pushed as descriptors. They are not kept.
 * - Keys are 32-bit unsigned integers, values have 32 bits. Counts are elements; offsets and sizes are bytes.
 * - Several threads may record with one sorter, into a command buffer each.
 */
#ifndef VKSORT_VRDX_H
#define VKSORT_VRDX_H

#ifdef VK_RADIX_SORT_H
#error "vksort_vrdx.h replaces vk_radix_sort.h: include one of them"
#endif

#ifdef VRDX_USE_VOLK
#include "volk.h"
#else
#include <vulkan/vulkan.h>
#endif

#include <stdio.h>

#include "vksort.h"

/* Gets a text, in an expression statement, when a call fails. */
#ifndef VRDX_ERROR
#define VRDX_ERROR(text) ((void)fprintf(stderr, "error: %s\n", text))
#endif

/* Pipelines for keys alone and for keys with values. */
typedef VksortVrdx VrdxSorter;

typedef struct VrdxSorterCreateInfo {
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    VkPipelineCache pipelineCache;
} VrdxSorterCreateInfo;

typedef struct VrdxSorterStorageRequirements {
    VkDeviceSize size;
    VkBufferUsageFlags usage;
} VrdxSorterStorageRequirements;

#ifdef __cplusplus
extern "C" {
#endif

/* Builds the pipelines. The sorter belongs to the caller; it is null when the call fails. */
void vrdxCreateSorter(const VrdxSorterCreateInfo *pCreateInfo, VrdxSorter *pSorter);

/* The same with what the device was created with, whose features the kernels then use. vk_radix_sort.h has no such call. */
void vrdxCreateSorterForDevice(const VrdxSorterCreateInfo *pCreateInfo, const VkDeviceCreateInfo *pDeviceCreateInfo,
                               VrdxSorter *pSorter);

#ifdef __cplusplus
}
#endif

static inline void vksortVrdxReport(VksortResult result)
{
    if (result != VKSORT_SUCCESS)
        VRDX_ERROR(vksortGetLastErrorText());
}

/* Ends a sorter, or does nothing for null. The device must be alive, and no command buffer with its sorts pending. */
static inline void vrdxDestroySorter(VrdxSorter sorter)
{
    vksortVrdxReport(vksortVrdxDestroy(sorter));
}

/* Size and usage of the storage that serves all sorts of keys alone with up to so many elements; size 0 when it fails. */
static inline void vrdxGetSorterStorageRequirements(VrdxSorter sorter, uint32_t maxElementCount,
                                                    VrdxSorterStorageRequirements *requirements)
{
    requirements->size = 0;
    requirements->usage = 0;
    vksortVrdxReport(vksortVrdxGetStorageRequirements(sorter, maxElementCount, 0, &requirements->size, &requirements->usage));
}

/* The same for keys with values; this storage serves keys alone, too. */
static inline void vrdxGetSorterKeyValueStorageRequirements(VrdxSorter sorter, uint32_t maxElementCount,
                                                            VrdxSorterStorageRequirements *requirements)
{
    requirements->size = 0;
    requirements->usage = 0;
    vksortVrdxReport(vksortVrdxGetStorageRequirements(sorter, maxElementCount, 1, &requirements->size, &requirements->usage));
}

static inline void vksortVrdxRecord(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t elementCount,
                                    VkBuffer indirectBuffer, VkDeviceSize indirectOffset, VkBuffer keysBuffer,
                                    VkDeviceSize keysOffset, VkBuffer valuesBuffer, VkDeviceSize valuesOffset,
                                    VkBuffer storageBuffer, VkDeviceSize storageOffset, VkQueryPool queryPool,
                                    uint32_t query)
{
    VksortVrdxSort sort;
    sort.structSize = (uint32_t)sizeof sort;
    sort.elementCount = elementCount;
    sort.indirectBuffer = indirectBuffer;
    sort.indirectOffset = indirectOffset;
    sort.keysBuffer = keysBuffer;
    sort.keysOffset = keysOffset;
    sort.valuesBuffer = valuesBuffer;
    sort.valuesOffset = valuesOffset;
    sort.storageBuffer = storageBuffer;
    sort.storageOffset = storageOffset;
    sort.queryPool = queryPool;
    sort.query = query;
    sort.reserved = 0;
    vksortVrdxReport(vksortVrdxCmdSort(commandBuffer, sorter, &sort));
}

/* Records a sort of keys. With a query pool, 15 timestamps are written from `query` on; they are not reset. */
static inline void vrdxCmdSort(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t elementCount, VkBuffer keysBuffer,
                               VkDeviceSize keysOffset, VkBuffer storageBuffer, VkDeviceSize storageOffset,
                               VkQueryPool queryPool, uint32_t query)
{
    vksortVrdxRecord(commandBuffer, sorter, elementCount, VK_NULL_HANDLE, 0, keysBuffer, keysOffset, VK_NULL_HANDLE, 0,
                     storageBuffer, storageOffset, queryPool, query);
}

/* The same for as many keys as indirectBuffer holds when the sort runs: a uint32_t, which needs the usage TRANSFER_SRC. */
static inline void vrdxCmdSortIndirect(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t maxElementCount,
                                       VkBuffer indirectBuffer, VkDeviceSize indirectOffset, VkBuffer keysBuffer,
                                       VkDeviceSize keysOffset, VkBuffer storageBuffer, VkDeviceSize storageOffset,
                                       VkQueryPool queryPool, uint32_t query)
{
    vksortVrdxRecord(commandBuffer, sorter, maxElementCount, indirectBuffer, indirectOffset, keysBuffer, keysOffset,
                     VK_NULL_HANDLE, 0, storageBuffer, storageOffset, queryPool, query);
}

/* Records a sort of keys with values. */
static inline void vrdxCmdSortKeyValue(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t elementCount,
                                       VkBuffer keysBuffer, VkDeviceSize keysOffset, VkBuffer valuesBuffer,
                                       VkDeviceSize valuesOffset, VkBuffer storageBuffer, VkDeviceSize storageOffset,
                                       VkQueryPool queryPool, uint32_t query)
{
    vksortVrdxRecord(commandBuffer, sorter, elementCount, VK_NULL_HANDLE, 0, keysBuffer, keysOffset, valuesBuffer,
                     valuesOffset, storageBuffer, storageOffset, queryPool, query);
}

/* The same for as many pairs as indirectBuffer holds when the sort runs. */
static inline void vrdxCmdSortKeyValueIndirect(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t maxElementCount,
                                               VkBuffer indirectBuffer, VkDeviceSize indirectOffset, VkBuffer keysBuffer,
                                               VkDeviceSize keysOffset, VkBuffer valuesBuffer, VkDeviceSize valuesOffset,
                                               VkBuffer storageBuffer, VkDeviceSize storageOffset, VkQueryPool queryPool,
                                               uint32_t query)
{
    vksortVrdxRecord(commandBuffer, sorter, maxElementCount, indirectBuffer, indirectOffset, keysBuffer, keysOffset,
                     valuesBuffer, valuesOffset, storageBuffer, storageOffset, queryPool, query);
}

#endif /* VKSORT_VRDX_H */

#if defined(VRDX_IMPLEMENTATION) && !defined(VKSORT_VRDX_IMPLEMENTED)
#define VKSORT_VRDX_IMPLEMENTED

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the functions of Vulkan that are in scope here, so that no instance is needed. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vksortVrdxFind(VkInstance instance, const char *name)
{
#define VKSORT_VRDX_FOUND(function)                                             \
    if (strcmp(name, #function) == 0)                                           \
        return (PFN_vkVoidFunction)function;
    (void)instance;
    VKSORT_VRDX_FOUND(vkEnumerateDeviceExtensionProperties)
    VKSORT_VRDX_FOUND(vkGetDeviceProcAddr)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceFeatures2)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceMemoryProperties)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceProperties)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceProperties2)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceQueueFamilyProperties)
#undef VKSORT_VRDX_FOUND
    return NULL;
}

void vrdxCreateSorterForDevice(const VrdxSorterCreateInfo *pCreateInfo, const VkDeviceCreateInfo *pDeviceCreateInfo,
                               VrdxSorter *pSorter)
{
    VksortVrdxInfo info;
    info.structSize = (uint32_t)sizeof info;
    info.flags = 0;
    info.getInstanceProcAddr = vksortVrdxFind;
    info.instance = VK_NULL_HANDLE;
    info.physicalDevice = pCreateInfo->physicalDevice;
    info.device = pCreateInfo->device;
    info.pipelineCache = pCreateInfo->pipelineCache;
    info.deviceCreateInfo = pDeviceCreateInfo;
    info.apiVersion = 0;
    info.reserved = 0;
    *pSorter = VK_NULL_HANDLE;
    vksortVrdxReport(vksortVrdxCreate(&info, pSorter));
}

void vrdxCreateSorter(const VrdxSorterCreateInfo *pCreateInfo, VrdxSorter *pSorter)
{
    vrdxCreateSorterForDevice(pCreateInfo, NULL, pSorter);
}

#ifdef __cplusplus
}
#endif

#endif /* VRDX_IMPLEMENTATION */
