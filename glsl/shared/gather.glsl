// The values that a workgroup gathers, and where they come from.

// A word of the permutation. With a visitor, keys may have more words.
uint permuted(uint index) {
#if ADDRESSED
    return WordAt(address(push.keys_from, index, 4, 0)).cell;
#elif KEY_WORDS > 1
    // Not the whole key, of which the last one may end past the permutation.
    return KEY_CELL(from, index / KEY_WORDS)[index % KEY_WORDS];
#else
    return KEY_CELL(from, index);
#endif
}

// If keys have changed during the sort, the permutation may lack words. So an origin is limited.
uint origin_of(uint index, uint count) { return PUSH_IN_ORDER != 0 ? index : min(permuted(index), count - 1); }
