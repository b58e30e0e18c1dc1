#version 460
// One pass of OneSweep (Adinets and Merrill 2022): a tile's counts are published, its keys ranked, its place in the
// output found by look-back, and its elements written there.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/block.glsl"
#include "lib/tile.glsl"
#include "lib/lookback.glsl"

shared uint tile_count[RADIX];
shared uint ticket;

// Counts the whole tile; the first block's keys are in registers already.
void count_tile(uint tile) {
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) tile_count[digit] = 0;
    barrier();
    uint start = tile * tile_size();
    uint elements = elements_from(start, tile_size());
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        if (block_index(item) < elements) atomicAdd(tile_count[digit_of(keys[item], push.shift)], 1);
    }
    for (uint i = BLOCK + thread_index(); i < elements; i += WORKGROUP_SIZE) {
        atomicAdd(tile_count[digit_of(keys_in[start + i], push.shift)], 1);
    }
    barrier();
}

void main() {
    // Tiles are taken in the order in which workgroups start, so predecessors have started before.
    if (thread_index() == 0) ticket = atomicAdd(counters[push.pass], 1);
    barrier();
    uint tile = ticket;
    if (tile >= push.tiles) return;

    load_keys(tile * tile_size());
    count_tile(tile);
    if (tile == 0) scan_histogram();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        publish_counts(tile, digit, tile_count[digit]);
        if (tile == 0) digit_base[digit] = digit_scan[digit];
    }

    // One copy of ranking and scattering in the code, whatever the number of blocks: drivers take their time over it.
    for (uint block = 0; block < push.blocks; block++) {
        uint start = tile * tile_size() + block * BLOCK;
        if (start >= push.count) break;
        if (block > 0) load_keys(start);
        rank_block(elements_from(start, BLOCK), push.shift);
        if (block == 0 && tile > 0) {
            look_back(tile);
            for (uint digit = thread_index(); digit < RADIX && publishes(tile); digit += WORKGROUP_SIZE) {
                table_store(tile, digit, state_inclusive() | (digit_base[digit] + tile_count[digit]));
            }
        }
        scatter_block(start);
    }
}
