#ifndef VKSORT_H
#define VKSORT_H
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>
#ifndef VKSORT_API
#define VKSORT_API
#endif
#ifndef VKSORT_CALL
#ifdef _WIN32
#define VKSORT_CALL __cdecl
#else
#define VKSORT_CALL
#endif
#endif
#define VKSORT_VERSION_MAJOR 0
#define VKSORT_VERSION_MINOR 1
#define VKSORT_VERSION_PATCH 0
#define VKSORT_VERSION 4096
#define VKSORT_REQUIREMENTS_BUFFER_ADDRESSES 1
#define VKSORT_VISITOR_DYNAMIC_INDEXING 1
#define VKSORT_SORTER_LABELS 1
#define VKSORT_KEY_IS_FLOAT 1
#define VKSORT_KEY_IS_SIGNED 2
#define VKSORT_KEY_IS_BUILT 4
#define VKSORT_COUNT_ON_DEVICE 18446744073709551615ull
#define VKSORT_INPUT_STAGES 2048
#define VKSORT_INPUT_ACCESS 96
#define VKSORT_OUTPUT_STAGES 2048
#define VKSORT_OUTPUT_ACCESS 64
#define VKSORT_WRONG_ELEMENTS 1
#define VKSORT_WRONG_ORDER 2
#define VKSORT_WRONG_STABILITY 4
#define VKSORT_WRONG_UNFINISHED 2147483648u
#define VKSORT_STEP_NAME_SIZE 32
#define VKSORT_KEY_TYPES 14
#define VKSORT_ALGORITHMS 3
#define VKSORT_REQUEST_NOT_STABLE 1
#define VKSORT_SEGMENTS_INDEX_FROM_SEGMENT 1
typedef struct VksortInspector_T VksortInspector_T;
typedef struct VksortRequirements_T VksortRequirements_T;
typedef struct VksortSort_T VksortSort_T;
typedef struct VksortSorter_T VksortSorter_T;
typedef struct VksortVerifier_T VksortVerifier_T;
typedef int32_t VksortResult;
typedef uint32_t VksortLogLevel;
typedef void (VKSORT_CALL *PFN_vksortLog)(VksortLogLevel level, const char *text, void *userData);
typedef struct VksortCapabilities {
  uint32_t structSize;
  uint32_t version;
  uint32_t vulkanVersion;
  uint32_t keyTypes;
  uint32_t algorithms;
  uint32_t maxCount;
  uint32_t maxInlineValueBytes;
  uint32_t maxValueBytes;
} VksortCapabilities;
typedef uint32_t VksortKeyType;
typedef struct VksortKeyTypeProperties {
  uint32_t structSize;
  uint32_t bits;
  uint32_t flags;
  uint32_t algorithms;
  const char *name;
} VksortKeyTypeProperties;
typedef uint32_t VksortAlgorithm;
typedef struct VksortInstanceRequirements {
  uint32_t structSize;
  uint32_t apiVersion;
  VkFlags flags;
  uint32_t extensionCount;
  const char *const *extensions;
} VksortInstanceRequirements;
typedef struct VksortRequirementsInfo {
  uint32_t structSize;
  uint32_t flags;
  PFN_vkGetInstanceProcAddr getInstanceProcAddr;
  VkInstance instance;
  VkPhysicalDevice physicalDevice;
  const VkDeviceCreateInfo *deviceCreateInfo;
  uint32_t apiVersion;
  uint32_t reserved;
} VksortRequirementsInfo;
typedef struct VksortRequirements_T *VksortRequirements;
typedef struct VksortDeviceRequirements {
  uint32_t structSize;
  uint32_t extensionCount;
  const char *const *extensions;
  const VkPhysicalDeviceFeatures2 *features;
} VksortDeviceRequirements;
typedef uint32_t VksortValueType;
typedef uint32_t VksortOrder;
typedef uint32_t VksortPlacement;
typedef uint32_t VksortKeyOutput;
typedef struct VksortSortRequest {
  uint32_t structSize;
  uint32_t flags;
  VksortKeyType key;
  VksortValueType value;
  uint32_t valueBytes;
  VksortOrder order;
  uint32_t lowBit;
  uint32_t highBit;
  VksortPlacement placement;
  VksortKeyOutput keyOutput;
  VksortAlgorithm algorithm;
} VksortSortRequest;
typedef struct VksortSorter_T *VksortSorter;
typedef uint32_t VksortAccess;
typedef struct VksortKeyField {
  uint32_t offset;
  VksortKeyType key;
  VksortOrder order;
  uint32_t flags;
} VksortKeyField;
typedef uint32_t VksortRecordOutput;
typedef struct VksortRecordRequest {
  uint32_t structSize;
  uint32_t flags;
  uint32_t stride;
  uint32_t fieldCount;
  const struct VksortKeyField *fields;
  VksortRecordOutput output;
  VksortAlgorithm algorithm;
} VksortRecordRequest;
typedef struct VksortSorterInfo {
  uint32_t structSize;
  uint32_t flags;
  VkDevice device;
  VksortRequirements requirements;
  const struct VksortSortRequest *request;
  VkPipelineCache pipelineCache;
  VksortSorter shareWith;
  VksortAccess access;
  uint32_t capacity;
  const struct VksortRecordRequest *records;
} VksortSorterInfo;
typedef struct VksortVisitorInfo {
  uint32_t structSize;
  uint32_t flags;
  const void *code;
  size_t codeSize;
  VkDescriptorSetLayout setLayout;
} VksortVisitorInfo;
typedef struct VksortSorterProperties {
  uint32_t structSize;
  uint32_t maxCount;
  VksortAlgorithm algorithm;
  VksortAccess access;
} VksortSorterProperties;
typedef struct VksortBufferNeed {
  VkDeviceSize size;
  VkDeviceSize alignment;
  VkFlags usage;
  uint32_t reserved;
} VksortBufferNeed;
typedef struct VksortBufferRequirements {
  uint32_t structSize;
  uint32_t capacity;
  struct VksortBufferNeed keys;
  struct VksortBufferNeed values;
  struct VksortBufferNeed keysOut;
  struct VksortBufferNeed valuesOut;
  struct VksortBufferNeed scratch;
  struct VksortBufferNeed count;
} VksortBufferRequirements;
typedef struct VksortBufferRange {
  VkBuffer buffer;
  VkDeviceSize offset;
  VkDeviceSize size;
  VkFlags usage;
  uint32_t reserved;
} VksortBufferRange;
typedef struct VksortBuffers {
  uint32_t structSize;
  uint32_t capacity;
  struct VksortBufferRange keys;
  struct VksortBufferRange values;
  struct VksortBufferRange keysOut;
  struct VksortBufferRange valuesOut;
  struct VksortBufferRange scratch;
  struct VksortBufferRange count;
} VksortBuffers;
typedef struct VksortSort_T *VksortSort;
typedef struct VksortQueryRange {
  VkQueryPool pool;
  uint32_t first;
  uint32_t count;
} VksortQueryRange;
typedef struct VksortVisitorResources {
  uint32_t structSize;
  uint32_t pushSize;
  const void *push;
  VkDescriptorSet set;
} VksortVisitorResources;
typedef struct VksortStepTime {
  double nanoseconds;
  char name[VKSORT_STEP_NAME_SIZE];
  uint64_t reserved;
} VksortStepTime;
typedef uint32_t VksortSegmentLayout;
typedef struct VksortSegmentsInfo {
  uint32_t structSize;
  uint32_t flags;
  VksortSegmentLayout layout;
  uint32_t stride;
  uint32_t longest;
  uint32_t top;
} VksortSegmentsInfo;
typedef struct VksortSegmentProperties {
  uint32_t structSize;
  uint32_t longest;
  uint32_t maxTop;
  uint32_t block;
} VksortSegmentProperties;
typedef struct VksortSegmentBuffers {
  uint32_t structSize;
  uint32_t segmentCapacity;
  struct VksortBufferRange segments;
} VksortSegmentBuffers;
typedef struct VksortVerifier_T *VksortVerifier;
typedef struct VksortInspector_T *VksortInspector;
typedef uint32_t VksortDepthKeys;
typedef struct VksortDepthInfo {
  uint32_t structSize;
  VksortDepthKeys keys;
  float row[4];
  float nearDepth;
  float farDepth;
  uint32_t stride;
  uint32_t first;
} VksortDepthInfo;
typedef struct VksortDepthPush {
  float row[4];
  uint32_t stride;
  uint32_t first;
} VksortDepthPush;
typedef struct VksortInspection {
  uint32_t count;
  uint32_t longest;
  uint32_t segmentsBeyond;
  uint32_t elementsBeyond;
  uint32_t tooLong;
  uint32_t descending;
} VksortInspection;
#define VKSORT_SUCCESS 0
#define VKSORT_INCOMPLETE 5
#define VKSORT_ERROR_POINTER -101
#define VKSORT_ERROR_HANDLE -102
#define VKSORT_ERROR_STRUCT -103
#define VKSORT_ERROR_VALUE -104
#define VKSORT_ERROR_UNSUITABLE_DEVICE -105
#define VKSORT_ERROR_NOT_ENABLED -106
#define VKSORT_ERROR_MISSING_FUNCTION -107
#define VKSORT_ERROR_NOT_BUILT -108
#define VKSORT_ERROR_TOO_MANY_ELEMENTS -109
#define VKSORT_ERROR_BUFFER -110
#define VKSORT_ERROR_TOO_FEW_QUERIES -111
#define VKSORT_ERROR_LOGGER -112
#define VKSORT_ERROR_VISITOR -113
#define VKSORT_ERROR_INTERNAL -199
#define VKSORT_LOG_ERROR 1
#define VKSORT_LOG_WARNING 2
#define VKSORT_LOG_INFO 3
#define VKSORT_LOG_DEBUG 4
#define VKSORT_ACCESS_AUTO 0
#define VKSORT_ACCESS_DESCRIPTORS 1
#define VKSORT_ACCESS_ADDRESSES 2
#define VKSORT_KEY_U8 1
#define VKSORT_KEY_I8 2
#define VKSORT_KEY_U16 3
#define VKSORT_KEY_I16 4
#define VKSORT_KEY_F16 5
#define VKSORT_KEY_BF16 6
#define VKSORT_KEY_U32 7
#define VKSORT_KEY_I32 8
#define VKSORT_KEY_F32 9
#define VKSORT_KEY_U64 10
#define VKSORT_KEY_I64 11
#define VKSORT_KEY_F64 12
#define VKSORT_KEY_U128 13
#define VKSORT_KEY_I128 14
#define VKSORT_VALUE_NONE 0
#define VKSORT_VALUE_BYTES 1
#define VKSORT_VALUE_INDEX 2
#define VKSORT_ORDER_ASCENDING 0
#define VKSORT_ORDER_DESCENDING 1
#define VKSORT_PLACEMENT_IN_PLACE 0
#define VKSORT_PLACEMENT_OUT_OF_PLACE 1
#define VKSORT_KEY_OUTPUT_SORTED 0
#define VKSORT_KEY_OUTPUT_DISCARDED 1
#define VKSORT_ALGORITHM_AUTO 0
#define VKSORT_ALGORITHM_ONESWEEP 1
#define VKSORT_ALGORITHM_REDUCE_THEN_SCAN 2
#define VKSORT_ALGORITHM_SINGLE_WORKGROUP 3
#define VKSORT_RECORD_OUTPUT_IN_PLACE 0
#define VKSORT_RECORD_OUTPUT_OUT_OF_PLACE 1
#define VKSORT_RECORD_OUTPUT_PERMUTATION 2
#define VKSORT_DEPTH_F32 1
#define VKSORT_DEPTH_BITS16 2
#define VKSORT_DEPTH_BITS24 3
#define VKSORT_SEGMENTS_OFFSETS 1
#define VKSORT_SEGMENTS_RANGES 2
#define VKSORT_SEGMENTS_ROWS 3
#define VKSORT_SEGMENTS_ROWS_OF 4
#define VKSORT_SEGMENTS_WHOLE 5
#ifdef __cplusplus
extern "C" {
#endif // __cplusplus
VKSORT_API const char *VKSORT_CALL vksortGetLastErrorText(void);
VKSORT_API VksortResult VKSORT_CALL vksortSetLogCallback(VksortLogLevel level,
                                                         PFN_vksortLog callback,
                                                         void *userData);
VKSORT_API VksortResult VKSORT_CALL vksortGetCapabilities(struct VksortCapabilities *capabilities);
VKSORT_API VksortResult VKSORT_CALL vksortGetKeyTypeProperties(VksortKeyType key,
                                                               struct VksortKeyTypeProperties *properties);
VKSORT_API const char *VKSORT_CALL vksortGetAlgorithmName(VksortAlgorithm algorithm);
VKSORT_API VksortResult VKSORT_CALL vksortGetInstanceRequirements(PFN_vkGetInstanceProcAddr getInstanceProcAddr,
                                                                  struct VksortInstanceRequirements *requirements);
VKSORT_API VksortResult VKSORT_CALL vksortCreateRequirements(const struct VksortRequirementsInfo *info,
                                                             VksortRequirements *requirements);
VKSORT_API VksortResult VKSORT_CALL vksortDestroyRequirements(VksortRequirements requirements);
VKSORT_API VksortResult VKSORT_CALL vksortGetDeviceRequirements(VksortRequirements requirements, struct VksortDeviceRequirements *result);
VKSORT_API VksortResult VKSORT_CALL vksortAddDeviceFeatures(VksortRequirements requirements,
                                                            VkPhysicalDeviceFeatures2 *features);
VKSORT_API VksortResult VKSORT_CALL vksortCheckDevice(VksortRequirements requirements,
                                                      const VkDeviceCreateInfo *info);
VKSORT_API VksortResult VKSORT_CALL vksortCreateSorter(const struct VksortSorterInfo *info,
                                                       VksortSorter *sorter);
VKSORT_API VksortResult VKSORT_CALL vksortCreateVisitedSorter(const struct VksortSorterInfo *info,
                                                              const struct VksortVisitorInfo *visitor,
                                                              VksortSorter *sorter);
VKSORT_API VksortResult VKSORT_CALL vksortDestroySorter(VksortSorter sorter);
VKSORT_API VksortResult VKSORT_CALL vksortGetSorterProperties(VksortSorter sorter, struct VksortSorterProperties *properties);
VKSORT_API VksortResult VKSORT_CALL vksortGetBufferRequirements(VksortSorter sorter,
                                                                uint32_t capacity,
                                                                struct VksortBufferRequirements *requirements);
VKSORT_API VksortResult VKSORT_CALL vksortBind(VksortSorter sorter,
                                               const struct VksortBuffers *buffers,
                                               VksortSort *sort);
VKSORT_API VksortResult VKSORT_CALL vksortDestroySort(VksortSort sort);
VKSORT_API VksortResult VKSORT_CALL vksortCmdSort(VkCommandBuffer commandBuffer,
                                                  VksortSort sort,
                                                  uint64_t count,
                                                  const struct VksortQueryRange *timestamps);
VKSORT_API VksortResult VKSORT_CALL vksortCmdSortVisited(VkCommandBuffer commandBuffer,
                                                         VksortSort sort,
                                                         uint64_t count,
                                                         const struct VksortQueryRange *timestamps,
                                                         const struct VksortVisitorResources *resources);
VKSORT_API VksortResult VKSORT_CALL vksortCmdWarmUp(VkCommandBuffer commandBuffer,
                                                    VksortSort sort,
                                                    const struct VksortVisitorResources *resources);
VKSORT_API VksortResult VKSORT_CALL vksortGetQueryCount(VksortSort sort, uint64_t count, uint32_t *queries);
VKSORT_API VksortResult VKSORT_CALL vksortGetAlgorithm(VksortSort sort, uint64_t count, VksortAlgorithm *algorithm);
VKSORT_API VksortResult VKSORT_CALL vksortGetStepTimes(VksortSort sort,
                                                       uint64_t count,
                                                       uint32_t tickCount,
                                                       const uint64_t *ticks,
                                                       uint32_t validBits,
                                                       uint32_t *stepCount,
                                                       struct VksortStepTime *steps);
VKSORT_API VksortResult VKSORT_CALL vksortCreateSegmentedSorter(const struct VksortSorterInfo *info,
                                                                const struct VksortSegmentsInfo *segments,
                                                                VksortSorter *sorter);
VKSORT_API VksortResult VKSORT_CALL vksortGetSegmentProperties(VksortSorter sorter, struct VksortSegmentProperties *properties);
VKSORT_API VksortResult VKSORT_CALL vksortGetSegmentBufferRequirements(VksortSorter sorter,
                                                                       uint32_t capacity,
                                                                       uint32_t segmentCapacity,
                                                                       struct VksortBufferRequirements *requirements,
                                                                       struct VksortBufferNeed *segments);
VKSORT_API VksortResult VKSORT_CALL vksortBindSegments(VksortSorter sorter,
                                                       const struct VksortBuffers *buffers,
                                                       const struct VksortSegmentBuffers *segments,
                                                       VksortSort *sort);
VKSORT_API VksortResult VKSORT_CALL vksortGetReportSize(VksortSort sort, uint64_t *size);
VKSORT_API VksortResult VKSORT_CALL vksortCreateVerifier(VksortSort sort,
                                                         const struct VksortBufferRange *report,
                                                         VksortVerifier *verifier);
VKSORT_API VksortResult VKSORT_CALL vksortDestroyVerifier(VksortVerifier verifier);
VKSORT_API VksortResult VKSORT_CALL vksortCmdVerifyBefore(VkCommandBuffer commandBuffer,
                                                          VksortVerifier verifier,
                                                          uint64_t count);
VKSORT_API VksortResult VKSORT_CALL vksortCmdVerifyAfter(VkCommandBuffer commandBuffer, VksortVerifier verifier, uint64_t count);
VKSORT_API VksortResult VKSORT_CALL vksortCreateInspector(VksortSort sort,
                                                          const struct VksortBufferRange *report,
                                                          VksortInspector *inspector);
VKSORT_API VksortResult VKSORT_CALL vksortDestroyInspector(VksortInspector inspector);
VKSORT_API VksortResult VKSORT_CALL vksortCmdInspect(VkCommandBuffer commandBuffer,
                                                     VksortInspector inspector,
                                                     uint64_t count);
VKSORT_API VksortResult VKSORT_CALL vksortGetDepthRequest(VksortDepthKeys keys,
                                                          struct VksortSortRequest *request);
VKSORT_API VksortResult VKSORT_CALL vksortGetDepthPush(const struct VksortDepthInfo *info, struct VksortDepthPush *push);
#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
#endif  /* VKSORT_H */
