#version 460
// gather.comp on software drivers: an invocation gathers whole values. Their words are near each other, so a vector of invocations
// waits for as many values at a time, where neighbouring words would wait for one.

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
    for (uint i = gl_LocalInvocationIndex; i < elements; i += WORKGROUP_SIZE) {
        uint origin = origin_of(start + i, count);
        for (uint word = 0; word < VALUE_STRIDE; word++) write_value(start + i, word, given_value(origin, word));
    }
}
