/* A Vulkan layer that gives a device of one queue a second queue family, for compute and transfers.
 *
 *   VK_INSTANCE_LAYERS=VK_LAYER_VKSORT_two_queues VK_LAYER_PATH=(folder of VkLayer_two_queues.json) program
 *
 * Both queues of the program are the driver's one (submissions.c), and both families too (families.c). A device with more than
 * one queue stays as it is.
 *
 * Each function that takes a queue, or the index of a family, is the layer's, or is not there. Binary semaphores, sparse memory
 * and windows are not supported: what they need fails with a line on stderr. */
#include "two-queues.h"

static pthread_mutex_t owners_lock = PTHREAD_MUTEX_INITIALIZER;
static struct owner *owners;

static void add(struct owner *owner, void *handle)
{
    pthread_mutex_lock(&owners_lock);
    owner->dispatch = *(void **)handle;
    owner->next = owners;
    owners = owner;
    pthread_mutex_unlock(&owners_lock);
}

void *find(void *handle)
{
    pthread_mutex_lock(&owners_lock);
    struct owner *owner = owners;
    while (owner && owner->dispatch != *(void **)handle)
        owner = owner->next;
    pthread_mutex_unlock(&owners_lock);
    return owner;
}

static void forget(struct owner *owner)
{
    pthread_mutex_lock(&owners_lock);
    struct owner **at = &owners;
    while (*at != owner)
        at = &(*at)->next;
    *at = owner->next;
    pthread_mutex_unlock(&owners_lock);
}

VkResult refuse(const char *what)
{
    fprintf(stderr, "two-queues: %s\n", what);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

void *copy(const void *from, size_t bytes)
{
    void *to = calloc(1, bytes + 1);
    if (!to) {
        fputs("two-queues: no memory\n", stderr);
        abort();
    }
    return from && bytes ? memcpy(to, from, bytes) : to;
}

/* ---- handles of queues ---- */
void two_GetDeviceQueue(VkDevice handle, uint32_t index, uint32_t queue_index, VkQueue *queue)
{
    struct device *device = find(handle);
    if (index == 1)
        *queue = (VkQueue)&device->queues[1];
    else
        device->GetDeviceQueue(handle, index, queue_index, queue);
}

void two_GetDeviceQueue2(VkDevice handle, const VkDeviceQueueInfo2 *info, VkQueue *queue)
{
    struct device *device = find(handle);
    if (info->queueFamilyIndex == 1)
        *queue = (VkQueue)&device->queues[1];
    else
        device->GetDeviceQueue2(handle, info, queue);
}

static bool is_second(struct device *device, uint64_t handle)
{
    return device->real && handle == (uintptr_t)&device->queues[1];
}

VkResult two_SetPrivateData(
    VkDevice handle, VkObjectType type, uint64_t object, VkPrivateDataSlot slot, uint64_t data)
{
    struct device *device = find(handle);
    if (is_second(device, object))
        return refuse("the second queue has no private data");
    return device->SetPrivateData(handle, type, object, slot, data);
}

void two_GetPrivateData(
    VkDevice handle, VkObjectType type, uint64_t object, VkPrivateDataSlot slot, uint64_t *data)
{
    struct device *device = find(handle);
    *data = 0;
    if (!is_second(device, object))
        device->GetPrivateData(handle, type, object, slot, data);
}

VkResult two_SetDebugUtilsObjectNameEXT(VkDevice handle, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct device *device = find(handle);
    return is_second(device, info->objectHandle) ? VK_SUCCESS : device->SetDebugUtilsObjectNameEXT(handle, info);
}

VkResult two_SetDebugUtilsObjectTagEXT(VkDevice handle, const VkDebugUtilsObjectTagInfoEXT *info)
{
    struct device *device = find(handle);
    return is_second(device, info->objectHandle) ? VK_SUCCESS : device->SetDebugUtilsObjectTagEXT(handle, info);
}

/* Labels would be in no order with the submissions of the layer's queues, so the driver gets none for these. */
void two_QueueBeginDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
    struct device *device = find(queue);
    if (!device->real)
        device->QueueBeginDebugUtilsLabelEXT(queue, label);
}

void two_QueueEndDebugUtilsLabelEXT(VkQueue queue)
{
    struct device *device = find(queue);
    if (!device->real)
        device->QueueEndDebugUtilsLabelEXT(queue);
}

void two_QueueInsertDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
    struct device *device = find(queue);
    if (!device->real)
        device->QueueInsertDebugUtilsLabelEXT(queue, label);
}

/* ---- instances and devices ---- */
/* Whether a device has one queue, and so gets a second one. */
static bool is_one(struct instance *instance, VkPhysicalDevice physical)
{
    VkQueueFamilyProperties only;
    uint32_t count = 0;
    instance->GetPhysicalDeviceQueueFamilyProperties(physical, &count, NULL);
    if (count != 1)
        return false;
    instance->GetPhysicalDeviceQueueFamilyProperties(physical, &count, &only);
    return only.queueCount == 1 && only.queueFlags & VK_QUEUE_COMPUTE_BIT;
}

/* The driver describes its family twice: what a program asks about each one may be a chain. */
#define PROPERTIES(name, type, properties) \
    void two_##name(VkPhysicalDevice physical, uint32_t *count, type *families) \
    { \
        struct instance *instance = find(physical); \
        if (!is_one(instance, physical)) { \
            instance->name(physical, count, families); \
            return; \
        } \
        *count = families && *count < 2 ? *count : 2; \
        for (uint32_t i = 0; families && i < *count; i++) { \
            uint32_t single = 1; \
            instance->name(physical, &single, &families[i]); \
            families[i].properties &= i ? VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT : ~VK_QUEUE_SPARSE_BINDING_BIT; \
        } \
    }
PROPERTIES(GetPhysicalDeviceQueueFamilyProperties, VkQueueFamilyProperties, queueFlags)
PROPERTIES(GetPhysicalDeviceQueueFamilyProperties2, VkQueueFamilyProperties2, queueFamilyProperties.queueFlags)

/* Whether a name is that of a function: the core's, or that of the extension which it comes from. */
static bool names(const char *given, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(given, name, length) &&
           (!given[length] || !strcmp(given + length, "KHR") || !strcmp(given + length, "EXT"));
}

static PFN_vkVoidFunction of_device(struct device *device, const char *name, const char *suffix)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", name, suffix);
    return device->proc(device->handle, text);
}

static PFN_vkVoidFunction of_instance(struct instance *instance, const char *name, const char *suffix)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", name, suffix);
    return instance->proc(instance->handle, text);
}

#define LOAD_OF(of, owner, name) \
    if (!((owner)->name = (PFN_vk##name)of(owner, "vk" #name, ""))) \
        if (!((owner)->name = (PFN_vk##name)of(owner, "vk" #name, "KHR"))) \
            (owner)->name = (PFN_vk##name)of(owner, "vk" #name, "EXT");

VkResult two_CreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *handle)
{
    VkLayerInstanceCreateInfo *link = (void *)info->pNext;
    while (link && (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO))
        link = (void *)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    /* Windows need binary semaphores. Without this extension nothing of a surface can be called. */
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (!strcmp(info->ppEnabledExtensionNames[i], VK_KHR_SURFACE_EXTENSION_NAME)) {
            refuse("windows are not supported");
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        }
    PFN_vkGetInstanceProcAddr proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = ((PFN_vkCreateInstance)proc(NULL, "vkCreateInstance"))(info, allocator, handle);
    if (result)
        return result;
    struct instance *instance = copy(NULL, sizeof *instance);
    instance->handle = *handle;
    instance->proc = proc;
#define LOAD(name) LOAD_OF(of_instance, instance, name)
    INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    add(&instance->owner, *handle);
    return VK_SUCCESS;
}

void two_DestroyInstance(VkInstance handle, const VkAllocationCallbacks *allocator)
{
    if (!handle)
        return;
    struct instance *instance = find(handle);
    forget(&instance->owner);
    instance->DestroyInstance(handle, allocator);
    free(instance);
}

VkResult two_CreateDevice(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *given, const VkAllocationCallbacks *allocator, VkDevice *handle)
{
    struct instance *instance = find(physical);
    VkLayerDeviceLink *link = NULL;
    PFN_vkSetDeviceLoaderData set_dispatch = NULL;
    for (VkLayerDeviceCreateInfo *info = (void *)given->pNext; info; info = (void *)info->pNext) {
        if (info->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO)
            continue;
        if (info->function == VK_LOADER_DATA_CALLBACK)
            set_dispatch = info->u.pfnSetDeviceLoaderData;
        if (info->function == VK_LAYER_LINK_INFO) {
            link = info->u.pLayerInfo;
            info->u.pLayerInfo = link->pNext;
        }
    }
    if (!link || !set_dispatch)
        return VK_ERROR_INITIALIZATION_FAILED;
    /* The driver's queue is there for the second family alone too. */
    VkDeviceCreateInfo info = *given;
    bool one = is_one(instance, physical), has_first = false;
    for (uint32_t i = 0; i < info.queueCreateInfoCount; i++)
        has_first |= given->pQueueCreateInfos[i].queueFamilyIndex == 0;
    VkDeviceQueueCreateInfo *queues = copy(info.pQueueCreateInfos, info.queueCreateInfoCount * sizeof *queues);
    info.queueCreateInfoCount = 0;
    for (uint32_t i = 0; i < given->queueCreateInfoCount; i++) {
        if (one && has_first && queues[i].queueFamilyIndex == 1)
            continue;
        queues[info.queueCreateInfoCount] = queues[i];
        if (one)
            queues[info.queueCreateInfoCount].queueFamilyIndex = family(queues[i].queueFamilyIndex);
        info.queueCreateInfoCount++;
    }
    info.pQueueCreateInfos = queues;
    VkResult result = instance->CreateDevice(physical, &info, allocator, handle);
    free(queues);
    if (result)
        return result;

    struct device *device = copy(NULL, sizeof *device);
    device->handle = *handle;
    device->proc = link->pfnNextGetDeviceProcAddr;
#define LOAD(name) LOAD_OF(of_device, device, name)
    DEVICE_FUNCTIONS(LOAD)
    DEBUG_FUNCTIONS(LOAD)
    if (one) {
        device->GetDeviceQueue(*handle, 0, 0, &device->real);
        set_dispatch(*handle, device->real);
        set_dispatch(*handle, &device->queues[1]);
        begin_queues(device);
    }
    add(&device->owner, *handle);
    return VK_SUCCESS;
}

void two_DestroyDevice(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    if (!handle)
        return;
    struct device *device = find(handle);
    if (device->real)
        end_queues(device);
    forget(&device->owner);
    device->DestroyDevice(handle, allocator);
    free(device);
}


#define ROW(name) { "vk" #name, (PFN_vkVoidFunction)two_##name },
/* A function of the layer. */
struct row {
    const char *name;
    PFN_vkVoidFunction function;
};

static PFN_vkVoidFunction device_proc(VkDevice handle, const char *name)
{
    static const struct row rows[] = { DEVICE_FUNCTIONS(ROW) DEBUG_FUNCTIONS(ROW) };
    struct device *device = find(handle);
    PFN_vkVoidFunction next = device->proc(handle, name);
    if (!strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)device_proc;
    if (!strcmp(name, "vkDestroyDevice"))
        return (PFN_vkVoidFunction)two_DestroyDevice;
    if (!next || !device->real)
        return next;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (names(name, rows[i].name))
            return rows[i].function;
    /* Nobody else knows the second queue's handle. */
    return strncmp(name, "vkQueue", 7) && strncmp(name, "vkGetQueue", 10) ? next : NULL;
}

static PFN_vkVoidFunction instance_proc(VkInstance handle, const char *name)
{
    static const struct row rows[] = { INSTANCE_FUNCTIONS(ROW) DEBUG_FUNCTIONS(ROW) };
    if (!strcmp(name, "vkGetInstanceProcAddr"))
        return (PFN_vkVoidFunction)instance_proc;
    if (!strcmp(name, "vkCreateInstance"))
        return (PFN_vkVoidFunction)two_CreateInstance;
    if (!handle)
        return NULL;
    struct instance *instance = find(handle);
    PFN_vkVoidFunction next = instance->proc(handle, name);
    if (!strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)device_proc;
    for (unsigned i = 0; next && i < sizeof rows / sizeof *rows; i++)
        if (names(name, rows[i].name))
            return rows[i].function;
    /* Other questions about families are those of drivers for GPUs. */
    return strstr(name, "QueueFamily") ? NULL : next;
}

__attribute__((visibility("default"))) VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *loader)
{
    loader->loaderLayerInterfaceVersion = 2;
    loader->pfnGetInstanceProcAddr = instance_proc;
    loader->pfnGetDeviceProcAddr = device_proc;
    loader->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
