#version 460
// First step of a reduce-then-scan pass: writes the digit counts of each part, one row of parts per digit.

#define ELEMENTS_READ_ONLY

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) writeonly buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

shared uint bin_count[RADIX];

const uint RUNS = 1; // of one digit

#include "histogram/runs.glsl"

void main() {
    uint count = sort_count(), part = workgroup_index(), parts = parts_of(count, PUSH_PART);
    Pass pass = pass_of(counters[COUNTERS_ROUTES + push.pass]);
    if (!pass.runs || pass.copies || part >= parts) return;
    for (uint bin = gl_LocalInvocationIndex; bin < RADIX; bin += WORKGROUP_SIZE) bin_count[bin] = 0;
    barrier();

    uint start = part * PUSH_PART, elements = min(count - start, PUSH_PART);
    Run runs[RUNS];
    runs[0] = no_run(RADIX);
    for (uint at = gl_LocalInvocationIndex; at < elements; at += WORKGROUP_SIZE) {
        count_bin(runs, 0, bits_at(load_key(pass, start + at), pass.digit));
    }
    end_run(runs[0]);
    barrier();
    for (uint digit = gl_LocalInvocationIndex; digit < RADIX; digit += WORKGROUP_SIZE) {
        table[digit * parts + part] = bin_count[digit ^ pass.digit.flip];
    }
}
