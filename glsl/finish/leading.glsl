// The leading bits of keys: two digits of the top word, from the bit on that a sample chose. A sort with a finish passes over these
// alone, and then sorts each run of keys with equal leading bits.
//
// Digits of a number of units begin with that of the first unit, not with 0, so that keys on both sides of a power of two are
// neighbours: most depths differ little, and yet in their highest bits.

// The top word of a key whose flips by sign have been applied, as a number that ascends with the order of the request.
uint ascending_top(KEY key) { return key_word(key, TOP_WORD) ^ push.key_flip; }

// The lowest of the leading bits.
uint leading_low(uint finish) { return finish >> FINISH_LOW & 31; }

// The unit that comes first: the top word without the leading bits of the lower digit.
uint first_unit(uint finish) { return finish & (1u << FINISH_LOW) - 1; }

// Whether a key is not in one of the units that the digits tell apart.
bool is_outside(uint top, uint finish) { return (top >> (leading_low(finish) + RADIX_BITS)) - first_unit(finish) >= RADIX; }

// The bin of a top word by the lower digit, or the higher one.
uint leading_bin(uint top, uint finish, uint index) { return top >> (leading_low(finish) + index * RADIX_BITS) & RADIX - 1; }

Digit leading_digit(uint finish, uint index) {
    uint low = leading_low(finish) + index * RADIX_BITS, turn = index * (finish & RADIX - 1);
    return Digit(TOP_WORD, low, RADIX_BITS, leading_bin(push.key_flip, finish, index), turn);
}
