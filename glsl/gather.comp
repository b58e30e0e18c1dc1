#version 460
// Brings values too large to travel with their keys into order: each word of the output is fetched by the sorted
// permutation, which is at the alternate place.

#extension GL_GOOGLE_include_directive : require

#include "abi.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"

#if ADDRESSED
#define INDEX_CELL(index) WordAt(address(push.values_at[PLACE_ALTERNATE], index, 4, 0)).cell
#else
#define INDEX_CELL(index) values_at[PLACE_ALTERNATE].cells[index]
#endif

void main() {
    uint count = sort_count();
    uint part = workgroup_index();
    if (part >= parts_of(count, push.part)) return;
    uint start = part * push.part;
    uint elements = min(count - start, push.part);
    // Neighbouring invocations fetch neighbouring words; an element is counted in, not a word, so nothing overflows.
    uint lane = gl_LocalInvocationIndex % VALUE_STRIDE;
    if (VALUE_STRIDE <= WORKGROUP_SIZE) {
        uint together = WORKGROUP_SIZE / VALUE_STRIDE;
        uint i = gl_LocalInvocationIndex / VALUE_STRIDE;
        if (i >= together) return;
        for (; i < elements; i += together) {
            store_value(PLACE_TARGET, start + i, lane, load_value(PLACE_SOURCE, INDEX_CELL(start + i), lane));
        }
    } else {
        for (uint i = 0; i < elements; i++) {
            uint origin = INDEX_CELL(start + i);
            for (uint plane = gl_LocalInvocationIndex; plane < VALUE_STRIDE; plane += WORKGROUP_SIZE) {
                store_value(PLACE_TARGET, start + i, plane, load_value(PLACE_SOURCE, origin, plane));
            }
        }
    }
}
