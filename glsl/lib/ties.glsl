// Ties: elements with equal leading digits. After the passes over these digits they form runs of neighbours. A run may be in
// order already.

uint window_end() { return window_low + WINDOW_BITS; }

// Bits of a word of the key from bit `low` of the whole key up to but not including bit `end`.
uint bits_between(uint word, uint low, uint end) {
    int first = clamp(int(low) - 32 * int(word), 0, 32), last = clamp(int(end) - 32 * int(word), 0, 32);
    uint bits = 0;
    if (first < last) bits = ~0u >> (32 - (last - first)) << first;
    return bits;
}

// Whether two keys are equal from bit `low` to the end of the window.
bool is_tied(KEY key, KEY other, uint low) {
    KEY differing = sortable(key) ^ sortable(other);
    uint found = 0;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        found |= KEY_WORD(differing, word) & bits_between(word, low, window_end());
    }
    return found == 0;
}

// Whether a key is less than another by all of the window.
bool precedes(KEY key, KEY other) {
    KEY mine = sortable(key), its = sortable(other);
    bool less = false;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        uint bits = bits_between(word, window_low, window_end());
        uint left = KEY_WORD(mine, word) & bits, right = KEY_WORD(its, word) & bits;
        less = left < right || left == right && less;
    }
    return less;
}

// The list of runs that are not in order: of each the index of its first element, and the number of its elements. It is at the
// place without elements. As runs are of two elements or more, the list has room for all.
#define LIST_WORD(place, at) KEY_WORD(KEY_CELL(place, (at) / KEY_WORDS), (at) % KEY_WORDS)
#define LISTED_RUN(place, index, word) LIST_WORD(place, 2 * (index) + (word))
