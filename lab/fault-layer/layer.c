/* A Vulkan layer that fails calls, counts objects, and notices the misuse that a failure may lead to.
 *
 *   VK_INSTANCE_LAYERS=VK_LAYER_VKSORT_faults VK_LAYER_PATH=(folder of VkLayer_faults.json) program
 *
 *   VKSORT_FAULT_AT      the number of the call that fails, counted from 1 over all calls below that return a VkResult; 0 for none
 *   VKSORT_FAULT_CODE    the VkResult that it returns
 *   VKSORT_FAULT_ONWARD  1 if all later calls fail too
 *   VKSORT_FAULT_LIST    1 to name every call
 *
 * It reports on stderr: "faults: call N NAME", "faults: failed N NAME", "faults: leaked N KIND" when a device or the process ends,
 * and "faults: misuse ...". The program has one instance and one device at a time, and calls Vulkan from one thread. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* ---- which call fails ---- */
static int variable(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

static bool fails(const char *name)
{
    static int calls;
    int at = variable("VKSORT_FAULT_AT");
    calls++;
    if (variable("VKSORT_FAULT_LIST") || calls == at)
        fprintf(stderr, "faults: %s %d %s\n", calls == at ? "failed" : "call", calls, name);
    return calls == at || (at && calls > at && variable("VKSORT_FAULT_ONWARD"));
}

static VkResult failure(void)
{
    return variable("VKSORT_FAULT_CODE");
}

/* ---- what exists, and what the device may use ---- */
#define CREATED_ALIKE(X) \
    X(Buffer) X(Fence) X(CommandPool) X(PipelineCache) X(ShaderModule) X(DescriptorSetLayout) X(PipelineLayout) \
    X(DescriptorPool) X(QueryPool)
#define KINDS(X) X(Instance) X(Device) CREATED_ALIKE(X) X(Pipeline) X(DeviceMemory)
#define NUMBER(kind) kind,
#define TEXT(kind) #kind,
enum { KINDS(NUMBER) END };
static const char *const kinds[] = {KINDS(TEXT)};
static int living[END];

/* A submission is pending until a wait for it has succeeded: after any other result the device may still work. */
static bool pending, signalled;

static void misuse(bool is, const char *name, const char *why)
{
    if (is)
        fprintf(stderr, "faults: misuse: %s %s\n", name, why);
}

/* What is submitted uses no shader modules and no pipeline caches. */
static void destroyed(int kind, const char *name)
{
    living[kind]--;
    misuse(pending && kind != ShaderModule && kind != PipelineCache, name, "while a submission is pending");
}

static void report_living(int from)
{
    for (int kind = from; kind < END; kind++) {
        if (living[kind])
            fprintf(stderr, "faults: leaked %d %s\n", living[kind], kinds[kind]);
        living[kind] = 0;
    }
}

__attribute__((destructor)) static void at_exit(void)
{
    report_living(Instance);
}

/* ---- functions of a device ---- */
static PFN_vkGetDeviceProcAddr device_function;
static VkDevice the_device;
#define NEXT(name) ((PFN_vk##name)device_function(the_device, "vk" #name))

/* A function that fails before it reaches the driver; `after` sees the result. */
#define CALL(name, next, after, parameters, arguments) \
    static VkResult fault_##name parameters \
    { \
        VkResult result = fails("vk" #name) ? failure() : next arguments; \
        after; \
        return result; \
    }
#define DEVICE_CALL(name, after, parameters, arguments) CALL(name, NEXT(name), after, parameters, arguments)
#define DESTROY(name, kind) \
    static void fault_##name(VkDevice device, Vk##kind handle, const VkAllocationCallbacks *allocator) \
    { \
        misuse(allocator, "vk" #name, "with allocation callbacks"); \
        if (handle) \
            destroyed(kind, "vk" #name); \
        NEXT(name)(device, handle, allocator); \
    }
#define CREATE_AND_DESTROY(kind) \
    DEVICE_CALL(Create##kind, (misuse(a, "vkCreate" #kind, "with allocation callbacks"), living[kind] += result == VK_SUCCESS), \
        (VkDevice d, const Vk##kind##CreateInfo *i, const VkAllocationCallbacks *a, Vk##kind *h), (d, i, a, h)) \
    DESTROY(Destroy##kind, kind)

CREATED_ALIKE(CREATE_AND_DESTROY)
DESTROY(DestroyPipeline, Pipeline)
DESTROY(FreeMemory, DeviceMemory)
DEVICE_CALL(AllocateMemory, (misuse(a, "vkAllocateMemory", "with allocation callbacks"), living[DeviceMemory] += result == VK_SUCCESS),
    (VkDevice d, const VkMemoryAllocateInfo *i, const VkAllocationCallbacks *a, VkDeviceMemory *m), (d, i, a, m))
DEVICE_CALL(BindBufferMemory, , (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o), (d, b, m, o))
DEVICE_CALL(MapMemory, ,
    (VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s, VkMemoryMapFlags f, void **p), (d, m, o, s, f, p))
DEVICE_CALL(AllocateCommandBuffers, , (VkDevice d, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *c), (d, i, c))
DEVICE_CALL(AllocateDescriptorSets, , (VkDevice d, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *s), (d, i, s))
DEVICE_CALL(BeginCommandBuffer, misuse(pending, "vkBeginCommandBuffer", "while a submission is pending"),
    (VkCommandBuffer c, const VkCommandBufferBeginInfo *i), (c, i))
DEVICE_CALL(GetPipelineCacheData, , (VkDevice d, VkPipelineCache c, size_t *n, void *p), (d, c, n, p))
DEVICE_CALL(GetQueryPoolResults, ,
    (VkDevice d, VkQueryPool q, uint32_t f, uint32_t n, size_t s, void *p, VkDeviceSize t, VkQueryResultFlags w),
    (d, q, f, n, s, p, t, w))
DEVICE_CALL(ResetFences, (misuse(pending, "vkResetFences", "while a submission is pending"), signalled &= result != VK_SUCCESS),
    (VkDevice d, uint32_t n, const VkFence *f), (d, n, f))
DEVICE_CALL(QueueSubmit, (misuse(signalled || pending, "vkQueueSubmit", "with a fence in use"), pending |= result == VK_SUCCESS),
    (VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f), (q, n, i, f))

/* Of several pipelines, a driver may create some before it fails: here all but the last. */
static VkResult fault_CreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
    const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
    misuse(allocator, "vkCreateComputePipelines", "with allocation callbacks");
    bool failing = fails("vkCreateComputePipelines");
    uint32_t made = failing ? count - 1 : count;
    memset(pipelines, 0, count * sizeof *pipelines);
    VkResult result = made ? NEXT(CreateComputePipelines)(device, cache, made, infos, allocator, pipelines) : VK_SUCCESS;
    for (uint32_t i = 0; i < made; i++)
        living[Pipeline] += pipelines[i] != VK_NULL_HANDLE;
    return failing ? failure() : result;
}

/* A command buffer whose end fails is not in the recording state any more, so the driver's ends too. */
static VkResult fault_EndCommandBuffer(VkCommandBuffer commands)
{
    VkResult result = NEXT(EndCommandBuffer)(commands);
    return fails("vkEndCommandBuffer") ? failure() : result;
}

/* The driver is waited for, so that a process can end after a failed wait; the program must take the work for pending. */
static VkResult fault_WaitForFences(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
    VkResult result = NEXT(WaitForFences)(device, count, fences, all, timeout);
    if (fails("vkWaitForFences"))
        return failure();
    pending &= result != VK_SUCCESS;
    signalled |= result == VK_SUCCESS;
    return result;
}

static void fault_DestroyDevice(VkDevice device, const VkAllocationCallbacks *allocator)
{
    destroyed(Device, "vkDestroyDevice");
    report_living(Device + 1);
    NEXT(DestroyDevice)(device, allocator);
    pending = signalled = false;
}

/* ---- functions of an instance ---- */
/* The next layer's are found while the instance is created: later the loader's lookup leads back to the first layer. */
#define INSTANCE_FUNCTIONS(X) X(DestroyInstance) X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties) X(CreateDevice)
#define FIELD(name) PFN_vk##name name;
#define FIND(name) next.name = (PFN_vk##name)instance_function(*instance, "vk" #name);
static PFN_vkGetInstanceProcAddr instance_function;
static struct { INSTANCE_FUNCTIONS(FIELD) } next;

/* Sets `info`, VkLayerInstanceCreateInfo or VkLayerDeviceCreateInfo, to the loader's link in a chain. */
#define FIND_LINK(info, chain, type) \
    for (info = (void *)(chain); info->sType != VK_STRUCTURE_TYPE_LOADER_##type##_CREATE_INFO || info->function != VK_LAYER_LINK_INFO;) \
        info = (void *)info->pNext

static VkResult fault_CreateInstance(
    const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *instance)
{
    VkLayerInstanceCreateInfo *link;
    FIND_LINK(link, info->pNext, INSTANCE);
    instance_function = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    if (fails("vkCreateInstance"))
        return failure();
    VkResult result = ((PFN_vkCreateInstance)instance_function(NULL, "vkCreateInstance"))(info, allocator, instance);
    if (result == VK_SUCCESS) {
        INSTANCE_FUNCTIONS(FIND)
        living[Instance]++;
    }
    return result;
}

static void fault_DestroyInstance(VkInstance instance, const VkAllocationCallbacks *allocator)
{
    destroyed(Instance, "vkDestroyInstance");
    misuse(living[Device], "vkDestroyInstance", "before its device");
    next.DestroyInstance(instance, allocator);
}

CALL(EnumeratePhysicalDevices, next.EnumeratePhysicalDevices, ,
    (VkInstance i, uint32_t *n, VkPhysicalDevice *p), (i, n, p))
CALL(EnumerateDeviceExtensionProperties, next.EnumerateDeviceExtensionProperties, ,
    (VkPhysicalDevice p, const char *l, uint32_t *n, VkExtensionProperties *e), (p, l, n, e))

static VkResult fault_CreateDevice(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *device)
{
    VkLayerDeviceCreateInfo *link;
    FIND_LINK(link, info->pNext, DEVICE);
    device_function = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    if (fails("vkCreateDevice"))
        return failure();
    VkResult result = next.CreateDevice(physical, info, allocator, device);
    if (result == VK_SUCCESS) {
        the_device = *device;
        living[Device]++;
    }
    return result;
}

/* ---- which functions are the layer's ---- */
#define OWN(name) \
    if (!strcmp(asked, "vk" #name)) \
        return (PFN_vkVoidFunction)fault_##name;
#define OWN_PAIR(kind) OWN(Create##kind) OWN(Destroy##kind)

static PFN_vkVoidFunction fault_GetDeviceProcAddr(VkDevice device, const char *asked)
{
    CREATED_ALIKE(OWN_PAIR)
    OWN(DestroyPipeline) OWN(FreeMemory) OWN(AllocateMemory) OWN(BindBufferMemory) OWN(MapMemory)
    OWN(AllocateCommandBuffers) OWN(AllocateDescriptorSets) OWN(BeginCommandBuffer) OWN(GetPipelineCacheData)
    OWN(GetQueryPoolResults) OWN(ResetFences) OWN(QueueSubmit) OWN(CreateComputePipelines) OWN(EndCommandBuffer)
    OWN(WaitForFences) OWN(DestroyDevice) OWN(GetDeviceProcAddr)
    return device ? device_function(device, asked) : NULL;
}

static PFN_vkVoidFunction fault_GetInstanceProcAddr(VkInstance instance, const char *asked)
{
    INSTANCE_FUNCTIONS(OWN) OWN(CreateInstance) OWN(GetInstanceProcAddr)
    PFN_vkVoidFunction of_device = fault_GetDeviceProcAddr(NULL, asked);
    return of_device || !instance_function ? of_device : instance_function(instance, asked);
}

__attribute__((visibility("default"))) VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = fault_GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = fault_GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
