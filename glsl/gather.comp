#version 460
// Gathers values that are too large to move with their keys: the sorted permutation in the place of keys gives the index
// of each value. With PUSH_IN_ORDER set, it copies the values in order.

#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/gather.glsl"

void main() {
    uint count = sort_count();
    uint tile = workgroup_index() / GATHER_SPLITS;
    if (tile >= parts_of(count, PUSH_PART)) return;
    // This workgroup's share of the tile.
    uint share = (PUSH_PART + GATHER_SPLITS - 1) / GATHER_SPLITS;
    uint first = min(workgroup_index() % GATHER_SPLITS * share, PUSH_PART);
    uint in_tile = min(count - tile * PUSH_PART, PUSH_PART);
    uint elements = first < in_tile ? min(in_tile - first, share) : 0;
    uint start = tile * PUSH_PART + first;
    // Neighbouring invocations load neighbouring words. Loops count elements, because the number of words may exceed 32 bits.
    if (VALUE_STRIDE <= WORKGROUP_SIZE) {
        uint together = WORKGROUP_SIZE / VALUE_STRIDE;
        uint word = gl_LocalInvocationIndex % VALUE_STRIDE;
        uint i = gl_LocalInvocationIndex / VALUE_STRIDE;
        if (i >= together) return;
        for (; i < elements; i += together) {
            write_value(start + i, word, given_value(origin_of(start + i, count), word));
        }
    } else {
        for (uint i = 0; i < elements; i++) {
            uint origin = origin_of(start + i, count);
            for (uint word = gl_LocalInvocationIndex; word < VALUE_STRIDE; word += WORKGROUP_SIZE) {
                write_value(start + i, word, given_value(origin, word));
            }
        }
    }
}
