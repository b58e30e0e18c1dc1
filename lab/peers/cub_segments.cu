// Measures CUB's sorts of segments, and its search for the largest elements, on problems of the program bench. It writes rows with
// the columns of that program, to be merged with its --peer-csv:
//
//   nvcc -O3 -std=c++17 -arch=native cub_segments.cu -o cub_segments
//   ./cub_segments --log2 24 > cub.csv
//
// Each case runs 2 + 21 times out of place, so that no input has to be restored. The first result is verified. Keys are u32; those of
// a normal distribution are the numbers that sort as the f32 do. A row is written when it is measured.
//
// DeviceTopK came with CUB 3.3, DeviceBatchedTopK with 3.5. Both leave the elements in no order, and any of equal ones. The latter
// takes rows that one workgroup holds.

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/version.cuh>
#if CUB_VERSION >= 300300
#include <cub/device/device_topk.cuh>
#include <cuda/iterator>
#endif
#if CUB_VERSION >= 300500
#include <cub/device/device_batched_topk.cuh>
#endif

#include "common.cuh"

using Words = std::vector<uint32_t>;

static Words read_words(const Buffer &buffer, size_t count) {
    Words words(count);
    check(cudaMemcpy(words.data(), buffer.pointer, 4 * count, cudaMemcpyDeviceToHost), "reading a result");
    return words;
}

static void write_words(const Buffer &buffer, const Words &words) {
    check(cudaMemcpy(buffer.pointer, words.data(), 4 * words.size(), cudaMemcpyHostToDevice), "writing an input");
}

// Bits of the f32 of a normal distribution, the sum of 12 uniform numbers.
static uint32_t normal(uint64_t seed) {
    float sum = -6.0f;
    for (uint64_t i = 0; i < 12; ++i) sum += float(mix(12 * seed + i) >> 40) / 16777216.0f;
    uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    return bits;
}

// A number that ascends as the f32 with these bits.
static uint32_t ascending(uint32_t bits) { return bits >> 31 ? ~bits : bits | 1u << 31; }

struct Segments {
    Words offsets{0};

    // Appends segments of these lengths until there are `end` elements.
    template <typename Length> Segments &until(size_t end, Length length) {
        while (offsets.back() < end) {
            size_t more = std::min(size_t(length(mix(offsets.size()))), end - offsets.back());
            offsets.push_back(uint32_t(offsets.back() + more));
        }
        return *this;
    }
    static Segments rows(size_t n, size_t stride) {
        return Segments().until(n - n % std::min(n, stride), [=](uint64_t) { return stride; });
    }
    static Segments up_to(size_t n, size_t most) {
        return Segments().until(n, [=](uint64_t random) { return random % (most + 1); });
    }
};

struct Problem {
    const char *name, *data;
    bool pairs;
    Segments segments;
};

// The order in which equal keys come is that of a stable sort, so pairs are compared in full: each is there once, in its segment.
static void verify(const std::string &name, const Problem &problem, const Words &keys, const Words &sorted,
                   const Words &values) {
    uint64_t before = 0, after = 0;
    const Words &offsets = problem.segments.offsets;
    for (size_t segment = 0; segment + 1 < offsets.size(); ++segment) {
        uint32_t begin = offsets[segment], end = offsets[segment + 1];
        for (uint32_t i = begin; i < end; ++i) {
            if (problem.pairs && (values[i] < begin || values[i] >= end)) fail(name + ": a value left its segment");
            before += mix(keys[i] ^ mix(problem.pairs ? i : segment));
            after += mix(sorted[i] ^ mix(problem.pairs ? values[i] : segment));
            if (i == begin) continue;
            if (sorted[i - 1] > sorted[i]) fail(name + ": keys are not in order");
            if (problem.pairs && sorted[i - 1] == sorted[i] && values[i - 1] > values[i]) {
                fail(name + ": equal keys are not in order");
            }
        }
    }
    if (before != after) fail(name + ": elements are not those of the input");
}

// One problem by both of CUB's sorts of segments.
static void measure_segments(const Context &context, const Problem &problem) {
    const Words &offsets = problem.segments.offsets;
    size_t n = offsets.back(), segments = offsets.size() - 1;
    Words keys(n), indices(problem.pairs ? n : 0);
    bool is_normal = std::strcmp(problem.data, "uniform") != 0;
    for (size_t i = 0; i < n; ++i) {
        keys[i] = is_normal ? ascending(normal(context.seed + i)) : uint32_t(mix(context.seed + i));
    }
    std::iota(indices.begin(), indices.end(), 0u);
    Buffer keys_in(4 * n), keys_out(4 * n), values_in(4 * indices.size()), values_out(4 * indices.size());
    Buffer ends(4 * offsets.size());
    write_words(keys_in, keys);
    write_words(values_in, indices);
    write_words(ends, offsets);
    const uint32_t *begins = ends.as<uint32_t>();
    for (bool radix : {false, true}) {
        size_t bytes = 0;
        // With a null pointer CUB only says how much memory it needs.
        auto sort = [&](void *temporary) {
            uint32_t *from = keys_in.as<uint32_t>(), *to = keys_out.as<uint32_t>();
            uint32_t *values = values_in.as<uint32_t>(), *moved = values_out.as<uint32_t>();
            int count = int(n), parts = int(segments);
            if (problem.pairs) {
                return radix ? cub::DeviceSegmentedRadixSort::SortPairs(temporary, bytes, from, to, values, moved, count,
                                                                        parts, begins, begins + 1)
                             : cub::DeviceSegmentedSort::StableSortPairs(temporary, bytes, from, to, values, moved,
                                                                         count, parts, begins, begins + 1);
            }
            return radix ? cub::DeviceSegmentedRadixSort::SortKeys(temporary, bytes, from, to, count, parts, begins,
                                                                   begins + 1)
                         : cub::DeviceSegmentedSort::StableSortKeys(temporary, bytes, from, to, count, parts, begins,
                                                                    begins + 1);
        };
        check(sort(nullptr), "asking for the size of temporary storage");
        Buffer temporary(bytes);
        const char *who = radix ? "DeviceSegmentedRadixSort" : "DeviceSegmentedSort";
        Case one{std::string(problem.name) + ": " + who, "u32", problem.data, problem.pairs ? 4 : 0, 0, 32, false,
                 "cub segments"};
        Times times = time_runs(
            context, [] {}, [&] { check(sort(temporary.pointer), "sorting"); },
            [&] { verify(one.name, problem, keys, read_words(keys_out, n), read_words(values_out, indices.size())); });
        print_row(context, one, n, 2 * (4 + one.value_bytes), times);
    }
}

#if CUB_VERSION >= 300300

// The largest `k` of each row, with their indices in it.
struct Top {
    std::string name;
    const char *data;
    size_t rows, length, k;

    Words keys(uint64_t seed) const {
        Words keys(rows * length);
        for (size_t i = 0; i < keys.size(); ++i) {
            keys[i] = data[0] == 'n' ? normal(seed + i) : data[0] == 'u' ? uint32_t(mix(seed + i)) : 0x5A5A5A5Au;
        }
        return keys;
    }

    // In any order: the keys are the largest, and each is that of another index.
    void verify(const Words &keys, const Words &found, const Words &indices) const {
        for (size_t row = 0; row < rows; ++row) {
            Words right(length), given(k);
            for (size_t i = 0; i < length; ++i) right[i] = ascending(keys[row * length + i]);
            std::nth_element(right.begin(), right.begin() + (k - 1), right.end(), std::greater<uint32_t>());
            right.resize(k);
            std::set<uint32_t> seen;
            for (size_t i = 0; i < k; ++i) {
                uint32_t index = indices[row * k + i];
                if (index >= length || !seen.insert(index).second) fail(name + ": an index is wrong");
                if (keys[row * length + index] != found[row * k + i]) fail(name + ": a key is not that of its index");
                given[i] = ascending(found[row * k + i]);
            }
            std::sort(right.begin(), right.end());
            std::sort(given.begin(), given.end());
            if (right != given) fail(name + ": keys are not the largest");
        }
    }

    // `find` takes keys, the keys and indices to write, temporary storage and its size.
    template <typename Find> void measure(const Context &context, const char *who, Find find) const {
        Words keys = this->keys(context.seed);
        Buffer keys_in(4 * keys.size()), keys_out(4 * rows * k), indices_out(4 * rows * k);
        write_words(keys_in, keys);
        size_t bytes = 0;
        auto run = [&](void *temporary) {
            return find(temporary, bytes, keys_in.as<float>(), keys_out.as<float>(), indices_out.as<uint32_t>());
        };
        check(run(nullptr), "asking for the size of temporary storage");
        Buffer temporary(bytes);
        Case one{name + ": " + who, "f32", data, 4, 0, 32, false, "cub top"};
        Times times = time_runs(
            context, [] {}, [&] { check(run(temporary.pointer), "finding the largest"); },
            [&] { verify(keys, read_words(keys_out, rows * k), read_words(indices_out, rows * k)); });
        print_row(context, one, rows * length, 4, times);
    }
};

static void measure_top(const Context &context, const char *name, const char *data, size_t n) {
    Top top{name, data, 1, n, 100};
    auto unordered = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                              cuda::execution::output_ordering::unsorted);
    top.measure(context, "DeviceTopK", [&](void *temporary, size_t &bytes, float *keys, float *found, uint32_t *indices) {
        return cub::DeviceTopK::MaxPairs(temporary, bytes, keys, found, cuda::make_counting_iterator(0u), indices,
                                         uint32_t(n), uint32_t(top.k), unordered);
    });
}

#endif
#if CUB_VERSION >= 300500

// The begin of each row.
template <typename T> struct RowOf {
    T *first;
    size_t stride;
    __host__ __device__ T *operator()(size_t row) const { return first + row * stride; }
};

template <typename T> static auto rows_of(T *first, size_t stride) {
    return cuda::make_transform_iterator(cuda::make_counting_iterator(size_t(0)), RowOf<T>{first, stride});
}

template <int length, int k> static void measure_rows(const Context &context, const char *name, size_t n) {
    Top top{name, "normal distribution", n / length, length, k};
    auto unordered = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                              cuda::execution::tie_break::unspecified,
                                              cuda::execution::output_ordering::unsorted);
    auto find = [&](void *temporary, size_t &bytes, float *keys, float *found, uint32_t *indices) {
        return cub::DeviceBatchedTopK::MaxPairs(temporary, bytes, rows_of(keys, length), rows_of(found, k),
                                                cuda::make_constant_iterator(cuda::make_counting_iterator(0u)),
                                                rows_of(indices, k), cuda::args::constant<length>{},
                                                cuda::args::constant<k>{}, int64_t(top.rows), unordered);
    };
    top.measure(context, "DeviceBatchedTopK", find);
}

#endif

static void measure_all(const Context &context, size_t n) {
    auto pareto = [](uint64_t random) {
        return 8.0 * std::pow(double((random >> 11) + 1) / 9007199254740992.0, -1.0 / 1.5);
    };
    auto tiny = [](uint64_t random) { return random % 9; };
    size_t few = (n + 15) / 16;
    Segments among = Segments().until(few / 2, tiny);
    among.offsets.push_back(uint32_t(among.offsets.back() + n - few));
    among.until(n, tiny);
    const char *uniform = "uniform", *scores = "normal distribution";
    const Problem problems[] = {
        {"rows of 8 keys", uniform, false, Segments::rows(n, 8)},
        {"rows of 32 keys", uniform, false, Segments::rows(n, 32)},
        {"rows of 1,000 keys", uniform, false, Segments::rows(n, 1000)},
        {"rows of 65,536 keys", uniform, false, Segments::rows(n, 65536)},
        {"segments of 1 key", uniform, false, Segments::rows(n, 1)},
        {"0 to 8 pairs", uniform, true, Segments::up_to(n, 8)},
        {"0 to 100 pairs", uniform, true, Segments::up_to(n, 100)},
        {"0 to 1,000 pairs", uniform, true, Segments::up_to(n, 1000)},
        {"power law, pairs", uniform, true, Segments().until(n, pareto)},
        {"one long among tiny, pairs", uniform, true, among},
        {"argsort of rows of 131,072", scores, true, Segments::rows(n, 131072)},
    };
    for (const Problem &problem : problems) measure_segments(context, problem);
#if CUB_VERSION >= 300300
    measure_top(context, "100 of all", scores, n);
    measure_top(context, "100 of all, random bits", uniform, n);
    measure_top(context, "100 of all, equal keys", "constant", n);
#endif
#if CUB_VERSION >= 300500
    measure_rows<1024, 16>(context, "16 of rows of 1,024", n);
    measure_rows<256, 8>(context, "8 of rows of 256", n);
#endif
}

int main(int count, char **arguments) {
    Context context;
    long log2 = 24;
    for (int i = 1; i < count; i += 2) {
        std::string flag = arguments[i];
        if (i + 1 >= count) fail(flag + " is given without a value");
        const char *value = arguments[i + 1];
        if (flag == "--log2") log2 = number("--log2", value, 10, 30);
        else if (flag == "--runs") context.runs = int(number("--runs", value, 1, 10000));
        else if (flag == "--seed") context.seed = uint64_t(number("--seed", value, 0, 2147483647));
        else if (flag == "--date") context.date = value;
        else fail(flag + " is unknown, allowed are --log2, --runs, --seed, --date");
    }
    context.describe();
    print_header();
    measure_all(context, size_t(1) << log2);
    return 0;
}
