// Storing a tile, in parts where the pool has no room for all of it. The sorted keys of a part stand in the pool, so that
// neighbouring lanes store to neighbouring targets: the target of a key is that of its bin plus its rank. Values follow their keys
// through the pool.

// The place in its part of the key that an invocation stores.
uint stored_at(uint item) { return thread() + item * WORKGROUP_SIZE; }

// The place in a part of an item with this word of ranks.
uint ranked_at(uint word, uint item, uint part) { return rank_in(word, item) - part * PART; }

void stage_keys(KEY keys[ITEMS], uint ranks[RANK_WORDS], uint part) {
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint at = ranked_at(ranks[word_of(item)], item, part);
        if (in_part(at)) stage_key(at, keys[item]);
    }
}

// Sets the target of each bin. The caller may change keys after they were counted, so no target lets elements go past the end.
void set_targets(Pass pass, Tile tile, uint count, uint counts[OWN_DIGITS], uint starts[OWN_DIGITS], uint before[OWN_DIGITS]) {
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) {
            uint digit = own_digit(turn), target = counters[pass.starts + digit] + before[turn];
            // Lanes past the end count as the last digit.
            uint past = digit == (1u << pass.digit.width) - 1 ? TILE - tile.elements : 0;
            bin_target[bin_at(digit, pass.digit)] = pass.first + min(target, count - (counts[turn] - past)) - starts[turn];
        }
    }
}

// A number for each item that is stored, as for ranks.
const uint KEPT_WORDS = FEW_REGISTERS != 0 ? (PART_ITEMS + 1) / 2 : PART_ITEMS;
#define EACH_STORED(item, part) \
    [[unroll]] for (uint item = 0; item < PART_ITEMS; item++) if ((part) * PART_ITEMS + item < ITEMS)

// Stores the keys of a part of a full tile, or what the pass moves instead.
void store_keys(Pass pass, uint part, out uint kept[KEPT_WORDS]) {
    EACH_STORED(item, part) {
        KEY key = staged_key(stored_at(item));
        uint bin = bin_of(key, pass.digit), target = bin_target[bin] + part * PART + stored_at(item);
        if (moves_all(pass)) store_key(target, key);
        SET_RANK(kept, item, FEW_REGISTERS != 0 ? bin : target);
    }
}

// With several parts, values of one word are loaded once for all of them, while the tile waits for earlier ones. In a tile of one
// part that takes 7 to 16 registers more on Intel's and AMD's GPUs (Mesa 25 and 26), and Intel's spill.
const bool LOADS_AHEAD = PARTS > 1 && VALUE_WORDS == 1;
bool loads_ahead(Pass pass, Tile tile) { return LOADS_AHEAD && tile.elements == TILE && !pass.visits; }

// Loads a word of the values of a full tile: of all items, or of those in a part.
void load_values(Pass pass, Tile tile, uint ranks[RANK_WORDS], uint word, uint part, out uint values[ITEMS]) {
    // With a branch for each item, AMD's GPUs take 4 % more instructions for an item (ACO of Mesa 25.0).
    if (makes_indices(pass)) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) values[item] = made_index(pass, tile.start + loaded_at(item, ITEMS));
    } else {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            if (LOADS_AHEAD || in_part(ranked_at(ranks[word_of(item)], item, part))) {
                values[item] = load_value(pass, tile.start + loaded_at(item, ITEMS), word);
            }
        }
    }
}

// Stores the values of a part of a full tile.
void store_values(Pass pass, Tile tile, uint ahead[ITEMS], uint ranks[RANK_WORDS], uint part, uint kept[KEPT_WORDS]) {
    for (uint word = 0; word < VALUE_WORDS; word++) {
        uint loaded[ITEMS];
        if (!LOADS_AHEAD) load_values(pass, tile, ranks, word, part, loaded);
        barrier(); // the pool has been read
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint at = ranked_at(ranks[word_of(item)], item, part);
            uint value = LOADS_AHEAD ? ahead[item] : loaded[item];
            if (in_part(at)) pool[at] = value;
        }
        barrier();
        EACH_STORED(item, part) {
            uint value = pool[stored_at(item)], target = rank_in(kept[word_of(item)], item);
            if (FEW_REGISTERS != 0) target = bin_target[target] + part * PART + stored_at(item);
            write_value(target, word, value);
        }
    }
}

// Stores a part of the last tile, element by element, or moves a part of any tile that moves as a whole to `base`. With values the
// pool holds ranks in the order of the input, because the values are there; otherwise it holds the sorted keys.
void store_each(Pass pass, Tile tile, uint count, uint ranks[RANK_WORDS], uint part, bool moves_whole, uint base) {
    if (VALUE_WORDS > 0 && !moves_whole) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint at = loaded_at(item, ITEMS) - part * PART;
            if (in_part(at)) pool[at] = rank_in(ranks[word_of(item)], item);
        }
        barrier();
    }
    [[dont_unroll]] for (uint at = thread(); at < PART && part * PART + at < tile.elements; at += WORKGROUP_SIZE) {
        uint index = part * PART + at, target = base + index;
        KEY key = KEY(0);
        if (moves_whole ? loads_copied_keys(pass) : VALUE_WORDS > 0) key = load_key(pass, tile.start + index);
        else if (!moves_whole) key = staged_key(at);
        if (!moves_whole) target = bin_target[bin_of(key, pass.digit)] + (VALUE_WORDS > 0 ? pool[at] : index);
        // The caller's code may give another key now, and then the target belongs to another digit.
        if (VISITED_KEYS != 0 && target >= count) continue;
        if (pass.visits) visit_element(pass, target, tile.start + index, key);
        else move_element(pass, target, tile.start + index, key);
    }
}

// Gives a part of a ranked tile to the caller's code, key and value at once, in the order of the pool: neighbouring lanes have
// neighbouring targets. Keys with values leave the pool for the indices of their elements, which are loaded from there.
void visit_part(Pass pass, Tile tile, uint ranks[RANK_WORDS], uint part) {
    if (VALUE_WORDS > 0) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint at = ranked_at(ranks[word_of(item)], item, part);
            if (in_part(at)) pool[at] = loaded_at(item, ITEMS) << RADIX_BITS | bin_of(staged_key(at), pass.digit);
        }
        barrier();
    }
    [[dont_unroll]] for (uint at = thread(); at < PART && part * PART + at < tile.elements; at += WORKGROUP_SIZE) {
        uint bin, index = tile.start;
        KEY key;
        if (VALUE_WORDS > 0) {
            bin = pool[at] & (RADIX - 1);
            index += pool[at] >> RADIX_BITS;
            key = load_key(pass, index);
        } else {
            key = staged_key(at);
            bin = bin_of(key, pass.digit);
        }
        visit_element(pass, bin_target[bin] + part * PART + at, index, key);
    }
}

// Stores a staged part of a ranked tile, or a part of a tile that moves as a whole.
void store_part(Pass pass, Tile tile, uint count, uint values[ITEMS], uint ranks[RANK_WORDS], uint part, bool moves_whole, uint base) {
    if (pass.visits && !moves_whole) {
        visit_part(pass, tile, ranks, part);
    } else if (tile.elements == TILE && !pass.visits && !moves_whole) {
        uint kept[KEPT_WORDS];
        store_keys(pass, part, kept);
        store_values(pass, tile, values, ranks, part, kept);
    } else {
        store_each(pass, tile, count, ranks, part, moves_whole, base);
    }
}

// Stores a ranked tile, of which the first part is staged, or moves it as a whole to `base`.
void store_tile(
    Pass pass, Tile tile, uint count, KEY keys[ITEMS], uint values[ITEMS], uint ranks[RANK_WORDS], bool moves_whole, uint base
) {
    store_part(pass, tile, count, values, ranks, 0, moves_whole, base);
    [[unroll]] for (uint part = 1; part < PARTS; part++) {
        if (!moves_whole) {
            barrier(); // the pool has been read
            stage_keys(keys, ranks, part);
            barrier();
        }
        store_part(pass, tile, count, values, ranks, part, moves_whole, base);
    }
}
