// An index and a digit in one word.

const uint JOINED_INDICES = 1u << (32 - RADIX_BITS); // so many fit

uint join(uint index, uint digit) { return index << RADIX_BITS | digit; }

uint joined_index(KEY joined) { return KEY_WORD(joined, 0) >> RADIX_BITS; }
