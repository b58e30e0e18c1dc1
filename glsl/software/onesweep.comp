#version 460
// OneSweep on software drivers: onesweep/main.comp with private counters.

#define LOOKS_BACK
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) coherent buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint bin_target[RADIX]; // target of the bin's first key; before that, recounts
shared uint ticket;
shared uint blocking_tile;     // one more than the tile that look-back waits for; 0 for none

#include "software/tile.glsl"
#include "onesweep/lookback.glsl"

void main() {
    uint count = sort_count(), tiles = parts_of(count, PUSH_PART);
    Pass pass = pass_of(counters[COUNTERS_ROUTES + push.pass]);
    if (!pass.runs || workgroup_index() >= tiles) return;

    // Workgroups take tickets in the order of their start, so the workgroups of earlier tiles have started.
    if (thread() == 0) ticket = atomicAdd(counters[push.pass], 1);
    barrier();
    Tile tile = tile_at(uniform_in_subgroup(ticket), count);
    if (pass.copies) {
        copy_tile(pass, tile);
        return;
    }
    Ring ring = ring_of(tiles, 0);
    take_tile(pass, tile);
    scan_own_counts(pass.digit, false);
    publish_counts(ring, tile.index, counts);
    uint next[OWN_DIGITS];
    begin_look_back(ring, tile.index, counts, next, before);
    look_back(ring, pass, tile.index, counts, next, before);
    publish_sums(ring, tile.index, counts, before);
    set_targets(pass, tile, count);
    barrier();
    store_tile(pass, tile);
}
