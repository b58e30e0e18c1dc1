// Moving the blocks of a tile to their places in the output: shared by every kernel that scatters by one digit.

uint count;        // elements of the whole sort
uint active_route; // of this pass

// Elements from `start` up to the end of the input or of a part of `size`.
uint elements_from(uint start, uint size) { return start < count ? min(count - start, size) : 0; }

uint input_place() { return route_keys_from(active_route); }

uint input_digit(KEY key, uint pass) { return digit_on(active_route, key, pass); }

uint digit_at(uint index) { return input_digit(load_key(input_place(), index), push.pass); }

// Where nobody can tell equal keys apart, the first pass that runs need not keep the order of equal digits.
bool keeps_order() { return UNORDERED == 0 || route_round(active_route) > 0; }

// Makes the `elements` from `start` on the block to rank.
void take_block(uint start, uint elements) {
    block_start = start;
    expect_elements(elements);
#if STAGED
    EACH_ITEM keys[item] = block_index(item) < elements ? key_in_place(item) : NO_ELEMENT;
#endif // else ranking loads them
}

// One word of the value of element `index`.
uint value_at(uint index, uint plane) {
    uint from = route_values_from(active_route);
    uint value = index;
    if (INDEX_VALUES == 0 || from != PLACE_NONE) value = load_value(from, index, plane);
    return value;
}

void put_key(uint target, KEY key) {
    uint to = route_keys_to(active_route);
    if (target < count && (DISCARD_KEYS == 0 || to != PLACE_NONE)) store_key(to, target, key);
}

void put_value(uint target, uint plane, uint word) {
    if (target < count) store_value(route_values_to(active_route), target, plane, word);
}

// Writes what `moves` says of the element that was at `index`.
void put_element(uint target, uint index, KEY key, uint moves) {
    if (moves == MOVES_ALL) put_key(target, key);
    if (JOIN_INDEX != 0) {
        if (moves == MOVES_JOINING) put_key(target, join(key, value_at(index, 0), route_next(active_route)));
        if (moves == MOVES_SPLITTING) put_value(target, 0, joined_index(key));
    }
    if (moves == MOVES_ALL || moves == MOVES_VALUES) {
        for (uint plane = 0; plane < VALUE_WORDS; plane++) put_value(target, plane, value_at(index, plane));
    }
}

#if !STAGED
// A loop of no turns unless the pass moves that: software drivers walk through a branch that no lane takes, but not through
// such a loop.
void scatter_items(uint start, uint elements, uint moves) {
    uint items = route_moves(active_route) == moves ? block_items() : 0;
    for (uint item = 0; item < items; item++) {
        uint index = block_index(item);
        if (index < elements) put_element(item_target(item), start + index, keys[item], moves);
    }
}

// Writes each element from where it was loaded.
void scatter_items(uint start, uint elements) {
    base_ranks();
    scatter_items(start, elements, MOVES_ALL);
    if (DISCARD_KEYS != 0) scatter_items(start, elements, MOVES_VALUES);
    if (JOIN_INDEX != 0) {
        scatter_items(start, elements, MOVES_JOINING);
        scatter_items(start, elements, MOVES_SPLITTING);
    }
}
#else
// Reorders the block in shared memory first, so that neighbours write runs of neighbouring elements.
void scatter_items(uint start, uint elements) {
    barrier(); // digit_base is complete
    uint moves = route_moves(active_route);
    bool joins = JOIN_INDEX != 0 && moves == MOVES_JOINING, splits = JOIN_INDEX != 0 && moves == MOVES_SPLITTING;
    uint targets[ITEMS];
    KEY sorted[ITEMS];
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        STAGE(KEY_WORD(keys[item], word));
        [[unroll]] for (uint item = 0; item < ITEMS; item++) KEY_WORD(sorted[item], word) = pool[staged_place(item)];
    }
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint digit = input_digit(sorted[item], push.pass);
        targets[item] = digit_base[digit] + staged_place(item) - digit_start[digit];
        if (staged_place(item) < elements) {
            if (moves == MOVES_ALL) put_key(targets[item], sorted[item]);
            if (splits) put_value(targets[item], 0, joined_index(sorted[item]));
        }
    }
    for (uint plane = 0; plane < (splits ? 0 : VALUE_WORDS); plane++) {
        uint words[ITEMS];
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint index = block_index(item);
            words[item] = index < elements ? value_at(start + index, plane) : 0;
            if (joins) words[item] = KEY_WORD(join(keys[item], words[item], route_next(active_route)), 0);
        }
        STAGE(words[item]);
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint place = staged_place(item);
            if (place < elements) {
                if (joins) put_key(targets[item], KEY(pool[place]));
                else put_value(targets[item], plane, pool[place]);
            }
        }
    }
}

#endif

// Writes the ranked block of `elements` that starts at `start`. Afterwards digit_base has moved past it.
void scatter_block(uint start, uint elements) {
    scatter_items(start, elements);
    barrier(); // digit_base and the pool have been read
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        digit_base[digit] += digit_count[digit];
    }
}

// Writes a tile of one digit, whose elements stay in order.
void copy_tile(uint start, uint elements, uint base) {
    for (uint i = thread_index(); i < elements; i += WORKGROUP_SIZE) {
        put_element(base + i, start + i, load_key(input_place(), start + i), route_moves(active_route));
    }
}
