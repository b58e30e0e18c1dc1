#version 460
// Sorts up to one block in one workgroup: one digit after the other, without leaving shared memory. Digits that are the same
// in all keys are skipped; of wide keys, only leading digits may be needed. Values are fetched at the end, by the index that
// each key has brought along.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#define SHORT_BLOCKS

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/block.glsl"
#include "lib/ties.glsl"

uint input_place() { return PLACE_SOURCE; }

uint input_digit(KEY key, uint pass) { return digit_of(key, pass); }

uint origins[ITEMS]; // index of each key in the input

shared uint varying_bits[KEY_WORDS]; // those that are not the same in all keys
shared uint inverted;                // not 0 when a key is behind a greater one

// Whether it is worth while to look which digits vary.
const bool LOOKS = SKIP != 0 && PASSES > 1;

bool varies(uint pass) {
    uint low = digit_shift(pass), end = low + digit_bits(pass), found = 0;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) found |= varying_bits[word] & bits_between(word, low, end);
    return !LOOKS || found != 0;
}

void take_keys(uint count) {
    if (thread_index() == 0) {
        for (uint word = 0; word < KEY_WORDS; word++) varying_bits[word] = 0;
        inverted = 0;
    }
    barrier();
    KEY first = load_key(input_place(), 0), differing = KEY(0);
    EACH_ITEM {
        origins[item] = block_index(item);
        keys[item] = NO_ELEMENT;
        if (origins[item] < count) {
            keys[item] = load_key(input_place(), origins[item]);
            [[unroll]] for (uint word = 0; word < KEY_WORDS && LOOKS; word++) {
                KEY_WORD(differing, word) |= sortable_word(keys[item], word) ^ sortable_word(first, word);
            }
        }
    }
    [[unroll]] for (uint word = 0; word < KEY_WORDS && LOOKS; word++) {
        if (KEY_WORD(differing, word) != 0) atomicOr(varying_bits[word], KEY_WORD(differing, word));
    }
    barrier();
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

void sort_digit(uint count, uint pass, bool ordered) {
    rank_block(count, pass, ordered);
    // What is staged comes back in stripes, in the order of the digit just sorted by.
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        STAGE(KEY_WORD(keys[item], word));
        EACH_ITEM KEY_WORD(keys[item], word) = pool[block_index(item)];
    }
    if (VALUE_WORDS > 0) {
        STAGE(origins[item]);
        EACH_ITEM origins[item] = pool[block_index(item)];
    }
    barrier(); // the pool has been read
}

void main() {
    uint count = sort_count();
    if (count == 0) return;
    expect_elements(count); // so that few elements take no longer than they must
    take_keys(count);
    uint low = LEADING != 0 ? lowest_leading(count) : 0;
    bool ordered = UNORDERED == 0;
    for (uint pass = low; pass < PASSES; pass++) {
        if (varies(pass)) {
            sort_digit(count, pass, ordered);
            ordered = true;
        }
        if (low > 0 && pass + 1 == PASSES && !is_in_order(count)) {
            // By all digits then.
            low = 0;
            pass = ~0u;
        }
    }
    EACH_ITEM {
        uint index = block_index(item);
        if (DISCARD_KEYS == 0 && index < count) store_key(PLACE_TARGET, index, keys[item]);
    }
    for (uint plane = 0; plane < VALUE_WORDS; plane++) {
        uint words[ITEMS];
        EACH_ITEM {
            if (INDEX_VALUES != 0) words[item] = origins[item];
            else words[item] = block_index(item) < count ? load_value(PLACE_SOURCE, origins[item], plane) : 0;
        }
        // In place, all have been read before the first is written.
        memoryBarrierBuffer();
        barrier();
        EACH_ITEM {
            uint index = block_index(item);
            if (index < count) store_value(PLACE_TARGET, index, plane, words[item]);
        }
    }
}
