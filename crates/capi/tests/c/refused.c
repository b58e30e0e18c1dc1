/* What a program in C may get wrong is refused by a code and a text, and changes nothing of the caller's. */
#include <stddef.h>

#include <vulkan/vulkan.h>
#include <vksort.h>

#include "support.h"

static void refused(VksortResult result, VksortResult code, const char *part)
{
    if (result != code || !strstr(vksortGetLastErrorText(), part))
        die("%d with \"%s\", expected is %d with \"%s\"", (int)result, vksortGetLastErrorText(), (int)code, part);
}

/* The size of a structure is wrong, or was never set. */
static void sizes(void)
{
    struct {
        VksortCapabilities known;
        unsigned char mine[4096];
    } behind;
    const uint32_t right = sizeof behind.known;
    const uint32_t wrong[] = {0, 1, right - 4, right + 1, right + 32, 4096, 0xCCCCCCCC, UINT32_MAX};
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        memset(&behind, 0xAA, sizeof behind);
        behind.known.structSize = wrong[index];
        refused(vksortGetCapabilities(&behind.known), VKSORT_ERROR_STRUCT, "structSize of VksortCapabilities");
        const unsigned char *bytes = (const unsigned char *)&behind;
        for (size_t at = sizeof(uint32_t); at < sizeof behind; at++)
            if (bytes[at] != 0xAA)
                die("structSize %u: byte %zu was written", wrong[index], at);
    }
}

/* A version of Vulkan that has not what vksort needs, or is none. */
static void versions(void)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    VK(vkCreateInstance(&create, NULL, &instance));
    VkPhysicalDevice physical;
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(instance, &count, &physical) < 0 || count == 0)
        die("there is no device");
    VksortRequirementsInfo info = {
        .structSize = sizeof info,
        .getInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = instance,
        .physicalDevice = physical,
    };
    VksortRequirements requirements = NULL;
    const uint32_t wrong[] = {1, VK_API_VERSION_1_0, VK_API_VERSION_1_1, UINT32_MAX};
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        info.apiVersion = wrong[index];
        refused(vksortCreateRequirements(&info, &requirements), VKSORT_ERROR_VALUE, "apiVersion is ");
        if (requirements)
            die("a handle was written");
    }
    const uint32_t allowed[] = {0, VK_API_VERSION_1_2, VK_MAKE_API_VERSION(0, 1, 4, 300)};
    for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index++) {
        info.apiVersion = allowed[index];
        SORT(vksortCreateRequirements(&info, &requirements));
        SORT(vksortDestroyRequirements(requirements));
    }
    vkDestroyInstance(instance, NULL);
}

int main(void)
{
    sizes();
    versions();
    return 0;
}
