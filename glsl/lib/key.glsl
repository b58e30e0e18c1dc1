// The order of keys: flipping bits turns each key type and direction into ascending unsigned order. A digit is a slice
// of that order; the window's bits are shared out evenly among the passes, the wider digits first.

#if KEY_WORDS == 1
#define KEY uint
#define KEY_WORD(key, word) key
#elif KEY_WORDS == 2
#define KEY uvec2
#define KEY_WORD(key, word) key[word]
#else
#define KEY uvec4
#define KEY_WORD(key, word) key[word]
#endif

const uint RADIX = 1u << RADIX_BITS;
const uint TOP_WORD = KEY_WORDS - 1;

// Loaded once, as some drivers load a push constant in every turn of a loop.
uint key_flip = push.key_flip;
uint low_flip = push.low_flip;

// The flips of every key.
KEY all_flips() {
    KEY flips = KEY(low_flip);
    KEY_WORD(flips, TOP_WORD) = key_flip;
    return flips;
}

// Further flips of a key, which depend on its sign.
KEY sign_flips(KEY key) {
    uint sign = uint(bitfieldExtract(int(KEY_WORD(key, TOP_WORD)), int(KEY_BITS - 1) & 31, 1));
    KEY flips = KEY(LOW_FLIP_NEGATIVE);
    KEY_WORD(flips, TOP_WORD) = KEY_FLIP_NEGATIVE;
    return flips & KEY(sign);
}

// The key in unsigned order.
KEY sortable(KEY key) { return key ^ sign_flips(key) ^ all_flips(); }

uint digit_bits(uint pass) { return WINDOW_BITS / PASSES + (pass < WINDOW_BITS % PASSES ? 1 : 0); }

// For narrow keys the window's lowest bit is a push constant, so that all windows share pipelines. For wide keys it selects
// the words of a digit, and is a specialization constant.
#if KEY_WORDS == 1
uint window_low = push.window_low;
#else
const uint window_low = WINDOW_LOW;
#endif

uint digit_shift(uint pass) { return window_low + pass * (WINDOW_BITS / PASSES) + min(pass, WINDOW_BITS % PASSES); }

// Zero if all digits of wide keys are whole bytes; otherwise a digit may span two words.
const uint UNEVEN = WINDOW_LOW % 8 + WINDOW_BITS % PASSES + (RADIX_BITS ^ 8);
