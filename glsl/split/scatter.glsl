// Moving a tile's elements to their children, block by block. In a block, keys of a digit stand together before they are stored, so that
// neighbouring lanes store to neighbouring targets.

// Loads the keys of a block. Lanes past the end load the last one, and hold the last key of the order.
#define LOAD_KEYS(read) EACH_HELD(block.held) { \
        uint slot = place_of(block, item); \
        KEY key = flip_by_sign(read(start + min(slot, elements - 1))); \
        keys[item] = slot < elements ? key : ~all_flips(); \
    }

// Puts a word of each element into the pool, in the order of the ranks: an expression in `item`.
#define STAGE_WORD(word) EACH_HELD(block.held) pool[ranks[item]] = word;

// The element of an item, and its value.
#define ELEMENT (start + min(place_of(block, item), elements - 1))

// Stores the words of the pool at the targets.
#define STORE_WORD(write) EACH_HELD(block.held) { \
        uint staged = pool[place_of(block, item)]; \
        if (targets[item] != NO_TARGET) write(targets[item], word, staged); \
    }

void scatter_block(Parent parent, Digit digit, uint start, uint elements) {
    Block block = block_of(elements);
    bool back = is_target(parent.place);
    KEY keys[ITEMS];
    uint ranks[RANK_WORDS], targets[ITEMS], counts[OWN_DIGITS], starts[OWN_DIGITS];
    if (back) { LOAD_KEYS(read_key_back) } else { LOAD_KEYS(read_key) }
    count_keys(keys, block.held, digit, counts);
    scan_counts(counts, block.size, digit, starts);
    rank_keys(keys, block.held, digit, true, 1, ranks);
    STAGE_WORD(bits_at(keys[item], digit) ^ digit.flip)
    // The first rank of a digit goes to its child's next element.
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) child_begins[own_digit(turn)] -= starts[turn];
    }
    barrier();
    EACH_HELD(block.held) {
        uint slot = place_of(block, item), target = child_begins[pool[slot]] + slot;
        targets[item] = slot < elements ? within(parent, target) : NO_TARGET;
    }
    barrier();
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        STAGE_WORD(key_word(flip_by_sign(keys[item]), word))
        barrier();
        if (back) { STORE_WORD(write_key_word_back) } else { STORE_WORD(write_key_word) }
        barrier();
    }
    [[dont_unroll]] for (uint word = 0; word < VALUE_WORDS; word++) {
        if (makes_indices(parent)) { STAGE_WORD(made_index(parent, ELEMENT)) }
        else if (back) { STAGE_WORD(read_value_back(ELEMENT, word)) }
        else { STAGE_WORD(read_value(ELEMENT, word)) }
        barrier();
        if (back) { STORE_WORD(write_value_back) } else { STORE_WORD(write_value) }
        barrier();
    }
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) child_begins[own_digit(turn)] += starts[turn] + counts[turn];
    }
}

void scatter_tile(Parent parent, Tile tile) {
    Digit digit = digit_of_round(push.pass);
    [[dont_unroll]] for (uint done = 0; done < tile.elements; done += LARGEST_PART) {
        scatter_block(parent, digit, tile.start + done, min(tile.elements - done, LARGEST_PART));
    }
}
