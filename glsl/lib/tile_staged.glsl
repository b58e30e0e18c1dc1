// A tile whose keys are in registers, and which is sorted in the pool before it is written.

// Whether all elements of the tile have the same digit, so that it moves without ranking.
bool moves_as_it_is = false;

void put_in_pool(uint at, KEY key) {
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) pool[word * BLOCK + at] = KEY_WORD(key, word);
}

KEY key_in_pool(uint at) {
    KEY key;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) KEY_WORD(key, word) = pool[word * BLOCK + at];
    return key;
}

// Loads the `elements` from `start` on. A full tile needs no bounds checks. Ranking needs none either, as lanes past the end
// hold the last key of the order.
void take_tile(uint start, uint elements) {
    if (takes_visited() && elements == BLOCK) {
        EACH_ITEM keys[item] = take_visited(start + block_index(item));
    } else if (elements == BLOCK) {
        EACH_ITEM keys[item] = take_stored(start + block_index(item));
    } else {
        [[dont_unroll]] for (uint at = thread_index(); at < BLOCK; at += WORKGROUP_SIZE) {
            KEY key = last_key();
            if (at < elements) key = take_key(start + at);
            put_in_pool(at, key);
        }
        barrier();
        EACH_ITEM keys[item] = key_in_pool(block_index(item));
        barrier();
    }
}

// Ranks a counted tile, and leaves its keys in the pool.
void rank_tile(uint elements) {
    moves_as_it_is = uniform_in_subgroup(skew) == SKEW_SINGLE;
    if (!moves_as_it_is) {
        // The first pass that runs need not keep the order of equal digits. But without order, keys of lanes past the end
        // could come between elements of the last digit.
        rank_block(push.pass > 0 || elements < BLOCK);
        EACH_ITEM put_in_pool(rank_of(item), keys[item]);
    }
}

// Goes through the elements in the order of the pool. `write` is a statement in `key`, `bits` (its digit) and `target`.
// `kept` receives the targets, or with FEW_REGISTERS the digits.
#define EACH_TARGET(kept, write) \
    EACH_ITEM { \
        KEY key = key_in_pool(staged_rank(item)); \
        uint bits = digit_bits_of(key), target = digit_base[bits] + staged_rank(item); \
        write; \
        SET_NUMBER(kept, item, FEW_REGISTERS != 0 ? bits : target); \
    }

// Writes a full tile: an element's target is its digit's base plus its rank. The branches on `moves` are outside the loops.
void write_full(uint start) {
    uint moves = route_moves(active_route);
    bool joins = JOIN_INDEX != 0 && moves == MOVES_JOINING;
    PER_ITEM(kept);
    if (DISCARD_KEYS == 0 || moves == MOVES_ALL) {
        EACH_TARGET(kept, put_key(target, key))
    } else if (joins) {
        // The digit waits in the pool for its index, so that no register holds the key.
        EACH_TARGET(kept, pool[staged_rank(item)] = next_digit(key))
    } else if (joined) {
        EACH_TARGET(kept, put_value(target, 0, joined_index(key)))
    } else {
        EACH_TARGET(kept, )
    }
    for (uint plane = 0; plane < (joined ? 0 : VALUE_WORDS); plane++) {
        uint words[ITEMS];
        if (makes_indices()) {
            EACH_ITEM words[item] = start + block_index(item);
        } else {
            EACH_ITEM words[item] = load_value(takes_given(), start + block_index(item), plane);
        }
        barrier(); // the pool has been read
        if (joins) {
            EACH_ITEM pool[rank_of(item)] = join(words[item], pool[rank_of(item)]);
        } else {
            EACH_ITEM pool[rank_of(item)] = words[item];
        }
        barrier();
        EACH_ITEM {
            uint word = pool[staged_rank(item)], target = NUMBER_OF(kept, item);
            if (FEW_REGISTERS != 0) target = digit_base[target] + staged_rank(item);
            // The branch is inside the loop, as with two loops compilers hold all targets in registers.
            if (joins) store_key(target, KEY(word));
            else put_value(target, plane, word);
        }
    }
}

// Writes a tile of any size, element by element: unranked from `base` on, or from the pool to its targets.
void write_each(uint start, uint elements, bool as_it_is, uint base) {
    if (VALUE_WORDS > 0 && !as_it_is) {
        EACH_ITEM pool[block_index(item)] = rank_of(item);
        barrier();
    }
    [[dont_unroll]] for (uint at = thread_index(); at < elements; at += WORKGROUP_SIZE) {
        uint target = base + at;
        bool loads = as_it_is ? moves_key(route_moves(active_route)) : VALUE_WORDS > 0;
        KEY key = KEY(0);
        if (loads) key = take_key(start + at);
        else if (!as_it_is) key = key_in_pool(at);
        if (!as_it_is) target = digit_base[digit_bits_of(key)] + (VALUE_WORDS > 0 ? pool[at] : at);
        // The caller's code may give another key now, and then the target belongs to another digit.
        if (VISITED_KEYS != 0 && target >= count) continue;
        put_element(target, start + at, key, route_moves(active_route));
    }
}

// Gives a ranked tile to the caller's code, key and value at once, in the order of the pool: neighbouring lanes have
// neighbouring targets. Keys with values leave the pool for the indices of their elements, which are loaded from there.
void visit_ranked(uint start, uint elements) {
    bool loads = VALUE_WORDS > 0 && !joined;
    if (loads) {
        EACH_ITEM {
            uint rank = rank_of(item);
            pool[rank] = join(block_index(item), digit_bits_of(key_in_pool(rank)));
        }
        barrier();
    }
    [[dont_unroll]] for (uint at = thread_index(); at < elements; at += WORKGROUP_SIZE) {
        uint bits, index = start;
        KEY key;
        if (loads) {
            bits = pool[at] & (RADIX - 1);
            index += pool[at] >> RADIX_BITS;
            key = take_key(index);
        } else {
            key = key_in_pool(at);
            bits = digit_bits_of(key);
        }
        visit_element(digit_base[bits] + at, index, key, joined);
    }
}

// The target of a tile whose elements have the same digit.
uint only_base() { return digit_base[digit_bits_of(keys[0])]; }

// Writes the tile to its digits' bases, or unranked from `base` on.
void write_tile(uint start, uint elements, bool as_it_is, uint base) {
    bool visits = route_visits(active_route);
    if (visits && !as_it_is) visit_ranked(start, elements);
    else if (elements == BLOCK && !visits && !as_it_is) write_full(start);
    else write_each(start, elements, as_it_is, base);
}
