#version 460
// Narrows long rows to their first elements, digit by digit, and then keeps the indices of those that are left, a few more than are
// wanted, for segments/main.comp to sort. The last workgroup of a row decides what its prefix is; on devices without fences between
// workgroups a second dispatch does this.

#define ELEMENTS_READ_ONLY
#define SEGMENTS
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint AT_ONCE = 4; // keys that an invocation loads at a time
const uint RUNS = 1;

#include "top/narrow.glsl"
#include "histogram/runs.glsl"

void count_tile(Row row, Level level, uint tile) {
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < TOP_BINS; at += WORKGROUP_SIZE) bin_count[at] = 0;
    barrier();
    Run runs[RUNS];
    runs[0] = no_run(TOP_BINS);
    EACH_ELEMENT(row, tile, if (is_counted(row, level, key, index)) count_bin(runs, 0, bin_at(level, key, index)))
    end_run(runs[0]);
    barrier();
    uint bins = bins_at(row.number);
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < TOP_BINS; at += WORKGROUP_SIZE) {
        if (bin_count[at] != 0) atomicAdd(counters[bins + at], bin_count[at]);
    }
}
