// The block of a single workgroup on software drivers. It holds the origins of its keys, and loads a key again where it is needed,
// as the source stays as it is until the end: each further array takes these drivers seconds to compile.

uint origins[HELD_ITEMS]; // index in the input of each key

// If keys have changed during the sort, the origins may not be a permutation. So they are limited.
uint origin_of(uint item, uint count) { return min(origins[item], count - 1); }

KEY sorted_key(uint item, uint count) { return load_key(true, origin_of(item, count)); }

// One word of it. In place, words of other numbers may have been written already.
uint sorted_word(uint item, uint word, uint count) {
#if KEY_WORDS == 1 || VISITED_KEYS
    return KEY_WORD(sorted_key(item, count), word);
#else
    return KEY_WORD(KEY_CELL(from, origin_of(item, count)), word);
#endif
}

uint digit_bits_of_item(uint item, uint count) {
    KEY key = sorted_key(item, count);
    return digit_bits_of(origins[item] < count ? take_order(key) : last_key());
}

// Sorts the origins by the digit of `pass`.
void sort_by_digit(uint pass, bool ordered, uint count) {
    begin_pass(0, pass);
    clear_own_counts();
    EACH_ITEM own_count[digit_bits_of_item(item, count)]++;
    count_block();
    // A key that has changed in between may have a rank behind the block.
    EACH_ITEM pool[min(own_count[digit_bits_of_item(item, count)]++, BLOCK - 1)] = origins[item];
    barrier();
    EACH_ITEM origins[item] = pool[block_index(item)];
    barrier();
}

void take_keys(uint count) {
    KEY first = KEY(0), differing = KEY(0);
    clear_varying();
    if (LOOKS) first = load_key(true, 0);
    EACH_ITEM {
        origins[item] = block_index(item);
        if (LOOKS) differing |= sortable(sorted_key(item, count)) ^ sortable(first);
    }
    find_varying(differing);
}
