// The leading bits of keys: two digits of the top word, from the bit on that a sample chose. A sort with a finish passes over these
// alone, and then sorts each run of keys with equal leading bits.
//
// Digits of a number of units begin with that of the first unit, not with 0, so that keys on both sides of a power of two are
// neighbours: most depths differ little, and yet in their highest bits.

// The top word of a key whose flips by sign have been applied, as a number that ascends with the order of the request.
uint ascending_top(KEY key) { return key_word(key, TOP_WORD) ^ push.key_flip; }

// The lowest of the leading bits.
uint leading_low(uint finish) { return finish >> FINISH_LOW & 31; }

// Whether a key is not in one of the units that the digits tell apart. The first unit is the top word without the leading bits of the
// lower digit.
bool is_outside(KEY key, uint finish) {
    uint first_unit = finish & (1u << FINISH_LOW) - 1;
    return finish != 0 && (ascending_top(key) >> (leading_low(finish) + RADIX_BITS)) - first_unit >= RADIX;
}

// Digit number `index` of those that the histogram counts: those of the window, and behind them the two leading ones.
Digit counted_digit(uint window, uint finish, uint index) {
    bool leads = FINISHES != 0 && index >= PASSES;
    Digit digit = digit_at(window, leads ? 0 : index);
    if (leads) {
        uint higher = index - PASSES;
        digit = Digit(TOP_WORD, leading_low(finish) + higher * RADIX_BITS, RADIX_BITS, 0, higher * (finish & RADIX - 1));
        digit.flip = push.key_flip >> digit.low & RADIX - 1;
    }
    return digit;
}
