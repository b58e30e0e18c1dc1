#version 460
// OneSweep (Adinets and Merrill 2022): one pass sorts all elements by one digit. Each is read once and written once.
//
// A workgroup takes a tile: ITEMS keys for each invocation. It
//   1. counts the digits of its keys, and publishes the counts for later tiles,
//   2. ranks the keys: where is each one in the sorted tile?
//   3. looks back, with LOOKS_AHEAD already while it ranks: how many elements with each digit are in earlier tiles?
//   4. adds that up to the target of each digit, and publishes the sums,
//   5. stores the keys in the order of their targets, and then the values.

#define LOOKS_BACK
#define MAY_FINISH
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) coherent buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS];                           // a counter for each subgroup and bin; then a part of the sorted tile
shared uint bin_target[RADIX];                          // target of the bin's first key, less its rank; before that, recounts
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share;                              // one of the SHARE_* constants
shared uint ticket;
shared uint blocking_tile;                              // one more than the tile that look-back waits for; 0 for none

#include "shared/compilers.glsl"
#include "onesweep/rank.glsl"
#include "onesweep/load.glsl"
#include "onesweep/lookback.glsl"
#include "onesweep/ahead.glsl"
#include "onesweep/store.glsl"
#include "onesweep/move.glsl"

// Workgroups take tickets in the order of their start, so the workgroups of earlier tiles have started.
Tile next_tile(Sort sort) {
    if (thread() == 0) ticket = atomicAdd(counters[sort.counters_at + push.pass], 1);
    barrier();
    uint index = uniform_in_subgroup(ticket), start = index * TILE;
    return Tile(index, sort.first + start, min(sort.count - start, TILE));
}

// A row has a slot of the ring for each tile, and its table is behind that of the row before.
uint table_of(Sort sort) { return sort.row * parts_of(PUSH_ROW_LENGTH, TILE) * (SLOT_WORDS * RADIX); }

void main() {
    Sort sort = sort_of(TILE);
    uint count = sort.count, tiles = parts_of(count, TILE);
    Pass pass = pass_of(sort, counters[sort.counters_at + COUNTERS_ROUTES + push.pass], counters[COUNTERS_FINISH]);
    if (!pass.runs || sort.group >= tiles) return;

    Tile tile = next_tile(sort);
    KEY keys[ITEMS];
    uint ranks[RANK_WORDS];
    uint values[ITEMS];
    uint counts[OWN_DIGITS], starts[OWN_DIGITS], next[OWN_DIGITS], before[OWN_DIGITS]; // for the digits that the invocation owns
    bool moves_whole = pass.copies;
    uint base = tile.start; // target of the first element of a tile that moves as a whole
    if (!moves_whole) {
        Ring ring = ring_of(tiles, OF_ROWS != 0 ? table_of(sort) : 0);
        load_keys(pass, tile, keys);

        count_keys(keys, ITEMS, pass.digit, counts);
        publish_counts(ring, tile.index, counts);
        begin_look_back(ring, tile.index, counts, next, before);

        scan_counts(counts, TILE, pass.digit, starts);
        uint share = uniform_in_subgroup(largest_share);
        moves_whole = share == SHARE_ALL;
        if (FEW_REGISTERS != 0) pass.digit = opaque_digit(pass.digit, tile.index);
        if (!moves_whole) {
            bool in_order = keeps_order(tile, share);
            uint one = 1 + opaque_zero(tile.index);
            if (LOOKS_AHEAD != 0) rank_keys_ahead(ring, tile.index, keys, pass.digit, in_order, one, counts, next, before, ranks);
            else rank_keys(keys, ITEMS, pass.digit, in_order, one, ranks);
            stage_keys(keys, ranks, 0);
            if (loads_ahead(pass, tile)) load_values(pass, tile, ranks, 0, 0, values);
        }

        look_back(ring, pass, tile.index, counts, next, before);
        publish_sums(ring, tile.index, counts, before);
        set_targets(pass, tile, count, counts, starts, before);
        barrier();
        if (moves_whole) base = bin_target[bin_of(keys[0], pass.digit)];
    }
    if (moves_whole && tile.elements == TILE && !pass.visits) move_tile(pass, tile, base);
    else store_tile(pass, tile, count, keys, values, ranks, moves_whole, base);
}
