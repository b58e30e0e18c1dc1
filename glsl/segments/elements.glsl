// The elements of a part while they are sorted: where each comes from, in which segment it is, and where it belongs.

// An origin says where an element comes from: its slot, whether that is outside of segments, and the number of its segment in the
// window, or of the last one before it. Elements outside hold the last key of the order, so that they stay after their number. Of
// survivors it is the index in the row, or ~0 outside.
const uint OUTSIDE = 1u << 15;

// What comes before or after the digits of the keys, as digits of origins: the numbers of segments follow the keys, so that each
// segment comes together again, and indices of survivors come first, so that equal keys are in their order.
const uint NUMBER_LOW = SURVIVORS ? 0 : 16;

uint number_passes(Part part, uint owned) {
    uint last = part.small && !OF_CHILDREN ? owned - 1 : 0;
    if (SURVIVORS) last = row_length() - 1;
    return last == 0 ? 0 : parts_of(findMSB(last) + 1, RADIX_BITS);
}

Digit number_digit(uint pass) {
    uint low = NUMBER_LOW + pass * RADIX_BITS;
    return Digit(0, low, min(RADIX_BITS, 32 - low), 0, 0);
}

// The passes over the digits of the keys. Children have the digits in common that rounds have looked at; small ones are divided by that
// of their round, so they need no numbers.
uint child_bits(Part part) { return bits_left(part.small ? push.pass : push.pass + 1); }

uint key_passes(Part part) { return OF_CHILDREN ? parts_of(child_bits(part), RADIX_BITS) : PASSES; }

Digit key_digit(Part part, uint pass) {
    Digit digit = digit_at(window_low(), pass);
    if (OF_CHILDREN) {
        uint low = window_low() + pass * RADIX_BITS;
        digit = Digit(low / 32, low % 32, min(RADIX_BITS, child_bits(part) - pass * RADIX_BITS), 0, 0);
        digit.flip = bits_at(all_flips(), digit);
    }
    return digit;
}

bool key_varies(Part part, uint pass) {
    bool found = !LOOKS;
    if (!OF_CHILDREN) {
        found = varies(pass);
    } else if (LOOKS) {
        Digit digit = key_digit(part, pass);
        uint low = 32 * digit.word + digit.low;
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            found = found || (varying_bits[word] & bits_between(word, low, low + digit.width)) != 0;
        }
    }
    return found;
}

// Elements from the begin of the part to that of a slot.
uint offset_of(Part part, uint slot) { return SURVIVORS ? survivor(part.segment, slot) : slot; }

uint origin_of(Part part, uint offset, uint mark) {
    uint origin = is_inside(mark) ? offset : offset | OUTSIDE;
    if (part.small && mark != 0) origin |= pool[first_slot(mark)] << NUMBER_LOW;
    if (SURVIVORS) origin = is_inside(mark) ? offset : ~0u;
    return origin;
}

bool is_outside(uint origin) { return SURVIVORS ? origin == ~0u : (origin & OUTSIDE) != 0; }

// Elements from the begin of the part to where an element comes from.
uint offset_in(uint origin) { return SURVIVORS ? origin : origin & OUTSIDE - 1; }

// It has no bits beyond those of a key, which would be stored over neighbouring keys if segments are not in order.
KEY last_of_order() {
    KEY key = ~all_flips();
    if (KEY_BITS < 32) key &= (1u << (KEY_BITS & 31)) - 1;
    return key;
}

// A key as it is in memory, and with its flips by the sign.
KEY part_bits(Part part, uint offset) {
    KEY key;
    if (!OF_CHILDREN) key = read_key(part.start + offset);
    else if (part.back) key = read_key_back(part.start + offset);
    else key = read_key(part.start + offset);
    return key;
}

KEY part_key(Part part, uint offset) { return flip_by_sign(part_bits(part, offset)); }

// One word of the value of an element.
uint part_value(Part part, uint offset, uint word) {
    uint value = part.start + offset;
    if (INDEX_VALUES == INDEX_OF_SEGMENT) value = offset - first_slot(part_mark(part, offset));
    if (INDEX_VALUES == 0 && !OF_CHILDREN) value = read_value(part.start + offset, word);
    if (OF_CHILDREN && part.back) value = read_value_back(part.start + offset, word);
    else if (OF_CHILDREN) value = read_value(part.start + offset, word);
    return value;
}

const uint NO_TARGET = ~0u;

// The element of the result for a slot in the segment of this number of the window, if only the first ones of each are wanted.
uint top_target(Part part, uint number, uint slot) {
    uint rank = slot - first_slot(part_mark(part, slot)), segment = part.segment + (part.small ? number : 0);
    if (SURVIVORS && LISTED) segment = table[record_at(part.segment) + RECORD_SEGMENT];
    return rank < TOP ? segment * TOP + rank : NO_TARGET;
}
