#version 460
// Third step of a reduce-then-scan pass: ranks and stores a part, tile by tile. The scanned table says how many elements with
// each digit are in earlier parts, so no workgroup waits.

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) readonly buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS];                      // a counter for each subgroup and bin; then part of the sorted tile
shared uint bin_target[RADIX];                     // target of the bin's first key, less its rank
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share;                         // one of the SHARE_* constants

#include "onesweep/rank.glsl"
#include "onesweep/load.glsl"
#include "onesweep/store.glsl"

void main() {
    uint count = sort_count(), part = workgroup_index(), parts = parts_of(count, PUSH_PART);
    Pass pass = pass_of(counters[COUNTERS_ROUTES + push.pass]);
    if (!pass.runs || part >= parts) return;

    uint start = part * PUSH_PART, elements = min(count - start, PUSH_PART);
    uint before[OWN_DIGITS]; // elements with each own digit in earlier tiles
    // A pass that copies has no counts.
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        uint digit = own_digit(turn);
        if (owns_digit(turn) && !pass.copies) before[turn] = table[digit * parts + part];
    }
    for (uint done = 0; done < elements; done += TILE) {
        Tile tile = Tile(part, start + done, min(elements - done, TILE));
        KEY keys[ITEMS];
        uint values[ITEMS], ranks[RANK_WORDS], counts[OWN_DIGITS], starts[OWN_DIGITS];
        bool moves_whole = pass.copies;
        uint base = tile.start; // target of the first element of a tile that moves as a whole
        if (done > 0) barrier(); // the tile before has been stored
        // Otherwise compilers keep ranks from one tile to the next.
        [[unroll]] for (uint word = 0; word < RANK_WORDS && VALUE_WORDS > 0; word++) ranks[word] = 0;
        if (!moves_whole) {
            load_keys(pass, tile, keys);
            count_keys(keys, ITEMS, pass.digit, counts);
            scan_counts(counts, TILE, pass.digit, starts);
            uint share = uniform_in_subgroup(largest_share);
            moves_whole = share == SHARE_ALL;
            if (!moves_whole) {
                rank_keys(keys, ITEMS, pass.digit, keeps_order(tile, share), 1, ranks);
                stage_keys(keys, ranks, 0);
                if (loads_ahead(pass, tile)) load_values(pass, tile, ranks, 0, 0, values);
            }
            set_targets(pass, tile, count, counts, starts, before);
            [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
                if (owns_digit(turn)) before[turn] += counts[turn];
            }
            barrier();
            if (moves_whole) base = bin_target[bin_of(keys[0], pass.digit)];
        }
        store_tile(pass, tile, count, keys, values, ranks, moves_whole, base);
    }
}
