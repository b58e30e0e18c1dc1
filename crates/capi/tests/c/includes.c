/* The headers before volk.h, as VK_NO_PROTOTYPES allows; signatures.cpp has volk.h first. VRDX_IMPLEMENTATION takes volk's
 * pointers, because volk.h is there by then. */
#define VK_NO_PROTOTYPES
#include <vksort.h>
#include <vksort_vrdx.h>
#include <volk.h>
#define VRDX_IMPLEMENTATION
#include <vksort_vrdx.h>

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
