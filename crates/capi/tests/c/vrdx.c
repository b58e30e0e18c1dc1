/* The calls of vk_radix_sort.h on vksort, against a stable sort on the CPU: vrdx [--least] */
#include <time.h>

#define VRDX_ERROR(text) vrdxFailed(text)
static void vrdxFailed(const char *text);
#define VRDX_WARNING(text) vrdxWarned(text)
static void vrdxWarned(const char *text);
#define VRDX_IMPLEMENTATION
#include <vksort_vrdx.h>

#include "support.h"

#define MOST 100000u
#define GUARD 0xA5A5A5A5u
#define QUERIES 15u

static char failure[512];
static unsigned failures;

static void vrdxFailed(const char *text)
{
    failures++;
    snprintf(failure, sizeof failure, "%s", text);
}

static char warning[512];
static unsigned warnings, logged;

static void vrdxWarned(const char *text)
{
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static void countLogged(VksortLogLevel level, const char *text, void *userData)
{
    (void)userData;
    logged += level == VKSORT_LOG_WARNING && strstr(text, "subgroups are emulated") != NULL;
}

/* The device with this name, and with a driver that vksort does not know. */
static const char *unknown;

static VKAPI_ATTR void VKAPI_CALL propertiesOfUnknown(VkPhysicalDevice physical, VkPhysicalDeviceProperties *properties)
{
    vkGetPhysicalDeviceProperties(physical, properties);
    snprintf(properties->deviceName, sizeof properties->deviceName, "%s", unknown);
}

static VKAPI_ATTR void VKAPI_CALL driverOfUnknown(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *properties)
{
    vkGetPhysicalDeviceProperties2(physical, properties);
    for (VkBaseOutStructure *next = properties->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES)
            ((VkPhysicalDeviceDriverProperties *)(void *)next)->driverID = VK_DRIVER_ID_MAX_ENUM;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL findUnknown(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetPhysicalDeviceProperties") == 0)
        return (PFN_vkVoidFunction)propertiesOfUnknown;
    if (strcmp(name, "vkGetPhysicalDeviceProperties2") == 0)
        return (PFN_vkVoidFunction)driverOfUnknown;
    return vksortVrdxFind(instance, name);
}

/* Creates and destroys a sorter twice, without what the device was created with. */
static void createTwice(const VrdxSorterCreateInfo *info, const char *name)
{
    unknown = name;
    vksortVrdxImplementation = findUnknown;
    for (unsigned i = 0; i < 2; i++) {
        VrdxSorter sorter = VK_NULL_HANDLE;
        vrdxCreateSorter(info, &sorter);
        vrdxDestroySorter(sorter);
        if (failures > 0)
            die("%s", failure);
    }
    vksortVrdxImplementation = vksortVrdxFind;
}

static const uint32_t *compared;

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (compared[a] != compared[b])
        return compared[a] < compared[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* One sort: what is called, with how many elements, and what they are. */
typedef struct {
    uint32_t count;
    /* How many elements the call is told of, when the count is in a buffer. */
    uint32_t most;
    bool values, indirect, timed;
    /* Bits of the keys. */
    uint32_t bits;
    /* Words before keys, values and storage. */
    uint32_t before;
} Case;

static void check(const Case *test, const uint32_t *input, const Buffer *keys, const Buffer *values)
{
    uint32_t *order = malloc((test->count + 1) * sizeof *order);
    if (!order)
        die("no memory for %u elements", (unsigned)test->count);
    for (uint32_t i = 0; i < test->count; i++)
        order[i] = i;
    compared = input;
    qsort(order, test->count, sizeof *order, compare);
    for (uint32_t i = 0; i < test->before; i++)
        if (keys->words[i] != GUARD || values->words[i] != GUARD)
            die("word %u before the elements was written", (unsigned)i);
    for (uint32_t i = 0; i < test->most; i++) {
        const bool sorted = i < test->count;
        uint32_t key = sorted ? input[order[i]] : input[i], value = sorted && test->values ? order[i] : i;
        if (keys->words[test->before + i] != key)
            die("key %u of %u is %u, a stable sort gives %u", (unsigned)i, (unsigned)test->count,
                (unsigned)keys->words[test->before + i], (unsigned)key);
        if (values->words[test->before + i] != value)
            die("value %u of %u is %u, a stable sort gives %u", (unsigned)i, (unsigned)test->count,
                (unsigned)values->words[test->before + i], (unsigned)value);
    }
    for (uint32_t i = 0; i < test->before; i++)
        if (keys->words[test->before + test->most + i] != GUARD || values->words[test->before + test->most + i] != GUARD)
            die("word %u behind the elements was written", (unsigned)i);
    free(order);
}

static void run(const Vulkan *vulkan, VrdxSorter sorter, const Case *test, const Buffer *storage, VkQueryPool pool,
                uint64_t *state)
{
    /* Buffers of each run are new, and often have the handles of those before them. */
    VkDeviceSize bytes = 4 * (VkDeviceSize)(test->most + 2 * test->before + 1), offset = 4 * (VkDeviceSize)test->before;
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    Buffer keys = createBuffer(vulkan, bytes, usage), values = createBuffer(vulkan, bytes, usage);
    Buffer count = createBuffer(vulkan, 12, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    uint32_t *input = malloc(bytes);
    if (!input)
        die("no memory for %llu bytes", (unsigned long long)bytes);
    memset(keys.words, 0xA5, bytes);
    memset(values.words, 0xA5, bytes);
    for (uint32_t i = 0; i < test->most; i++) {
        input[i] = test->bits == 0 ? 7 : randomWord(state) >> (32 - test->bits);
        keys.words[test->before + i] = input[i];
        values.words[test->before + i] = i;
    }
    count.words[0] = count.words[2] = UINT32_MAX;
    count.words[1] = test->count;

    VkCommandBuffer commands = vulkan->commands;
    VkQueryPool timed = test->timed ? pool : VK_NULL_HANDLE;
    begin(vulkan);
    vkCmdResetQueryPool(commands, pool, 0, QUERIES + 1);
    /* The least that the library asks for before a sort. */
    barrier(vulkan, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT);
    if (test->values && test->indirect)
        vrdxCmdSortKeyValueIndirect(commands, sorter, test->most, count.buffer, 4, keys.buffer, offset, values.buffer, offset,
                                    storage->buffer, offset, timed, 1);
    else if (test->values)
        vrdxCmdSortKeyValue(commands, sorter, test->count, keys.buffer, offset, values.buffer, offset, storage->buffer,
                            offset, timed, 1);
    else if (test->indirect)
        vrdxCmdSortIndirect(commands, sorter, test->most, count.buffer, 4, keys.buffer, offset, storage->buffer, offset,
                            timed, 1);
    else
        vrdxCmdSort(commands, sorter, test->count, keys.buffer, offset, storage->buffer, offset, timed, 1);
    barrier(vulkan, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_HOST_READ_BIT);
    submit(vulkan);
    if (failures > 0)
        die("%s", failure);
    check(test, input, &keys, &values);
    if (test->timed) {
        /* All of them are there, and none goes back. */
        uint64_t ticks[QUERIES];
        VK(vkGetQueryPoolResults(vulkan->device, pool, 1, QUERIES, sizeof ticks, ticks, sizeof *ticks,
                                 VK_QUERY_RESULT_64_BIT));
        for (uint32_t i = 1; i < QUERIES; i++)
            if (ticks[i] < ticks[i - 1])
                die("timestamp %u lies before timestamp %u", (unsigned)i, (unsigned)i - 1);
    }
    free(input);
    destroyBuffer(vulkan, &keys);
    destroyBuffer(vulkan, &values);
    destroyBuffer(vulkan, &count);
}

/* Two sorts in one command buffer on one storage, behind barriers that are the least: of the keys by the values, then back. */
static void runTwo(const Vulkan *vulkan, VrdxSorter sorter, const Buffer *storage, uint32_t count, bool indirect,
                   uint64_t *state)
{
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    Buffer first = createBuffer(vulkan, 4 * count, usage), second = createBuffer(vulkan, 4 * count, usage);
    Buffer counted = createBuffer(vulkan, 4, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    uint32_t *input = malloc(4 * count);
    if (!input)
        die("no memory for %u elements", (unsigned)count);
    for (uint32_t i = 0; i < count; i++) {
        first.words[i] = input[i] = randomWord(state) >> 20;
        second.words[i] = i;
    }
    counted.words[0] = count;
    begin(vulkan);
    barrier(vulkan, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT);
    for (int sort = 0; sort < 2; sort++) {
        const Buffer *keys = sort == 0 ? &first : &second, *values = sort == 0 ? &second : &first;
        if (indirect)
            vrdxCmdSortKeyValueIndirect(vulkan->commands, sorter, count, counted.buffer, 0, keys->buffer, 0, values->buffer,
                                        0, storage->buffer, 0, VK_NULL_HANDLE, 0);
        else
            vrdxCmdSortKeyValue(vulkan->commands, sorter, count, keys->buffer, 0, values->buffer, 0, storage->buffer, 0,
                                VK_NULL_HANDLE, 0);
        barrier(vulkan, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_HOST_READ_BIT);
    }
    submit(vulkan);
    if (failures > 0)
        die("%s", failure);
    for (uint32_t i = 0; i < count; i++)
        if (second.words[i] != i || first.words[i] != input[i])
            die("element %u of %u is not where it was", (unsigned)i, (unsigned)count);
    free(input);
    destroyBuffer(vulkan, &first);
    destroyBuffer(vulkan, &second);
    destroyBuffer(vulkan, &counted);
}

static void expectFailure(const char *text)
{
    if (failures != 1 || !strstr(failure, text))
        die("the failure is \"%s\", expected is one with \"%s\"", failures ? failure : "none", text);
    failures = 0;
}

int main(int argc, char **argv)
{
    bool least = argc == 2 && strcmp(argv[1], "--least") == 0;
    if (argc > 2 || (argc == 2 && !least))
        die("unknown argument %s, allowed is --least", argv[argc - 1]);
    uint64_t state = seed((uint64_t)time(NULL));
    Vulkan vulkan = {0};
    openInstance(&vulkan);
    const char *extensions[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};
    VkPhysicalDeviceSubgroupSizeControlFeatures control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .subgroupSizeControl = VK_TRUE,
        .computeFullSubgroups = VK_TRUE,
    };
    VkDeviceCreateInfo info = {
        .pNext = least ? NULL : &control,
        .enabledExtensionCount = least ? 1 : 2,
        .ppEnabledExtensionNames = extensions,
    };
    openDevice(&vulkan, info);

    /* As in programs that assign the three fields of a structure that they do not initialize. */
    VrdxSorterCreateInfo sorterInfo;
    memset(&sorterInfo, 0xA5, sizeof sorterInfo);
    sorterInfo.physicalDevice = vulkan.physical;
    sorterInfo.device = vulkan.device;
    sorterInfo.pipelineCache = VK_NULL_HANDLE;
    VrdxSorter sorter = VK_NULL_HANDLE;
    if (least)
        vrdxCreateSorter(&sorterInfo, &sorter);
    else
        vrdxCreateSorterForDevice(&sorterInfo, &info, &sorter);
    if (failures > 0)
        die("%s", failure);
    VrdxSorterStorageRequirements keys, pairs;
    vrdxGetSorterStorageRequirements(sorter, MOST, &keys);
    vrdxGetSorterKeyValueStorageRequirements(sorter, MOST, &pairs);
    if (keys.size < 4 * MOST || pairs.size < 2 * 4 * MOST || pairs.size < keys.size)
        die("storage of %llu and %llu bytes is too small", (unsigned long long)keys.size, (unsigned long long)pairs.size);
    uint32_t before = (uint32_t)(vulkan.alignment < 4 ? 1 : vulkan.alignment / 4);
    Buffer storage = createBuffer(&vulkan, pairs.size + 4 * before, pairs.usage);
    VkQueryPool pool;
    VkQueryPoolCreateInfo poolInfo = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = QUERIES + 1,
    };
    VK(vkCreateQueryPool(vulkan.device, &poolInfo, NULL, &pool));

    const uint32_t counts[] = {0, 1, 2, 255, 4097, 20000, 33333, MOST};
    const uint32_t bits[] = {0, 3, 17, 32};
    unsigned passed = 0;
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned kind = 0; kind < 8; kind++) {
            Case test = {
                .count = counts[i],
                .most = counts[i],
                .values = kind & 1,
                .indirect = kind & 2,
                .timed = kind & 4,
                .bits = bits[(i + kind) % 4],
                .before = kind & 1 ? before : 0,
            };
            if (test.indirect)
                test.most += (MOST - test.most) / 2;
            run(&vulkan, sorter, &test, &storage, pool, &state);
            passed++;
        }
    for (unsigned kind = 0; kind < 4; kind++) {
        runTwo(&vulkan, sorter, &storage, kind & 1 ? 20000 : 300, kind & 2, &state);
        passed++;
    }

    /* What is wrong has a text, and records nothing. */
    begin(&vulkan);
    vrdxCmdSort(vulkan.commands, VK_NULL_HANDLE, 1, storage.buffer, 0, storage.buffer, 256, VK_NULL_HANDLE, 0);
    expectFailure("sorter is null");
    vrdxCmdSort(vulkan.commands, sorter, 1, VK_NULL_HANDLE, 0, storage.buffer, 0, VK_NULL_HANDLE, 0);
    expectFailure("keysBuffer is absent");
    vrdxCmdSortKeyValue(vulkan.commands, sorter, 5000, storage.buffer, 0, storage.buffer, 256, storage.buffer, 1 << 16,
                        VK_NULL_HANDLE, 0);
    expectFailure("overlap");
    submit(&vulkan);
    vrdxDestroySorter(sorter);
    vrdxDestroySorter(sorter);
    expectFailure("destroyed");
    passed += 4;

    /* Emulated subgroups are told of once, with what helps, by the logger or else by the macro. */
    failures = warnings = 0;
    vksortSetLogCallback(VKSORT_LOG_WARNING, countLogged, NULL);
    createTwice(&sorterInfo, "heard");
    if (logged != 1 || warnings != 0)
        die("%u warnings are logged, and %u given to the macro", logged, warnings);
    vksortSetLogCallback(0, NULL, NULL);
    createTwice(&sorterInfo, "unheard");
    if (logged != 1 || warnings != 1)
        die("%u warnings are logged, and then %u given to the macro", logged, warnings);
    const char *words[] = {"unheard: ", "subgroups are emulated", "vrdxCreateSorterForDevice", "VKSORT_VRDX_VULKAN"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(warning, words[i]))
            die("\"%s\" does not name %s", warning, words[i]);
    passed += 2;

    vkDestroyQueryPool(vulkan.device, pool, NULL);
    destroyBuffer(&vulkan, &storage);
    closeDevice(&vulkan);
    return finish(passed);
}
