// Measures cub::DeviceRadixSort and writes rows with the columns of the program bench, to be merged with its --peer-csv.
//
//   nvcc -O3 -std=c++17 -arch=native cub_sort.cu -o cub_sort
//   ./cub_sort --min-log2 10 --max-log2 28 --every-to 17 > cub.csv
//
// Sizes are every second power of two down from the largest, as in the program bench (--step), and every one up to that of
// --every-to. A row is written when it is measured, so what was measured stays when the program is stopped.
//
// Each case runs 2 + 21 times from the same input, which is restored by a copy on the device that is not timed. The
// first result is verified: up to 2^22 elements against a stable sort on the host, above that by order and by a checksum
// of the elements that does not depend on their order. Out of place throughout, which is what CUB does best.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include <cub/device/device_radix_sort.cuh>

#include "common.cuh"

static const size_t VERIFIED_IN_FULL = size_t(1) << 22;

// Compares the output with the input; `values` are indices into it.
template <typename Key>
static void verify(const Case &one, const std::vector<Key> &keys, const std::vector<Key> &sorted,
                   const std::vector<uint32_t> &values, bool pairs) {
    size_t n = keys.size();
    int bits = one.end_bit - one.begin_bit;
    uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    auto code = [&](Key key) { return (uint64_t(key) >> one.begin_bit) & mask; };
    std::string where = one.name + " of " + std::to_string(n) + " elements: ";
    if (n <= VERIFIED_IN_FULL) {
        std::vector<uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return code(keys[a]) < code(keys[b]); });
        for (size_t i = 0; i < n; ++i) {
            if (sorted[i] != keys[order[i]] || (pairs && values[i] != order[i])) {
                fail(where + "place " + std::to_string(i) + " is not that of a stable sort");
            }
        }
        return;
    }
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < n; ++i) {
        if (i > 0 && code(sorted[i - 1]) > code(sorted[i])) fail(where + "keys are not in order");
        // A pair counts as its key and the index that it came from.
        uint64_t from = pairs ? mix(i) : 0;
        uint64_t to = pairs ? mix(values[i]) : 0;
        before += mix(uint64_t(keys[i]) ^ from);
        after += mix(uint64_t(sorted[i]) ^ to);
    }
    if (before != after) fail(where + "elements are not those of the input");
}

// One case at one size: restores, times and verifies.
template <typename Key> static void measure(Context &context, const Case &one, const std::vector<Key> &keys) {
    size_t n = keys.size();
    bool pairs = one.value_bytes > 0;
    size_t key_bytes = n * sizeof(Key), value_bytes = pairs ? n * sizeof(uint32_t) : 0;
    std::vector<uint32_t> indices(pairs ? n : 0);
    std::iota(indices.begin(), indices.end(), 0u);

    Buffer saved_keys(key_bytes), saved_values(value_bytes), keys_in(key_bytes), values_in(value_bytes);
    Buffer keys_out(key_bytes), values_out(value_bytes);
    check(cudaMemcpy(saved_keys.pointer, keys.data(), key_bytes, cudaMemcpyHostToDevice), "cudaMemcpy of keys");
    if (pairs) {
        check(cudaMemcpy(saved_values.pointer, indices.data(), value_bytes, cudaMemcpyHostToDevice),
              "cudaMemcpy of values");
    }

    size_t temporary_bytes = 0;
    // With a null pointer CUB only says how much memory it needs.
    auto sort = [&](void *temporary) {
        if (one.copy) {
            return cudaMemcpyAsync(keys_out.pointer, keys_in.pointer, key_bytes, cudaMemcpyDeviceToDevice, 0);
        }
        // With a count of 32 bits CUB's own counters have 32 bits too, which is the faster way.
        uint32_t items = uint32_t(n);
        // Other keys have no pairs here, and each kind takes long to compile.
        if constexpr (std::is_same_v<Key, uint32_t>) {
            if (pairs) {
                return cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys_in.as<Key>(),
                                                       keys_out.as<Key>(), values_in.as<uint32_t>(),
                                                       values_out.as<uint32_t>(), items, one.begin_bit, one.end_bit);
            }
        }
        return cub::DeviceRadixSort::SortKeys(temporary, temporary_bytes, keys_in.as<Key>(), keys_out.as<Key>(), items,
                                              one.begin_bit, one.end_bit);
    };
    if (!one.copy) check(sort(nullptr), "asking for the size of temporary storage");
    Buffer temporary(temporary_bytes);

    auto restore = [&] {
        check(cudaMemcpy(keys_in.pointer, saved_keys.pointer, key_bytes, cudaMemcpyDeviceToDevice), "restoring keys");
        if (pairs) {
            check(cudaMemcpy(values_in.pointer, saved_values.pointer, value_bytes, cudaMemcpyDeviceToDevice),
                  "restoring values");
        }
    };
    auto verify_result = [&] {
        std::vector<Key> sorted(n);
        std::vector<uint32_t> values(pairs ? n : 0);
        check(cudaMemcpy(sorted.data(), keys_out.pointer, key_bytes, cudaMemcpyDeviceToHost), "reading keys");
        if (pairs) {
            check(cudaMemcpy(values.data(), values_out.pointer, value_bytes, cudaMemcpyDeviceToHost),
                  "reading values");
        }
        if (one.copy) {
            if (sorted != keys) fail("the copy differs from its input");
        } else {
            verify(one, keys, sorted, values, pairs);
        }
    };
    Times times = time_runs(context, restore, [&] { check(sort(temporary.pointer), "sorting"); }, verify_result);

    size_t passes = size_t(one.end_bit - one.begin_bit + 7) / 8;
    size_t floor_bytes = one.copy ? 2 * sizeof(Key) : sizeof(Key) + passes * 2 * (sizeof(Key) + one.value_bytes);
    if (one.copy) context.bandwidth = double(floor_bytes) * double(n) / std::max(quantile(times.gpu, 0.5), 1.0);
    print_row(context, one, n, floor_bytes, times);
}

template <typename Key> static std::vector<Key> uniform(size_t n, uint64_t seed) {
    std::vector<Key> keys(n);
    for (size_t i = 0; i < n; ++i) keys[i] = Key(mix(seed + i));
    return keys;
}

// View depths from 2 to 8 as bits of f32: all have the same 8 highest bits, so that bits 0..24 sort them.
static std::vector<uint32_t> splats(size_t n, uint64_t seed) {
    std::vector<uint32_t> keys(n);
    for (size_t i = 0; i < n; ++i) {
        float depth = 2.0f + 5.999f * (float(mix(seed + i) >> 40) / 16777216.0f);
        std::memcpy(&keys[i], &depth, sizeof depth);
    }
    return keys;
}

static void measure_all(Context &context, size_t n) {
    std::vector<uint32_t> words = uniform<uint32_t>(n, context.seed);
    measure(context, Case{"copy", "u32", "uniform", 0, 0, 0, true}, words);
    measure(context, Case{"u32 keys", "u32", "uniform", 0, 0, 32, false}, words);
    measure(context, Case{"u32 pairs", "u32", "uniform", 4, 0, 32, false}, words);
    std::vector<uint32_t> depths = splats(n, context.seed);
    measure(context, Case{"splat keys", "u32", "splat depths", 0, 0, 24, false}, depths);
    measure(context, Case{"splat pairs", "u32", "splat depths", 4, 0, 24, false}, depths);
    measure(context, Case{"u64 keys", "u64", "uniform", 0, 0, 64, false}, uniform<uint64_t>(n, context.seed));
    measure(context, Case{"u16 keys", "u16", "uniform", 0, 0, 16, false}, uniform<uint16_t>(n, context.seed));
}

int main(int count, char **arguments) {
    Context context;
    long min_log2 = 10, max_log2 = 28, step = 2, every_to = 0;
    for (int i = 1; i < count; i += 2) {
        std::string flag = arguments[i];
        if (i + 1 >= count) fail(flag + " is given without a value");
        const char *value = arguments[i + 1];
        if (flag == "--min-log2") min_log2 = number("--min-log2", value, 0, 31);
        else if (flag == "--max-log2") max_log2 = number("--max-log2", value, 0, 31);
        else if (flag == "--step") step = number("--step", value, 1, 31);
        else if (flag == "--every-to") every_to = number("--every-to", value, 0, 31);
        else if (flag == "--runs") context.runs = int(number("--runs", value, 1, 10000));
        else if (flag == "--seed") context.seed = uint64_t(number("--seed", value, 0, 2147483647));
        else if (flag == "--date") context.date = value;
        else fail(flag + " is unknown, allowed are --min-log2, --max-log2, --step, --every-to, --runs, --seed, --date");
    }
    context.describe();

    print_header();
    for (long log2 = min_log2; log2 <= max_log2; ++log2) {
        if (log2 <= every_to || (max_log2 - log2) % step == 0) measure_all(context, size_t(1) << log2);
    }
    return 0;
}
