/* A Vulkan layer that prints a line of JSON for every compute pipeline: its constants, and what the compiler says of it.
 *
 *   VK_INSTANCE_LAYERS=VK_LAYER_pipestats VK_LAYER_PATH=(folder of pipestats.json) PIPESTATS=out.jsonl program
 *
 * A line {"compiling": MODULE} comes before each, so that a compiler that crashes or hangs is known by its kernel. Times are
 * CPU times of the thread that compiles. PIPESTATS_DUMP=PREFIX also writes the compiler's texts. The modules in PIPESTATS_SKIP
 * are not compiled: their pipelines are null. Nothing is submitted. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>

#define EXPORT __attribute__((visibility("default")))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;
static VkInstance the_instance;
static struct { VkShaderModule module; uint64_t hash; } modules[4096];
static unsigned module_count, pipeline_count;
static char device_name[256], driver_name[600];

static void text(FILE *out, const char *t) {
    fputc('"', out);
    for (; *t; t++) {
        if (*t == '"' || *t == '\\') fputc('\\', out);
        fputc((unsigned char)*t < 32 ? ' ' : *t, out);
    }
    fputc('"', out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *alloc, VkInstance *instance) {
    VkLayerInstanceCreateInfo *link = (void *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO)) link = (void *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    next_gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = ((PFN_vkCreateInstance)next_gipa(NULL, "vkCreateInstance"))(info, alloc, instance);
    the_instance = *instance;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice gpu, const VkDeviceCreateInfo *given, const VkAllocationCallbacks *alloc, VkDevice *device) {
    VkLayerDeviceCreateInfo *link = (void *)given->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO)) link = (void *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkPhysicalDeviceProperties props;
    ((PFN_vkGetPhysicalDeviceProperties)next_gipa(the_instance, "vkGetPhysicalDeviceProperties"))(gpu, &props);
    strcpy(device_name, props.deviceName);
    VkPhysicalDeviceDriverProperties driver = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES };
    VkPhysicalDeviceProperties2 more = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver };
    ((PFN_vkGetPhysicalDeviceProperties2)next_gipa(the_instance, "vkGetPhysicalDeviceProperties2"))(gpu, &more);
    snprintf(driver_name, sizeof driver_name, "%s %s", driver.driverName, driver.driverInfo);
    VkDeviceCreateInfo info = *given;
    const char **names = calloc(info.enabledExtensionCount + 1, sizeof *names);
    int have = 0;
    for (uint32_t i = 0; i < info.enabledExtensionCount; i++) {
        names[i] = info.ppEnabledExtensionNames[i];
        have |= !strcmp(names[i], VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    }
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, (void *)info.pNext, VK_TRUE };
    if (!have) {
        names[info.enabledExtensionCount++] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
        info.pNext = &feature;
    }
    info.ppEnabledExtensionNames = names;
    return ((PFN_vkCreateDevice)gipa(the_instance, "vkCreateDevice"))(gpu, &info, alloc, device);
}

/* FNV-1a over the functions of a module, whatever loops ask for: programs may add decorations and change that wish. */
static uint64_t fingerprint(const uint32_t *words, size_t count) {
    enum { FUNCTION = 54, LOOP_MERGE = 246, LOOP_CONTROL = 3 };
    uint64_t hash = 0xcbf29ce484222325ull;
    int inside = 0;
    for (size_t at = 5; at < count && words[at] >> 16; at += words[at] >> 16) {
        inside |= (words[at] & 0xffff) == FUNCTION;
        for (size_t i = 0; inside && i < words[at] >> 16 && at + i < count; i++)
            if ((words[at] & 0xffff) != LOOP_MERGE || i != LOOP_CONTROL) hash = (hash ^ words[at + i]) * 0x100000001b3ull;
    }
    return hash;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *alloc, VkShaderModule *module) {
    VkResult result = ((PFN_vkCreateShaderModule)next_gdpa(device, "vkCreateShaderModule"))(device, info, alloc, module);
    uint64_t hash = fingerprint(info->pCode, info->codeSize / 4);
    pthread_mutex_lock(&lock);
    modules[module_count % 4096].module = *module;
    modules[module_count++ % 4096].hash = hash;
    pthread_mutex_unlock(&lock);
    return result;
}

#define D(name) PFN_##name name = (PFN_##name)next_gdpa(device, #name)

static uint64_t hash_of(VkShaderModule module) {
    uint64_t hash = 0;
    for (unsigned i = 0; i < module_count && i < 4096; i++)
        if (modules[i].module == module) hash = modules[i].hash;
    return hash;
}

static FILE *open_output(void) {
    const char *path = getenv("PIPESTATS");
    return path ? fopen(path, "a") : fdopen(dup(2), "a");
}

static void report(VkDevice device, const VkComputePipelineCreateInfo *info, VkPipeline pipeline, double ms) {
    D(vkGetPipelineExecutablePropertiesKHR); D(vkGetPipelineExecutableStatisticsKHR); D(vkGetPipelineExecutableInternalRepresentationsKHR);
    if (!vkGetPipelineExecutablePropertiesKHR) return;
    const char *dump = getenv("PIPESTATS_DUMP");
    FILE *out = open_output();
    if (!out) return;
    uint32_t required = 0;
    for (const VkBaseInStructure *s = info->stage.pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
            required = ((const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)s)->requiredSubgroupSize;
    fprintf(out, "{\"device\": "), text(out, device_name);
    fprintf(out, ", \"driver\": "), text(out, driver_name);
    fprintf(out, ", \"module\": \"%016llx\", \"entry\": ", (unsigned long long)hash_of(info->stage.module)), text(out, info->stage.pName);
    fprintf(out, ", \"required_subgroup\": %u, \"full\": %s, \"compile_ms\": %.1f, \"spec\": {", required,
            info->stage.flags & VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT ? "true" : "false", ms);
    const VkSpecializationInfo *spec = info->stage.pSpecializationInfo;
    for (uint32_t i = 0; spec && i < spec->mapEntryCount; i++) {
        uint32_t value = 0;
        memcpy(&value, (const char *)spec->pData + spec->pMapEntries[i].offset, spec->pMapEntries[i].size < 4 ? spec->pMapEntries[i].size : 4);
        fprintf(out, "%s\"%u\": %u", i ? ", " : "", spec->pMapEntries[i].constantID, value);
    }
    fprintf(out, "}, \"executables\": [");
    VkPipelineInfoKHR of = { VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, NULL, pipeline };
    VkPipelineExecutablePropertiesKHR executables[8];
    memset(executables, 0, sizeof executables);
    for (int i = 0; i < 8; i++) executables[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    uint32_t count = 8;
    if (vkGetPipelineExecutablePropertiesKHR(device, &of, &count, executables) < 0) count = 0;
    for (uint32_t e = 0; e < count; e++) {
        fprintf(out, "%s{\"name\": ", e ? ", " : ""), text(out, executables[e].name);
        fprintf(out, ", \"subgroup_size\": %u, \"statistics\": {", executables[e].subgroupSize);
        VkPipelineExecutableInfoKHR x = { VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, NULL, pipeline, e };
        static VkPipelineExecutableStatisticKHR stats[64];
        for (int i = 0; i < 64; i++) stats[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
        uint32_t n = 64;
        if (vkGetPipelineExecutableStatisticsKHR(device, &x, &n, stats) < 0) n = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (i) fprintf(out, ", ");
            text(out, stats[i].name);
            switch (stats[i].format) {
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: fprintf(out, ": %s", stats[i].value.b32 ? "true" : "false"); break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: fprintf(out, ": %lld", (long long)stats[i].value.i64); break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: fprintf(out, ": %llu", (unsigned long long)stats[i].value.u64); break;
            default: fprintf(out, ": %.3f", stats[i].value.f64);
            }
        }
        fprintf(out, "}}");
        if (!dump) continue;
        VkPipelineExecutableInternalRepresentationKHR irs[32];
        memset(irs, 0, sizeof irs);
        for (int i = 0; i < 32; i++) irs[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
        uint32_t ir_count = 32;
        if (vkGetPipelineExecutableInternalRepresentationsKHR(device, &x, &ir_count, irs) < 0) continue;
        for (uint32_t i = 0; i < ir_count; i++) irs[i].pData = calloc(1, irs[i].dataSize + 1);
        vkGetPipelineExecutableInternalRepresentationsKHR(device, &x, &ir_count, irs);
        for (uint32_t i = 0; i < ir_count; i++) {
            char name[4096];
            snprintf(name, sizeof name, "%s.%03u.%u.%u.%s", dump, pipeline_count, e, i, irs[i].isText ? "txt" : "bin");
            FILE *f = fopen(name, "wb");
            if (f) {
                if (irs[i].isText) fprintf(f, "; %s: %s\n", irs[i].name, irs[i].description);
                fwrite(irs[i].pData, 1, irs[i].isText ? strlen(irs[i].pData) : irs[i].dataSize, f);
                fclose(f);
            }
            free(irs[i].pData);
        }
    }
    fprintf(out, "], \"number\": %u}\n", pipeline_count);
    fclose(out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_compute(VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *alloc, VkPipeline *pipelines) {
    D(vkCreateComputePipelines);
    VkResult worst = VK_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        VkComputePipelineCreateInfo info = infos[i];
        info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
        if (getenv("PIPESTATS_DUMP")) info.flags |= VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
        char module[17];
        struct timespec a, b;
        pthread_mutex_lock(&lock);
        snprintf(module, sizeof module, "%016llx", (unsigned long long)hash_of(info.stage.module));
        pipelines[i] = VK_NULL_HANDLE;
        const char *skip = getenv("PIPESTATS_SKIP");
        int skipped = skip && strstr(skip, module);
        FILE *out = skipped ? NULL : open_output();
        if (out) {
            fprintf(out, "{\"compiling\": \"%s\"}\n", module);
            fclose(out);
        }
        pthread_mutex_unlock(&lock);
        if (skipped) continue;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        VkResult result = vkCreateComputePipelines(device, cache, 1, &info, alloc, &pipelines[i]);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        if (result != VK_SUCCESS) { worst = result; continue; }
        pthread_mutex_lock(&lock);
        report(device, &info, pipelines[i], (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) / 1e6);
        pipeline_count++;
        pthread_mutex_unlock(&lock);
    }
    return worst;
}

/* Nothing runs on a device that is not there: submissions succeed at once, fences are always signalled, queries are 0. */
static VKAPI_ATTR VkResult VKAPI_CALL create_fence(VkDevice d, const VkFenceCreateInfo *i, const VkAllocationCallbacks *a, VkFence *fence) {
    static uint64_t fences = 0x1000;
    (void)d, (void)i, (void)a;
    *fence = (VkFence)(uintptr_t)(fences += 16);
    return VK_SUCCESS;
}
static VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice d, VkFence f, const VkAllocationCallbacks *a) { (void)d, (void)f, (void)a; }
static VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice d, uint32_t n, const VkFence *f) { (void)d, (void)n, (void)f; return VK_SUCCESS; }
static VKAPI_ATTR VkResult VKAPI_CALL wait_fences(VkDevice d, uint32_t n, const VkFence *f, VkBool32 all, uint64_t t) { (void)d, (void)n, (void)f, (void)all, (void)t; return VK_SUCCESS; }
static VKAPI_ATTR VkResult VKAPI_CALL fence_status(VkDevice d, VkFence f) { (void)d, (void)f; return VK_SUCCESS; }
static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue q, uint32_t n, const void *s, VkFence f) { (void)q, (void)n, (void)s, (void)f; return VK_SUCCESS; }
static VKAPI_ATTR VkResult VKAPI_CALL idle(void *of) { (void)of; return VK_SUCCESS; }
static VKAPI_ATTR VkResult VKAPI_CALL results(VkDevice d, VkQueryPool p, uint32_t first, uint32_t n, size_t size, void *data, VkDeviceSize stride, VkQueryResultFlags flags) {
    (void)d, (void)p, (void)first, (void)n, (void)stride, (void)flags;
    memset(data, 0, size);
    return VK_SUCCESS;
}

static PFN_vkVoidFunction ours(const char *name) {
    static const struct { const char *name; PFN_vkVoidFunction f; } null_calls[] = {
        { "vkCreateFence", (PFN_vkVoidFunction)create_fence }, { "vkDestroyFence", (PFN_vkVoidFunction)destroy_fence },
        { "vkResetFences", (PFN_vkVoidFunction)reset_fences }, { "vkWaitForFences", (PFN_vkVoidFunction)wait_fences },
        { "vkGetFenceStatus", (PFN_vkVoidFunction)fence_status }, { "vkQueueSubmit", (PFN_vkVoidFunction)submit },
        { "vkQueueSubmit2", (PFN_vkVoidFunction)submit }, { "vkQueueSubmit2KHR", (PFN_vkVoidFunction)submit },
        { "vkQueueWaitIdle", (PFN_vkVoidFunction)idle }, { "vkDeviceWaitIdle", (PFN_vkVoidFunction)idle },
        { "vkGetQueryPoolResults", (PFN_vkVoidFunction)results },
    };
    for (unsigned i = 0; i < sizeof null_calls / sizeof *null_calls; i++)
        if (!strcmp(name, null_calls[i].name)) return null_calls[i].f;
    if (!strcmp(name, "vkCreateInstance")) return (PFN_vkVoidFunction)create_instance;
    if (!strcmp(name, "vkCreateDevice")) return (PFN_vkVoidFunction)create_device;
    if (!strcmp(name, "vkCreateShaderModule")) return (PFN_vkVoidFunction)create_module;
    if (!strcmp(name, "vkCreateComputePipelines")) return (PFN_vkVoidFunction)create_compute;
    return NULL;
}
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL gdpa(VkDevice device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)gdpa;
    PFN_vkVoidFunction f = ours(name);
    return f ? f : next_gdpa(device, name);
}
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL gipa(VkInstance instance, const char *name) {
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)gipa;
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)gdpa;
    PFN_vkVoidFunction f = ours(name);
    return f ? f : next_gipa ? next_gipa(instance, name) : NULL;
}
EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *n) {
    n->loaderLayerInterfaceVersion = 2;
    n->pfnGetInstanceProcAddr = gipa;
    n->pfnGetDeviceProcAddr = gdpa;
    n->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
