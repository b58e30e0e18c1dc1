/* What the calls of vksort_vrdx.h take, in CPU time of the process: times [PAIRS]
 *
 * The figures of MIGRATING-VRDX.md on a software driver. Each is the median of 9 runs, which take turns. */
#include <time.h>

#define VRDX_IMPLEMENTATION
#include <vksort_vrdx.h>

#include "support.h"

#define RUNS 9
#define ROWS 13

/* One row of sorts: by which sorter, how many pairs, and whether their number is on the device. */
typedef struct {
    const char *name;
    VrdxSorter sorter;
    uint32_t count;
    bool indirect;
    double milliseconds[RUNS];
} Row;

static double now(void)
{
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static VrdxSorter create(const Vulkan *vulkan, const VkDeviceCreateInfo *info, const char *name)
{
    VrdxSorterCreateInfo sorterInfo = {vulkan->physical, vulkan->device, VK_NULL_HANDLE};
    VrdxSorter sorter;
    double started = now();
    VK(vrdxCreateSorterForDevice(&sorterInfo, info, &sorter));
    printf("%-40s %10.2f ms\n", name, now() - started);
    return sorter;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long given = argc > 1 ? strtoul(argv[1], &end, 10) : 1 << 20;
    if (argc > 2 || (end && *end) || given < 1000 || given > 1 << 26)
        die("unknown argument %s, allowed is a number of pairs from 1000 to 67108864", argv[argc - 1]);
    uint32_t most = (uint32_t)given;
    uint64_t state = 1;
    Vulkan vulkan = {0};
    openInstance(&vulkan);
    const char *extensions[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};
    VkPhysicalDeviceSubgroupSizeControlFeatures control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .subgroupSizeControl = VK_TRUE,
        .computeFullSubgroups = VK_TRUE,
    };
    VkDeviceCreateInfo info = {.pNext = &control, .enabledExtensionCount = 2, .ppEnabledExtensionNames = extensions};
    openDevice(&vulkan, info);
    VrdxSorter plain = create(&vulkan, NULL, "vrdxCreateSorter, the first");
    VrdxSorter another = create(&vulkan, NULL, "vrdxCreateSorter, another");
    VrdxSorter known = create(&vulkan, &info, "vrdxCreateSorterForDevice, the first");

    VrdxSorterStorageRequirements requirements;
    vrdxGetSorterKeyValueStorageRequirements(plain, most, &requirements);
    Buffer storage = createBuffer(&vulkan, requirements.size, requirements.usage);
    Buffer keys = createBuffer(&vulkan, 4 * (VkDeviceSize)most, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    Buffer values = createBuffer(&vulkan, 4 * (VkDeviceSize)most, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    Buffer counted = createBuffer(&vulkan, 4, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    Row rows[ROWS];
    unsigned used = 0;
    for (int sorter = 0; sorter < 2; sorter++) {
        const char *name = sorter ? "known device" : "plain";
        rows[used++] = (Row){.name = name, .sorter = sorter ? known : plain, .count = most};
        for (uint32_t part = 1; part <= 1000; part *= 10) {
            rows[used++] = (Row){.name = name, .sorter = sorter ? known : plain, .count = most / part, .indirect = true};
            if (part > 1 && sorter)
                rows[used++] = (Row){.name = name, .sorter = known, .count = most / part};
        }
    }
    for (unsigned run = 0; run < RUNS + 1; run++)
        for (unsigned i = 0; i < used; i++) {
            Row *row = &rows[i];
            for (uint32_t element = 0; element < row->count; element++) {
                keys.words[element] = randomWord(&state);
                values.words[element] = element;
            }
            counted.words[0] = row->count;
            begin(&vulkan);
            barrier(&vulkan, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_READ_BIT);
            if (row->indirect)
                vrdxCmdSortKeyValueIndirect(vulkan.commands, row->sorter, most, counted.buffer, 0, keys.buffer, 0, values.buffer,
                                            0, storage.buffer, 0, VK_NULL_HANDLE, 0);
            else
                vrdxCmdSortKeyValue(vulkan.commands, row->sorter, row->count, keys.buffer, 0, values.buffer, 0, storage.buffer,
                                    0, VK_NULL_HANDLE, 0);
            barrier(&vulkan, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_ACCESS_HOST_READ_BIT);
            double started = now();
            submit(&vulkan);
            /* The first run compiles. */
            if (run > 0)
                row->milliseconds[run - 1] = now() - started;
            for (uint32_t element = 1; element < row->count; element++)
                if (keys.words[element] < keys.words[element - 1])
                    die("%s: key %u is less than the one before it", row->name, (unsigned)element);
        }
    for (unsigned i = 0; i < used; i++) {
        qsort(rows[i].milliseconds, RUNS, sizeof(double), compare);
        printf("%-13s %9u pairs, %-15s %10.2f ms\n", rows[i].name, (unsigned)rows[i].count,
               rows[i].indirect ? "by the device" : "by the host", rows[i].milliseconds[RUNS / 2]);
    }
    vrdxDestroySorter(plain);
    vrdxDestroySorter(another);
    vrdxDestroySorter(known);
    destroyBuffer(&vulkan, &storage);
    destroyBuffer(&vulkan, &keys);
    destroyBuffer(&vulkan, &values);
    destroyBuffer(&vulkan, &counted);
    closeDevice(&vulkan);
    return finish(used);
}
