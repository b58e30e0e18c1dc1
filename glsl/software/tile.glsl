// A tile: the part of a block that the plan sets. Its elements go straight to their targets, because staging them costs CPUs time.

#include "software/rank.glsl"

KEY keys[HELD(ITEMS)];
uint before[OWN_DIGITS]; // elements of each own digit in earlier tiles

struct Tile {
    uint index;
    uint start;    // its first element
    uint elements;
};

Tile tile_at(uint index, uint count) { return Tile(index, index * PUSH_PART, min(count - index * PUSH_PART, PUSH_PART)); }

// Place in the tile of an invocation's item, of which it has `items`.
uint loaded_at(uint item, uint items) { return thread() * items + item; }

#define TAKE_ITEMS(turns, key) \
    for (uint item = 0; item < (turns); item++) { \
        uint at = loaded_at(item, items), index = tile.start + at; \
        keys[item] = at < tile.elements ? flip_by_sign(key) : last; \
        own_count[bits_at(keys[item], pass.digit)]++; \
    }

// Loads a tile, and counts its bins.
void take_tile(Pass pass, Tile tile) {
    uint items = items_of(tile.elements);
    KEY last = last_key(pass);
    clear_own_counts();
    // One of the two loops runs zero iterations: software drivers execute a branch that no lane takes, but not the body of such
    // a loop.
    bool visits = visits_keys(pass);
    TAKE_ITEMS(visits ? items : 0, given_key(index))
    TAKE_ITEMS(visits ? 0 : items, read_key(index))
}

// Counts the bins of an earlier tile, which is full, into `bin_target`. Some drivers limit the iterations of an invocation's loops,
// and blocks are large; src/shape/loop_budget.rs relies on the number of keys in an iteration.
void count_again(Pass pass, uint tile) {
    uint start = tile * PUSH_PART;
    [[dont_unroll]] for (uint first = thread(); first < PUSH_PART; first += RECOUNTED_AT_ONCE * WORKGROUP_SIZE) {
        [[unroll]] for (uint at = 0; at < RECOUNTED_AT_ONCE; at++) {
            uint i = first + at * WORKGROUP_SIZE;
            if (i < PUSH_PART) atomicAdd(bin_target[bits_at(load_key(pass, start + i), pass.digit)], 1);
        }
    }
}

// Sets the target of the first key of each bin. The caller may change keys after they were counted, so no target lets elements go
// past the end.
void set_targets(Pass pass, Tile tile, uint count) {
    uint ranked = WORKGROUP_SIZE * items_of(tile.elements);
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) {
            uint digit = own_digit(turn), target = counters[pass.starts + digit] + before[turn];
            // Lanes past the end count as the last digit.
            uint past = digit == (1u << pass.digit.width) - 1 ? ranked - tile.elements : 0;
            bin_target[digit ^ pass.digit.flip] = min(target, count - (counts[turn] - past));
        }
    }
}

// `move` is a statement in `target`, `index` and `item`.
#define MOVE_ITEMS(moved, move) \
    for (uint item = 0; item < (moved ? items : 0); item++) { \
        uint at = loaded_at(item, items), index = tile.start + at; \
        if (at < tile.elements) { \
            uint target = own_count[bits_at(keys[item], pass.digit)]++; \
            move; \
        } \
    }
#define MOVE_KIND(kind) MOVE_ITEMS(!pass.visits && pass.moves == kind, move_element(moving(pass, kind), target, index, keys[item]))

// The pass, as the compiler sees it within a loop that moves one kind of parts.
Pass moving(Pass pass, uint moves) {
    pass.moves = moves;
    return pass;
}

// Stores each element at its target.
void store_tile(Pass pass, Tile tile) {
    uint items = items_of(tile.elements);
    for (uint bin = 0; bin < RADIX; bin++) own_count[bin] += bin_target[bin];
    // One loop for each kind of move, with zero iterations for other kinds: software drivers execute a branch that no lane takes,
    // but not the body of such a loop. They do not unroll a loop over the kinds, which has loops within.
    MOVE_ITEMS(pass.visits, visit_element(moving(pass, MOVES_ALL), target, index, keys[item]))
    MOVE_KIND(MOVES_ALL)
    if (DISCARD_KEYS != 0) MOVE_KIND(MOVES_VALUES)
}

// Copies the elements of a tile.
void copy_tile(Pass pass, Tile tile) {
    for (uint at = thread(); at < tile.elements; at += WORKGROUP_SIZE) {
        uint index = tile.start + at;
        KEY key = KEY(0);
        if (loads_copied_keys(pass)) key = load_key(pass, index);
        if (pass.visits) visit_element(pass, index, index, key);
        else move_element(pass, index, index, key);
    }
}
