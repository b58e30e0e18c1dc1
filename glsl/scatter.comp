#version 460
// Third step of a reduce-then-scan pass: every tile knows its place from the scanned table, so no workgroup waits.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/join.glsl"
#include "lib/block.glsl"
#include "lib/tile.glsl"

layout(set = 0, binding = BINDING_TABLE) readonly buffer Table { uint table[]; };

void main() {
    count = sort_count();
    active_route = counters[COUNTERS_ROUTES + push.pass];
    uint tile = workgroup_index();
    uint tiles = parts_of(count, push.part);
    if (!route_runs(active_route) || tile >= tiles) return;

    uint start = tile * push.part;
    uint elements = elements_from(start, push.part);
    if (route_copies(active_route)) {
        copy_tile(start, elements, start);
        return;
    }
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        digit_base[digit] = counters[COUNTERS_HISTOGRAM + push.pass * RADIX + digit] + table[digit * tiles + tile];
    }
    for (uint done = 0; done < elements; done += BLOCK) {
        uint here = min(elements - done, BLOCK);
        take_block(start + done, here);
        rank_block(here, push.pass, keeps_order());
        scatter_block(start + done, here);
    }
}
