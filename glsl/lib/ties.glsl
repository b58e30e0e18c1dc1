// Ties: elements that are equal in the leading digits that have been sorted by. They are next to each other, in runs; a run
// of keys that are equal throughout, or were in order from the start, is in order.

// Bits of a word of the key from bit `low` of the whole key to the end of the window.
uint window_bits(uint word, uint low) {
    int first = clamp(int(low) - 32 * int(word), 0, 32);
    int end = clamp(int(WINDOW_LOW + WINDOW_BITS) - 32 * int(word), 0, 32);
    uint bits = 0;
    if (first < end) bits = ~0u >> (32 - (end - first)) << first;
    return bits;
}

// Whether two keys are equal from bit `low` to the end of the window.
bool is_tied(KEY key, KEY other, uint low) {
    uint difference = 0;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        difference |= (sortable_word(key, word) ^ sortable_word(other, word)) & window_bits(word, low);
    }
    return difference == 0;
}

// Whether a key is less than another by all of the window.
bool precedes(KEY key, KEY other) {
    bool less = false;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        uint bits = window_bits(word, WINDOW_LOW);
        uint mine = sortable_word(key, word) & bits, its = sortable_word(other, word) & bits;
        less = mine < its || mine == its && less;
    }
    return less;
}

// The list of runs that are not in order, by the index of their first element: words at the place where no elements are.
#define LISTED_RUN(place, index) KEY_WORD(KEY_CELL(place, (index) / KEY_WORDS), (index) % KEY_WORDS)
