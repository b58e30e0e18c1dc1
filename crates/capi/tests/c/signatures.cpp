// The calls of vk_radix_sort.h have the signatures that programs call, as C++, with volk in place of prototypes: those of the
// version that VKSORT_VRDX_API says, or of all.
#define VRDX_USE_VOLK
#define VRDX_IMPLEMENTATION
#include <vk_radix_sort.h>

#include <cstddef>
#include <type_traits>

using Commands = VkCommandBuffer;
using Count = uint32_t;
using Offset = VkDeviceSize;
using Sorter = VrdxSorter;
using Requirements = VrdxSorterStorageRequirements;

// Each name has one function of this type. With several versions it is one of the overloads; with one it is the only function.
#ifdef VKSORT_VRDX_API
#define IS(function, ...) static_assert(std::is_same_v<decltype(&function), __VA_ARGS__>)
#else
#define IS(function, ...) static_assert(static_cast<__VA_ARGS__>(&function) != nullptr)
#endif

IS(vrdxCreateSorter, VkResult (*)(const VrdxSorterCreateInfo *, Sorter *));
IS(vrdxDestroySorter, void (*)(Sorter));
#if !defined(VKSORT_VRDX_API) || VKSORT_VRDX_API < 5
IS(vrdxGetSorterStorageRequirements, void (*)(Sorter, Count, Requirements *));
IS(vrdxGetSorterKeyValueStorageRequirements, void (*)(Sorter, Count, Requirements *));
IS(vrdxCmdSort, void (*)(Commands, Sorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkQueryPool, uint32_t));
IS(vrdxCmdSortIndirect,
   void (*)(Commands, Sorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkBuffer, Offset, VkQueryPool, uint32_t));
IS(vrdxCmdSortKeyValue,
   void (*)(Commands, Sorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkBuffer, Offset, VkQueryPool, uint32_t));
IS(vrdxCmdSortKeyValueIndirect, void (*)(Commands, Sorter, Count, VkBuffer, Offset, VkBuffer, Offset, VkBuffer, Offset,
                                         VkBuffer, Offset, VkQueryPool, uint32_t));
#endif
#if !defined(VKSORT_VRDX_API) || VKSORT_VRDX_API == 5
IS(vrdxGetSorterStorageRequirements, void (*)(Sorter, Count, VrdxSortMode, Requirements *));
IS(vrdxCmdSort, void (*)(Commands, Sorter, const VrdxSortInfo *));
static_assert(VRDX_SORT_MODE_KEYS_ONLY == 0 && VRDX_SORT_MODE_KEY_VALUE == 1);
#endif

// vksort's own.
IS(vrdxCreateSorterForDevice, VkResult (*)(const VrdxSorterCreateInfo *, const VkDeviceCreateInfo *, Sorter *));

// The newest version that is served, as programs compare it.
#if VKSORT_VRDX_API + 0 == 3
static_assert(VRDX_VERSION == (0 << 22 | 3 << 12 | 3) && VRDX_VERSION_PATCH == 3);
#elif VKSORT_VRDX_API + 0 == 4
static_assert(VRDX_VERSION == (0 << 22 | 4 << 12 | 0));
#else
static_assert(VRDX_VERSION == (0 << 22 | 5 << 12 | 0));
#endif

// The fields in the order in which programs initialize them, and no other.
static_assert(sizeof(VrdxSorterCreateInfo) == sizeof(VkPhysicalDevice) + sizeof(VkDevice) + sizeof(VkPipelineCache));
VrdxSorterCreateInfo createInfo()
{
    return {.physicalDevice = {}, .device = {}, .pipelineCache = {}};
}
Requirements requirements()
{
    return {.size = {}, .usage = {}};
}
VrdxSortInfo sortInfo()
{
    return {.elementCount = {}, .elementCountBuffer = {}, .elementCountOffset = {}, .keysBuffer = {}, .keysOffset = {},
            .valuesBuffer = {}, .valuesOffset = {}, .storageBuffer = {}, .storageOffset = {}, .queryPool = {}, .query = {}};
}
