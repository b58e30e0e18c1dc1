// Keys, and the digits in them.
//
// Flipping bits turns each key type and direction into ascending unsigned order. Flips of every key only renumber the digits, so
// keys keep these bits: a *bin* is a digit as it stands in a key, counters are indexed by bins, and code that needs the order
// of digits flips the bin. Flips that depend on the sign are applied when a key is loaded, and undone when it is stored.

#if KEY_WORDS == 1
#define KEY uint
#elif KEY_WORDS == 2
#define KEY uvec2
#else
#define KEY uvec4
#endif

const uint RADIX = 1u << RADIX_BITS;
const uint TOP_WORD = KEY_WORDS - 1;

uint key_word(KEY key, uint word) {
#if KEY_WORDS == 1
    return key;
#else
    return key[word];
#endif
}

void set_key_word(inout KEY key, uint word, uint bits) {
#if KEY_WORDS == 1
    key = bits;
#else
    key[word] = bits;
#endif
}

// The flips of every key.
KEY all_flips() {
    KEY flips = KEY(push.low_flip);
    set_key_word(flips, TOP_WORD, push.key_flip);
    return flips;
}

// Applies the flips that depend on the sign, or undoes them.
KEY flip_by_sign(KEY key) {
    if ((KEY_FLIP_NEGATIVE | LOW_FLIP_NEGATIVE) != 0) {
        KEY flips = KEY(LOW_FLIP_NEGATIVE);
        set_key_word(flips, TOP_WORD, KEY_FLIP_NEGATIVE);
        key ^= flips & KEY(bitfieldExtract(int(key_word(key, TOP_WORD)), int(KEY_BITS - 1) & 31, 1));
    }
    return key;
}

struct Digit {
    uint word;  // the word of a key that it begins in
    uint low;   // its lowest bit there
    uint width; // its bits
    uint flip;  // bits that turn a bin into the digit
};

#if KEY_WORDS == 1
// The window's lowest bit is a push constant, so that all windows share pipelines.
uint window_low() { return push.window_low; }

const bool CROSSES_WORDS = false;

uint bits_at(KEY key, Digit digit) { return key >> digit.low & ((1u << digit.width) - 1); }
#else
// The window's lowest bit selects the words of a digit.
uint window_low() { return WINDOW_LOW; }

// Whether a digit may span two words: not if all digits are whole bytes.
const bool CROSSES_WORDS = WINDOW_LOW % 8 + WINDOW_BITS % PASSES + (RADIX_BITS ^ 8) != 0;

uint bits_at(KEY key, Digit digit) {
    uint bits = key[digit.word] >> digit.low;
    if (CROSSES_WORDS) {
        if (digit.low + digit.width > 32) bits |= key[digit.word + 1] << (32 - digit.low);
    }
    return bits & ((1u << digit.width) - 1);
}
#endif

uint digit_of(KEY key, Digit digit) { return bits_at(key, digit) ^ digit.flip; }

// The window's bits are shared out evenly among the digits from its lowest bit on, the wider digits first.
uint digit_low(uint window, uint index) { return window + index * (WINDOW_BITS / PASSES) + min(index, WINDOW_BITS % PASSES); }

uint digit_width(uint index) { return WINDOW_BITS / PASSES + (index < WINDOW_BITS % PASSES ? 1 : 0); }

// Digit number `index`, with the window's lowest bit.
Digit digit_at(uint window, uint index) {
    uint low = digit_low(window, index);
    Digit digit = Digit(low / 32, low % 32, digit_width(index), 0);
    digit.flip = bits_at(all_flips(), digit);
    return digit;
}
