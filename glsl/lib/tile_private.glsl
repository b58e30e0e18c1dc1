// A tile with private counters, whose elements go straight to their targets.

uint tile_start;
uint tile_elements;

KEY key_in_place(uint item) {
    uint index = block_index(item);
    return index < tile_elements ? take_key(tile_start + index) : last_key();
}

#ifdef VISITED_KEYS
bool takes_visited_keys() { return takes_visited(); }

KEY visited_in_place(uint item) {
    uint index = block_index(item);
    return index < tile_elements ? take_visited(tile_start + index) : last_key();
}

KEY stored_in_place(uint item) {
    uint index = block_index(item);
    return index < tile_elements ? take_stored(tile_start + index) : last_key();
}
#endif

// Only remembers the range, as ranking loads the keys.
void take_tile(uint start, uint elements) {
    tile_start = start;
    tile_elements = elements;
    expect_elements(elements);
}

void rank_tile(uint elements) {}

uint only_base() { return 0; }

#define MOVE_ITEMS(kind) \
    for (uint item = 0; item < (moves == kind ? block_items() : 0); item++) { \
        uint index = block_index(item); \
        if (index < elements) move_element(own_count[digit_bits_of(keys[item])]++, start + index, keys[item], kind); \
    }

// Writes each element to its target, or the whole tile unranked from `base` on.
void write_tile(uint start, uint elements, bool as_it_is, uint base) {
    if (as_it_is) {
        for (uint at = thread_index(); at < elements; at += WORKGROUP_SIZE) {
            put_element(base + at, start + at, take_key(start + at), route_moves(active_route));
        }
        return;
    }
    for (uint bits = 0; bits < RADIX; bits++) own_count[bits] += digit_base[bits];
    uint moves = route_moves(active_route);
    // One loop for each kind of move, without turns for other kinds: software drivers execute a branch that no lane takes,
    // but not the body of such a loop. They do not unroll a loop over the kinds, which has loops within.
#ifdef VISITED_OUTPUT
    bool visits = route_visits(active_route);
    for (uint item = 0; item < (visits && !joined ? block_items() : 0); item++) {
        uint index = block_index(item);
        if (index < elements) visit_element(own_count[digit_bits_of(keys[item])]++, start + index, keys[item], false);
    }
    for (uint item = 0; item < (visits && joined ? block_items() : 0); item++) {
        if (block_index(item) < elements) visit_element(own_count[digit_bits_of(keys[item])]++, 0, keys[item], true);
    }
    if (visits) moves = ~0u; // the caller's code has taken the elements
#endif
    MOVE_ITEMS(MOVES_ALL)
    if (DISCARD_KEYS != 0) MOVE_ITEMS(MOVES_VALUES)
    if (JOIN_INDEX != 0) MOVE_ITEMS(MOVES_JOINING)
    if (JOIN_INDEX != 0) MOVE_ITEMS(MOVES_SPLITTING)
}
