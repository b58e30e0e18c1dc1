// The block of a single workgroup, whose keys are in registers.

PER_ITEM(origins); // index in the input of each key

uint origin_of(uint item, uint count) { return NUMBER_OF(origins, item); }

KEY sorted_key(uint item, uint count) { return take_order(keys[item]); }

uint sorted_word(uint item, uint word, uint count) { return KEY_WORD(sorted_key(item, count), word); }

// Sorts one word of each element through the pool, which is free before and after; `word` is an expression in `item`, and `take`
// a statement that takes a word from the pool.
#define SORT_WORD(word, take) \
    EACH_ITEM pool[rank_of(item)] = word; \
    barrier(); \
    EACH_ITEM { take; } \
    barrier()

// Sorts the block by the digit of `pass`. Words come back in stripes, in sorted order.
void sort_by_digit(uint pass, bool ordered, uint count) {
    begin_pass(0, pass);
    count_block();
    rank_block(ordered);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        SORT_WORD(KEY_WORD(keys[item], word), KEY_WORD(keys[item], word) = pool[block_index(item)]);
    }
    if (VALUE_WORDS > 0) {
        SORT_WORD(NUMBER_OF(origins, item), SET_NUMBER(origins, item, pool[block_index(item)]));
    }
}

void take_keys(uint count) {
    KEY first = KEY(0), differing = KEY(0);
    clear_varying();
    if (LOOKS) first = load_key(true, 0);
    EACH_ITEM {
        uint index = block_index(item);
        // Lanes past the end load too, without a branch.
        KEY key = load_key(true, min(index, count - 1));
        [[unroll]] for (uint word = 0; word < KEY_WORDS && LOOKS; word++) {
            KEY_WORD(differing, word) |= KEY_WORD(sortable(key), word) ^ KEY_WORD(sortable(first), word);
        }
        keys[item] = index < count ? take_order(key) : last_key();
        SET_NUMBER(origins, item, index);
    }
    find_varying(differing);
}
