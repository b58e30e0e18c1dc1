"""Sorts splats by depth in a command buffer of the package vulkan, through the library for C, and verifies the result.

Usage: python3 main.py DIR, where DIR is what crates/capi/install.sh --prefix was given. It takes the package vulkan of PyPI, which
brings cffi. What this binding takes is `load` and `number`; the rest are the steps of every program.
"""

import array
import re
import sys

import vulkan as vk
from cffi import FFI

COUNT = 1 << 17  # splats of the scene


def load(prefix):
    """The functions and types of vksort.h. Vulkan's handles are numbers in it, as each FFI has types of its own."""
    ffi = FFI()
    ffi.cdef("""
        typedef uint32_t VkFlags; typedef uint64_t VkDeviceSize; typedef void *PFN_vkGetInstanceProcAddr;
        typedef uintptr_t VkInstance, VkPhysicalDevice, VkDevice, VkCommandBuffer;
        typedef uint64_t VkBuffer, VkQueryPool, VkPipelineCache, VkDescriptorSet, VkDescriptorSetLayout;
        typedef struct VkDeviceCreateInfo VkDeviceCreateInfo;
        typedef struct VkPhysicalDeviceFeatures2 VkPhysicalDeviceFeatures2;
    """)
    with open(f"{prefix}/include/vksort.h", encoding="utf-8") as header:
        text = header.read()
    # Numbers stay, all other lines for the preprocessor go, and so does the block for C++.
    text = re.sub(r"^#(?!define \w+ -?\d+$).*$", "", text, flags=re.M)
    text = re.sub(r"\bVKSORT_(API|CALL)\b", "", text)
    text = re.sub(r'^extern "C" \{$|^\} *// extern "C"$', "", text, flags=re.M)
    ffi.cdef(text)
    return ffi, ffi.dlopen(f"{prefix}/lib/libvksort.so")


def number(handle):
    """A handle of the package as a number."""
    return int(vk.ffi.cast("uintptr_t", handle))


def main(prefix):
    ffi, lib = load(prefix)

    def check(result):
        if result < 0:
            raise RuntimeError(ffi.string(lib.vksortGetLastErrorText()).decode())

    def make(function, handle, *arguments):
        made = ffi.new(f"{handle} *")
        check(function(*arguments, made))
        return made[0]

    def sized(name, **fields):
        return ffi.new(f"{name} *", {"structSize": ffi.sizeof(name), **fields})

    application = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 2, 0))
    instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
    physical = vk.vkEnumeratePhysicalDevices(instance)[0]
    families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
    family = next(i for i, one in enumerate(families) if one.queueFlags & vk.VK_QUEUE_COMPUTE_BIT)

    # The device, with what vksort needs. For a device that exists, pass its VkDeviceCreateInfo as deviceCreateInfo.
    get = ffi.cast("void *", number(vk.ffi.addressof(vk.lib, "vkGetInstanceProcAddr")))
    info = sized("VksortRequirementsInfo", getInstanceProcAddr=get, instance=number(instance),
                 physicalDevice=number(physical), apiVersion=vk.VK_MAKE_VERSION(1, 2, 0))
    requirements = make(lib.vksortCreateRequirements, "VksortRequirements", info)
    needed = sized("VksortDeviceRequirements")
    check(lib.vksortGetDeviceRequirements(requirements, needed))
    extensions = [ffi.string(needed.extensions[i]).decode() for i in range(needed.extensionCount)]
    features = vk.ffi.cast("void *", int(ffi.cast("uintptr_t", needed.features)))
    queue_info = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, pQueuePriorities=[1.0])
    device = vk.vkCreateDevice(physical, vk.VkDeviceCreateInfo(
        pNext=features, pQueueCreateInfos=[queue_info], ppEnabledExtensionNames=extensions), None)

    # Depths with the indices of their splats, farthest first.
    request = sized("VksortSortRequest", key=lib.VKSORT_KEY_F32, value=lib.VKSORT_VALUE_BYTES, valueBytes=4,
                    order=lib.VKSORT_ORDER_DESCENDING)
    info = sized("VksortSorterInfo", device=number(device), requirements=requirements, request=request)
    sorter = make(lib.vksortCreateSorter, "VksortSorter", info)
    needs = sized("VksortBufferRequirements")
    check(lib.vksortGetBufferRequirements(sorter, COUNT, needs))

    types = vk.vkGetPhysicalDeviceMemoryProperties(physical)
    made = []

    def buffer(size, usage, wanted):
        raw = vk.vkCreateBuffer(device, vk.VkBufferCreateInfo(size=size, usage=usage), None)
        memory_needs = vk.vkGetBufferMemoryRequirements(device, raw)
        kind = next(i for i in range(types.memoryTypeCount) if memory_needs.memoryTypeBits >> i & 1
                    and types.memoryTypes[i].propertyFlags & wanted == wanted)
        memory = vk.vkAllocateMemory(device, vk.VkMemoryAllocateInfo(
            allocationSize=memory_needs.size, memoryTypeIndex=kind), None)
        vk.vkBindBufferMemory(device, raw, memory, 0)
        made.append((raw, memory))
        return raw, memory

    copies = vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
    local = vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
    visible = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
    keys, _ = buffer(needs.keys.size, needs.keys.usage | copies, local)
    values, _ = buffer(needs.values.size, needs.values.usage | copies, local)
    scratch, _ = buffer(max(needs.scratch.size, 4), needs.scratch.usage | copies, local)
    host, host_memory = buffer(8 * COUNT, copies, visible)
    buffers = sized("VksortBuffers", capacity=COUNT)
    for field, raw in (("keys", keys), ("values", values), ("scratch", scratch)):
        part = getattr(buffers, field)
        part.buffer, part.size = number(raw), getattr(needs, field).size
    sort = make(lib.vksortBind, "VksortSort", sorter, buffers)

    depths = array.array("f", (float((splat * 0x9E3779B9 & 0xFFFFFFFF) >> 18) for splat in range(COUNT)))
    mapped = vk.vkMapMemory(device, host_memory, 0, 8 * COUNT, 0)
    mapped[:] = depths.tobytes() + array.array("I", range(COUNT)).tobytes()

    pool = vk.vkCreateCommandPool(device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=family), None)
    commands = vk.vkAllocateCommandBuffers(device, vk.VkCommandBufferAllocateInfo(
        commandPool=pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1))[0]

    def copy(source, source_offset, target, target_offset):
        region = vk.VkBufferCopy(srcOffset=source_offset, dstOffset=target_offset, size=4 * COUNT)
        vk.vkCmdCopyBuffer(commands, source, target, 1, [region])

    def barrier(stages, access, next_stages, next_access):
        memory = vk.VkMemoryBarrier(srcAccessMask=access, dstAccessMask=next_access)
        vk.vkCmdPipelineBarrier(commands, stages, next_stages, 0, 1, [memory], 0, None, 0, None)

    # A pass before the sort, here an upload; the sort; a pass after it, here a copy back; and barriers between them.
    transfer, write = vk.VK_PIPELINE_STAGE_TRANSFER_BIT, vk.VK_ACCESS_TRANSFER_WRITE_BIT
    vk.vkBeginCommandBuffer(commands, vk.VkCommandBufferBeginInfo())
    copy(host, 0, keys, 0)
    copy(host, 4 * COUNT, values, 0)
    barrier(transfer, write, lib.VKSORT_INPUT_STAGES, lib.VKSORT_INPUT_ACCESS)
    check(lib.vksortCmdSort(number(commands), sort, COUNT, ffi.NULL))
    barrier(lib.VKSORT_OUTPUT_STAGES, lib.VKSORT_OUTPUT_ACCESS, transfer, vk.VK_ACCESS_TRANSFER_READ_BIT)
    copy(keys, 0, host, 0)
    copy(values, 0, host, 4 * COUNT)
    barrier(transfer, write, vk.VK_PIPELINE_STAGE_HOST_BIT, vk.VK_ACCESS_HOST_READ_BIT)
    vk.vkEndCommandBuffer(commands)
    queue = vk.vkGetDeviceQueue(device, family, 0)
    vk.vkQueueSubmit(queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[commands])], vk.VK_NULL_HANDLE)
    vk.vkQueueWaitIdle(queue)
    output = bytes(mapped)

    for destroy, handle in ((lib.vksortDestroySort, sort), (lib.vksortDestroySorter, sorter),
                            (lib.vksortDestroyRequirements, requirements)):
        check(destroy(handle))
    vk.vkDestroyCommandPool(device, pool, None)
    for raw, memory in made:
        vk.vkDestroyBuffer(device, raw, None)
        vk.vkFreeMemory(device, memory, None)
    vk.vkDestroyDevice(device, None)
    vk.vkDestroyInstance(instance, None)

    # Python's sort is stable in reverse too.
    expected = sorted(range(COUNT), key=depths.__getitem__, reverse=True)
    if output[4 * COUNT:] != array.array("I", expected).tobytes():
        sys.exit("the indices are not those of a stable sort")
    if output[:4 * COUNT] != array.array("f", map(depths.__getitem__, expected)).tobytes():
        sys.exit("depths and indices differ in their order")
    print(f"Python: {COUNT} depths and indices equal those of a stable sort")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 main.py DIR, where DIR is what crates/capi/install.sh --prefix was given")
    main(sys.argv[1])
