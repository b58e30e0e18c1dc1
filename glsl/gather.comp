#version 460
// Gathers values that are too large to move with their keys: the sorted permutation in the place of keys gives the index
// of each value. With push.route set, it copies the values in order.

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"

// If keys have changed during the sort, the permutation may lack words. So an origin is limited.
uint origin_of(uint index, uint count) {
    return push.route != 0 ? index : min(INDEX_CELL(index), count - 1);
}

void main() {
    uint count = sort_count();
    uint tile = workgroup_index() / GATHER_SPLITS;
    if (tile >= parts_of(count, push.part)) return;
    // This workgroup's share of the tile.
    uint share = (push.part + GATHER_SPLITS - 1) / GATHER_SPLITS;
    uint first = min(workgroup_index() % GATHER_SPLITS * share, push.part);
    uint in_tile = min(count - tile * push.part, push.part);
    uint elements = first < in_tile ? min(in_tile - first, share) : 0;
    uint start = tile * push.part + first;
    // Neighbouring invocations load neighbouring words. Loops count elements, as the number of words may exceed 32 bits.
    if (VALUE_STRIDE <= WORKGROUP_SIZE) {
        uint together = WORKGROUP_SIZE / VALUE_STRIDE;
        uint plane = gl_LocalInvocationIndex % VALUE_STRIDE;
        uint i = gl_LocalInvocationIndex / VALUE_STRIDE;
        if (i >= together) return;
        for (; i < elements; i += together) {
            store_value(start + i, plane, load_value(true, origin_of(start + i, count), plane));
        }
    } else {
        for (uint i = 0; i < elements; i++) {
            uint origin = origin_of(start + i, count);
            for (uint plane = gl_LocalInvocationIndex; plane < VALUE_STRIDE; plane += WORKGROUP_SIZE) {
                store_value(start + i, plane, load_value(true, origin, plane));
            }
        }
    }
}
