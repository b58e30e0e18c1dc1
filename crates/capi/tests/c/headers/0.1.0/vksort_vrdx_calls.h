#ifndef VKSORT_VRDX_CALLS_H
#define VKSORT_VRDX_CALLS_H
#include "vksort.h"
#define VKSORT_VRDX_QUERIES 15
typedef struct VrdxSorter_T VrdxSorter_T;
typedef struct VksortVrdxInfo {
  uint32_t structSize;
  uint32_t flags;
  PFN_vkGetInstanceProcAddr getInstanceProcAddr;
  VkInstance instance;
  VkPhysicalDevice physicalDevice;
  VkDevice device;
  VkPipelineCache pipelineCache;
  const VkDeviceCreateInfo *deviceCreateInfo;
  uint32_t apiVersion;
  uint32_t reserved;
  const char **warning;
} VksortVrdxInfo;
typedef struct VrdxSorter_T *VksortVrdx;
typedef struct VksortVrdxSort {
  uint32_t structSize;
  uint32_t elementCount;
  VkBuffer indirectBuffer;
  VkDeviceSize indirectOffset;
  VkBuffer keysBuffer;
  VkDeviceSize keysOffset;
  VkBuffer valuesBuffer;
  VkDeviceSize valuesOffset;
  VkBuffer storageBuffer;
  VkDeviceSize storageOffset;
  VkQueryPool queryPool;
  uint32_t query;
  uint32_t reserved;
} VksortVrdxSort;
#ifdef __cplusplus
extern "C" {
#endif // __cplusplus
VKSORT_API VksortResult VKSORT_CALL vksortVrdxCreate(const struct VksortVrdxInfo *info,
                                                     VksortVrdx *sorter);
VKSORT_API VksortResult VKSORT_CALL vksortVrdxDestroy(VksortVrdx sorter);
VKSORT_API VksortResult VKSORT_CALL vksortVrdxGetStorageRequirements(VksortVrdx sorter,
                                                                     uint32_t maxElementCount,
                                                                     uint32_t keyValue,
                                                                     VkDeviceSize *size,
                                                                     VkFlags *usage);
VKSORT_API VksortResult VKSORT_CALL vksortVrdxCmdSort(VkCommandBuffer commandBuffer,
                                                      VksortVrdx sorter,
                                                      const struct VksortVrdxSort *info);
#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
#endif  /* VKSORT_VRDX_CALLS_H */
