// Programs that use vk_radix_sort.h, as far as they touch the sort, on vksort.
//
// Each function is the sequence of calls of a published program: how it includes the header, what its device and its storage are,
// where the count is, which barriers it records. What is sorted is compared in full with a stable sort of the host.
#ifdef CLIENTS_USE_VOLK
#define VOLK_IMPLEMENTATION
#endif
#include "clients.h"

#define VRDX_ERROR(text) failed(text)
#define VRDX_IMPLEMENTATION
#include <vk_radix_sort.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <ctime>
#include <memory>
#include <numeric>
#include <thread>

constexpr uint32_t CAPACITY = 40000;
constexpr VkBufferUsageFlags STORAGE = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;

static std::atomic<unsigned> failures;
static char failure[512];

void failed(const char *text)
{
    failures++;
    snprintf(failure, sizeof failure, "%s", text);
}

// Sizes and offsets in one buffer are multiples of any alignment that a device may ask for.
static VkDeviceSize aligned(VkDeviceSize bytes)
{
    return (bytes + 255) / 256 * 256;
}

Guarded::Guarded(const Vulkan &from, VkDeviceSize size, VkBufferUsageFlags usage)
    : vulkan(from), before(256), bytes(size), made(createBuffer(&from, before + size + 256, usage))
{
    std::fill_n(made.words, (before + bytes + 256) / 4, GUARD);
}

Guarded::~Guarded()
{
    destroyBuffer(&vulkan, &made);
}

void Guarded::check(const char *name) const
{
    for (VkDeviceSize i = 0; i < 64; i++)
        if (made.words[i] != GUARD || made.words[(before + bytes) / 4 + i] != GUARD)
            die("%s: a word around the bytes of the buffer was written", name);
}

Elements::Elements(const Vulkan &vulkan, uint32_t most, bool one, uint64_t &random)
    : capacity(most), together(one), apart(aligned(4 * VkDeviceSize(most)) + 256),
      // With a word behind both for a count.
      first(vulkan, one ? 2 * apart + 4 : 4 * VkDeviceSize(most), STORAGE | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
            VK_BUFFER_USAGE_TRANSFER_DST_BIT),
      second(vulkan, 4 * VkDeviceSize(most), STORAGE), input(most), state(random)
{
}

void Elements::fill(unsigned bits)
{
    for (uint32_t i = 0; i < capacity; i++) {
        keys()[i] = input[i] = randomWord(&state) >> (32 - bits);
        values()[i] = i;
    }
}

void Elements::check(const char *who, uint32_t count, bool hasValues) const
{
    if (failures > 0)
        die("%s: %s", who, failure);
    count = std::min(count, capacity);
    std::vector<uint32_t> order(capacity);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.begin() + count, [&](uint32_t a, uint32_t b) { return input[a] < input[b]; });
    for (uint32_t i = 0; i < capacity; i++)
        if (keys()[i] != input[order[i]] || values()[i] != (hasValues ? order[i] : i))
            die("%s: element %u of %u is %u with value %u, a stable sort gives %u with value %u", who, i, count, keys()[i],
                values()[i], input[order[i]], hasValues ? order[i] : i);
    first.check(who);
    second.check(who);
    for (VkDeviceSize i = capacity; together && i < apart / 4; i++)
        if (keys()[i] != GUARD || values()[i] != GUARD)
            die("%s: a word behind the keys or behind the values was written", who);
}

void beforeSort(const Vulkan &vulkan, VkBuffer count, VkDeviceSize offset, uint32_t number)
{
    begin(&vulkan);
    if (count)
        vkCmdUpdateBuffer(vulkan.commands, count, offset, sizeof number, &number);
    barrier(&vulkan, VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_HOST_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT);
}

void afterSort(const Vulkan &vulkan)
{
    barrier(&vulkan, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_HOST_READ_BIT);
    submit(&vulkan);
}

constexpr VkBufferUsageFlags COUNTED = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
// Counts on the device, the last one beyond what the buffers hold.
constexpr uint32_t COUNTS[] = {0, 1, 2, 4097, 20000, CAPACITY, CAPACITY + 7, UINT32_MAX};

static VrdxSorter createSorter(const Vulkan &vulkan)
{
    VrdxSorterCreateInfo info = {};
    info.physicalDevice = vulkan.physical;
    info.device = vulkan.device;
    VrdxSorter sorter = VK_NULL_HANDLE;
    vrdxCreateSorter(&info, &sorter);
    return sorter;
}

// jaesung-cs/vkgs: one sorter and one storage for the largest scene, the number of visible splats on the device, NULL for the
// pool.
static void viewer(const Vulkan &vulkan, uint64_t &state)
{
    VrdxSorter sorter = createSorter(vulkan);
    VrdxSorterStorageRequirements requirements;
    vrdxGetSorterKeyValueStorageRequirements(sorter, CAPACITY, &requirements);
    Guarded storage(vulkan, requirements.size, requirements.usage), count(vulkan, 4, STORAGE | COUNTED);
    Elements elements(vulkan, CAPACITY, false, state);
    for (uint32_t number : COUNTS) {
        elements.fill(24);
        beforeSort(vulkan, count.made.buffer, count.before, number);
        vrdxCmdSortKeyValueIndirect(vulkan.commands, sorter, CAPACITY, count.made.buffer, count.before, elements.keysBuffer(),
                                    elements.keysOffset(), elements.valuesBuffer(), elements.valuesOffset(),
                                    storage.made.buffer, storage.before, NULL, 0);
        afterSort(vulkan);
        elements.check("viewer", number, true);
        storage.check("storage of viewer");
        count.check("count of viewer");
    }
    vrdxDestroySorter(sorter);
}

// nvpro-samples/vk_gaussian_splatting: the count is a field of the arguments of an indirect draw, at an offset that is a multiple
// of 4 alone. The sorter is destroyed and created again with each number of splats.
static void splatting(const Vulkan &vulkan, uint64_t &state)
{
    struct Arguments {
        uint32_t indexCount, instanceCount, firstIndex;
    };
    VrdxSorter sorter = VK_NULL_HANDLE;
    for (uint32_t splats : {300u, 5000u, CAPACITY}) {
        if (sorter != VK_NULL_HANDLE)
            vrdxDestroySorter(sorter);
        const VrdxSorterCreateInfo info{.physicalDevice = vulkan.physical, .device = vulkan.device, .pipelineCache = {}};
        vrdxCreateSorter(&info, &sorter);
        VrdxSorterStorageRequirements requirements;
        vrdxGetSorterKeyValueStorageRequirements(sorter, splats, &requirements);
        Guarded storage(vulkan, requirements.size, requirements.usage);
        Guarded arguments(vulkan, sizeof(Arguments), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | STORAGE | COUNTED);
        VkDeviceSize at = arguments.before + offsetof(Arguments, instanceCount);
        Elements elements(vulkan, splats, false, state);
        elements.fill(32);
        beforeSort(vulkan, arguments.made.buffer, at, splats - 100);
        vrdxCmdSortKeyValueIndirect(vulkan.commands, sorter, splats, arguments.made.buffer, at, elements.keysBuffer(),
                                    elements.keysOffset(), elements.valuesBuffer(), elements.valuesOffset(),
                                    storage.made.buffer, storage.before, VK_NULL_HANDLE, 0);
        // Draws follow.
        barrier(&vulkan, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
        afterSort(vulkan);
        elements.check("splatting", splats - 100, true);
        storage.check("storage of splatting");
        if (arguments.words()[0] != GUARD || arguments.words()[1] != splats - 100 || arguments.words()[2] != GUARD)
            die("splatting: the arguments of the draw were written");
    }
    vrdxDestroySorter(sorter);
}

// nvpro-samples/vk_lod_clusters and the bench of vulkan_radix_sort: keys, values and count in one buffer.
static void clusters(const Vulkan &vulkan, uint64_t &state)
{
    VrdxSorter sorter = createSorter(vulkan);
    VrdxSorterStorageRequirements requirements;
    vrdxGetSorterKeyValueStorageRequirements(sorter, CAPACITY, &requirements);
    Guarded storage(vulkan, requirements.size, requirements.usage);
    Elements elements(vulkan, CAPACITY, true, state);
    VkBuffer buffer = elements.keysBuffer();
    for (uint32_t number : COUNTS) {
        VkDeviceSize count = elements.keysOffset() + 2 * elements.apart;
        elements.fill(32);
        beforeSort(vulkan, buffer, count, number);
        vrdxCmdSortKeyValueIndirect(vulkan.commands, sorter, CAPACITY, buffer, count, buffer, elements.keysOffset(), buffer,
                                    elements.valuesOffset(), storage.made.buffer, storage.before, nullptr, 0);
        afterSort(vulkan);
        elements.check("clusters, indirect", number, true);
        elements.fill(32);
        beforeSort(vulkan, VK_NULL_HANDLE, 0, 0);
        vrdxCmdSortKeyValue(vulkan.commands, sorter, std::min(number, CAPACITY), buffer, elements.keysOffset(), buffer,
                            elements.valuesOffset(), storage.made.buffer, storage.before, nullptr, 0);
        afterSort(vulkan);
        elements.check("clusters", number, true);
    }
    storage.check("storage of clusters");
    vrdxDestroySorter(sorter);
}

// hlavacs/ViennaVulkanEngine: a header that declares the sorter (clients.h), a storage for each object, and all sorts in one
// command buffer with timestamps between them.
static void engine(const Vulkan &vulkan, uint64_t &state)
{
    constexpr unsigned OBJECTS = 3;
    VrdxSorter sorter = createSorter(vulkan);
    VkQueryPool pool;
    VkQueryPoolCreateInfo pools = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = OBJECTS + 1};
    VK(vkCreateQueryPool(vulkan.device, &pools, nullptr, &pool));
    std::vector<std::unique_ptr<Elements>> objects;
    std::vector<std::unique_ptr<Guarded>> storages;
    Guarded counts(vulkan, 4 * OBJECTS, STORAGE | COUNTED);
    for (unsigned i = 0; i < OBJECTS; i++) {
        objects.push_back(std::make_unique<Elements>(vulkan, 1000 + 9000 * i, false, state));
        objects[i]->fill(16);
        counts.words()[i] = objects[i]->capacity / 2;
        VrdxSorterStorageRequirements requirements;
        vrdxGetSorterKeyValueStorageRequirements(sorter, objects[i]->capacity, &requirements);
        storages.push_back(std::make_unique<Guarded>(vulkan, requirements.size, requirements.usage));
    }
    beforeSort(vulkan, VK_NULL_HANDLE, 0, 0);
    vkCmdResetQueryPool(vulkan.commands, pool, 0, OBJECTS + 1);
    for (unsigned i = 0; i < OBJECTS; i++) {
        vkCmdWriteTimestamp(vulkan.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, pool, i);
        vrdxCmdSortKeyValueIndirect(vulkan.commands, sorter, objects[i]->capacity, counts.made.buffer, counts.before + 4 * i,
                                    objects[i]->keysBuffer(), objects[i]->keysOffset(), objects[i]->valuesBuffer(),
                                    objects[i]->valuesOffset(), storages[i]->made.buffer, storages[i]->before,
                                    VK_NULL_HANDLE, 0);
    }
    vkCmdWriteTimestamp(vulkan.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, pool, OBJECTS);
    afterSort(vulkan);
    for (unsigned i = 0; i < OBJECTS; i++) {
        objects[i]->check("engine", objects[i]->capacity / 2, true);
        storages[i]->check("storage of engine");
    }
    counts.check("counts of engine");
    vkDestroyQueryPool(vulkan.device, pool, nullptr);
    vrdxDestroySorter(sorter);
}

// TamasPetii/SynapseEngine: passes with sorters of their own, of two versions, on storage without the usage of indirect
// dispatches.
static void passes(const Vulkan &vulkan, uint64_t &state)
{
    SortPass pass(vulkan);
    VrdxSorter older = createSorter(vulkan);
    Guarded storage(vulkan, pass.storageSize(CAPACITY), STORAGE | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    Guarded count(vulkan, 4, STORAGE | COUNTED);
    Elements elements(vulkan, CAPACITY, false, state);
    for (uint32_t number : COUNTS) {
        // The count is at the start of its buffer there.
        elements.fill(30);
        beforeSort(vulkan, count.made.buffer, 0, number);
        pass.record(elements, count.made.buffer, storage);
        afterSort(vulkan);
        elements.check("pass of 0.5", number, true);
        elements.fill(30);
        beforeSort(vulkan, VK_NULL_HANDLE, 0, 0);
        vrdxCmdSortKeyValue(vulkan.commands, older, std::min(number, CAPACITY), elements.keysBuffer(), elements.keysOffset(),
                            elements.valuesBuffer(), elements.valuesOffset(), storage.made.buffer, storage.before,
                            VK_NULL_HANDLE, 0);
        afterSort(vulkan);
        elements.check("pass of 0.3", number, true);
    }
    storage.check("storage of passes");
    vrdxDestroySorter(older);
}

// Simulators on version 0.5: the result of create is checked, fields that are not needed are left out, and the bench asks for
// times.
static void simulator(const Vulkan &vulkan, uint64_t &state)
{
    VrdxSorterCreateInfo sorterInfo{};
    sorterInfo.physicalDevice = vulkan.physical;
    sorterInfo.device = vulkan.device;
    VrdxSorter sorter = nullptr;
    if (vrdxCreateSorter(&sorterInfo, &sorter) != VK_SUCCESS)
        die("simulator: %s", failure);
    VkQueryPool pool;
    VkQueryPoolCreateInfo pools = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 15};
    VK(vkCreateQueryPool(vulkan.device, &pools, nullptr, &pool));
    for (VrdxSortMode mode : {VRDX_SORT_MODE_KEYS_ONLY, VRDX_SORT_MODE_KEY_VALUE}) {
        VrdxSorterStorageRequirements requirements;
        vrdxGetSorterStorageRequirements(sorter, CAPACITY, mode, &requirements);
        Guarded storage(vulkan, requirements.size, requirements.usage);
        Elements elements(vulkan, CAPACITY, false, state);
        elements.fill(20);
        beforeSort(vulkan, VK_NULL_HANDLE, 0, 0);
        vkCmdResetQueryPool(vulkan.commands, pool, 0, 15);
        VrdxSortInfo info = {
            .elementCount = CAPACITY,
            .keysBuffer = elements.keysBuffer(),
            .keysOffset = elements.keysOffset(),
            .storageBuffer = storage.made.buffer,
            .storageOffset = storage.before,
            .queryPool = pool,
        };
        if (mode == VRDX_SORT_MODE_KEY_VALUE) {
            info.valuesBuffer = elements.valuesBuffer();
            info.valuesOffset = elements.valuesOffset();
        }
        vrdxCmdSort(vulkan.commands, sorter, &info);
        afterSort(vulkan);
        elements.check("simulator", CAPACITY, mode == VRDX_SORT_MODE_KEY_VALUE);
        storage.check("storage of simulator");
        uint64_t ticks[15];
        VK(vkGetQueryPoolResults(vulkan.device, pool, 0, 15, sizeof ticks, ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT));
        if (!std::is_sorted(ticks, ticks + 15))
            die("simulator: a timestamp lies before the one in front of it");
    }
    vkDestroyQueryPool(vulkan.device, pool, nullptr);
    vrdxDestroySorter(sorter);
}

// vkgs for headsets: a sorter for each view and level, of which the first alone builds pipelines.
static void views(const Vulkan &vulkan, uint64_t &state)
{
    constexpr double MOST_SECONDS = 0.02;
    VrdxSorter sorters[4];
    for (VrdxSorter &sorter : sorters) {
        std::clock_t started = std::clock();
        sorter = createSorter(vulkan);
        double seconds = double(std::clock() - started) / CLOCKS_PER_SEC;
        printf("sorter %d: %.3f s\n", int(&sorter - sorters), seconds);
        if (&sorter != sorters && seconds > MOST_SECONDS)
            die("views: another sorter takes %.3f s, allowed are %.3f", seconds, MOST_SECONDS);
    }
    // In the order of the array the first one goes before those that use its pipelines.
    for (VrdxSorter &sorter : sorters) {
        VrdxSorterStorageRequirements requirements;
        vrdxGetSorterStorageRequirements(sorter, CAPACITY, &requirements);
        Guarded storage(vulkan, requirements.size, requirements.usage);
        Elements elements(vulkan, CAPACITY, false, state);
        elements.fill(32);
        beforeSort(vulkan, VK_NULL_HANDLE, 0, 0);
        vrdxCmdSort(vulkan.commands, sorter, CAPACITY, elements.keysBuffer(), elements.keysOffset(), storage.made.buffer,
                    storage.before, nullptr, 0);
        afterSort(vulkan);
        elements.check("views", CAPACITY, false);
        vrdxDestroySorter(sorter);
    }
}

// Threads that load scenes create and destroy sorters at the same time, also the first and the last one of the device.
static void loaders(const Vulkan &vulkan, uint64_t &state)
{
    std::vector<std::thread> threads;
    std::atomic<unsigned> made = 0;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int scene = 0; scene < 3; scene++) {
                VrdxSorter sorter = createSorter(vulkan);
                VrdxSorterStorageRequirements requirements;
                vrdxGetSorterStorageRequirements(sorter, CAPACITY, &requirements);
                made += requirements.size > 0;
                vrdxDestroySorter(sorter);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    if (made != 12)
        die("loaders: %u of 12 sorters can be used", made.load());
    viewer(vulkan, state);
}

// vkgs of version 0.0.0, whose device has addresses of buffers and no pushed descriptors: one line names what to enable, and
// nothing is recorded with the null sorter.
static void withoutPushing(const Vulkan &vulkan, uint64_t &state)
{
    VrdxSorterCreateInfo info{};
    info.physicalDevice = vulkan.physical;
    info.device = vulkan.device;
    VrdxSorter sorter = reinterpret_cast<VrdxSorter>(&info);
    if (vrdxCreateSorter(&info, &sorter) != VK_ERROR_FEATURE_NOT_PRESENT || sorter != nullptr || failures != 1 ||
        !strstr(failure, "VK_KHR_push_descriptor"))
        die("a device without pushed descriptors gives the sorter %p and \"%s\"", static_cast<void *>(sorter), failure);
    VrdxSorterStorageRequirements requirements;
    vrdxGetSorterKeyValueStorageRequirements(sorter, CAPACITY, &requirements);
    if (requirements.size != 0 || requirements.usage != 0)
        die("a null sorter needs storage");
    Elements elements(vulkan, CAPACITY, false, state);
    elements.fill(32);
    beforeSort(vulkan, VK_NULL_HANDLE, 0, 0);
    vrdxCmdSortKeyValue(vulkan.commands, sorter, CAPACITY, elements.keysBuffer(), elements.keysOffset(), elements.valuesBuffer(),
                        elements.valuesOffset(), elements.keysBuffer(), 0, nullptr, 0);
    VrdxSortInfo sort{};
    vrdxCmdSort(vulkan.commands, sorter, &sort);
    vrdxDestroySorter(sorter);
    if (failures != 4)
        die("%u calls on a null sorter give a text, expected are 3", failures.load() - 1);
    failures = 0;
    afterSort(vulkan);
    elements.check("without pushing", 0, true);
}

int main()
{
    uint64_t state = seed(uint64_t(std::time(nullptr)));
    Vulkan vulkan{};
    openInstance(&vulkan);
    const char *extensions[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
    VkDeviceCreateInfo info = {};
    info.ppEnabledExtensionNames = extensions;
    unsigned passed = 0;

    // Devices of all programs one after the other: the handle of one may be that of the next.
    for (auto client : {viewer, splatting, clusters, engine, passes, simulator, views, loaders}) {
        info.enabledExtensionCount = 1;
        openDevice(&vulkan, info);
        client(vulkan, state);
        closeDevice(&vulkan);
        passed++;
    }
    info.enabledExtensionCount = 0;
    openDevice(&vulkan, info);
    withoutPushing(vulkan, state);
    closeDevice(&vulkan);
    return finish(passed + 1);
}
