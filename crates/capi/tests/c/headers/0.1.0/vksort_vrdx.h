/*
 * The calls of vk_radix_sort.h (github.com/jaesung-cs/vulkan_radix_sort) on vksort, for programs that use them today, in all
 * versions from 0.0.0 to 0.5. Change the include, or let the include directory vrdx come first, which has a vk_radix_sort.h that
 * includes this file. Link vksort, and keep defining VRDX_IMPLEMENTATION. crates/capi/MIGRATING-VRDX.md of vksort says what
 * differs.
 *
 * - C++ has the calls of all versions. C has those up to 0.4, or those of 0.5 if VKSORT_VRDX_API is 5. C++ may choose too: with
 *   3, 4 or 5 it has the calls of version 0.3, 0.4 or 0.5 alone. VRDX_VERSION and its parts are those of the newest version
 *   served.
 * - Define VRDX_IMPLEMENTATION before the include in one file or several. The Vulkan functions are those in scope there: the
 *   loader's prototypes, or volk's pointers if volk.h is included before or VRDX_USE_VOLK is defined.
 * - The device needs VK_KHR_push_descriptor or Vulkan 1.4's pushDescriptor, and Vulkan 1.2. vrdxCreateSorterForDevice also uses
 *   the other features that the device was created with, which is faster.
 * - If you know the apiVersion of VkApplicationInfo, define VKSORT_VRDX_VULKAN as it: what newer versions of Vulkan guarantee is
 *   then used up to it, and nothing of later ones.
 * - A call that fails records nothing, and passes a text to VRDX_ERROR, which prints it unless you define it. VRDX_WARNING is the
 *   same for a device on which sorts are slow, with what helps.
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
#endif

#include <stdio.h>
#include <string.h>

#include "vksort_vrdx_calls.h"

/* Gets a text, in an expression statement, when a call fails. */
#ifndef VRDX_ERROR
#define VRDX_ERROR(text) fprintf(stderr, "error: %s\n", text)
#endif

/* Gets a text, in an expression statement, when sorts are several times slower than they could be on a device: once, and not if
 * vksortSetLogCallback has set a callback, which gets it then. */
#ifndef VRDX_WARNING
#define VRDX_WARNING(text) fprintf(stderr, "warning: %s\n", text)
#endif

/* VkApplicationInfo::apiVersion; 0 if it is not known. */
#ifndef VKSORT_VRDX_VULKAN
#define VKSORT_VRDX_VULKAN 0
#endif

/* Which calls there are, in numbers that the preprocessor compares. */
#ifdef VKSORT_VRDX_API
#if VKSORT_VRDX_API != 3 && VKSORT_VRDX_API != 4 && VKSORT_VRDX_API != 5
#error "VKSORT_VRDX_API is not the second number of a version, allowed are 3, 4 and 5"
#endif
#define VKSORT_VRDX_NEWEST VKSORT_VRDX_API
#define VKSORT_VRDX_OLDEST VKSORT_VRDX_API
#elif defined(__cplusplus)
#define VKSORT_VRDX_NEWEST 5
#define VKSORT_VRDX_OLDEST 3
#else
#define VKSORT_VRDX_NEWEST 4
#define VKSORT_VRDX_OLDEST 3
#endif

#define VRDX_VERSION_MAJOR 0
#define VRDX_VERSION_MINOR VKSORT_VRDX_NEWEST
#if VKSORT_VRDX_NEWEST == 3
#define VRDX_VERSION_PATCH 3
#else
#define VRDX_VERSION_PATCH 0
#endif
#define VRDX_VERSION (VRDX_VERSION_MAJOR << 22 | VRDX_VERSION_MINOR << 12 | VRDX_VERSION_PATCH)

#ifdef __cplusplus
#define VKSORT_VRDX_AS(type, value) static_cast<type>(value)
#define VKSORT_VRDX_FUNCTION(function) reinterpret_cast<PFN_vkVoidFunction>(function)
#define VKSORT_VRDX_NULL nullptr
/* Overloads have the linkage of C++, also where a program wraps the include. */
extern "C++" {
#else
#define VKSORT_VRDX_AS(type, value) ((type)(value))
#define VKSORT_VRDX_FUNCTION(function) ((PFN_vkVoidFunction)(function))
#define VKSORT_VRDX_NULL NULL
#endif

/* Pipelines for keys alone and for keys with values. Programs may declare the structure, which is never defined. */
typedef struct VrdxSorter_T *VrdxSorter;

typedef struct VrdxSorterCreateInfo {
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    VkPipelineCache pipelineCache;
} VrdxSorterCreateInfo;

typedef struct VrdxSorterStorageRequirements {
    VkDeviceSize size;
    VkBufferUsageFlags usage;
} VrdxSorterStorageRequirements;

typedef enum VrdxSortMode {
    VRDX_SORT_MODE_KEYS_ONLY = 0,
    VRDX_SORT_MODE_KEY_VALUE = 1
} VrdxSortMode;

/* A sort of version 0.5. */
typedef struct VrdxSortInfo {
    /* The number of elements, or the most that elementCountBuffer may hold. */
    uint32_t elementCount;
    /* A buffer with the number of elements, a uint32_t, which needs the usage TRANSFER_SRC; or null. */
    VkBuffer elementCountBuffer;
    VkDeviceSize elementCountOffset;
    VkBuffer keysBuffer;
    VkDeviceSize keysOffset;
    /* The values, or null for keys alone. */
    VkBuffer valuesBuffer;
    VkDeviceSize valuesOffset;
    VkBuffer storageBuffer;
    VkDeviceSize storageOffset;
    /* A pool whose 15 timestamps from `query` on are written, and not reset; or null. */
    VkQueryPool queryPool;
    uint32_t query;
} VrdxSortInfo;

/* Each program and shared library has its own. */
#ifdef _WIN32
#define VKSORT_VRDX_OWN
#else
#define VKSORT_VRDX_OWN __attribute__((visibility("hidden")))
#endif

/* Finds the functions of Vulkan. A file that defines VRDX_IMPLEMENTATION has it. */
#ifdef __cplusplus
extern "C" {
#endif
extern VKSORT_VRDX_OWN PFN_vkGetInstanceProcAddr vksortVrdxImplementation;
#ifdef __cplusplus
}
#endif

/* Reports a failure, and returns the result as Vulkan has it: what vksort refuses is VK_ERROR_INITIALIZATION_FAILED, and a device
 * that lacks something VK_ERROR_FEATURE_NOT_PRESENT. */
static inline VkResult vksortVrdxResult(VksortResult result)
{
    if (result == VKSORT_SUCCESS)
        return VK_SUCCESS;
    VRDX_ERROR(vksortGetLastErrorText());
    if (result == VKSORT_ERROR_UNSUITABLE_DEVICE || result == VKSORT_ERROR_NOT_ENABLED ||
        result == VKSORT_ERROR_MISSING_FUNCTION)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    if (result <= VKSORT_ERROR_POINTER && result > VKSORT_ERROR_POINTER - 100)
        return VK_ERROR_INITIALIZATION_FAILED;
    return VKSORT_VRDX_AS(VkResult, result);
}

/* Builds the pipelines with what the device was created with, whose features the kernels then use. vk_radix_sort.h has no such
 * call. Sorters of a device share pipelines, so another one takes no time while one lives. The sorter belongs to the caller; it
 * is null when the call fails. Destroy it before its device, whose handle another device may get. */
static inline VkResult vrdxCreateSorterForDevice(const VrdxSorterCreateInfo *pCreateInfo,
                                                 const VkDeviceCreateInfo *pDeviceCreateInfo, VrdxSorter *pSorter)
{
    const char *warning = VKSORT_VRDX_NULL;
    VkResult result;
    VksortVrdxInfo info;
    memset(&info, 0, sizeof info);
    info.structSize = sizeof info;
    info.getInstanceProcAddr = vksortVrdxImplementation;
    info.physicalDevice = pCreateInfo->physicalDevice;
    info.device = pCreateInfo->device;
    info.pipelineCache = pCreateInfo->pipelineCache;
    info.deviceCreateInfo = pDeviceCreateInfo;
    info.apiVersion = VKSORT_VRDX_VULKAN;
    info.warning = &warning;
    *pSorter = VKSORT_VRDX_NULL;
    result = vksortVrdxResult(vksortVrdxCreate(&info, pSorter));
    if (warning != VKSORT_VRDX_NULL)
        VRDX_WARNING(warning);
    return result;
}

/* The same without that structure. Version 0.3 returns nothing here, and its programs ignore the result. */
static inline VkResult vrdxCreateSorter(const VrdxSorterCreateInfo *pCreateInfo, VrdxSorter *pSorter)
{
    return vrdxCreateSorterForDevice(pCreateInfo, VKSORT_VRDX_NULL, pSorter);
}

/* Ends a sorter, or does nothing for null. The device must be alive, and no command buffer with its sorts pending. */
static inline void vrdxDestroySorter(VrdxSorter sorter)
{
    vksortVrdxResult(vksortVrdxDestroy(sorter));
}

static inline void vksortVrdxRequirements(VrdxSorter sorter, uint32_t maxElementCount, uint32_t keyValue,
                                          VrdxSorterStorageRequirements *requirements)
{
    requirements->size = 0;
    requirements->usage = 0;
    vksortVrdxResult(vksortVrdxGetStorageRequirements(sorter, maxElementCount, keyValue, &requirements->size,
                                                      &requirements->usage));
}

static inline void vksortVrdxRecord(VkCommandBuffer commandBuffer, VrdxSorter sorter, const VrdxSortInfo *info)
{
    VksortVrdxSort sort;
    memset(&sort, 0, sizeof sort);
    sort.structSize = sizeof sort;
    sort.elementCount = info->elementCount;
    sort.indirectBuffer = info->elementCountBuffer;
    sort.indirectOffset = info->elementCountOffset;
    sort.keysBuffer = info->keysBuffer;
    sort.keysOffset = info->keysOffset;
    sort.valuesBuffer = info->valuesBuffer;
    sort.valuesOffset = info->valuesOffset;
    sort.storageBuffer = info->storageBuffer;
    sort.storageOffset = info->storageOffset;
    sort.queryPool = info->queryPool;
    sort.query = info->query;
    vksortVrdxResult(vksortVrdxCmdSort(commandBuffer, sorter, &sort));
}

#if VKSORT_VRDX_NEWEST >= 5

/* Size and usage of the storage that serves all sorts of this mode with up to so many elements; size 0 when it fails. Storage for
 * keys with values serves keys alone, too. */
static inline void vrdxGetSorterStorageRequirements(VrdxSorter sorter, uint32_t maxElementCount, VrdxSortMode mode,
                                                    VrdxSorterStorageRequirements *requirements)
{
    vksortVrdxRequirements(sorter, maxElementCount, mode == VRDX_SORT_MODE_KEY_VALUE, requirements);
}

/* Records a sort. */
static inline void vrdxCmdSort(VkCommandBuffer commandBuffer, VrdxSorter sorter, const VrdxSortInfo *pSortInfo)
{
    vksortVrdxRecord(commandBuffer, sorter, pSortInfo);
}

#endif
#if VKSORT_VRDX_OLDEST <= 4

/* Size and usage of the storage that serves all sorts of keys alone with up to so many elements; size 0 when it fails. */
static inline void vrdxGetSorterStorageRequirements(VrdxSorter sorter, uint32_t maxElementCount,
                                                    VrdxSorterStorageRequirements *requirements)
{
    vksortVrdxRequirements(sorter, maxElementCount, 0, requirements);
}

/* The same for keys with values; this storage serves keys alone, too. */
static inline void vrdxGetSorterKeyValueStorageRequirements(VrdxSorter sorter, uint32_t maxElementCount,
                                                            VrdxSorterStorageRequirements *requirements)
{
    vksortVrdxRequirements(sorter, maxElementCount, 1, requirements);
}

/* Records a sort of as many pairs as indirectBuffer holds when the sort runs: a uint32_t, which needs the usage TRANSFER_SRC.
 * With a query pool, 15 timestamps are written from `query` on; they are not reset. */
static inline void vrdxCmdSortKeyValueIndirect(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t maxElementCount,
                                               VkBuffer indirectBuffer, VkDeviceSize indirectOffset, VkBuffer keysBuffer,
                                               VkDeviceSize keysOffset, VkBuffer valuesBuffer, VkDeviceSize valuesOffset,
                                               VkBuffer storageBuffer, VkDeviceSize storageOffset, VkQueryPool queryPool,
                                               uint32_t query)
{
    VrdxSortInfo info;
    info.elementCount = maxElementCount;
    info.elementCountBuffer = indirectBuffer;
    info.elementCountOffset = indirectOffset;
    info.keysBuffer = keysBuffer;
    info.keysOffset = keysOffset;
    info.valuesBuffer = valuesBuffer;
    info.valuesOffset = valuesOffset;
    info.storageBuffer = storageBuffer;
    info.storageOffset = storageOffset;
    info.queryPool = queryPool;
    info.query = query;
    vksortVrdxRecord(commandBuffer, sorter, &info);
}

/* The same for as many pairs as the call says. */
static inline void vrdxCmdSortKeyValue(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t elementCount,
                                       VkBuffer keysBuffer, VkDeviceSize keysOffset, VkBuffer valuesBuffer,
                                       VkDeviceSize valuesOffset, VkBuffer storageBuffer, VkDeviceSize storageOffset,
                                       VkQueryPool queryPool, uint32_t query)
{
    vrdxCmdSortKeyValueIndirect(commandBuffer, sorter, elementCount, VK_NULL_HANDLE, 0, keysBuffer, keysOffset, valuesBuffer,
                                valuesOffset, storageBuffer, storageOffset, queryPool, query);
}

/* The same for keys alone, as many as indirectBuffer holds. */
static inline void vrdxCmdSortIndirect(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t maxElementCount,
                                       VkBuffer indirectBuffer, VkDeviceSize indirectOffset, VkBuffer keysBuffer,
                                       VkDeviceSize keysOffset, VkBuffer storageBuffer, VkDeviceSize storageOffset,
                                       VkQueryPool queryPool, uint32_t query)
{
    vrdxCmdSortKeyValueIndirect(commandBuffer, sorter, maxElementCount, indirectBuffer, indirectOffset, keysBuffer, keysOffset,
                                VK_NULL_HANDLE, 0, storageBuffer, storageOffset, queryPool, query);
}

/* The same for as many keys as the call says. */
static inline void vrdxCmdSort(VkCommandBuffer commandBuffer, VrdxSorter sorter, uint32_t elementCount, VkBuffer keysBuffer,
                               VkDeviceSize keysOffset, VkBuffer storageBuffer, VkDeviceSize storageOffset,
                               VkQueryPool queryPool, uint32_t query)
{
    vrdxCmdSortKeyValueIndirect(commandBuffer, sorter, elementCount, VK_NULL_HANDLE, 0, keysBuffer, keysOffset, VK_NULL_HANDLE,
                                0, storageBuffer, storageOffset, queryPool, query);
}

#endif

#ifdef __cplusplus
}
#endif

#endif /* VKSORT_VRDX_H */

#ifdef VRDX_IMPLEMENTATION
#undef VRDX_IMPLEMENTATION
#ifndef VKSORT_VRDX_IMPLEMENTED
#define VKSORT_VRDX_IMPLEMENTED

#if defined(VRDX_USE_VOLK) && !defined(VOLK_H_)
#include "volk.h"
#endif

/* One definition of those in several files is used. */
#ifdef _WIN32
#define VKSORT_VRDX_ONE_OF_MANY __declspec(selectany)
#else
#define VKSORT_VRDX_ONE_OF_MANY __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the functions of Vulkan that are in scope here, so that no instance is needed. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vksortVrdxFind(VkInstance instance, const char *name)
{
#define VKSORT_VRDX_FOUND(function)                                             \
    if (strcmp(name, #function) == 0)                                           \
        return VKSORT_VRDX_FUNCTION(function);
    VKSORT_VRDX_AS(void, instance);
    VKSORT_VRDX_FOUND(vkEnumerateDeviceExtensionProperties)
    VKSORT_VRDX_FOUND(vkGetDeviceProcAddr)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceFeatures2)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceMemoryProperties)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceProperties)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceProperties2)
    VKSORT_VRDX_FOUND(vkGetPhysicalDeviceQueueFamilyProperties)
#undef VKSORT_VRDX_FOUND
    return VKSORT_VRDX_NULL;
}

VKSORT_VRDX_ONE_OF_MANY VKSORT_VRDX_OWN PFN_vkGetInstanceProcAddr vksortVrdxImplementation = vksortVrdxFind;

#ifdef __cplusplus
}
#endif

#endif /* VKSORT_VRDX_IMPLEMENTED */
#endif /* VRDX_IMPLEMENTATION */
