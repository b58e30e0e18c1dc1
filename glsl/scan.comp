#version 460
// Second step of a reduce-then-scan pass: one workgroup per digit turns that digit's row of tile counts into exclusive
// prefix sums, in place, and leaves the row's total.

#extension GL_GOOGLE_include_directive : require

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) writeonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

shared uint sums[WORKGROUP_SIZE];

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint row = gl_WorkGroupID.x * push.tiles;

    // Each invocation sums a contiguous share, the shares are scanned, and each is then rewritten from its start.
    uint share = (push.tiles + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;
    uint first = min(thread * share, push.tiles);
    uint end = min(first + share, push.tiles);
    uint sum = 0;
    for (uint i = first; i < end; i++) sum += table[row + i];
    sums[thread] = sum;
    barrier();
    for (uint step = 1; step < WORKGROUP_SIZE; step <<= 1) {
        uint before = thread >= step ? sums[thread - step] : 0;
        barrier();
        sums[thread] += before;
        barrier();
    }
    if (thread == WORKGROUP_SIZE - 1) counters[COUNTERS_HISTOGRAM + gl_WorkGroupID.x] = sums[thread];
    uint start = sums[thread] - sum;
    for (uint i = first; i < end; i++) {
        uint count = table[row + i];
        table[row + i] = start;
        start += count;
    }
}
