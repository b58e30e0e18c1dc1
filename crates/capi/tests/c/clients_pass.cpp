// SynapseEngine 2026: a pass with a sorter of its own, and VRDX_IMPLEMENTATION in each file of a pass. The storage is a buffer of
// the engine's, whose usage does not come from the requirements.
#include "clients.h"

#define VRDX_ERROR(text) failed(text)
#define VRDX_IMPLEMENTATION
#include <vk_radix_sort.h>

#ifdef VRDX_IMPLEMENTATION
#error "VRDX_IMPLEMENTATION stays defined"
#endif
static_assert(VRDX_VERSION == 5 << 12 && VRDX_VERSION_MINOR == 5);

SortPass::SortPass(const Vulkan &from) : vulkan(from)
{
    VrdxSorterCreateInfo info = {};
    info.physicalDevice = vulkan.physical;
    info.device = vulkan.device;
    vrdxCreateSorter(&info, &sorter);
}

SortPass::~SortPass()
{
    if (sorter != VK_NULL_HANDLE)
        vrdxDestroySorter(sorter);
}

VkDeviceSize SortPass::storageSize(uint32_t capacity)
{
    VrdxSorterStorageRequirements requirements;
    vrdxGetSorterStorageRequirements(sorter, capacity, VRDX_SORT_MODE_KEY_VALUE, &requirements);
    return requirements.size;
}

void SortPass::record(const Elements &elements, VkBuffer count, const Guarded &storage)
{
    VrdxSortInfo info{};
    info.elementCount = elements.capacity;
    info.elementCountBuffer = count;
    info.elementCountOffset = 0;
    info.keysBuffer = elements.keysBuffer();
    info.keysOffset = elements.keysOffset();
    info.valuesBuffer = elements.valuesBuffer();
    info.valuesOffset = elements.valuesOffset();
    info.storageBuffer = storage.made.buffer;
    info.storageOffset = storage.before;
    info.queryPool = VK_NULL_HANDLE;
    info.query = 0;
    vrdxCmdSort(vulkan.commands, sorter, &info);
}
