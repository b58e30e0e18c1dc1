// The calls of vksort_vrdx.h have the signatures that programs call, as C++, with volk in place of prototypes.
#define VRDX_USE_VOLK
#define VRDX_IMPLEMENTATION
#include <vksort_vrdx.h>

#include <type_traits>

using Commands = VkCommandBuffer;
using Count = uint32_t;
using Offset = VkDeviceSize;

static_assert(std::is_same_v<decltype(&vrdxCreateSorter), void (*)(const VrdxSorterCreateInfo *, VrdxSorter *)>);
static_assert(std::is_same_v<decltype(&vrdxDestroySorter), void (*)(VrdxSorter)>);
static_assert(std::is_same_v<decltype(&vrdxGetSorterStorageRequirements),
                             void (*)(VrdxSorter, Count, VrdxSorterStorageRequirements *)>);
static_assert(std::is_same_v<decltype(&vrdxGetSorterKeyValueStorageRequirements),
                             void (*)(VrdxSorter, Count, VrdxSorterStorageRequirements *)>);
static_assert(std::is_same_v<decltype(&vrdxCmdSort), void (*)(Commands, VrdxSorter, Count, VkBuffer, Offset, VkBuffer, Offset,
                                                              VkQueryPool, uint32_t)>);
static_assert(std::is_same_v<decltype(&vrdxCmdSortIndirect),
                             void (*)(Commands, VrdxSorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkBuffer, Offset,
                                      VkQueryPool, uint32_t)>);
static_assert(std::is_same_v<decltype(&vrdxCmdSortKeyValue),
                             void (*)(Commands, VrdxSorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkBuffer, Offset,
                                      VkQueryPool, uint32_t)>);
static_assert(std::is_same_v<decltype(&vrdxCmdSortKeyValueIndirect),
                             void (*)(Commands, VrdxSorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkBuffer, Offset,
                                      VkBuffer, Offset, VkQueryPool, uint32_t)>);

// vksort's own.
static_assert(std::is_same_v<decltype(&vrdxCreateSorterForDevice),
                             void (*)(const VrdxSorterCreateInfo *, const VkDeviceCreateInfo *, VrdxSorter *)>);

// The three fields that programs set, in their order, and no other.
static_assert(sizeof(VrdxSorterCreateInfo) == sizeof(VkPhysicalDevice) + sizeof(VkDevice) + sizeof(VkPipelineCache));
VrdxSorterCreateInfo info()
{
    VrdxSorterCreateInfo info = {};
    info.physicalDevice = VK_NULL_HANDLE;
    info.device = VK_NULL_HANDLE;
    info.pipelineCache = VK_NULL_HANDLE;
    return info;
}
