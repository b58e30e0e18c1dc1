// A tile with private counters, whose elements go straight to their targets.

#define TAKE_ITEMS(turns, take) \
    for (uint item = 0; item < (turns); item++) { \
        uint index = block_index(item); \
        keys[item] = index < elements ? take(start + index) : last_key(); \
        own_count[digit_bits_of(keys[item])]++; \
    }

// Loads the `elements` from `start` on, and counts them.
void take_tile(uint start, uint elements) {
    expect_elements(elements);
    clear_own_counts();
    // One of the loops has no turns: software drivers execute a branch that no lane takes, but not the body of such a loop.
    bool visits = takes_visited();
    TAKE_ITEMS(visits ? items_here : 0, take_visited)
    TAKE_ITEMS(visits ? 0 : items_here, take_stored)
}

const bool moves_as_it_is = false;

void rank_tile(uint elements) {}

uint only_base() { return 0; }

// `move` is a statement in `target`, `index` and `item`.
#define MOVE_ITEMS(moved, move) \
    for (uint item = 0; item < (moved ? items_here : 0); item++) { \
        uint index = start + block_index(item); \
        if (block_index(item) < elements) { \
            uint target = own_count[digit_bits_of(keys[item])]++; \
            move; \
        } \
    }
#define MOVE_KIND(kind) MOVE_ITEMS(!visits && moves == kind, move_element(target, index, keys[item], kind))

// Writes each element to its target, or copies the whole tile.
void write_tile(uint start, uint elements, bool as_it_is, uint base) {
    uint moves = route_moves(active_route);
    if (as_it_is) {
        for (uint at = thread_index(); at < elements; at += WORKGROUP_SIZE) {
            KEY key = KEY(0);
            if (moves_key(moves)) key = take_key(start + at);
            put_element(base + at, start + at, key, moves);
        }
        return;
    }
    for (uint bits = 0; bits < RADIX; bits++) own_count[bits] += digit_base[bits];
    // One loop for each kind of move, without turns for other kinds: software drivers execute a branch that no lane takes,
    // but not the body of such a loop. They do not unroll a loop over the kinds, which has loops within.
    bool visits = route_visits(active_route);
    MOVE_ITEMS(visits && !joined, visit_element(target, index, keys[item], false))
    MOVE_ITEMS(visits && joined, visit_element(target, index, keys[item], true))
    MOVE_KIND(MOVES_ALL)
    if (DISCARD_KEYS != 0) MOVE_KIND(MOVES_VALUES)
    if (JOIN_INDEX != 0) MOVE_KIND(MOVES_JOINING)
    if (JOIN_INDEX != 0) MOVE_KIND(MOVES_SPLITTING)
}
