/*
 * Structures that are sorted by two of their fields: draws of a renderer by material, and by depth within a material.
 *
 * Usage: records [--device INDEX|NAME] [--validate]
 *
 * One file to copy from. It links to vksort and to Vulkan's loader.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include <vksort.h>

#define COUNT 100000u

/* A draw, as the device has it. Fields may be anywhere; only the size is a multiple of 4 bytes. */
typedef struct {
    float depth;
    uint16_t material;
    uint16_t flags;
    float place[3];
    uint32_t mesh;
} Draw;

/* Ends the program with one line. */
static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

/* Ends the program when a call of Vulkan or of vksort fails. */
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

/* Takes messages of vksort, here those from warnings on. */
static void onMessage(VksortLogLevel level, const char *text, void *user)
{
    (void)user;
    fprintf(stderr, "%s: %s\n", level == VKSORT_LOG_ERROR ? "error" : "warning", text);
}

/* The program's own instance and device, created with what vksort requires. */
typedef struct {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t family;
    VksortRequirements requirements;
} Vulkan;

/* A buffer with memory of its own. */
typedef struct {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkBufferUsageFlags usage;
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

static VkInstance createInstance(bool validate, VkDebugUtilsMessengerEXT *messenger)
{
    VksortInstanceRequirements needed = {.structSize = sizeof needed};
    SORT(vksortGetInstanceRequirements(vkGetInstanceProcAddr, &needed));

    const char *extensions[8];
    uint32_t extensionCount = 0;
    for (uint32_t i = 0; i < needed.extensionCount; i++)
        extensions[extensionCount++] = needed.extensions[i];
    if (validate)
        extensions[extensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const char *layer = "VK_LAYER_KHRONOS_validation";
    VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT checks = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = &synchronization,
    };
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = needed.apiVersion,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = validate ? &checks : NULL,
        .flags = needed.flags,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1 : 0,
        .ppEnabledLayerNames = &layer,
        .enabledExtensionCount = extensionCount,
        .ppEnabledExtensionNames = extensions,
    };
    VkInstance instance;
    VK(vkCreateInstance(&info, NULL, &instance));
    if (validate) {
        VkDebugUtilsMessengerCreateInfoEXT messages = {
            .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
            .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
            .pfnUserCallback = onError,
        };
        PFN_vkCreateDebugUtilsMessengerEXT create =
            (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT");
        VK(create(instance, &messages, NULL, messenger));
    }
    return instance;
}

/* The physical device of that index or with that text in its name; the first one without a wish. */
static VkPhysicalDevice choose(VkInstance instance, const char *wanted)
{
    uint32_t count = 16;
    VkPhysicalDevice devices[16];
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        die("vkEnumeratePhysicalDevices gave %d", (int)result);
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        char index[16];
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        snprintf(index, sizeof index, "%u", (unsigned)i);
        if (!wanted || strcmp(wanted, index) == 0 || strstr(properties.deviceName, wanted)) {
            printf("device     %s\n", properties.deviceName);
            return devices[i];
        }
    }
    die("no Vulkan device is \"%s\", there are %u", wanted ? wanted : "any", (unsigned)count);
    return VK_NULL_HANDLE;
}

static Vulkan openVulkan(const char *wanted, bool validate)
{
    Vulkan vulkan = {0};
    vulkan.instance = createInstance(validate, &vulkan.messenger);
    vulkan.physical = choose(vulkan.instance, wanted);
    vkGetPhysicalDeviceMemoryProperties(vulkan.physical, &vulkan.memory);

    VkQueueFamilyProperties families[16];
    uint32_t familyCount = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(vulkan.physical, &familyCount, families);
    while (vulkan.family < familyCount && !(families[vulkan.family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        vulkan.family++;
    if (vulkan.family == familyCount)
        die("the device has no compute queue among %u families", (unsigned)familyCount);

    VksortRequirementsInfo info = {
        .structSize = sizeof info,
        .getInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = vulkan.instance,
        .physicalDevice = vulkan.physical,
    };
    SORT(vksortCreateRequirements(&info, &vulkan.requirements));
    VksortDeviceRequirements needed = {.structSize = sizeof needed};
    SORT(vksortGetDeviceRequirements(vulkan.requirements, &needed));
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = vulkan.family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    /* A renderer with features of its own adds these to them: vksortAddDeviceFeatures. */
    VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = needed.features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = needed.extensionCount,
        .ppEnabledExtensionNames = needed.extensions,
    };
    VK(vkCreateDevice(vulkan.physical, &device, NULL, &vulkan.device));
    SORT(vksortCheckDevice(vulkan.requirements, &device));
    vkGetDeviceQueue(vulkan.device, vulkan.family, 0, &vulkan.queue);
    return vulkan;
}

static void closeVulkan(Vulkan *vulkan)
{
    SORT(vksortDestroyRequirements(vulkan->requirements));
    vkDestroyDevice(vulkan->device, NULL);
    if (vulkan->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            vulkan->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(vulkan->instance, vulkan->messenger, NULL);
    }
    vkDestroyInstance(vulkan->instance, NULL);
}

static Buffer createBuffer(const Vulkan *vulkan, VkDeviceSize size, VkBufferUsageFlags usage, VkMemoryPropertyFlags wanted)
{
    Buffer made = {.size = size, .usage = usage};
    /* Few elements need no scratch, and Vulkan has no buffers of 0 bytes. */
    if (size == 0)
        return made;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VK(vkCreateBuffer(vulkan->device, &info, NULL, &made.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(vulkan->device, made.buffer, &needs);
    for (uint32_t kind = 0; kind < vulkan->memory.memoryTypeCount; kind++) {
        VkMemoryPropertyFlags flags = vulkan->memory.memoryTypes[kind].propertyFlags;
        if (!(needs.memoryTypeBits >> kind & 1) || (flags & wanted) != wanted)
            continue;
        /* Kernels use addresses where descriptors do not suffice. */
        VkMemoryAllocateFlagsInfo addressed = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
            .flags = usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0,
        };
        VkMemoryAllocateInfo memory = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
            .pNext = &addressed,
            .allocationSize = needs.size,
            .memoryTypeIndex = kind,
        };
        VK(vkAllocateMemory(vulkan->device, &memory, NULL, &made.memory));
        VK(vkBindBufferMemory(vulkan->device, made.buffer, made.memory, 0));
        return made;
    }
    die("no memory fits a buffer of %llu bytes", (unsigned long long)size);
    return made;
}

static void destroyBuffer(const Vulkan *vulkan, Buffer *buffer)
{
    vkDestroyBuffer(vulkan->device, buffer->buffer, NULL);
    vkFreeMemory(vulkan->device, buffer->memory, NULL);
}

/* The whole buffer as vksort takes it; with its usage, flags that are missing are found when the sort is bound. */
static VksortBufferRange whole(const Buffer *buffer)
{
    VksortBufferRange range = {.buffer = buffer->buffer, .size = buffer->size, .usage = buffer->usage};
    return range;
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags fromStages, VkAccessFlags from,
                    VkPipelineStageFlags toStages, VkAccessFlags to)
{
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = from, .dstAccessMask = to};
    vkCmdPipelineBarrier(commands, fromStages, toStages, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* Copies the first buffer. */
static void copy(VkCommandBuffer commands, const Buffer *from, const Buffer *to)
{
    VkBufferCopy region = {.size = from->size};
    vkCmdCopyBuffer(commands, from->buffer, to->buffer, 1, &region);
}

static Draw draws[COUNT];

/* Draws of which many have the same material, and some the same depth too. A renderer's pass writes them on the device. */
static void makeDraws(void)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t mixed = i * 0x9E3779B9u;
        draws[i].depth = (float)(mixed >> 18) / 1e2f;
        draws[i].material = (uint16_t)(mixed % 61);
        draws[i].flags = 1;
        draws[i].place[0] = draws[i].depth;
        draws[i].mesh = i;
    }
}

/* By material, and within a material the farthest first; of equals, the first of the input, whose mesh is lower. */
static int compare(const void *left, const void *right)
{
    const Draw *a = left, *b = right;
    if (a->material != b->material)
        return a->material < b->material ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth > b->depth ? -1 : 1;
    return a->mesh < b->mesh ? -1 : a->mesh > b->mesh;
}

/* Sorts the draws, each of which is moved once. */
static void run(const Vulkan *vulkan)
{
    VkDevice device = vulkan->device;
    makeDraws();

    /* Once: the sorter, its buffers, and the sort that ties them. The first field decides first. */
    VksortKeyField fields[] = {
        {.offset = offsetof(Draw, material), .key = VKSORT_KEY_U16},
        {.offset = offsetof(Draw, depth), .key = VKSORT_KEY_F32, .order = VKSORT_ORDER_DESCENDING},
    };
    VksortRecordRequest request = {
        .structSize = sizeof request,
        .stride = sizeof(Draw),
        .fieldCount = sizeof fields / sizeof *fields,
        .fields = fields,
    };
    VksortSorterInfo sorterInfo = {
        .structSize = sizeof sorterInfo,
        .device = device,
        .requirements = vulkan->requirements,
        .records = &request,
    };
    VksortSorter sorter;
    SORT(vksortCreateSorter(&sorterInfo, &sorter));
    VksortBufferRequirements needs = {.structSize = sizeof needs};
    SORT(vksortGetBufferRequirements(sorter, COUNT, &needs));
    VkBufferUsageFlags copies = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    /* The records take the place of keys. */
    Buffer records = createBuffer(vulkan, needs.keys.size, needs.keys.usage | copies, local);
    Buffer scratch = createBuffer(vulkan, needs.scratch.size, needs.scratch.usage, local);
    Buffer host = createBuffer(vulkan, sizeof draws, copies,
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    VksortBuffers buffers = {
        .structSize = sizeof buffers,
        .capacity = COUNT,
        .keys = whole(&records),
        .scratch = whole(&scratch),
    };
    VksortSort sort;
    SORT(vksortBind(sorter, &buffers, &sort));

    void *mapped;
    VK(vkMapMemory(device, host.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memcpy(mapped, draws, sizeof draws);
    VkCommandPoolCreateInfo commandInfo = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = vulkan->family,
    };
    VkCommandPool pool;
    VK(vkCreateCommandPool(device, &commandInfo, NULL, &pool));
    VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands;
    VK(vkAllocateCommandBuffers(device, &allocate, &commands));

    /* Each frame: a pass that writes the draws, here an upload; the sort; a pass after, here a copy back; barriers between. */
    VkAccessFlags transfers = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VK(vkBeginCommandBuffer(commands, &begin));
    copy(commands, &host, &records);
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, transfers, VKSORT_INPUT_STAGES, VKSORT_INPUT_ACCESS);
    SORT(vksortCmdSort(commands, sort, COUNT, NULL));
    barrier(commands, VKSORT_OUTPUT_STAGES, VKSORT_OUTPUT_ACCESS, VK_PIPELINE_STAGE_TRANSFER_BIT, transfers);
    copy(commands, &records, &host);
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_HOST_READ_BIT);
    VK(vkEndCommandBuffer(commands));
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    VK(vkQueueSubmit(vulkan->queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(vulkan->queue));

    const Draw *output = mapped;
    qsort(draws, COUNT, sizeof *draws, compare);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (memcmp(&output[i], &draws[i], sizeof *draws) != 0)
            die("draw %u has mesh %u, a stable sort on the CPU gives mesh %u", (unsigned)i, (unsigned)output[i].mesh,
                (unsigned)draws[i].mesh);
    }
    printf("verified   %u draws equal those of a stable sort on the CPU\n", COUNT);

    vkDestroyCommandPool(device, pool, NULL);
    SORT(vksortDestroySort(sort));
    SORT(vksortDestroySorter(sorter));
    destroyBuffer(vulkan, &records);
    destroyBuffer(vulkan, &scratch);
    destroyBuffer(vulkan, &host);
}

int main(int argc, char **argv)
{
    const char *wanted = NULL;
    bool validate = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            wanted = argv[++i];
        } else if (strcmp(argv[i], "--validate") == 0) {
            validate = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            puts("Usage: records [--device INDEX|NAME] [--validate]");
            return EXIT_SUCCESS;
        } else {
            die("unknown argument %s, allowed are --device INDEX|NAME, --validate and --help", argv[i]);
        }
    }
    SORT(vksortSetLogCallback(VKSORT_LOG_WARNING, onMessage, NULL));
    Vulkan vulkan = openVulkan(wanted, validate);
    run(&vulkan);
    closeVulkan(&vulkan);
    if (validationErrors > 0)
        die("the validation layer reports %u errors", validationErrors);
    return EXIT_SUCCESS;
}
