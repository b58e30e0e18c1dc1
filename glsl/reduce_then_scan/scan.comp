#version 460
// Second step of a reduce-then-scan pass: one workgroup per digit replaces the digit's row of counts by exclusive prefix sums.

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

#include "shared/pass.glsl"

shared uint sums[WORKGROUP_SIZE];

void main() {
    uint thread = gl_LocalInvocationIndex;
    Pass pass = pass_of(counters[COUNTERS_ROUTES + push.pass]);
    if (!pass.runs || pass.copies) return;
    uint parts = parts_of(sort_count(), PUSH_PART), row = gl_WorkGroupID.x * parts;

    // Each invocation adds up a contiguous share of the row. After a scan over the shares it writes its prefix sums.
    uint share = (parts + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;
    uint first = min(thread * share, parts), end = min(first + share, parts);
    uint sum = 0;
    for (uint part = first; part < end; part++) sum += table[row + part];
    sums[thread] = sum;
    barrier();
    for (uint step = 1; step < WORKGROUP_SIZE; step <<= 1) {
        uint before = thread >= step ? sums[thread - step] : 0;
        barrier();
        sums[thread] += before;
        barrier();
    }
    uint start = sums[thread] - sum;
    for (uint part = first; part < end; part++) {
        uint count = table[row + part];
        table[row + part] = start;
        start += count;
    }
}
