// Which digits of the keys of a block vary, how many of the leading ones may be enough, and whether they have been.

#include "lib/ties.glsl"

shared uint varying_bits[KEY_WORDS]; // those that are not the same in all keys
shared uint inverted;                // not 0 when a key is behind a greater one

// Whether to look which digits vary: beside few passes that takes longer than it may.
const bool LOOKS = SKIP != 0 && PASSES > 4;

bool varies(uint pass) {
    uint low = digit_shift(pass), end = low + digit_bits(pass), found = 0;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) found |= varying_bits[word] & bits_between(word, low, end);
    return !LOOKS || found != 0;
}

// The lowest of as many leading digits as tell all keys apart, if those are uniform, fifteen times out of sixteen; 0 where
// that saves less than two passes.
uint lowest_leading(uint count) {
    uint needed = 2 * uint(findMSB(count) + 1) + 2;
    uint bits = 0, low = PASSES, below = 0;
    while (low > 0 && bits < needed) {
        low--;
        if (varies(low)) bits += digit_bits(low);
    }
    for (uint pass = 0; pass < low; pass++) below += varies(pass) ? 1 : 0;
    return below < 2 ? 0 : low;
}

// Whether every key is behind those that are less, by all of the window.
bool is_in_order(uint count) {
    bool less[ITEMS]; // than the key before, as far as has been looked
    EACH_ITEM less[item] = false;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        uint bits = bits_between(word, WINDOW_LOW, WINDOW_END);
        barrier(); // the pool has been read
        EACH_ITEM pool[block_index(item)] = sortable_word(keys[item], word) & bits;
        barrier();
        EACH_ITEM {
            uint mine = sortable_word(keys[item], word) & bits, before = pool[max(block_index(item), 1) - 1];
            less[item] = mine < before || mine == before && less[item];
        }
    }
    uint found = 0;
    EACH_ITEM {
        if (less[item] && block_index(item) > 0 && block_index(item) < count) found = 1;
    }
    if (found != 0) atomicOr(inverted, 1);
    barrier();
    return inverted == 0;
}
