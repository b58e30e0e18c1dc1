// An index and a digit in one word.

const uint JOINED_INDICES = 1u << (32 - RADIX_BITS); // so many fit

KEY join(KEY key, uint index, uint pass) {
    KEY_WORD(key, 0) = index << RADIX_BITS | digit_of(key, pass);
    return key;
}

uint joined_index(KEY joined) { return KEY_WORD(joined, 0) >> RADIX_BITS; }

// The digit of what a route finds at its start.
uint digit_on(uint route, KEY key, uint pass) {
    uint digit = digit_of(key, pass);
    if (JOIN_INDEX != 0 && route_moves(route) == MOVES_SPLITTING) digit = KEY_WORD(key, 0) & (RADIX - 1);
    return digit;
}
