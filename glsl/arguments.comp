#version 460
// Sizes the dispatches of a sort with a count on the device.

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) writeonly buffer Counters { uint counters[]; };

#include "shared/pass.glsl"

// The arguments of an indirect dispatch. Workgroups are spread over two dimensions if one is too small.
void write_arguments(uint slot, uint workgroups) {
    uint at = COUNTERS_ARGUMENTS + slot * ARGUMENT_WORDS;
    counters[at] = min(workgroups, MAX_WORKGROUPS);
    counters[at + 1] = workgroups <= MAX_WORKGROUPS ? 1 : (workgroups - 1) / MAX_WORKGROUPS + 1;
    counters[at + 2] = 1;
}

void main() {
    if (gl_LocalInvocationIndex != 0) return;
    uint count = sort_count(), tiles = parts_of(count, PUSH_PART);
    write_arguments(ARGUMENTS_HISTOGRAM, parts_of(count, PUSH_HISTOGRAM_PART));
    write_arguments(ARGUMENTS_TILES, tiles);
    write_arguments(ARGUMENTS_GATHER, tiles * GATHER_SPLITS);
}
