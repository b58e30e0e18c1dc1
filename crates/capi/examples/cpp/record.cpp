// A sort among a program's own work, on its own device, memory and command buffer: examples/record.rs in C++20.
//
// Usage: record [--device INDEX|NAME] [--validate]
//
// One file to copy from. It takes its Vulkan functions from volk, and vksort takes them from there.
#define VOLK_IMPLEMENTATION
#include <volk.h>

#include <vksort.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

// Splats of the scene.
constexpr std::uint32_t kCount = 500'000;

[[noreturn]] void fail(const std::string &message)
{
    throw std::runtime_error(message);
}

// Throws when a call of Vulkan fails.
void vk(VkResult result, const char *call)
{
    if (result != VK_SUCCESS)
        fail(std::string(call) + " gave " + std::to_string(result));
}

// Throws when a call of vksort fails.
void sorted(VksortResult result)
{
    if (result != VKSORT_SUCCESS)
        fail(vksortGetLastErrorText());
}

// A structure of vksort with its size.
template <typename T>
T sized()
{
    T made{};
    made.structSize = sizeof(T);
    return made;
}

// Handles of vksort that end with their scope.
template <auto destroy>
struct Destroy {
    template <typename T>
    void operator()(T *handle) const
    {
        destroy(handle);
    }
};
using Requirements = std::unique_ptr<VksortRequirements_T, Destroy<vksortDestroyRequirements>>;
using Sorter = std::unique_ptr<VksortSorter_T, Destroy<vksortDestroySorter>>;
using Sort = std::unique_ptr<VksortSort_T, Destroy<vksortDestroySort>>;

// What the command line asks for.
struct Flags {
    std::optional<std::string> device;
    bool validate = false;
    bool help = false;
};

unsigned validation_errors = 0;

VKAPI_ATTR VkBool32 VKAPI_CALL on_error(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data, void *)
{
    if (validation_errors++ == 0)
        std::cerr << data->pMessage << '\n';
    return VK_FALSE;
}

// A buffer with memory of its own.
class Buffer {
public:
    Buffer(VkDevice device, const VkPhysicalDeviceMemoryProperties &types, VkDeviceSize size, VkBufferUsageFlags usage,
           VkMemoryPropertyFlags wanted)
        : device_(device), size_(size), usage_(usage)
    {
        // Few elements need no scratch, and Vulkan has no buffers of 0 bytes.
        if (size == 0)
            return;
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = size;
        info.usage = usage;
        vk(vkCreateBuffer(device, &info, nullptr, &buffer_), "vkCreateBuffer");
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(device, buffer_, &needs);
        std::uint32_t kind = 0;
        const auto fits = [&] {
            return (needs.memoryTypeBits >> kind & 1) && (types.memoryTypes[kind].propertyFlags & wanted) == wanted;
        };
        while (kind < types.memoryTypeCount && !fits())
            ++kind;
        if (kind == types.memoryTypeCount)
            fail("no memory fits a buffer of " + std::to_string(size) + " bytes");
        // Kernels use addresses where descriptors do not suffice.
        VkMemoryAllocateFlagsInfo addressed{};
        addressed.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
        if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0)
            addressed.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        VkMemoryAllocateInfo memory{};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        memory.pNext = &addressed;
        memory.allocationSize = needs.size;
        memory.memoryTypeIndex = kind;
        vk(vkAllocateMemory(device, &memory, nullptr, &memory_), "vkAllocateMemory");
        vk(vkBindBufferMemory(device, buffer_, memory_, 0), "vkBindBufferMemory");
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer()
    {
        vkDestroyBuffer(device_, buffer_, nullptr);
        vkFreeMemory(device_, memory_, nullptr);
    }

    [[nodiscard]] VkBuffer get() const { return buffer_; }
    [[nodiscard]] VkDeviceSize size() const { return size_; }

    // The buffer as vksort takes it; with its usage, flags that are missing are found when the sort is bound.
    [[nodiscard]] VksortBufferRange range() const { return {buffer_, 0, size_, usage_, 0}; }

    [[nodiscard]] std::span<std::uint32_t> map() const
    {
        void *mapped = nullptr;
        vk(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
        return {static_cast<std::uint32_t *>(mapped), static_cast<std::size_t>(size_ / 4)};
    }

private:
    VkDevice device_;
    VkDeviceSize size_;
    VkBufferUsageFlags usage_;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

// The program's own instance and device, created with what vksort requires.
class Vulkan {
public:
    explicit Vulkan(const Flags &flags)
    {
        vk(volkInitialize(), "volkInitialize");
        create_instance(flags.validate);
        choose(flags.device);
        create_device();
    }
    Vulkan(const Vulkan &) = delete;
    Vulkan &operator=(const Vulkan &) = delete;
    ~Vulkan()
    {
        vkDestroyDevice(device, nullptr);
        if (messenger_ != VK_NULL_HANDLE)
            vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
        vkDestroyInstance(instance_, nullptr);
    }

    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    VkPhysicalDeviceMemoryProperties memory{};
    std::uint32_t family = 0;
    std::uint32_t timestamp_bits = 0;
    float timestamp_period = 0;
    Requirements requirements;

private:
    void create_instance(bool validate)
    {
        auto needed = sized<VksortInstanceRequirements>();
        sorted(vksortGetInstanceRequirements(vkGetInstanceProcAddr, &needed));
        std::vector<const char *> extensions(needed.extensions, needed.extensions + needed.extensionCount);
        const char *layer = "VK_LAYER_KHRONOS_validation";
        const VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
        VkValidationFeaturesEXT checks{};
        checks.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
        checks.enabledValidationFeatureCount = 1;
        checks.pEnabledValidationFeatures = &synchronization;
        VkApplicationInfo application{};
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        application.apiVersion = needed.apiVersion;
        VkInstanceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        info.flags = needed.flags;
        info.pApplicationInfo = &application;
        if (validate) {
            extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
            info.pNext = &checks;
            info.enabledLayerCount = 1;
            info.ppEnabledLayerNames = &layer;
        }
        info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
        info.ppEnabledExtensionNames = extensions.data();
        vk(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
        volkLoadInstance(instance_);
        if (validate) {
            VkDebugUtilsMessengerCreateInfoEXT messages{};
            messages.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
            messages.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
            messages.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
            messages.pfnUserCallback = on_error;
            vk(vkCreateDebugUtilsMessengerEXT(instance_, &messages, nullptr, &messenger_), "vkCreateDebugUtilsMessengerEXT");
        }
    }

    // The physical device of that index or with that text in its name; the first one without a wish.
    void choose(const std::optional<std::string> &wanted)
    {
        std::uint32_t count = 0;
        vk(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
        std::vector<VkPhysicalDevice> devices(count);
        vk(vkEnumeratePhysicalDevices(instance_, &count, devices.data()), "vkEnumeratePhysicalDevices");
        std::string names;
        for (std::uint32_t index = 0; index < count; ++index) {
            VkPhysicalDeviceProperties properties;
            vkGetPhysicalDeviceProperties(devices[index], &properties);
            const std::string name = properties.deviceName, number = std::to_string(index);
            if (!wanted || *wanted == number || name.find(*wanted) != std::string::npos) {
                std::cout << "device     " << name << '\n';
                physical_ = devices[index];
                timestamp_period = properties.limits.timestampPeriod;
                return;
            }
            names += (names.empty() ? "" : ", ") + number + ": " + name;
        }
        fail("no Vulkan device is \"" + wanted.value_or("any") + "\", there are " + names);
    }

    void create_device()
    {
        vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
        std::uint32_t count = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
        std::vector<VkQueueFamilyProperties> families(count);
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
        const auto found = std::ranges::find_if(
            families, [](const auto &candidate) { return (candidate.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; });
        if (found == families.end())
            fail("the device has no compute queue among " + std::to_string(count) + " families");
        family = static_cast<std::uint32_t>(found - families.begin());
        timestamp_bits = found->timestampValidBits;

        auto info = sized<VksortRequirementsInfo>();
        info.getInstanceProcAddr = vkGetInstanceProcAddr;
        info.instance = instance_;
        info.physicalDevice = physical_;
        VksortRequirements handle = nullptr;
        sorted(vksortCreateRequirements(&info, &handle));
        requirements.reset(handle);
        auto needed = sized<VksortDeviceRequirements>();
        sorted(vksortGetDeviceRequirements(handle, &needed));

        // Features of the program's own, to which those of vksort are added. `needed.features` has them alone.
        VkPhysicalDeviceVulkan12Features v12{};
        v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        v12.timelineSemaphore = VK_TRUE;
        VkPhysicalDeviceVulkan11Features v11{};
        v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
        v11.pNext = &v12;
        VkPhysicalDeviceSubgroupSizeControlFeatures control{};
        control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
        VkPhysicalDeviceFeatures2 features{};
        features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        features.pNext = &v11;
        const std::span extensions(needed.extensions, needed.extensionCount);
        const auto named = [](std::string_view name) {
            return [name](const char *other) { return name == other; };
        };
        if (std::ranges::any_of(extensions, named(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)))
            v12.pNext = &control;
        sorted(vksortAddDeviceFeatures(handle, &features));

        const float priority = 1;
        VkDeviceQueueCreateInfo queues{};
        queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queues.queueFamilyIndex = family;
        queues.queueCount = 1;
        queues.pQueuePriorities = &priority;
        VkDeviceCreateInfo create{};
        create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        create.pNext = &features;
        create.queueCreateInfoCount = 1;
        create.pQueueCreateInfos = &queues;
        create.enabledExtensionCount = needed.extensionCount;
        create.ppEnabledExtensionNames = needed.extensions;
        vk(vkCreateDevice(physical_, &create, nullptr, &device), "vkCreateDevice");
        sorted(vksortCheckDevice(handle, &create));
        volkLoadDevice(device);
        vkGetDeviceQueue(device, family, 0, &queue);
    }

    VkInstance instance_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
};

void barrier(VkCommandBuffer commands, VkPipelineStageFlags from_stages, VkAccessFlags from, VkPipelineStageFlags to_stages,
             VkAccessFlags to)
{
    VkMemoryBarrier memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = from;
    memory.dstAccessMask = to;
    vkCmdPipelineBarrier(commands, from_stages, to_stages, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void copy(VkCommandBuffer commands, const Buffer &from, VkDeviceSize from_offset, const Buffer &to, VkDeviceSize to_offset,
          VkDeviceSize size)
{
    const VkBufferCopy region{from_offset, to_offset, size};
    vkCmdCopyBuffer(commands, from.get(), to.get(), 1, &region);
}

// Sorts depths with the indices of their splats, farthest first.
void run(const Vulkan &vulkan)
{
    const VkDevice device = vulkan.device;
    std::vector<float> depths(kCount);
    std::vector<std::uint32_t> input(2 * kCount);
    for (std::uint32_t splat = 0; splat < kCount; ++splat) {
        depths[splat] = static_cast<float>(splat * 0x9E3779B9U >> 8) / 1e5F;
        std::memcpy(&input[splat], &depths[splat], sizeof(float));
        input[kCount + splat] = splat;
    }

    // Once: the sorter, its buffers, and the sort that ties them.
    auto request = sized<VksortSortRequest>();
    request.key = VKSORT_KEY_F32;
    request.value = VKSORT_VALUE_BYTES;
    request.valueBytes = sizeof(std::uint32_t);
    request.order = VKSORT_ORDER_DESCENDING;
    auto sorter_info = sized<VksortSorterInfo>();
    sorter_info.device = device;
    sorter_info.requirements = vulkan.requirements.get();
    sorter_info.request = &request;
    VksortSorter sorter_handle = nullptr;
    sorted(vksortCreateSorter(&sorter_info, &sorter_handle));
    const Sorter sorter(sorter_handle);
    auto needs = sized<VksortBufferRequirements>();
    sorted(vksortGetBufferRequirements(sorter.get(), kCount, &needs));
    const VkBufferUsageFlags copies = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const Buffer keys(device, vulkan.memory, needs.keys.size, needs.keys.usage | copies, local);
    const Buffer values(device, vulkan.memory, needs.values.size, needs.values.usage | copies, local);
    const Buffer scratch(device, vulkan.memory, needs.scratch.size, needs.scratch.usage, local);
    const Buffer host(device, vulkan.memory, keys.size() + values.size(), copies, visible);
    auto buffers = sized<VksortBuffers>();
    buffers.capacity = kCount;
    buffers.keys = keys.range();
    buffers.values = values.range();
    buffers.scratch = scratch.range();
    VksortSort sort_handle = nullptr;
    sorted(vksortBind(sorter.get(), &buffers, &sort_handle));
    const Sort sort(sort_handle);
    VksortAlgorithm algorithm = VKSORT_ALGORITHM_AUTO;
    sorted(vksortGetAlgorithm(sort.get(), kCount, &algorithm));
    std::cout << "algorithm  " << vksortGetAlgorithmName(algorithm) << '\n';

    const std::span<std::uint32_t> mapped = host.map();
    std::ranges::copy(input, mapped.begin());
    VksortQueryRange queries{};
    sorted(vksortGetQueryCount(sort.get(), kCount, &queries.count));
    VkQueryPoolCreateInfo query_info{};
    query_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = queries.count;
    vk(vkCreateQueryPool(device, &query_info, nullptr, &queries.pool), "vkCreateQueryPool");
    const bool timed = vulkan.timestamp_bits > 0 && vulkan.timestamp_period > 0;
    VkCommandPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool_info.queueFamilyIndex = vulkan.family;
    VkCommandPool pool = VK_NULL_HANDLE;
    vk(vkCreateCommandPool(device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    vk(vkAllocateCommandBuffers(device, &allocate, &commands), "vkAllocateCommandBuffers");

    // Each frame: a pass before, here an upload; the sort; a pass after, here a copy back; barriers between them.
    const VkAccessFlags transfers = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    vk(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    copy(commands, host, 0, keys, 0, keys.size());
    copy(commands, host, keys.size(), values, 0, values.size());
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, transfers, VKSORT_INPUT_STAGES, VKSORT_INPUT_ACCESS);
    sorted(vksortCmdSort(commands, sort.get(), kCount, timed ? &queries : nullptr));
    barrier(commands, VKSORT_OUTPUT_STAGES, VKSORT_OUTPUT_ACCESS, VK_PIPELINE_STAGE_TRANSFER_BIT, transfers);
    copy(commands, keys, 0, host, 0, keys.size());
    copy(commands, values, 0, host, keys.size(), values.size());
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_HOST_READ_BIT);
    vk(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    std::vector<std::uint32_t> output;
    // Once to warm up, as some drivers compile late, and once to time.
    for (int frame = 0; frame < 2; ++frame) {
        VkSubmitInfo submit{};
        submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands;
        vk(vkQueueSubmit(vulkan.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
        vk(vkQueueWaitIdle(vulkan.queue), "vkQueueWaitIdle");
        output.assign(mapped.begin(), mapped.end());
        std::ranges::copy(input, mapped.begin());
    }

    if (timed) {
        std::vector<std::uint64_t> ticks(queries.count);
        vk(vkGetQueryPoolResults(device, queries.pool, 0, queries.count, 8 * ticks.size(), ticks.data(), 8,
                                 VK_QUERY_RESULT_64_BIT),
           "vkGetQueryPoolResults");
        std::vector<VksortStepTime> steps(queries.count - 1);
        auto step_count = static_cast<std::uint32_t>(steps.size());
        sorted(vksortGetStepTimes(sort.get(), kCount, queries.count, ticks.data(), vulkan.timestamp_bits, &step_count,
                                  steps.data()));
        for (const auto &step : std::span(steps).first(step_count))
            std::cout << "    " << std::left << std::setw(16) << step.name << ' ' << std::right << std::setw(9) << std::fixed
                      << std::setprecision(1) << step.nanoseconds / 1e3 << " us\n";
    }
    vkDestroyQueryPool(device, queries.pool, nullptr);
    vkDestroyCommandPool(device, pool, nullptr);

    std::vector<std::uint32_t> expected(kCount);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, std::greater{}, [&](std::uint32_t splat) { return depths[splat]; });
    if (!std::ranges::equal(std::span(output).subspan(kCount), expected))
        fail("the indices are not those of a stable sort on the CPU");
    for (std::uint32_t index = 0; index < kCount; ++index)
        if (output[index] != input[expected[index]])
            fail("depth " + std::to_string(index) + " is not that of its index");
    std::cout << "verified   " << kCount << " depths and indices equal those of a stable sort on the CPU\n";
}

Flags parse(std::span<char *> arguments)
{
    Flags flags;
    for (std::size_t index = 1; index < arguments.size(); ++index) {
        const std::string_view argument = arguments[index];
        if (argument == "--device" && index + 1 < arguments.size())
            flags.device = arguments[++index];
        else if (argument == "--validate")
            flags.validate = true;
        else if (argument == "--help")
            flags.help = true;
        else
            fail("unknown argument " + std::string(argument) + ", allowed are --device INDEX|NAME, --validate and --help");
    }
    return flags;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const Flags flags = parse({argv, static_cast<std::size_t>(argc)});
        if (flags.help) {
            std::cout << "Usage: record [--device INDEX|NAME] [--validate]\n";
            return 0;
        }
        {
            const Vulkan vulkan(flags);
            run(vulkan);
        }
        if (validation_errors > 0)
            fail("the validation layer reports " + std::to_string(validation_errors) + " errors");
        return 0;
    } catch (const std::exception &error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
}
