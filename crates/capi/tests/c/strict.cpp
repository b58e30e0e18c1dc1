// Every line of the header, where warnings are errors, in the linkage of a program that wraps its includes.
extern "C" {
#define VRDX_IMPLEMENTATION
#include <vk_radix_sort.h>
}
// A second time, as by a header of the program's.
#define VRDX_IMPLEMENTATION
#include <vk_radix_sort.h>

VkResult make(const VrdxSorterCreateInfo &info, VrdxSorter &sorter)
{
    return vrdxCreateSorter(&info, &sorter);
}

void record(VkCommandBuffer commands, VrdxSorter sorter, VkBuffer keys, VkBuffer storage)
{
    VrdxSortInfo info{};
    info.keysBuffer = keys;
    vrdxCmdSort(commands, sorter, &info);
    vrdxCmdSort(commands, sorter, 8, keys, 0, storage, 0, VkQueryPool{}, 0);
}
