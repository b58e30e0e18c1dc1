#version 460
// Copies elements from one place to another: after an odd number of passes in place, and for an empty window.

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

void main() {
    // A plan without passes gives the route; otherwise the histogram has written it.
    uint route = PUSH_ROUTE != 0 ? PUSH_ROUTE : counters[COUNTERS_ROUTES + push.pass];
    Pass pass = pass_of(route);
    uint count = sort_count(), part = workgroup_index();
    if (!pass.runs || part >= parts_of(count, PUSH_PART)) return;
    uint start = part * PUSH_PART, end = start + min(count - start, PUSH_PART);
    for (uint i = gl_LocalInvocationIndex; i < end - start; i += WORKGROUP_SIZE) {
        uint index = start + i;
        if (pass.visits) visit_element(pass, index, index, load_key(pass, index));
        if ((route & ROUTE_TAKES_KEYS) != 0) write_key(index, load_bits(pass, index));
        if ((route & ROUTE_TAKES_VALUES) != 0) {
            for (uint word = 0; word < VALUE_WORDS; word++) write_value(index, word, load_value(pass, index, word));
        }
    }
}
