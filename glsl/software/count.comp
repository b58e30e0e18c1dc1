#version 460
// The first step of a reduce-then-scan pass on software drivers: reduce_then_scan/count.comp with private counters.

#define ELEMENTS_READ_ONLY

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) writeonly buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

shared uint bin_count[RADIX];

#define OWN_COUNTS RADIX
#include "software/counters.glsl"

void main() {
    uint count = sort_count(), part = workgroup_index(), parts = parts_of(count, PUSH_PART);
    Pass pass = pass_of(counters[COUNTERS_ROUTES + push.pass]);
    if (!pass.runs || pass.copies || part >= parts) return;
    for (uint bin = gl_LocalInvocationIndex; bin < RADIX; bin += WORKGROUP_SIZE) bin_count[bin] = 0;
    barrier();

    uint start = part * PUSH_PART, elements = min(count - start, PUSH_PART);
    clear_own_counts();
    for (uint at = gl_LocalInvocationIndex; at < elements; at += WORKGROUP_SIZE) {
        own_count[bits_at(load_key(pass, start + at), pass.digit)]++;
    }
    for (uint bin = 0; bin < RADIX; bin++) {
        uint counted = subgroupAdd(own_count[bin]);
        if (subgroupElect() && counted != 0) atomicAdd(bin_count[bin], counted);
    }
    barrier();
    for (uint digit = gl_LocalInvocationIndex; digit < RADIX; digit += WORKGROUP_SIZE) {
        table[digit * parts + part] = bin_count[digit ^ pass.digit.flip];
    }
}
