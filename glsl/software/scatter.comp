#version 460
// The third step of a reduce-then-scan pass on software drivers: reduce_then_scan/scatter.comp with private counters.

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) readonly buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint bin_target[RADIX]; // target of the bin's first key

#include "software/tile.glsl"

void main() {
    uint count = sort_count(), parts = parts_of(count, PUSH_PART);
    Pass pass = pass_of(counters[COUNTERS_ROUTES + push.pass]);
    if (!pass.runs || workgroup_index() >= parts) return;

    Tile tile = tile_at(workgroup_index(), count);
    if (pass.copies) {
        copy_tile(pass, tile);
        return;
    }
    for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) before[turn] = table[own_digit(turn) * parts + tile.index];
    }
    take_tile(pass, tile);
    scan_own_counts(pass.digit, false);
    set_targets(pass, tile, count);
    barrier();
    store_tile(pass, tile);
}
