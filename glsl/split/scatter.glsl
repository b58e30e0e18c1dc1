// Moving a tile's elements to their children, block by block. In a block, keys of a digit stand together before they are stored, so that
// neighbouring lanes store to neighbouring targets.

// The element of an item. Lanes past the end load the last one, and hold the last key of the order.
uint element_of(Block block, uint start, uint elements, uint item) { return start + min(place_of(block, item), elements - 1); }
KEY held_key(Block block, uint elements, uint item, KEY key) {
    KEY flipped = flip_by_sign(key);
    return place_of(block, item) < elements ? flipped : ~all_flips();
}

// In these, `back` is a constant, so that loops do not ask for it.

// Puts a word of each value into the pool, in the order of the ranks.
void stage_values(const bool back, Block block, uint start, uint elements, uint word, uint ranks[RANK_WORDS]) {
    EACH_HELD(block.held) {
        uint element = element_of(block, start, elements, item), value;
        if (back) value = read_value_back(element, word);
        else value = read_value(element, word);
        pool[ranks[item]] = value;
    }
}

// Stores the words of the pool at the targets, as words of keys or of values; `of_keys` is a constant too.
void store_words(const bool of_keys, const bool back, Block block, uint word, uint targets[ITEMS]) {
    EACH_HELD(block.held) {
        uint staged = pool[place_of(block, item)];
        if (targets[item] != NO_TARGET) {
            if (of_keys && back) write_key_word_back(targets[item], word, staged);
            else if (of_keys) write_key_word(targets[item], word, staged);
            else if (back) write_value_back(targets[item], word, staged);
            else write_value(targets[item], word, staged);
        }
    }
}

void scatter_block(Parent parent, Digit digit, uint start, uint elements) {
    Block block = block_of(elements);
    bool back = is_target(parent.place);
    KEY keys[ITEMS];
    uint ranks[RANK_WORDS], targets[ITEMS], counts[OWN_DIGITS], starts[OWN_DIGITS];
    if (back) {
        EACH_HELD(block.held) {
            KEY key = read_key_back(element_of(block, start, elements, item));
            keys[item] = held_key(block, elements, item, key);
        }
    } else {
        EACH_HELD(block.held) {
            KEY key = read_key(element_of(block, start, elements, item));
            keys[item] = held_key(block, elements, item, key);
        }
    }
    count_keys(keys, block.held, digit, counts);
    scan_counts(counts, block.size, digit, starts);
    rank_keys(keys, block.held, digit, true, 1, ranks);
    EACH_HELD(block.held) pool[ranks[item]] = bits_at(keys[item], digit) ^ digit.flip;
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
        EACH_HELD(block.held) pool[ranks[item]] = key_word(flip_by_sign(keys[item]), word);
        barrier();
        if (back) store_words(true, true, block, word, targets);
        else store_words(true, false, block, word, targets);
        barrier();
    }
    [[dont_unroll]] for (uint word = 0; word < VALUE_WORDS; word++) {
        if (makes_indices(parent)) {
            EACH_HELD(block.held) pool[ranks[item]] = made_index(parent, element_of(block, start, elements, item));
        } else if (back) {
            stage_values(true, block, start, elements, word, ranks);
        } else {
            stage_values(false, block, start, elements, word, ranks);
        }
        barrier();
        if (back) store_words(false, true, block, word, targets);
        else store_words(false, false, block, word, targets);
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
