// Loading and storing the elements of a pass.

uint count; // elements of the whole sort

// The key of element `index`, with flips by its sign.
KEY take_key(uint index) { return take_order(load_key(takes_given(), index)); }

// The same for loops over elements, which decide once whether the caller's code makes the keys.
bool takes_visited() { return VISITED_KEYS != 0 && takes_given(); }
KEY take_visited(uint index) { return take_order(load_key(true, index)); }
KEY take_stored(uint index) { return take_order(stored_key(index)); }

// Whether values are indices that this pass makes.
bool makes_indices() { return INDEX_VALUES != 0 && takes_given(); }

// One word of the value of element `index`.
uint value_at(uint index, uint plane) {
    uint value = index;
    if (!makes_indices()) value = load_value(takes_given(), index, plane);
    return value;
}

void put_key(uint target, KEY key) { store_key(target, take_order(key)); }

void put_value(uint target, uint plane, uint word) { store_value(target, plane, word); }

// The digit of the next pass, to be joined with an index.
uint next_digit(KEY key) {
    uint pass = route_next(active_route);
    return bits_at(key ^ all_flips(), digit_shift(pass), digit_bits(pass));
}

// Whether `moves` needs the key of an element that moves as it is. Behind a pass that discards keys, a pass that copies finds none.
bool moves_key(uint moves) { return DISCARD_KEYS == 0 || moves != MOVES_VALUES; }

// Gives the element from `index` to the caller's code; `splits` if the key is an index that is joined with a digit.
void visit_element(uint target, uint index, KEY key, bool splits) {
    uvec4 words;
    for (uint plane = 0; plane < VALUE_WORDS; plane++) words[plane] = splits ? joined_index(key) : value_at(index, plane);
    visit_sorted(target, take_order(key), words);
}

// Stores the parts of the element from `index` that `moves` selects.
void move_element(uint target, uint index, KEY key, uint moves) {
    bool all = DISCARD_KEYS == 0 || moves == MOVES_ALL;
    if (all) put_key(target, key);
    if (JOIN_INDEX != 0 && moves == MOVES_JOINING) {
        KEY_WORD(key, 0) = join(value_at(index, 0), next_digit(key));
        store_key(target, key);
    }
    if (JOIN_INDEX != 0 && moves == MOVES_SPLITTING) put_value(target, 0, joined_index(key));
    if (all || moves == MOVES_VALUES) {
        for (uint plane = 0; plane < VALUE_WORDS; plane++) put_value(target, plane, value_at(index, plane));
    }
}

// Stores an element, or gives it to the caller's code.
void put_element(uint target, uint index, KEY key, uint moves) {
    if (route_visits(active_route)) visit_element(target, index, key, joined);
    else move_element(target, index, key, moves);
}
