#version 460
// Second step of a reduce-then-scan pass: one workgroup per digit replaces the digit's row of tile counts by exclusive
// prefix sums.

#include "abi.glsl"
#include "lib/control.glsl"

layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

shared uint sums[WORKGROUP_SIZE];

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint route = counters[COUNTERS_ROUTES + push.pass];
    if (!route_runs(route) || route_copies(route)) return;
    uint tiles = parts_of(sort_count(), push.part);
    uint row = gl_WorkGroupID.x * tiles;

    // Each invocation adds up a contiguous share of the row. After a scan over the shares it writes its prefix sums.
    uint share = (tiles + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;
    uint first = min(thread * share, tiles);
    uint end = min(first + share, tiles);
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
    uint start = sums[thread] - sum;
    for (uint i = first; i < end; i++) {
        uint count = table[row + i];
        table[row + i] = start;
        start += count;
    }
}
