// Sorts splats by depth in a command buffer of Vulkan-Hpp (vk::raii), and verifies the result.
//
// vksort.h takes the handles of C, which `*handle` of vk::raii converts to.
#include <vulkan/vulkan_raii.hpp>

#include <vksort.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

// Splats of the scene.
constexpr std::uint32_t kCount = 1U << 17;
constexpr vk::DeviceSize kBytes = sizeof(std::uint32_t) * kCount;

// Throws when a call of vksort fails.
void check(VksortResult result)
{
    if (result < 0)
        throw std::runtime_error(vksortGetLastErrorText());
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

// What a device must be created with. The program's own features stay as they are in `features`, and vksort's are set beside them.
Requirements require(const vk::raii::Instance &instance, const vk::raii::PhysicalDevice &physical, std::uint32_t version,
                     vk::PhysicalDeviceFeatures2 &features)
{
    auto info = sized<VksortRequirementsInfo>();
    info.getInstanceProcAddr = instance.getDispatcher()->vkGetInstanceProcAddr;
    info.instance = static_cast<vk::Instance>(*instance);
    info.physicalDevice = static_cast<vk::PhysicalDevice>(*physical);
    info.apiVersion = version;
    VksortRequirements made = nullptr;
    check(vksortCreateRequirements(&info, &made));
    Requirements requirements(made);
    check(vksortAddDeviceFeatures(made, &static_cast<VkPhysicalDeviceFeatures2 &>(features)));
    return requirements;
}

// A buffer with memory of its own.
struct Buffer {
    Buffer(const vk::raii::Device &device, const vk::PhysicalDeviceMemoryProperties &types, vk::DeviceSize size,
           vk::BufferUsageFlags usage, vk::MemoryPropertyFlags wanted)
        : buffer(device, vk::BufferCreateInfo({}, size, usage))
    {
        const vk::MemoryRequirements needs = buffer.getMemoryRequirements();
        std::uint32_t kind = 0;
        const auto fits = [&] {
            return (needs.memoryTypeBits >> kind & 1U) != 0 && (types.memoryTypes[kind].propertyFlags & wanted) == wanted;
        };
        while (kind < types.memoryTypeCount && !fits())
            ++kind;
        if (kind == types.memoryTypeCount)
            throw std::runtime_error("no memory fits a buffer");
        memory = vk::raii::DeviceMemory(device, vk::MemoryAllocateInfo(needs.size, kind));
        buffer.bindMemory(*memory, 0);
    }

    // A part of the buffer, as vksort takes it.
    [[nodiscard]] VksortBufferRange range(vk::DeviceSize offset, vk::DeviceSize size) const
    {
        return {static_cast<vk::Buffer>(*buffer), offset, size, 0, 0};
    }

    vk::raii::Buffer buffer;
    vk::raii::DeviceMemory memory{nullptr};
};

void barrier(const vk::raii::CommandBuffer &commands, vk::PipelineStageFlags from_stages, vk::AccessFlags from,
             vk::PipelineStageFlags to_stages, vk::AccessFlags to)
{
    commands.pipelineBarrier(from_stages, to_stages, {}, vk::MemoryBarrier(from, to), {}, {});
}

void run()
{
    const vk::raii::Context context;
    const vk::ApplicationInfo application("hpp", 0, nullptr, 0, VK_API_VERSION_1_2);
    const vk::raii::Instance instance(context, vk::InstanceCreateInfo({}, &application));
    const vk::raii::PhysicalDevices devices(instance);
    const vk::raii::PhysicalDevice &physical = devices.at(0);
    const auto families = physical.getQueueFamilyProperties();
    const auto computes = [](const auto &one) { return bool(one.queueFlags & vk::QueueFlagBits::eCompute); };
    const auto found = std::find_if(families.begin(), families.end(), computes);
    if (found == families.end())
        throw std::runtime_error("the device has no compute queue");
    const auto family = static_cast<std::uint32_t>(found - families.begin());

    // The program's features, here timeline semaphores, and a place for each of vksort's.
    vk::StructureChain<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan11Features, vk::PhysicalDeviceVulkan12Features,
                       vk::PhysicalDeviceSubgroupSizeControlFeatures>
        chain;
    chain.get<vk::PhysicalDeviceVulkan12Features>().timelineSemaphore = true;
    const Requirements requirements = require(instance, physical, application.apiVersion, chain.get());
    auto needed = sized<VksortDeviceRequirements>();
    check(vksortGetDeviceRequirements(requirements.get(), &needed));
    // Its structure comes with an extension, which not every device has.
    if (!chain.get<vk::PhysicalDeviceSubgroupSizeControlFeatures>().subgroupSizeControl)
        chain.unlink<vk::PhysicalDeviceSubgroupSizeControlFeatures>();
    const float priority = 1;
    const vk::DeviceQueueCreateInfo queues({}, family, 1, &priority);
    const vk::DeviceCreateInfo created({}, 1, &queues, 0, nullptr, needed.extensionCount, needed.extensions, nullptr,
                                       &chain.get());
    check(vksortCheckDevice(requirements.get(), &static_cast<const VkDeviceCreateInfo &>(created)));
    const vk::raii::Device device(physical, created);
    const vk::raii::Queue queue(device, family, 0);

    // Depths with the indices of their splats, farthest first.
    auto request = sized<VksortSortRequest>();
    request.key = VKSORT_KEY_F32;
    request.value = VKSORT_VALUE_BYTES;
    request.valueBytes = sizeof(std::uint32_t);
    request.order = VKSORT_ORDER_DESCENDING;
    auto info = sized<VksortSorterInfo>();
    info.device = static_cast<vk::Device>(*device);
    info.requirements = requirements.get();
    info.request = &request;
    VksortSorter made_sorter = nullptr;
    check(vksortCreateSorter(&info, &made_sorter));
    const Sorter sorter(made_sorter);
    auto needs = sized<VksortBufferRequirements>();
    check(vksortGetBufferRequirements(sorter.get(), kCount, &needs));

    const auto types = physical.getMemoryProperties();
    const auto copies = vk::BufferUsageFlagBits::eTransferSrc | vk::BufferUsageFlagBits::eTransferDst;
    const auto visible = vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent;
    const auto local = vk::MemoryPropertyFlagBits::eDeviceLocal;
    const Buffer elements(device, types, 2 * kBytes, vk::BufferUsageFlags(needs.keys.usage) | copies, local);
    // Few elements need no scratch, and Vulkan has no buffers of 0 bytes.
    const Buffer scratch(device, types, std::max<vk::DeviceSize>(needs.scratch.size, 4),
                         vk::BufferUsageFlags(needs.scratch.usage) | copies, local);
    const Buffer host(device, types, 2 * kBytes, copies, visible);
    auto buffers = sized<VksortBuffers>();
    buffers.capacity = kCount;
    buffers.keys = elements.range(0, kBytes);
    buffers.values = elements.range(kBytes, kBytes);
    buffers.scratch = scratch.range(0, needs.scratch.size);
    VksortSort made_sort = nullptr;
    check(vksortBind(sorter.get(), &buffers, &made_sort));
    const Sort sort(made_sort);

    std::vector<float> depths(kCount);
    std::vector<std::uint32_t> indices(kCount);
    for (std::uint32_t splat = 0; splat < kCount; ++splat)
        depths[splat] = static_cast<float>(splat * 0x9E3779B9U >> 18U);
    std::iota(indices.begin(), indices.end(), 0U);
    auto *const mapped = static_cast<unsigned char *>(host.memory.mapMemory(0, VK_WHOLE_SIZE));
    std::memcpy(mapped, depths.data(), kBytes);
    std::memcpy(mapped + kBytes, indices.data(), kBytes);

    // A pass before the sort, here an upload; the sort; a pass after it, here a copy back; and barriers between them.
    const vk::raii::CommandPool pool(device, vk::CommandPoolCreateInfo({}, family));
    const vk::raii::CommandBuffers allocated(device, vk::CommandBufferAllocateInfo(*pool, vk::CommandBufferLevel::ePrimary, 1));
    const vk::raii::CommandBuffer &commands = allocated.at(0);
    const vk::BufferCopy whole(0, 0, 2 * kBytes);
    const auto transfer = vk::PipelineStageFlagBits::eTransfer;
    commands.begin(vk::CommandBufferBeginInfo());
    commands.copyBuffer(*host.buffer, *elements.buffer, whole);
    barrier(commands, transfer, vk::AccessFlagBits::eTransferWrite, vk::PipelineStageFlags(VKSORT_INPUT_STAGES),
            vk::AccessFlags(VKSORT_INPUT_ACCESS));
    check(vksortCmdSort(static_cast<vk::CommandBuffer>(*commands), sort.get(), kCount, nullptr));
    barrier(commands, vk::PipelineStageFlags(VKSORT_OUTPUT_STAGES), vk::AccessFlags(VKSORT_OUTPUT_ACCESS), transfer,
            vk::AccessFlagBits::eTransferRead);
    commands.copyBuffer(*elements.buffer, *host.buffer, whole);
    barrier(commands, transfer, vk::AccessFlagBits::eTransferWrite, vk::PipelineStageFlagBits::eHost,
            vk::AccessFlagBits::eHostRead);
    commands.end();
    const vk::CommandBuffer submitted = *commands;
    queue.submit(vk::SubmitInfo(0, nullptr, nullptr, 1, &submitted));
    queue.waitIdle();

    std::stable_sort(indices.begin(), indices.end(), [&](auto a, auto b) { return depths[a] > depths[b]; });
    if (std::memcmp(mapped + kBytes, indices.data(), kBytes) != 0)
        throw std::runtime_error("the indices are not those of a stable sort");
    std::vector<float> sorted;
    for (const std::uint32_t splat : indices)
        sorted.push_back(depths[splat]);
    if (std::memcmp(mapped, sorted.data(), kBytes) != 0)
        throw std::runtime_error("depths and indices differ in their order");
    std::cout << "Vulkan-Hpp: " << kCount << " depths and indices equal those of a stable sort\n";
}

} // namespace

int main()
{
    try {
        run();
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << "error: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
