/* vksort.h before volk.h, as VK_NO_PROTOTYPES allows; signatures.cpp has volk.h first. */
#define VK_NO_PROTOTYPES
#include <vksort.h>
#include <volk.h>

VksortResult createRequirements(VkInstance instance, VkPhysicalDevice physicalDevice, VksortRequirements *requirements)
{
    VksortRequirementsInfo info = {
        .structSize = sizeof info,
        .getInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = instance,
        .physicalDevice = physicalDevice,
    };
    return vksortCreateRequirements(&info, requirements);
}
