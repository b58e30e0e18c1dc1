// What the files of clients.cpp share, which include no vk_radix_sort.h here, like engines whose headers declare the sorter.
#ifndef CLIENTS_H
#define CLIENTS_H

#ifdef CLIENTS_USE_VOLK
#include <volk.h>
#else
#include <vulkan/vulkan.h>
#endif

#include <cstdint>
#include <vector>

#include "support.h"

struct VrdxSorter_T;
typedef VrdxSorter_T *VrdxSorter;

constexpr uint32_t GUARD = 0xA5A5A5A5;

// Takes the text of a call that fails, in place of printing it.
void failed(const char *text);

// A buffer between words that must stay as they are.
struct Guarded {
    Guarded(const Vulkan &vulkan, VkDeviceSize bytes, VkBufferUsageFlags usage);
    ~Guarded();
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;

    uint32_t *words() const { return made.words + before / 4; }
    // Dies if a word around the bytes was written.
    void check(const char *name) const;

    const Vulkan &vulkan;
    VkDeviceSize before, bytes;
    Buffer made;
};

// Keys and values, in one buffer or in two.
struct Elements {
    Elements(const Vulkan &vulkan, uint32_t capacity, bool together, uint64_t &state);
    void fill(unsigned bits);
    // Dies unless the first `count` elements are sorted as a stable sort does, and the others are as they were.
    void check(const char *who, uint32_t count, bool hasValues) const;

    VkBuffer keysBuffer() const { return first.made.buffer; }
    VkBuffer valuesBuffer() const { return together ? first.made.buffer : second.made.buffer; }
    VkDeviceSize keysOffset() const { return first.before; }
    VkDeviceSize valuesOffset() const { return together ? first.before + apart : second.before; }
    uint32_t *keys() const { return first.words(); }
    uint32_t *values() const { return together ? first.words() + apart / 4 : second.words(); }

    uint32_t capacity;
    bool together;
    // Bytes from keys to values in one buffer.
    VkDeviceSize apart;
    Guarded first, second;
    std::vector<uint32_t> input;
    uint64_t &state;
};

// Makes what the host wrote, and the count, visible to a sort, as the programs do behind their own passes.
void beforeSort(const Vulkan &vulkan, VkBuffer count, VkDeviceSize offset, uint32_t number);
void afterSort(const Vulkan &vulkan);

// A pass of an engine in a file of its own.
class SortPass {
public:
    SortPass(const Vulkan &vulkan);
    ~SortPass();
    void record(const Elements &elements, VkBuffer count, const Guarded &storage);
    VkDeviceSize storageSize(uint32_t capacity);

private:
    const Vulkan &vulkan;
    VrdxSorter sorter = nullptr;
};

#endif
