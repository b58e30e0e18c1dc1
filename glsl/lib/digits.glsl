// Sorting a block by one digit after the other without leaving shared memory.

uint origins[ITEMS]; // index in the block, at first, of each key

// Sorts the block's `elements` by the digit of `pass`. What is staged comes back in stripes, in the order of that digit.
void sort_by_digit(uint elements, uint pass, bool ordered, bool with_origins) {
    rank_block(elements, pass, ordered);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        STAGE(KEY_WORD(keys[item], word));
        EACH_ITEM KEY_WORD(keys[item], word) = pool[block_index(item)];
    }
    if (with_origins) {
        STAGE(origins[item]);
        EACH_ITEM origins[item] = pool[block_index(item)];
    }
    barrier(); // the pool has been read
}
