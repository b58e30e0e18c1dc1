#version 460
// A stage of a round of splits. Where each tile's elements go is known from counts, so no workgroup waits for another one.

#define SEGMENTS
#define NEIGHBOURS_WRITE // parents share the words at their ends
#define MOVES_BACK       // some parents are in the alternate, and others in the target
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/subgroup.glsl"

// Each stage has its own. The one that scatters:
shared uint pool[POOL_WORDS]; // a counter for each subgroup and bin; then a word of each element
shared uint child_begins[SPLIT_STAGE == SPLIT_SCATTERS ? SPLIT_CHILDREN + 1 : 1];
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share; // one of the SHARE_* constants
// The others:
shared uint bin_count[SPLIT_STAGE == SPLIT_COUNTS ? RADIX : 1];
shared uint run_sums[SPLIT_STAGE == SPLIT_SCANS ? WORKGROUP_SIZE : 1];

const uint RUNS = 1; // of one digit

#include "onesweep/rank.glsl"
#include "single_workgroup/block.glsl"
#include "split/parents.glsl"
#include "histogram/runs.glsl"
#include "split/tile.glsl"
#include "split/scatter.glsl"

// `back` is a constant, so that the loop does not ask for it.
void count_keys_of(const bool back, Tile tile, Digit digit, inout Run runs[RUNS]) {
    [[dont_unroll]] for (uint at = thread(); at < tile.elements; at += WORKGROUP_SIZE) {
        KEY key;
        if (back) key = read_key_back(tile.start + at);
        else key = read_key(tile.start + at);
        count_bin(runs, 0, bits_at(flip_by_sign(key), digit));
    }
}

// Counts the digits of a tile.
void count_tile(Parent parent, Tile tile) {
    Digit digit = digit_of_round(push.pass);
    for (uint bin = thread(); bin < RADIX; bin += WORKGROUP_SIZE) bin_count[bin] = 0;
    barrier();
    Run runs[RUNS];
    runs[0] = no_run(RADIX);
    if (is_target(parent.place)) count_keys_of(true, tile, digit, runs);
    else count_keys_of(false, tile, digit, runs);
    end_run(runs[0]);
    barrier();
    uint to = counts_at(parent, tile);
    for (uint at = thread(); at < SPLIT_CHILDREN; at += WORKGROUP_SIZE) table[to + at] = bin_count[at ^ digit.flip];
}

void main() {
    if (SPLIT_STAGE == SPLIT_SCANS) {
        scan_rows();
        return;
    }
    Parent parent = parent_of_tile(workgroup_index());
    Tile tile = tile_of(parent, workgroup_index() - parent.tile);
    if (tile.elements == 0) return;
    if (SPLIT_STAGE == SPLIT_COUNTS) count_tile(parent, tile);
    if (SPLIT_STAGE == SPLIT_SCATTERS && find_targets(parent, tile)) scatter_tile(parent, tile);
    if (SPLIT_STAGE == SPLIT_MOVES) move_tile(parent, tile);
}
