// Loading the block of a single workgroup, and storing it sorted.

void load_block(Block block, uint count, out KEY keys[ITEMS], out uint origins[RANK_WORDS]) {
    KEY first = KEY(0), differing = KEY(0);
    clear_varying();
    if (LOOKS) first = flip_by_sign(given_key(0));
    EACH_HELD(block.held) {
        {
            uint index = place_of(block, item);
            // Lanes past the end load too, without a branch.
            KEY key = flip_by_sign(given_key(min(index, count - 1)));
            if (LOOKS) differing |= key ^ first;
            keys[item] = index < count ? key : ~all_flips();
            SET_RANK(origins, item, index);
        }
    }
    find_varying(differing);
}

// One word of the value that moves with an item.
uint value_of(uint origin, uint word, uint count) {
    return INDEX_VALUES != 0 ? origin : given_value(min(origin, count - 1), word);
}

void store_block(Block block, uint count, KEY keys[ITEMS], uint origins[RANK_WORDS]) {
    for (uint word = 0; word < KEY_WORDS && DISCARD_KEYS == 0; word++) {
        EACH_HELD(block.held) {
            pool[place_of(block, item)] = key_word(flip_by_sign(keys[item]), word);
        }
        memoryBarrierBuffer(); // in place, all keys have been read
        barrier();
        [[dont_unroll]] for (uint at = thread(); at < count; at += WORKGROUP_SIZE) write_key_word(at, word, pool[at]);
        barrier();
    }
    for (uint word = 0; word < VALUE_WORDS; word++) {
        EACH_HELD(block.held) {
            pool[place_of(block, item)] = value_of(rank_in(origins[word_of(item)], item), word, count);
        }
        memoryBarrierBuffer(); // the same of values
        barrier();
        [[dont_unroll]] for (uint at = thread(); at < count; at += WORKGROUP_SIZE) write_value(at, word, pool[at]);
        barrier();
    }
}

// Gives the block to the caller's code.
void visit_block(Block block, uint count, KEY keys[ITEMS], uint origins[RANK_WORDS]) {
    EACH_HELD(block.held) {
        uint position = place_of(block, item);
        if (position < count) {
            uvec4 words;
            uint origin = rank_in(origins[word_of(item)], item);
            for (uint word = 0; word < VALUE_WORDS; word++) words[word] = value_of(origin, word, count);
            visit_sorted(position, flip_by_sign(keys[item]), words);
        }
    }
}
