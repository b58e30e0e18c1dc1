#version 460
// Copies elements from one place to another: after an odd number of passes in place, and for an empty window.

#extension GL_GOOGLE_include_directive : require

#include "abi.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"

void main() {
    // A plan without passes gives the route; otherwise the histogram has written it.
    uint route = push.route != 0 ? push.route : counters[COUNTERS_ROUTES + PASSES];
    uint count = sort_count();
    uint part = workgroup_index();
    if (!route_runs(route) || part >= parts_of(count, push.part)) return;
    uint start = part * push.part;
    uint elements = min(count - start, push.part);
    for (uint i = gl_LocalInvocationIndex; i < elements; i += WORKGROUP_SIZE) {
        uint index = start + i;
#ifdef VISITED_OUTPUT
        if (route_visits(route)) {
            uint words[MAX_VALUE_WORDS];
            bool made = INDEX_VALUES != 0 && route_values_from(route) == PLACE_NONE;
            for (uint plane = 0; plane < VALUE_WORDS; plane++) {
                words[plane] = made ? index : load_value(route_values_from(route), index, plane);
            }
            visit_sorted(index, load_key(route_keys_from(route), index), words);
        }
#endif
        if (route_keys_to(route) != PLACE_NONE) {
            store_key(route_keys_to(route), index, load_key(route_keys_from(route), index));
        }
        if (route_values_to(route) != PLACE_NONE) {
            for (uint plane = 0; plane < VALUE_WORDS; plane++) {
                bool made = INDEX_VALUES != 0 && route_values_from(route) == PLACE_NONE;
                uint word = made ? index : load_value(route_values_from(route), index, plane);
                store_value(route_values_to(route), index, plane, word);
            }
        }
    }
}
