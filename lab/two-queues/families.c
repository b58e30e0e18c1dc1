/* What names a queue family, as the driver takes it: it has the first family only. */
#include "two-queues.h"

/* The driver's index. A transfer of ownership has one index twice then, and is an ordinary barrier. The layout of an image
 * changes at the release and again at the acquisition, which is nothing to drivers that run on the host. */
uint32_t family(uint32_t index)
{
    return index == 1 ? 0 : index;
}

#define TRANSLATED(type, name) \
    static type *name(const type *given, uint32_t count) \
    { \
        type *barriers = copy(given, count * sizeof *barriers); \
        for (uint32_t i = 0; i < count; i++) { \
            barriers[i].srcQueueFamilyIndex = family(barriers[i].srcQueueFamilyIndex); \
            barriers[i].dstQueueFamilyIndex = family(barriers[i].dstQueueFamilyIndex); \
        } \
        return barriers; \
    }
TRANSLATED(VkBufferMemoryBarrier, of_buffers)
TRANSLATED(VkImageMemoryBarrier, of_images)
TRANSLATED(VkBufferMemoryBarrier2, of_buffers2)
TRANSLATED(VkImageMemoryBarrier2, of_images2)

void two_CmdPipelineBarrier(
    VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags,
    uint32_t count, const VkMemoryBarrier *barriers, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
    uint32_t image_count, const VkImageMemoryBarrier *images)
{
    struct device *device = find(commands);
    VkBufferMemoryBarrier *own = of_buffers(buffers, buffer_count);
    VkImageMemoryBarrier *own_images = of_images(images, image_count);
    device->CmdPipelineBarrier(commands, from, to, flags, count, barriers, buffer_count, own, image_count, own_images);
    free(own);
    free(own_images);
}

void two_CmdWaitEvents(
    VkCommandBuffer commands, uint32_t event_count, const VkEvent *events, VkPipelineStageFlags from, VkPipelineStageFlags to,
    uint32_t count, const VkMemoryBarrier *barriers, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
    uint32_t image_count, const VkImageMemoryBarrier *images)
{
    struct device *device = find(commands);
    VkBufferMemoryBarrier *own = of_buffers(buffers, buffer_count);
    VkImageMemoryBarrier *own_images = of_images(images, image_count);
    device->CmdWaitEvents(
        commands, event_count, events, from, to, count, barriers, buffer_count, own, image_count, own_images);
    free(own);
    free(own_images);
}

static VkDependencyInfo *dependencies(const VkDependencyInfo *given, uint32_t count)
{
    VkDependencyInfo *infos = copy(given, count * sizeof *infos);
    for (uint32_t i = 0; i < count; i++) {
        infos[i].pBufferMemoryBarriers = of_buffers2(infos[i].pBufferMemoryBarriers, infos[i].bufferMemoryBarrierCount);
        infos[i].pImageMemoryBarriers = of_images2(infos[i].pImageMemoryBarriers, infos[i].imageMemoryBarrierCount);
    }
    return infos;
}

static void drop(VkDependencyInfo *infos, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free((void *)infos[i].pBufferMemoryBarriers);
        free((void *)infos[i].pImageMemoryBarriers);
    }
    free(infos);
}

void two_CmdPipelineBarrier2(VkCommandBuffer commands, const VkDependencyInfo *given)
{
    VkDependencyInfo *own = dependencies(given, 1);
    ((struct device *)find(commands))->CmdPipelineBarrier2(commands, own);
    drop(own, 1);
}

void two_CmdSetEvent2(VkCommandBuffer commands, VkEvent event, const VkDependencyInfo *given)
{
    VkDependencyInfo *own = dependencies(given, 1);
    ((struct device *)find(commands))->CmdSetEvent2(commands, event, own);
    drop(own, 1);
}

void two_CmdWaitEvents2(
    VkCommandBuffer commands, uint32_t count, const VkEvent *events, const VkDependencyInfo *given)
{
    VkDependencyInfo *own = dependencies(given, count);
    ((struct device *)find(commands))->CmdWaitEvents2(commands, count, events, own);
    drop(own, count);
}

VkResult two_CreateCommandPool(
    VkDevice handle, const VkCommandPoolCreateInfo *given, const VkAllocationCallbacks *allocator, VkCommandPool *pool)
{
    struct device *device = find(handle);
    VkCommandPoolCreateInfo info = *given;
    info.queueFamilyIndex = family(info.queueFamilyIndex);
    return device->CreateCommandPool(handle, &info, allocator, pool);
}

/* For the driver no family shares with another one. */
#define ALONE(type, name) \
    static type name(const type *given) \
    { \
        type info = *given; \
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE; \
        info.queueFamilyIndexCount = 0; \
        info.pQueueFamilyIndices = NULL; \
        return info; \
    }
ALONE(VkBufferCreateInfo, alone)
ALONE(VkImageCreateInfo, image_alone)

VkResult two_CreateBuffer(
    VkDevice handle, const VkBufferCreateInfo *given, const VkAllocationCallbacks *allocator, VkBuffer *buffer)
{
    VkBufferCreateInfo info = alone(given);
    return ((struct device *)find(handle))->CreateBuffer(handle, &info, allocator, buffer);
}

VkResult two_CreateImage(
    VkDevice handle, const VkImageCreateInfo *given, const VkAllocationCallbacks *allocator, VkImage *image)
{
    VkImageCreateInfo info = image_alone(given);
    return ((struct device *)find(handle))->CreateImage(handle, &info, allocator, image);
}

void two_GetDeviceBufferMemoryRequirements(
    VkDevice handle, const VkDeviceBufferMemoryRequirements *given, VkMemoryRequirements2 *needs)
{
    VkBufferCreateInfo info = alone(given->pCreateInfo);
    VkDeviceBufferMemoryRequirements own = *given;
    own.pCreateInfo = &info;
    ((struct device *)find(handle))->GetDeviceBufferMemoryRequirements(handle, &own, needs);
}

void two_GetDeviceImageMemoryRequirements(
    VkDevice handle, const VkDeviceImageMemoryRequirements *given, VkMemoryRequirements2 *needs)
{
    VkImageCreateInfo info = image_alone(given->pCreateInfo);
    VkDeviceImageMemoryRequirements own = *given;
    own.pCreateInfo = &info;
    ((struct device *)find(handle))->GetDeviceImageMemoryRequirements(handle, &own, needs);
}

void two_GetDeviceImageSparseMemoryRequirements(
    VkDevice handle, const VkDeviceImageMemoryRequirements *given, uint32_t *count, VkSparseImageMemoryRequirements2 *needs)
{
    VkImageCreateInfo info = image_alone(given->pCreateInfo);
    VkDeviceImageMemoryRequirements own = *given;
    own.pCreateInfo = &info;
    ((struct device *)find(handle))->GetDeviceImageSparseMemoryRequirements(handle, &own, count, needs);
}
