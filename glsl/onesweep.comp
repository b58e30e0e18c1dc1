#version 460
// One pass of OneSweep (Adinets and Merrill 2022): a tile's counts are published, its keys ranked, its place in the
// output found by look-back, and its elements written there.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#define COUNTERS_WRITTEN

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/join.glsl"
#include "lib/runs.glsl"
#include "lib/block.glsl"
#include "lib/tile.glsl"
#include "lib/lookback.glsl"

shared uint ticket;
shared uint only_digit; // of all the tile's elements; RADIX when there are several
shared uint skewed;     // not 0 when an eighth of them have the same

// Counts the whole tile; the first block's keys are in registers already.
void count_tile(uint start, uint elements) {
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) tile_count[digit] = 0;
    if (thread_index() == 0) {
        only_digit = RADIX;
        skewed = 0;
    }
    barrier();
    Run run = Run(0, 0);
    EACH_ITEM {
        if (block_index(item) < elements) {
            uint digit = item_digit(item, elements, push.pass);
            COUNT_DIGIT(tile_count, run, digit);
        }
    }
    for (uint i = BLOCK + thread_index(); i < elements; i += WORKGROUP_SIZE) {
        uint digit = digit_at(start + i);
        COUNT_DIGIT(tile_count, run, digit);
    }
    END_RUN(tile_count, run);
    barrier();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        if (tile_count[digit] == elements) only_digit = digit;
        if (UNORDERED != 0 && tile_count[digit] > elements / 8) atomicOr(skewed, 1);
    }
    barrier();
}

// Ranks the `elements` of a tile and writes them to their places.
void sort_tile(uint tile, bool last, uint start, uint elements) {
    bool ordered = keeps_order();
    uint blocks_end = elements;
    take_block(start, min(elements, BLOCK));
    if (EARLY_COUNTS != 0) {
        count_tile(start, elements);
        publish_counts(tile);
        if (only_digit < RADIX) {
            if (tile > 0) look_back(tile);
            publish_sums(tile, last);
            barrier();
            copy_tile(start, elements, digit_base[only_digit]);
            blocks_end = 0;
        }
        // Ranking out of order is by one counter per digit, on which equal digits wait for each other.
        ordered = ordered || skewed != 0;
    }

    // One copy of ranking and scattering in the code, whatever the number of blocks: drivers take their time over it.
    for (uint done = 0; done < blocks_end; done += BLOCK) {
        uint here = min(elements - done, BLOCK);
        if (done > 0) take_block(start + done, here);
        rank_block(here, push.pass, ordered);
        if (done == 0) {
            if (EARLY_COUNTS == 0) {
                // The tile is this block. Lanes past the end count too, but only in the last tile, which nobody reads.
                for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
                    tile_count[digit] = digit_count[digit];
                }
                publish_counts(tile);
            }
            if (tile > 0) look_back(tile);
            publish_sums(tile, last);
        }
        scatter_block(start + done, here);
    }
}

void main() {
    count = sort_count();
    active_route = counters[COUNTERS_ROUTES + push.phase * PHASE_ROUTES + push.pass];
    uint tiles = parts_of(count, push.part);
    if (push.portion_tiles != 0) {
        uint before = whole_tile(0);
        tiles = tiles > before ? min(tiles - before, push.portion_tiles) : 0;
    }
    if (!route_runs(active_route) || workgroup_index() >= tiles) return;
    // Tickets are handed out in the order in which workgroups start, so whoever has an earlier tile has begun.
    if (thread_index() == 0) ticket = atomicAdd(counters[push.phase * MAX_PASSES + push.pass], 1) - whole_tile(0);
    barrier();
    uint start = whole_tile(ticket) * push.part;
    uint elements = elements_from(start, push.part);
    if (route_copies(active_route)) copy_tile(start, elements, start);
    else sort_tile(ticket, ticket + 1 == tiles, start, elements);
}
