// Levels of narrowing: which bits of keys and indices each of them looks at.

const uint KEY_LEVELS = (WINDOW_BITS + TOP_DIGIT_BITS - 1) / TOP_DIGIT_BITS;

struct Level {
    bool of_index;
    Digit digit;      // of the key or of the index
    KEY known;        // bits of the key that earlier levels have looked at
    uint known_index; // the same of the index
};

// The bits from one on, of a word of 32.
uint bits_from(uint low) { return low < 32 ? ~0u << low : 0; }

// The same of a key.
KEY key_bits_from(uint low) {
    KEY bits = KEY(0);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        set_key_word(bits, word, bits_from(max(low, 32 * word) - 32 * word));
    }
    return bits;
}

Level level_of(uint number) {
    bool of_index = number >= KEY_LEVELS;
    uint all = of_index ? findMSB(max(row_length() - 1, 1)) + 1 : WINDOW_BITS, low = of_index ? 0 : window_low();
    uint used = min((of_index ? number - KEY_LEVELS : number) * TOP_DIGIT_BITS, all);
    uint width = min(TOP_DIGIT_BITS, all - used), at = low + all - used - width;
    Level level = Level(of_index, Digit(at / 32, at % 32, width, 0, 0), KEY(0), of_index ? bits_from(all - used) : 0);
    level.known = key_bits_from(of_index ? window_low() : low + all - used) & ~key_bits_from(window_low() + WINDOW_BITS);
    return level;
}

struct Row {
    uint number;
    uint start;    // its first element
    uint elements;
    KEY prefix;
    uint prefix_index;
    KEY flips; // those of every key; loops must not load push constants
};

Row row_of(uint number, uint elements, uint level) {
    uint found = found_at(number, level);
    Row row = Row(number, row_begin(number), elements, KEY(0), counters[found + TOP_INDEX], all_flips());
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) set_key_word(row.prefix, word, counters[found + word]);
    return row;
}

// Whether a level counts an element.
bool is_counted(Row row, Level level, KEY key, uint index) {
    uint differing = (index ^ row.prefix_index) & level.known_index;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        differing |= key_word((key ^ row.prefix) & level.known, word);
    }
    return differing == 0;
}

uint bin_at(Level level, KEY key, uint index) {
    return level.of_index ? index >> level.digit.low & ((1u << level.digit.width) - 1) : bits_at(key, level.digit);
}

// Whether an element is not after the prefix, as far as earlier levels have looked.
bool is_first(Row row, Level level, KEY key, uint index) {
    bool before = (index & level.known_index) <= (row.prefix_index & level.known_index);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        uint known = key_word(level.known, word);
        uint bits = key_word(key, word) & known, prefix = key_word(row.prefix, word) & known;
        if (bits != prefix) before = bits < prefix;
    }
    return before;
}
