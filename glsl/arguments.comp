#version 460
// Sizes the dispatches of a sort whose element count is on the device.

#extension GL_GOOGLE_include_directive : require

#define COUNTERS_WRITTEN

#include "abi.glsl"
#include "lib/control.glsl"

// Spreads workgroups over two dimensions where one does not hold them.
void write_arguments(uint slot, uint workgroups) {
    uint at = COUNTERS_ARGUMENTS + slot * ARGUMENT_WORDS;
    counters[at] = min(workgroups, MAX_WORKGROUPS);
    counters[at + 1] = workgroups <= MAX_WORKGROUPS ? 1 : (workgroups - 1) / MAX_WORKGROUPS + 1;
    counters[at + 2] = 1;
}

void main() {
    if (gl_LocalInvocationIndex != 0) return;
    uint count = sort_count();
    uint tiles = parts_of(count, push.part);
    write_arguments(ARGUMENTS_HISTOGRAM, parts_of(count, push.histogram_part));
    write_arguments(ARGUMENTS_TILES, tiles);
    write_arguments(ARGUMENTS_GATHER, tiles * GATHER_SPLITS);
    // `portion` is the number of portions here.
    for (uint portion = 0; portion < push.portion; portion++) {
        uint before = portion * push.portion_tiles;
        write_arguments(ARGUMENTS_PORTIONS + portion, tiles > before ? min(tiles - before, push.portion_tiles) : 0);
    }
}
