// Storing a tile. The sorted keys stand in the pool, so that neighbouring lanes store to neighbouring targets: the target of a
// key is that of its bin plus its rank. Values follow their keys through the pool.

// The rank of the key that an invocation stores.
uint stored_rank(uint item) { return thread() + item * WORKGROUP_SIZE; }

void stage_keys(KEY keys[ITEMS], uint ranks[RANK_WORDS]) {
    [[unroll]] for (uint item = 0; item < ITEMS; item++) stage_key(rank_in(ranks[word_of(item)], item), keys[item]);
}

// Sets the target of each bin. The caller may change keys after they were counted, so no target lets elements go past the end.
void set_targets(Pass pass, Tile tile, uint count, uint counts[OWN_DIGITS], uint starts[OWN_DIGITS], uint before[OWN_DIGITS]) {
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) {
            uint digit = own_digit(turn), target = counters[pass.starts + digit] + before[turn];
            // Lanes past the end count as the last digit.
            uint past = digit == (1u << pass.digit.width) - 1 ? TILE - tile.elements : 0;
            bin_target[digit ^ pass.digit.flip] = min(target, count - (counts[turn] - past)) - starts[turn];
        }
    }
}

// Stores the keys of a full tile, or what the pass moves instead.
void store_keys(Pass pass, out uint kept[RANK_WORDS]) {
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        KEY key = staged_key(stored_rank(item));
        uint bin = bin_of(key, pass.digit), target = bin_target[bin] + stored_rank(item);
        if (moves_all(pass)) store_key(pass, target, key);
        // The digit waits in the pool for its index, so that no register holds the key.
        else if (joins(pass)) pool[stored_rank(item)] = digit_of(key, pass.next);
        else if (pass.joined) write_value(target, 0, joined_index(key));
        SET_RANK(kept, item, FEW_REGISTERS != 0 ? bin : target);
    }
}

// Stores the values of a full tile.
void store_values(Pass pass, Tile tile, uint ranks[RANK_WORDS], uint kept[RANK_WORDS]) {
    for (uint word = 0; word < VALUE_WORDS; word++) {
        uint values[ITEMS];
        // With a branch for each item, AMD's GPUs take 4 % more instructions for an item (ACO of Mesa 25.0).
        if (makes_indices(pass)) {
            [[unroll]] for (uint item = 0; item < ITEMS; item++) values[item] = tile.start + loaded_at(item, ITEMS);
        } else {
            [[unroll]] for (uint item = 0; item < ITEMS; item++) {
                values[item] = load_value(pass, tile.start + loaded_at(item, ITEMS), word);
            }
        }
        barrier(); // the pool has been read
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint rank = rank_in(ranks[word_of(item)], item);
            pool[rank] = joins(pass) ? join(values[item], pool[rank]) : values[item];
        }
        barrier();
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint value = pool[stored_rank(item)], target = rank_in(kept[word_of(item)], item);
            if (FEW_REGISTERS != 0) target = bin_target[target] + stored_rank(item);
            // With two loops instead of a branch, compilers hold all targets in registers.
            if (joins(pass)) write_key(target, KEY(value));
            else write_value(target, word, value);
        }
    }
}

// Stores the last tile, element by element, or moves any tile as a whole to `base`. With values the pool holds ranks in the
// order of the input, because the values are there; otherwise it holds the sorted keys.
void store_each(Pass pass, Tile tile, uint count, uint ranks[RANK_WORDS], bool moves_whole, uint base) {
    if (VALUE_WORDS > 0 && !moves_whole) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) pool[loaded_at(item, ITEMS)] = rank_in(ranks[word_of(item)], item);
        barrier();
    }
    [[dont_unroll]] for (uint at = thread(); at < tile.elements; at += WORKGROUP_SIZE) {
        uint target = base + at;
        KEY key = KEY(0);
        if (moves_whole ? loads_copied_keys(pass) : VALUE_WORDS > 0) key = load_key(pass, tile.start + at);
        else if (!moves_whole) key = staged_key(at);
        if (!moves_whole) target = bin_target[bin_of(key, pass.digit)] + (VALUE_WORDS > 0 ? pool[at] : at);
        // The caller's code may give another key now, and then the target belongs to another digit.
        if (VISITED_KEYS != 0 && target >= count) continue;
        if (pass.visits) visit_element(pass, target, tile.start + at, key);
        else move_element(pass, target, tile.start + at, key);
    }
}

// Gives a ranked tile to the caller's code, key and value at once, in the order of the pool: neighbouring lanes have
// neighbouring targets. Keys with values leave the pool for the indices of their elements, which are loaded from there.
void visit_tile(Pass pass, Tile tile, uint ranks[RANK_WORDS]) {
    bool loads = VALUE_WORDS > 0 && !pass.joined;
    if (loads) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint rank = rank_in(ranks[word_of(item)], item);
            pool[rank] = join(loaded_at(item, ITEMS), bin_of(staged_key(rank), pass.digit));
        }
        barrier();
    }
    [[dont_unroll]] for (uint at = thread(); at < tile.elements; at += WORKGROUP_SIZE) {
        uint bin, index = tile.start;
        KEY key;
        if (loads) {
            bin = pool[at] & (RADIX - 1);
            index += pool[at] >> RADIX_BITS;
            key = load_key(pass, index);
        } else {
            key = staged_key(at);
            bin = bin_of(key, pass.digit);
        }
        visit_element(pass, bin_target[bin] + at, index, key);
    }
}

// Stores a ranked tile, or moves it as a whole to `base`.
void store_tile(Pass pass, Tile tile, uint count, uint ranks[RANK_WORDS], bool moves_whole, uint base) {
    if (pass.visits && !moves_whole) {
        visit_tile(pass, tile, ranks);
    } else if (tile.elements == TILE && !pass.visits && !moves_whole) {
        uint kept[RANK_WORDS];
        store_keys(pass, kept);
        if (!pass.joined) store_values(pass, tile, ranks, kept);
    } else {
        store_each(pass, tile, count, ranks, moves_whole, base);
    }
}
