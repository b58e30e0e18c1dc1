// The digits that are not the same in all keys of a block.

shared uint varying_bits[KEY_WORDS]; // bits that are not the same in all keys

// Whether to look for constant digits: with few passes it does not pay.
const bool LOOKS = PASSES > 4;

// Bits of a word of the key from bit `low` of the whole key up to but not including bit `end`.
uint bits_between(uint word, uint low, uint end) {
    int first = clamp(int(low) - 32 * int(word), 0, 32), last = clamp(int(end) - 32 * int(word), 0, 32);
    uint bits = 0;
    if (first < last) bits = ~0u >> (32 - (last - first)) << first;
    return bits;
}

bool varies(uint pass) {
    uint low = digit_shift(pass), end = low + digit_bits(pass), found = 0;
    if (LOOKS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            found |= varying_bits[word] & bits_between(word, low, end);
        }
    }
    return !LOOKS || found != 0;
}

// All invocations call it before they compare keys.
void clear_varying() {
    if (LOOKS) {
        if (thread_index() == 0) {
            for (uint word = 0; word < KEY_WORDS; word++) varying_bits[word] = 0;
        }
        barrier();
    }
}

// Takes the bits in which keys of this invocation differ from the first one.
void find_varying(KEY differing) {
    if (LOOKS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            if (KEY_WORD(differing, word) != 0) atomicOr(varying_bits[word], KEY_WORD(differing, word));
        }
        barrier();
    }
}
