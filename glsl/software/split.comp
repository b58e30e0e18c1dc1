#version 460
// Splits on software drivers: split/main.comp with private counters. Elements go straight to their targets.

#define SEGMENTS
#define NEIGHBOURS_WRITE // parents share the words at their ends
#define MOVES_BACK       // some parents are in the alternate, and others in the target
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/subgroup.glsl"

// Each stage has its own.
shared uint run_sums[SPLIT_STAGE == SPLIT_SCANS ? WORKGROUP_SIZE : 1];
shared uint child_begins[SPLIT_STAGE == SPLIT_SCATTERS ? SPLIT_CHILDREN + 1 : 1];

#define OWN_COUNTS RADIX

#include "software/counters.glsl"
#include "split/parents.glsl"
#include "split/tile.glsl"

// Runs a statement for each element of an invocation's run of the tile. One of two such loops runs zero iterations: software drivers
// execute a branch that no lane takes, but not the body of such a loop.
#define EACH_ELEMENT(runs, statement) \
    [[dont_unroll]] for (uint index = first; index < ((runs) ? end : first); index++) statement

void count_tile(uint first, uint end, bool back, Digit digit) {
    clear_own_counts();
    EACH_ELEMENT(back, own_count[bits_at(flip_by_sign(read_key_back(index)), digit)]++);
    EACH_ELEMENT(!back, own_count[bits_at(flip_by_sign(read_key(index)), digit)]++);
}

#define MOVE(runs, read_key_at, write_key_at, write_value_at, value) EACH_ELEMENT(runs, { \
        KEY key = read_key_at(index); \
        uint target = within(parent, own_count[bits_at(flip_by_sign(key), digit)]++); \
        if (target != NO_TARGET) { \
            write_key_at(target, key); \
            for (uint word = 0; word < VALUE_WORDS; word++) write_value_at(target, word, value); \
        } \
    })

void main() {
    if (SPLIT_STAGE == SPLIT_SCANS) {
        scan_rows();
        return;
    }
    Parent parent = parent_of_tile(workgroup_index());
    Tile tile = tile_of(parent, workgroup_index() - parent.tile);
    if (tile.elements == 0) return;
    Digit digit = digit_of_round(push.pass);
    bool back = is_target(parent.place), makes = makes_indices(parent);
    uint each = parts_of(tile.elements, WORKGROUP_SIZE), first = tile.start + min(thread() * each, tile.elements);
    uint end = min(first + each, tile.start + tile.elements);
    if (SPLIT_STAGE == SPLIT_COUNTS) {
        count_tile(first, end, back, digit);
        uint to = counts_at(parent, tile);
        for (uint bin = 0; bin < RADIX; bin++) {
            uint counted = subgroupAdd(own_count[bin]);
            if (subgroupElect()) table[to + (bin ^ digit.flip)] = counted;
        }
    }
    if (SPLIT_STAGE == SPLIT_SCATTERS && find_targets(parent, tile)) {
        count_tile(first, end, back, digit);
        barrier(); // the targets are there
        for (uint bin = 0; bin < RADIX; bin++) {
            own_count[bin] = child_begins[bin ^ digit.flip] + subgroupExclusiveAdd(own_count[bin]);
        }
        MOVE(back && !makes, read_key_back, write_key_back, write_value_back, read_value_back(index, word))
        MOVE(!back && !makes, read_key, write_key, write_value, read_value(index, word))
        if (INDEX_VALUES != 0) {
            MOVE(back && makes, read_key_back, write_key_back, write_value_back, made_index(parent, index))
            MOVE(!back && makes, read_key, write_key, write_value, made_index(parent, index))
        }
    }
    if (SPLIT_STAGE == SPLIT_MOVES) move_tile(parent, tile);
}
