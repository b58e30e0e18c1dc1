/*
 * Keys that are never stored: particles are sorted by what visitors make of their positions within the sort.
 *
 * Usage: visitor [--device INDEX|NAME] [--validate]
 *
 * One file to copy from. It links to vksort and to Vulkan's loader. CMakeLists.txt has the visitors compiled into arrays:
 * distance.glsl, which is the program's own, and one that comes with vksort.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include <vksort.h>

#include "depth.h"
#include "distance.h"

/* Particles of the scene. */
#define COUNT 500000u

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

static void copy(VkCommandBuffer commands, const Buffer *from, const Buffer *to, VkDeviceSize size)
{
    VkBufferCopy region = {.size = size};
    vkCmdCopyBuffer(commands, from->buffer, to->buffer, 1, &region);
}

/* A position and the life that is left. */
typedef struct {
    float x, y, z, life;
} Particle;

static Particle particles[COUNT];
/* What the CPU makes of them. */
static float keys[COUNT];
static uint32_t expected[COUNT];

/* One kind of sort by a visitor. */
typedef struct {
    const char *name;
    VksortSortRequest request;
    const void *code;
    size_t codeSize;
    const void *push;
    uint32_t pushSize;
} Visited;

/* Greatest key first; of equals, the first of the input. */
static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (keys[a] != keys[b])
        return keys[a] > keys[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Sorts the numbers of the particles by the keys of a visitor, which reads the particles at binding 0 of its set. */
static void run(const Vulkan *vulkan, const Visited *visited)
{
    VkDevice device = vulkan->device;

    /* Once: the layout of the visitor's resources, the sorter, its buffers, and the sort that ties them. */
    VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
    };
    VkDescriptorSetLayoutCreateInfo layoutInfo = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    VkDescriptorSetLayout layout;
    VK(vkCreateDescriptorSetLayout(device, &layoutInfo, NULL, &layout));
    VksortSorterInfo sorterInfo = {
        .structSize = sizeof sorterInfo,
        .device = device,
        .requirements = vulkan->requirements,
        .request = &visited->request,
    };
    VksortVisitorInfo visitorInfo = {
        .structSize = sizeof visitorInfo,
        .code = visited->code,
        .codeSize = visited->codeSize,
        .setLayout = layout,
    };
    VksortSorter sorter;
    SORT(vksortCreateVisitedSorter(&sorterInfo, &visitorInfo, &sorter));
    /* No range holds keys, as the visitor makes them. */
    VksortBufferRequirements needs = {.structSize = sizeof needs};
    SORT(vksortGetBufferRequirements(sorter, COUNT, &needs));
    VkBufferUsageFlags copies = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    Buffer source = createBuffer(vulkan, sizeof particles, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | copies, local);
    Buffer order = createBuffer(vulkan, needs.valuesOut.size, needs.valuesOut.usage | copies, local);
    Buffer scratch = createBuffer(vulkan, needs.scratch.size, needs.scratch.usage, local);
    Buffer host = createBuffer(vulkan, source.size, copies,
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    VksortBuffers buffers = {
        .structSize = sizeof buffers,
        .capacity = COUNT,
        .valuesOut = whole(&order),
        .scratch = whole(&scratch),
    };
    VksortSort sort;
    SORT(vksortBind(sorter, &buffers, &sort));

    VkDescriptorPoolSize poolSize = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1};
    VkDescriptorPoolCreateInfo setsInfo = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &poolSize,
    };
    VkDescriptorPool sets;
    VK(vkCreateDescriptorPool(device, &setsInfo, NULL, &sets));
    VkDescriptorSetAllocateInfo setInfo = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = sets,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    VkDescriptorSet set;
    VK(vkAllocateDescriptorSets(device, &setInfo, &set));
    VkDescriptorBufferInfo bufferInfo = {.buffer = source.buffer, .range = VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &bufferInfo,
    };
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    VksortVisitorResources resources = {
        .structSize = sizeof resources,
        .pushSize = visited->pushSize,
        .push = visited->push,
        .set = set,
    };

    void *mapped;
    VK(vkMapMemory(device, host.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memcpy(mapped, particles, sizeof particles);
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

    /* Each frame: a pass that writes particles, here an upload; the sort; a pass after it, here a copy back; barriers between
       them. The visitor reads where the sort would read keys, so the barrier is the same. */
    VkAccessFlags transfers = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VK(vkBeginCommandBuffer(commands, &begin));
    copy(commands, &host, &source, source.size);
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, transfers, VKSORT_INPUT_STAGES, VKSORT_INPUT_ACCESS);
    SORT(vksortCmdSortVisited(commands, sort, COUNT, NULL, &resources));
    barrier(commands, VKSORT_OUTPUT_STAGES, VKSORT_OUTPUT_ACCESS, VK_PIPELINE_STAGE_TRANSFER_BIT, transfers);
    copy(commands, &order, &host, order.size);
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

    const uint32_t *found = mapped;
    for (uint32_t i = 0; i < COUNT; i++)
        expected[i] = i;
    qsort(expected, COUNT, sizeof *expected, compare);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (found[i] != expected[i])
            die("by %s, index %u is %u, a stable sort on the CPU gives %u", visited->name, (unsigned)i,
                (unsigned)found[i], (unsigned)expected[i]);
    }
    printf("verified   %u indices by %s equal those of a stable sort on the CPU\n", COUNT, visited->name);

    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDescriptorPool(device, sets, NULL);
    SORT(vksortDestroySort(sort));
    SORT(vksortDestroySorter(sorter));
    vkDestroyDescriptorSetLayout(device, layout, NULL);
    destroyBuffer(vulkan, &source);
    destroyBuffer(vulkan, &order);
    destroyBuffer(vulkan, &scratch);
    destroyBuffer(vulkan, &host);
}

/* By the depth in 24 bits: three passes, by a visitor that comes with vksort. */
static void sortByDepth(const Vulkan *vulkan)
{
    /* Numbers of which all products and sums are exact, so that the CPU's keys have the same bits. */
    VksortDepthInfo depth = {
        .structSize = sizeof depth,
        .keys = VKSORT_DEPTH_BITS24,
        .row = {2, 1, 1, 0},
        .nearDepth = 0,
        .farDepth = 4096,
        .stride = sizeof(Particle) / sizeof(float),
    };
    VksortDepthPush push;
    SORT(vksortGetDepthPush(&depth, &push));
    Visited visited = {
        .name = "depth",
        .request = {.structSize = sizeof visited.request},
        .code = depth_visitor,
        .codeSize = sizeof depth_visitor,
        .push = &push,
        .pushSize = sizeof push,
    };
    SORT(vksortGetDepthRequest(depth.keys, &visited.request));
    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = (float)(uint32_t)((2 * particles[i].x + particles[i].y + particles[i].z) / 4096 * 16777215.0f);
    run(vulkan, &visited);
}

/* By the squared distance from an eye, by distance.glsl. */
static void sortByDistance(const Vulkan *vulkan)
{
    const float eye[4] = {500, 600, 100, 0};
    Visited visited = {
        .name = "distance",
        .request = {
            .structSize = sizeof visited.request,
            .key = VKSORT_KEY_F32,
            .value = VKSORT_VALUE_INDEX,
            .order = VKSORT_ORDER_DESCENDING,
            .placement = VKSORT_PLACEMENT_OUT_OF_PLACE,
            .keyOutput = VKSORT_KEY_OUTPUT_DISCARDED,
        },
        .code = distance_visitor,
        .codeSize = sizeof distance_visitor,
        .push = eye,
        .pushSize = sizeof eye,
    };
    for (uint32_t i = 0; i < COUNT; i++) {
        float x = particles[i].x - eye[0], y = particles[i].y - eye[1], z = particles[i].z - eye[2];
        keys[i] = particles[i].life > 0 ? x * x + y * y + z * z : -1;
    }
    run(vulkan, &visited);
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
            puts("Usage: visitor [--device INDEX|NAME] [--validate]");
            return EXIT_SUCCESS;
        } else {
            die("unknown argument %s, allowed are --device INDEX|NAME, --validate and --help", argv[i]);
        }
    }
    SORT(vksortSetLogCallback(VKSORT_LOG_WARNING, onMessage, NULL));
    Vulkan vulkan = openVulkan(wanted, validate);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t bits = i * 0x9E3779B9u;
        Particle particle = {(float)(bits >> 22), (float)(bits >> 12 & 1023), (float)(bits >> 2 & 1023), (float)(i % 16)};
        particles[i] = particle;
    }
    sortByDepth(&vulkan);
    sortByDistance(&vulkan);
    closeVulkan(&vulkan);
    if (validationErrors > 0)
        die("the validation layer reports %u errors", validationErrors);
    return EXIT_SUCCESS;
}
