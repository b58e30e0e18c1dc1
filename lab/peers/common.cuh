// What the programs that measure CUB share: memory, times, and rows with the columns of the program bench.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <cub/version.cuh>
#include <cuda_runtime.h>

static void check(cudaError_t result, const char *what) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(result));
        std::exit(1);
    }
}

[[noreturn]] static void fail(const std::string &message) {
    std::fprintf(stderr, "error: %s\n", message.c_str());
    std::exit(1);
}

// Memory on the device, freed with its owner.
struct Buffer {
    void *pointer = nullptr;
    explicit Buffer(size_t bytes) { check(cudaMalloc(&pointer, bytes > 0 ? bytes : 4), "cudaMalloc"); }
    ~Buffer() { cudaFree(pointer); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    template <typename T> T *as() const { return static_cast<T *>(pointer); }
};

struct Context {
    std::string device, driver, date;
    uint64_t seed = 1;
    int runs = 21;
    // Bytes per nanosecond of a copy of u32 keys at the size at hand, read and written.
    double bandwidth = 0.0;

    // Says what it runs on, and when.
    void describe() {
        if (date.empty()) {
            char text[16] = "";
            std::time_t now = std::time(nullptr);
            std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
            date = text;
        }
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
        int version = 0;
        check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
        device = properties.name;
        auto dotted = [](int a, int b) { return std::to_string(a) + "." + std::to_string(b); };
        driver = "CUDA " + dotted(version / 1000, version % 1000 / 10) + ", CUB " +
                 dotted(CUB_MAJOR_VERSION, CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION);
    }
};

static const int WARM_UP = 2;

// SplitMix64 (Steele, Lea and Flood 2014).
static uint64_t mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Between two neighbours it is interpolated, as in the program bench.
static double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    double place = share * double(values.size() - 1);
    size_t below = size_t(place);
    size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (place - double(below));
}

static std::string quoted(const std::string &text) {
    std::string field = "\"";
    for (char c : text) {
        field += c;
        if (c == '"') field += c;
    }
    return field + "\"";
}

static void print_header() {
    std::puts("suite,case,device,driver,subgroup,vksort_version,date,key,value_bytes,order,bits,placement,algorithm,"
              "rank,tuning,data,seed,n,runs,gpu_ns_median,gpu_ns_q25,gpu_ns_q75,gpu_ns_min,wall_ns_median,wall_ns_q25,"
              "wall_ns_q75,elements_per_s,floor_bytes,floor_share");
}

struct Case {
    std::string name;
    const char *key;
    const char *data;
    int value_bytes;
    int begin_bit, end_bit;
    bool copy;
    const char *suite = "cub";
};

// Nanoseconds of each run on the device and on the host.
struct Times {
    std::vector<double> gpu, wall;
};

// Lets the device wait, so that all launches are there when the first one begins, as those of a command buffer are.
static const long long WAITED_CYCLES = 400000; // 200 microseconds
static __global__ void wait_cycles(long long cycles) {
    long long from = clock64();
    while (clock64() - from < cycles) {
    }
}

// Runs a sort in all rounds: `restore` puts its input back before each, and `verify` looks at the first result. A round has a run for the
// host's clock, and one whose launches are queued for the device's.
template <typename Restore, typename Sort, typename Verify>
static Times time_runs(const Context &context, Restore restore, Sort sort, Verify verify) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    Times times;
    int late = 0;
    for (int run = 0; run < WARM_UP + context.runs; ++run) {
        restore();
        check(cudaDeviceSynchronize(), "restoring the input");
        auto from = std::chrono::steady_clock::now();
        sort();
        check(cudaDeviceSynchronize(), "sorting");
        auto to = std::chrono::steady_clock::now();
        restore();
        check(cudaDeviceSynchronize(), "restoring the input");
        wait_cycles<<<1, 1>>>(WAITED_CYCLES);
        check(cudaEventRecord(start), "cudaEventRecord");
        sort();
        check(cudaEventRecord(stop), "cudaEventRecord");
        late += cudaEventQuery(start) == cudaSuccess;
        (void)cudaGetLastError(); // that the event has not come yet
        check(cudaEventSynchronize(stop), "sorting");
        float milliseconds = 0.0f;
        check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
        if (run >= WARM_UP) {
            times.gpu.push_back(double(milliseconds) * 1e6);
            times.wall.push_back(std::chrono::duration<double, std::nano>(to - from).count());
        }
        if (run == 0) verify();
    }
    if (late > WARM_UP) std::fprintf(stderr, "%d of %d runs began before all was queued\n", late, WARM_UP + context.runs);
    check(cudaEventDestroy(start), "cudaEventDestroy");
    check(cudaEventDestroy(stop), "cudaEventDestroy");
    return times;
}

static void print_row(const Context &context, const Case &one, size_t n, size_t floor_bytes, const Times &times) {
    const std::vector<double> &gpu = times.gpu, &wall = times.wall;
    double median = std::max(quantile(gpu, 0.5), 1.0);
    double share = context.bandwidth > 0.0 ? double(floor_bytes) * double(n) / median / context.bandwidth : 0.0;
    std::printf("%s,%s,%s,%s,32,,%s,%s,%d,ascending,%d..%d,out of place,%s,,,%s,%llu,%zu,%d,%.1f,%.1f,%.1f,%.1f,"
                "%.1f,%.1f,%.1f,%.0f,%zu,%.4f\n",
                one.suite, quoted(one.name).c_str(), quoted(context.device).c_str(), quoted(context.driver).c_str(), context.date.c_str(), one.key,
                one.value_bytes, one.begin_bit, one.end_bit, one.copy ? "cudaMemcpy" : "cub", one.data,
                (unsigned long long)context.seed, n, context.runs, quantile(gpu, 0.5), quantile(gpu, 0.25),
                quantile(gpu, 0.75), quantile(gpu, 0.0), quantile(wall, 0.5), quantile(wall, 0.25),
                quantile(wall, 0.75), double(n) / median * 1e9, floor_bytes, share);
    std::fflush(stdout);
}

// A number of the command line.
static long number(const char *flag, const char *text, long low, long high) {
    char *end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < low || value > high) {
        fail(std::string(flag) + " is " + text + ", allowed are " + std::to_string(low) + " to " +
             std::to_string(high));
    }
    return value;
}
