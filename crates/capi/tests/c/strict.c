/* Every line of the header, where warnings are errors; the calls of each version are instantiated. */
#define VRDX_IMPLEMENTATION
#include <vk_radix_sort.h>

#if VRDX_VERSION_MINOR != VKSORT_VRDX_API
#error "VRDX_VERSION_MINOR is not the version that was asked for"
#endif

VkResult make(VkPhysicalDevice physicalDevice, VkDevice device, VrdxSorter *sorter)
{
    VrdxSorterCreateInfo info = {physicalDevice, device, VK_NULL_HANDLE};
    return vrdxCreateSorter(&info, sorter);
}

void record(VkCommandBuffer commands, VrdxSorter sorter, VkBuffer keys, VkBuffer storage)
{
#if VKSORT_VRDX_API == 5
    VrdxSortInfo info = {.elementCount = 8, .keysBuffer = keys, .storageBuffer = storage};
    vrdxCmdSort(commands, sorter, &info);
#else
    vrdxCmdSort(commands, sorter, 8, keys, 0, storage, 0, VK_NULL_HANDLE, 0);
#endif
}
