#version 460
// Sizes the dispatches of a sort with a count on the device.

#define COUNTERS_WRITTEN

#include "abi.glsl"
#include "lib/control.glsl"

void main() {
    if (gl_LocalInvocationIndex != 0) return;
    uint count = sort_count();
    uint tiles = parts_of(count, push.part);
    write_arguments(ARGUMENTS_HISTOGRAM, parts_of(count, push.histogram_part));
    write_arguments(ARGUMENTS_TILES, tiles);
    write_arguments(ARGUMENTS_GATHER, tiles * GATHER_SPLITS);
}
