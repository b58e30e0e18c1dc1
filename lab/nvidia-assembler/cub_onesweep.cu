// CUB's onesweep kernel for u32 keys in its shape for sm_90, as the reference. -DPAIRS for u32 values too.
#include <cub/device/device_radix_sort.cuh>
#include <cstdint>
#ifdef PAIRS
using Value = uint32_t;
#else
using Value = cub::NullType;
#endif
namespace detail = cub::detail;
constexpr int THREADS = 384;
constexpr int ITEMS = 20;
using Policy = detail::agent_radix_sort_onesweep_policy<
    0, 0, void, 1, cub::RADIX_RANK_MATCH_EARLY_COUNTS_ANY, cub::BLOCK_SCAN_RAKING_MEMOIZE, cub::RADIX_SORT_STORE_DIRECT, 8,
    detail::NoScaling<THREADS, ITEMS>>;
using Agent = detail::radix_sort::AgentRadixSortOnesweep<Policy, false, uint32_t, Value, uint32_t, int>;
extern "C" __global__ void __launch_bounds__(THREADS) cub_onesweep(
    int* lookback, int* tickets, uint32_t* starts_out, const uint32_t* starts_in, uint32_t* keys_out, const uint32_t* keys_in,
    Value* values_out, const Value* values_in, int count, int bit, int bits) {
    __shared__ typename Agent::TempStorage storage;
    Agent agent(storage, lookback, tickets, starts_out, starts_in, keys_out, keys_in, values_out, values_in, count, bit, bits, {});
    agent.Process();
}
