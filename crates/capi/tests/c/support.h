/* What the tests in C and C++ share: a device, host-visible buffers, one submission at a time. Vulkan is that of volk.h if it was
 * included before. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define NO_RETURN [[noreturn]]
#else
#define NO_RETURN _Noreturn
#endif

NO_RETURN static inline void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

#define VK(call)                                                                \
    do {                                                                        \
        VkResult result_ = (call);                                              \
        if (result_ != VK_SUCCESS)                                              \
            die("%s gave %d", #call, (int)result_);                             \
    } while (0)
#define SORT(call)                                                              \
    do {                                                                        \
        if ((call) != VKSORT_SUCCESS)                                           \
            die("%s", vksortGetLastErrorText());                                \
    } while (0)

typedef struct {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize alignment;
} Vulkan;

/* A buffer that is mapped for as long as it lives. */
typedef struct {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
} Buffer;

static unsigned validationErrors;

static VKAPI_ATTR VkBool32 VKAPI_CALL onError(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity, (void)types, (void)user;
    if (validationErrors++ == 0)
        fprintf(stderr, "%s\n", data->pMessage);
    return VK_FALSE;
}

/* Creates an instance; the validation layer, synchronization included, checks it where VKSORT_VALIDATE is set. */
static inline void openInstance(Vulkan *vulkan)
{
    bool validate = getenv("VKSORT_VALIDATE") != NULL;
    const char *layer = "VK_LAYER_KHRONOS_validation", *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkDebugUtilsMessengerCreateInfoEXT messages = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = onError,
    };
    VkValidationFeaturesEXT checks = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = &synchronization,
    };
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = validate ? &checks : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1u : 0u,
        .ppEnabledLayerNames = &layer,
        .enabledExtensionCount = validate ? 1u : 0u,
        .ppEnabledExtensionNames = &extension,
    };
#ifdef VOLK_H_
    VK(volkInitialize());
#endif
    VK(vkCreateInstance(&info, NULL, &vulkan->instance));
#ifdef VOLK_H_
    volkLoadInstance(vulkan->instance);
#endif
    if (validate) {
        VkDebugUtilsMessengerEXT messenger;
        PFN_vkCreateDebugUtilsMessengerEXT create =
            (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(vulkan->instance, "vkCreateDebugUtilsMessengerEXT");
        VK(create(vulkan->instance, &messages, NULL, &messenger));
    }
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(vulkan->instance, &count, &vulkan->physical);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0)
        die("no Vulkan device, vkEnumeratePhysicalDevices gave %d", (int)result);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(vulkan->physical, &properties);
    vkGetPhysicalDeviceMemoryProperties(vulkan->physical, &vulkan->memory);
    vulkan->alignment = properties.limits.minStorageBufferOffsetAlignment;
}

/* Creates a device with one queue of the first family, which has compute on every driver that tests run on. */
static inline void openDevice(Vulkan *vulkan, VkDeviceCreateInfo info)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    VK(vkCreateDevice(vulkan->physical, &info, NULL, &vulkan->device));
    vkGetDeviceQueue(vulkan->device, 0, 0, &vulkan->queue);
    VkCommandPoolCreateInfo pools = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    VK(vkCreateCommandPool(vulkan->device, &pools, NULL, &vulkan->pool));
    VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vulkan->pool,
        .commandBufferCount = 1,
    };
    VK(vkAllocateCommandBuffers(vulkan->device, &allocate, &vulkan->commands));
}

/* Destroys the device. The validation layer reports what was not destroyed before. */
static inline void closeDevice(Vulkan *vulkan)
{
    vkDestroyCommandPool(vulkan->device, vulkan->pool, NULL);
    vkDestroyDevice(vulkan->device, NULL);
}

static inline Buffer createBuffer(const Vulkan *vulkan, VkDeviceSize size, VkBufferUsageFlags usage)
{
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    Buffer made;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VK(vkCreateBuffer(vulkan->device, &info, NULL, &made.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(vulkan->device, made.buffer, &needs);
    uint32_t kind = 0;
    while (kind < vulkan->memory.memoryTypeCount && (!(needs.memoryTypeBits >> kind & 1) ||
                                                     (vulkan->memory.memoryTypes[kind].propertyFlags & wanted) != wanted))
        kind++;
    if (kind == vulkan->memory.memoryTypeCount)
        die("no memory fits a buffer of %llu bytes", (unsigned long long)size);
    VkMemoryAllocateFlagsInfo addressed = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT ? (VkFlags)VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0,
    };
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &addressed,
        .allocationSize = needs.size,
        .memoryTypeIndex = kind,
    };
    VK(vkAllocateMemory(vulkan->device, &memory, NULL, &made.memory));
    VK(vkBindBufferMemory(vulkan->device, made.buffer, made.memory, 0));
    void *mapped;
    VK(vkMapMemory(vulkan->device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    made.words = (uint32_t *)mapped;
    return made;
}

static inline void destroyBuffer(const Vulkan *vulkan, Buffer *buffer)
{
    vkDestroyBuffer(vulkan->device, buffer->buffer, NULL);
    vkFreeMemory(vulkan->device, buffer->memory, NULL);
}

static inline void begin(const Vulkan *vulkan)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VK(vkBeginCommandBuffer(vulkan->commands, &info));
}

static inline void barrier(const Vulkan *vulkan, VkPipelineStageFlags fromStages, VkAccessFlags from,
                           VkPipelineStageFlags toStages, VkAccessFlags to)
{
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = from, .dstAccessMask = to};
    vkCmdPipelineBarrier(vulkan->commands, fromStages, toStages, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* Submits what was recorded, and waits for a minute at most. */
static inline void submit(const Vulkan *vulkan)
{
    VkFence fence;
    VkFenceCreateInfo fences = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VK(vkCreateFence(vulkan->device, &fences, NULL, &fence));
    VK(vkEndCommandBuffer(vulkan->commands));
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &vulkan->commands,
    };
    VK(vkQueueSubmit(vulkan->queue, 1, &info, fence));
    VK(vkWaitForFences(vulkan->device, 1, &fence, VK_TRUE, 60000000000u));
    vkDestroyFence(vulkan->device, fence, NULL);
}

/* The last line of a test, which fails when the validation layer has reported anything. */
static inline int finish(unsigned passed)
{
    if (validationErrors > 0)
        die("the validation layer reports %u errors", validationErrors);
    printf("%u cases passed\n", passed);
    return EXIT_SUCCESS;
}

/* A sequence of numbers that follows from a seed: Steele, Lea and Flood's SplitMix64. */
static inline uint32_t randomWord(uint64_t *state)
{
    uint64_t word = *state += 0x9E3779B97F4A7C15u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(word >> 32);
}

/* The seed of VKSORT_SEED, or one of the clock; printed, to have the run repeated. */
static inline uint64_t seed(uint64_t fresh)
{
    const char *given = getenv("VKSORT_SEED");
    uint64_t chosen = given ? strtoull(given, NULL, 10) : fresh;
    printf("VKSORT_SEED=%llu\n", (unsigned long long)chosen);
    return chosen;
}

#endif
