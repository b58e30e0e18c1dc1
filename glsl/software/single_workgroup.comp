#version 460
// The single workgroup on software drivers: single_workgroup/main.comp with private counters. It holds the origins of its keys, and
// loads a key again where it is needed, because the source does not change until the end: each further array takes these drivers seconds
// to compile.

#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS];        // one word of each element
shared uint varying_bits[KEY_WORDS]; // bits that are not the same in all keys

#include "software/rank.glsl"
#include "single_workgroup/varying.glsl"

uint origins[HELD(ITEMS)]; // index in the input of each key

// If keys have changed during the sort, the origins may not be a permutation. So they are limited.
uint origin_of(uint item, uint count) { return min(origins[item], count - 1); }

uint place_of(uint item, uint items) { return thread() * items + item; }

// One word of a key in sorted order. In place, words of other numbers may have been written already.
uint sorted_word(uint item, uint word, uint count) {
#if KEY_WORDS == 1 || VISITED_KEYS
    return key_word(given_key(origin_of(item, count)), word);
#else
    return KEY_CELL(from, origin_of(item, count))[word];
#endif
}

uint value_of(uint item, uint word, uint count) {
    return INDEX_VALUES != 0 ? origin_of(item, count) : given_value(origin_of(item, count), word);
}

uint bin_of_item(uint item, Digit digit, KEY last, uint count) {
    KEY key = given_key(origin_of(item, count));
    return bits_at(origins[item] < count ? flip_by_sign(key) : last, digit);
}

// Sorts the origins by a digit.
void sort_by(Digit digit, uint items, uint count) {
    KEY last = ~all_flips();
    clear_own_counts();
    for (uint item = 0; item < items; item++) own_count[bin_of_item(item, digit, last, count)]++;
    scan_own_counts(digit, true);
    // A key that has changed in between may have a rank behind the block.
    for (uint item = 0; item < items; item++) {
        pool[min(own_count[bin_of_item(item, digit, last, count)]++, BLOCK - 1)] = origins[item];
    }
    barrier();
    for (uint item = 0; item < items; item++) origins[item] = pool[place_of(item, items)];
    barrier();
}

// Stores one word of each element, an expression in `item`, from the pool by `store`, a statement in `at`.
#define STORE(word, store) \
    for (uint item = 0; item < items; item++) pool[place_of(item, items)] = word; \
    memoryBarrierBuffer(); \
    barrier(); \
    for (uint at = thread(); at < count; at += WORKGROUP_SIZE) store; \
    barrier()

void main() {
    uint count = sort_count(), items = items_of(count);
    if (count == 0) return;
    KEY first = KEY(0), differing = KEY(0);
    clear_varying();
    if (LOOKS) first = flip_by_sign(given_key(0));
    for (uint item = 0; item < items; item++) {
        origins[item] = place_of(item, items);
        if (LOOKS) differing |= flip_by_sign(given_key(origin_of(item, count))) ^ first;
    }
    find_varying(differing);
    for (uint digit = 0; digit < PASSES; digit++) {
        if (varies(digit)) sort_by(digit_at(window_low(), digit), items, count);
    }
#if VISITED_OUTPUT
    for (uint item = 0; item < items; item++) {
        uint position = place_of(item, items);
        if (position < count) {
            uvec4 words;
            for (uint word = 0; word < VALUE_WORDS; word++) words[word] = value_of(item, word, count);
            visit_sorted(position, given_key(origin_of(item, count)), words);
        }
    }
#else
    for (uint word = 0; word < KEY_WORDS && DISCARD_KEYS == 0; word++) {
        STORE(sorted_word(item, word, count), write_key_word(at, word, pool[at]));
    }
    for (uint word = 0; word < VALUE_WORDS; word++) {
        // In place, all values are read before the first is written.
        STORE(value_of(item, word, count), write_value(at, word, pool[at]));
    }
#endif
}
