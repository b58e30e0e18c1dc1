// The digits that are not the same in all keys of a block. Kernels declare `varying_bits`.

// Whether to look for constant digits: with few passes it does not pay.
const bool LOOKS = PASSES > 4;

bool varies(uint digit) {
    uint low = digit_low(window_low(), digit), end = low + digit_width(digit), found = 0;
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
        if (thread() < KEY_WORDS) varying_bits[thread()] = 0;
        barrier();
    }
}

// Takes the bits in which keys of this invocation differ from the first one.
void find_varying(KEY differing) {
    if (LOOKS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            if (key_word(differing, word) != 0) atomicOr(varying_bits[word], key_word(differing, word));
        }
        barrier();
    }
}
