// Keys, the digits in them, and passes. Kernels declare their access to the counters before they include this file.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require

layout(set = 0, binding = BINDING_COUNT) readonly buffer Count { uint count_words[]; };

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

// Whether a key comes before another one, both as numbers that ascend. Of equal keys that of the lower origin does.
bool precedes(KEY key, uint origin, KEY other, uint other_origin) {
    bool lower = origin < other_origin;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        lower = key_word(key, word) < key_word(other, word) || key_word(key, word) == key_word(other, word) && lower;
    }
    return lower;
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
    uint turn;  // of leading bits, the number that the digit begins with
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

// The bin of a key: bits_at in other instructions. Of a shift and a mask with a known width, anv of Mesa 26.1 extracts bytes, which
// takes an instruction more for each bin than the extraction of bits. For that, NVIDIA's compiler (CUDA 13, sm_90) takes two more (2026-11).
uint bin_of(KEY key, Digit digit) {
    uint bin = bits_at(key, digit);
    if (BALLOT != BALLOT_BY_MASK && !CROSSES_WORDS) {
        bin = bitfieldExtract(key_word(key, digit.word), int(digit.low), int(digit.width));
    }
    return bin;
}

// The digit of a bin, and the bin of a digit. Bits above those of a bin stay.
uint digit_of(uint bin, Digit digit) {
    uint number = bin ^ digit.flip;
    if (FINISHES != 0) number = bitfieldInsert(number, number - digit.turn, 0, int(RADIX_BITS));
    return number;
}

uint bin_at(uint number, Digit digit) {
    if (FINISHES != 0) number = number + digit.turn & RADIX - 1;
    return number ^ digit.flip;
}

// The window's bits are shared out evenly among the digits from its lowest bit on, the wider digits first.
uint digit_low(uint window, uint index) { return window + index * (WINDOW_BITS / PASSES) + min(index, WINDOW_BITS % PASSES); }

uint digit_width(uint index) { return WINDOW_BITS / PASSES + (index < WINDOW_BITS % PASSES ? 1 : 0); }

// Digit number `index`, with the window's lowest bit.
Digit digit_at(uint window, uint index) {
    uint low = digit_low(window, index);
    Digit digit = Digit(low / 32, low % 32, digit_width(index), 0, 0);
    digit.flip = bits_at(all_flips(), digit);
    return digit;
}

// Bits of a word of the key from bit `low` of the whole key up to but not including bit `end`.
uint bits_between(uint word, uint low, uint end) {
    int first = clamp(int(low) - 32 * int(word), 0, 32), last = clamp(int(end) - 32 * int(word), 0, 32);
    uint bits = 0;
    if (first < last) bits = ~0u >> (32 - (last - first)) << first;
    return bits;
}

#include "finish/leading.glsl"

// What a pass sorts by, and what it moves. The histogram's last workgroup writes this to the counters as the route of the pass.
struct Pass {
    bool runs;
    bool given;   // it reads the caller's elements: the first pass does, and a move without passes
    bool copies;  // it moves elements without sorting them
    bool visits;  // it gives the elements to the caller's code
    uint moves;   // one of the MOVES_* constants
    uint starts;  // the word of the counters with the start of the first digit
    uint first;   // the first element of its sort
    Digit digit;
};

// Elements to sort. A count on the device is at most the capacity.
uint sort_count() { return push.count_word == 0 ? push.count : min(count_words[push.count_word - 1], push.count); }

uint parts_of(uint elements, uint part) { return elements == 0 ? 0 : (elements - 1) / part + 1; }

// Index of the workgroup in a dispatch that may be spread over two dimensions.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

// The sort that a workgroup takes part in: that of all elements, or of a row, if rows are sorted each by itself (OF_ROWS).
struct Sort {
    uint row;
    uint group;       // the workgroup, counted from the first one of the sort
    uint first;       // its first element
    uint count;       // elements; 0 for no row
    uint counters_at; // its first word of the counters
};

Sort whole_sort() { return Sort(0, workgroup_index(), 0, sort_count(), 0); }

// Of workgroups that each cover `part` elements. The count is of rows.
Sort sort_of(uint part) {
    Sort sort = whole_sort();
    if (OF_ROWS != 0) {
        uint groups = parts_of(PUSH_ROW_LENGTH, part), index = workgroup_index() / groups;
        uint row = index < sort.count ? index : 0, elements = index < sort.count ? PUSH_ROW_LENGTH : 0;
        uint words = COUNTERS_HISTOGRAM + PASSES * RADIX;
        sort = Sort(row, workgroup_index() % groups, row * PUSH_ROW_LENGTH, elements, row * words);
    }
    return sort;
}

Pass pass_of(Sort sort, uint route, uint finish) {
    uint digit = route >> ROUTE_DIGIT & 63;
    return Pass((route & ROUTE_RUNS) != 0, push.pass == 0, (route & ROUTE_COPIES) != 0,
                VISITED_OUTPUT != 0 && (route & ROUTE_VISITS) != 0, route >> ROUTE_MOVES & 1,
                sort.counters_at + COUNTERS_HISTOGRAM + digit * RADIX, sort.first,
                counted_digit(window_low(), finish, digit));
}

Pass pass_of(uint route) { return pass_of(whole_sort(), route, 0); }

// Whether it moves keys and values.
bool moves_all(Pass pass) { return DISCARD_KEYS == 0 || pass.moves == MOVES_ALL; }

// The last key of the order in every pass, for lanes past the end.
KEY last_key(Pass pass) {
    KEY last = ~all_flips();
    if (FINISHES != 0 && pass.digit.turn != 0) { // the higher leading digit may end anywhere
        uint top = key_word(last, TOP_WORD), bin = bin_at(RADIX - 1, pass.digit);
        set_key_word(last, TOP_WORD, bitfieldInsert(top, bin, int(pass.digit.low), int(RADIX_BITS)));
    }
    return last;
}
