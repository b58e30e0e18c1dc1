// The digits that are not the same in all keys of a block.

#include "lib/ties.glsl"

shared uint varying_bits[KEY_WORDS]; // bits that are not the same in all keys

// Whether to look for constant digits: with few passes it does not pay.
const bool LOOKS = PASSES > 4;

bool varies(uint pass) {
    uint low = digit_shift(pass), end = low + digit_bits(pass), found = 0;
    if (LOOKS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            found |= varying_bits[word] & bits_between(word, low, end);
        }
    }
    return !LOOKS || found != 0;
}
