// CUB's histogram of all digits of u32 keys in its shape for sm_90, as the reference.
#include <cub/device/device_radix_sort.cuh>
#include <cstdint>
namespace detail = cub::detail;
constexpr int THREADS = 128;
constexpr int ITEMS = 16;
using Policy = detail::agent_radix_sort_histogram_policy<THREADS, ITEMS, 1, void, 8>;
using Agent = detail::radix_sort::AgentRadixSortHistogram<Policy, false, uint32_t, uint32_t>;
extern "C" __global__ void __launch_bounds__(THREADS) cub_histogram(
    uint32_t* bins, const uint32_t* keys, uint32_t count, int first_bit, int end_bit) {
    __shared__ typename Agent::TempStorage storage;
    Agent agent(storage, bins, keys, count, first_bit, end_bit, {});
    agent.Process();
}
