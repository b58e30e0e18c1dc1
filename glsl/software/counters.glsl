// Ranking by private counters of each invocation, for software drivers. They access shared memory lane by lane, with a lock for
// atomics, whereas private arrays are cheap. On GPUs it is the other way round. A workgroup is one subgroup. An invocation's
// elements are neighbours and are ranked in turn, so they keep their order.
//
// Arrays are variables of the file: where loops are not unrolled, a parameter is a copy.
//
// llvmpipe zeroes each private array first (Mesa 22.3 with LLVM 15, 2026-11). LLVM takes an array of up to 1024 elements apart, into
// a store of zero for each, and an array on the stack in any case; the time to order these stores grows with their square. So a
// large array is longer than that, and lives across a barrier, which puts it into the frame of a coroutine.

#extension GL_KHR_shader_subgroup_arithmetic : require

#define HELD(elements) ((elements) <= 1024 ? 1025 : (elements))

#ifndef HELD_COUNTS
#define HELD_COUNTS OWN_COUNTS
#endif
uint own_count[HELD_COUNTS];

void clear_own_counts() {
    for (uint at = 0; at < OWN_COUNTS; at++) own_count[at] = 0;
}
