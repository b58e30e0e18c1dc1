// The digit of a pass, with as little work per key as possible.
//
// Flipping the same bits of every key only reorders the digits. So keys keep these bits, counters are indexed by the bits of
// a key, and code that needs the order of digits flips the digit. Only flips that depend on the sign are applied to a key,
// from load to store: see take_order.

uint active_route; // of the pass
uint digit_low;    // lowest bit of the digit in a key
uint digit_width;  // its bits
uint digit_flip;   // the bits of a digit to flip for the order of the request
bool joined = false; // whether the keys are indices, each joined with the digit of its key

uint one = 1; // unknown to compilers

// An index and a digit in one word.
const uint JOINED_INDICES = 1u << (32 - RADIX_BITS); // so many fit

uint join(uint index, uint digit) { return index << RADIX_BITS | digit; }

uint joined_index(KEY joined) { return KEY_WORD(joined, 0) >> RADIX_BITS; }

uint bits_at(KEY key, uint low, uint width) {
#if KEY_WORDS == 1
    return key >> low & ((1u << width) - 1);
#else
    uint word = low / 32;
    uint bits = KEY_WORD(key, word) >> (low & 31);
    if (UNEVEN != 0) {
        if ((low & 31) + width > 32) bits |= KEY_WORD(key, word + 1) << (32 - (low & 31));
    }
    return bits & ((1u << width) - 1);
#endif
}

void begin_pass(uint route, uint digit) {
    active_route = route;
    joined = JOIN_INDEX != 0 && route_moves(route) == MOVES_SPLITTING;
    digit_low = joined ? 0 : digit_shift(digit);
    digit_width = joined ? RADIX_BITS : digit_bits(digit);
    digit_flip = joined ? 0 : bits_at(all_flips(), digit_low, digit_width);
}

// Applies the flips that depend on the sign, or undoes them.
KEY take_order(KEY key) {
    if ((KEY_FLIP_NEGATIVE | LOW_FLIP_NEGATIVE) != 0 && !joined) key ^= sign_flips(key);
    return key;
}

// The last key of the order in every pass, for lanes past the end.
KEY last_key() { return joined ? KEY(~0u) : ~all_flips(); }

// The digit of a key after take_order, as bits of the key.
uint digit_bits_of(KEY key) { return bits_at(key, digit_low, digit_width); }
