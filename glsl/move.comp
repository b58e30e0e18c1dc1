#version 460
// Copies elements from one place to another: after an odd number of passes in place, and for an empty window.

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/pass.glsl"
#include "lib/element.glsl"

void main() {
    // A plan without passes gives the route; otherwise the histogram has written it.
    uint route = push.route != 0 ? push.route : counters[COUNTERS_ROUTES + push.pass];
    count = sort_count();
    active_route = route;
    uint part = workgroup_index();
    if (!route_runs(route) || part >= parts_of(count, push.part)) return;
    uint start = part * push.part;
    uint elements = min(count - start, push.part);
    for (uint i = gl_LocalInvocationIndex; i < elements; i += WORKGROUP_SIZE) {
        uint index = start + i;
        if (route_visits(route)) visit_element(index, index, take_key(index), false);
        if ((route & ROUTE_TAKES_KEYS) != 0) store_key(index, load_key(takes_given(), index));
        if ((route & ROUTE_TAKES_VALUES) != 0) {
            for (uint plane = 0; plane < VALUE_WORDS; plane++) put_value(index, plane, value_at(index, plane));
        }
    }
}
