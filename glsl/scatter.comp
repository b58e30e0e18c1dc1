#version 460
// Third step of a reduce-then-scan pass: every tile knows its place from the scanned table, so no workgroup waits.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/block.glsl"
#include "lib/tile.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) readonly buffer Table { uint table[]; };

void main() {
    uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (tile >= push.tiles) return;

    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        digit_scan[digit] = counters[COUNTERS_HISTOGRAM + digit];
    }
    scan_digits();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        digit_base[digit] = digit_scan[digit] + table[digit * push.tiles + tile];
    }
    for (uint block = 0; block < push.blocks; block++) {
        uint start = tile * tile_size() + block * BLOCK;
        if (start >= push.count) break;
        load_keys(start);
        rank_block(elements_from(start, BLOCK), push.shift);
        scatter_block(start);
    }
}
