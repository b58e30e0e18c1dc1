#version 460
// Segments on software drivers: segments/main.comp with private counters. An invocation holds the slots of its keys, and loads a key
// again where it is needed, as the elements stay as they are until the end: each further array takes these drivers seconds to compile.

#define SEGMENTS
#define NEIGHBOURS_WRITE // workgroups share the words at the ends of their windows
#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS]; // numbers of segments; then one word of each slot

#include "software/rank.glsl"
#include "single_workgroup/varying.glsl"
#include "segments/windows.glsl"

#include "software/merge.glsl"

// Of longer segments, `origins` are slots of the part with their numbers, and `held` the slots where these belong.

const uint NO_TARGET = ~0u;

uint place_of(uint item, uint items) { return thread() * items + item; }

KEY slot_key(Part part, uint slot) { return flip_by_sign(given_key(part.start + slot)); }

// The bin of an item. The last key of the order stands for slots outside of segments. Other workgroups write to segments that
// overlap, so keys may change in between.
uint bin_of_item(Part part, uint item, Digit digit, bool of_keys) {
    uint origin = origins[item];
    KEY key = of_keys ? ~all_flips() : KEY(origin);
    if (of_keys && (origin & OUTSIDE) == 0) key = slot_key(part, slot_in(origin));
    return bits_at(key, digit);
}

void load_part(Part part, uint items) {
    KEY first = KEY(0), differing = KEY(0);
    clear_varying();
    if (LOOKS) first = slot_key(part, part.slots - 1);
    for (uint item = 0; item < items; item++) {
        uint slot = place_of(item, items), mark = part_mark(part, slot);
        origins[item] = numbered_slot(part, slot, mark);
        if (LOOKS && is_inside(mark)) differing |= slot_key(part, slot) ^ first;
    }
    find_varying(differing);
    if (!LOOKS) barrier(); // the numbers have been read from the pool
    // If keys change during the sort, a pass may leave out words of the pool.
    for (uint item = 0; item < items; item++) pool[place_of(item, items)] = 0;
    barrier();
}

void sort_part(Part part, uint items, uint owned) {
    uint numbers = passes_of_numbers(part, owned);
    [[dont_unroll]] for (uint pass = 0; pass < PASSES + numbers; pass++) {
        bool of_keys = pass < PASSES;
        if (of_keys && !varies(pass)) continue;
        Digit digit;
        if (of_keys) digit = digit_at(window_low(), pass);
        else digit = number_digit(pass - PASSES);
        clear_own_counts();
        for (uint item = 0; item < items; item++) own_count[bin_of_item(part, item, digit, of_keys)]++;
        scan_own_counts(digit, true);
        for (uint item = 0; item < items; item++) {
            pool[min(own_count[bin_of_item(part, item, digit, of_keys)]++, BLOCK - 1)] = origins[item];
        }
        barrier();
        for (uint item = 0; item < items; item++) origins[item] = pool[place_of(item, items)];
        barrier();
    }
    for (uint item = 0; item < items; item++) {
        uint slot = place_of(item, items);
        held[item] = is_inside(part_mark(part, slot)) ? slot : NO_TARGET;
    }
}

// An element of the part where an item comes from, whatever has become of it.
uint origin_of(Part part, uint item) { return min(slot_in(origins[item]), part.slots - 1); }

// One word of the key of an item. In place, words of other numbers may have been written already.
uint key_word_of(Part part, uint item, uint word) {
    uint index = part.start + origin_of(part, item);
#if KEY_WORDS == 1
    return given_key(index);
#else
    return KEY_CELL(from, index)[word];
#endif
}

// Stores one word of each element: an expression in `item`, by a statement in `target` and `stored`. The pool's slots are an
// invocation's own.
#define STORE(word_of_item, store) \
    for (uint item = 0; item < items; item++) { \
        if (held[item] != NO_TARGET) pool[place_of(item, items)] = word_of_item; \
    } \
    memoryBarrierBuffer(); \
    barrier(); \
    for (uint item = 0; item < items; item++) { \
        if (held[item] != NO_TARGET) { \
            uint target = part.start + held[item], stored = pool[place_of(item, items)]; \
            store; \
        } \
    }

void main() {
    uint segments = sort_count();
    if (workgroup_index() >= windows_of(segments)) return;
    Window window = find_window(workgroup_index(), segments);
    if (window.owned == 0) return;
    mark_segments(window);
    uint turns = min(medium_count, MOST_MEDIUM);
    [[dont_unroll]] for (uint turn = span > 0 ? 0 : 1; turn <= turns; turn++) {
        Part part = part_of(window, turn);
        uint items = items_of(part.slots);
        if (compares(part) && merge_part(part)) continue;
        load_part(part, items);
        sort_part(part, items, window.owned);
        for (uint word = 0; word < KEY_WORDS && DISCARD_KEYS == 0; word++) {
            STORE(key_word_of(part, item, word), write_key_word(target, word, stored));
        }
        for (uint word = 0; word < VALUE_WORDS; word++) {
            STORE(part_value(part, origin_of(part, item), held[item], word), write_value(target, word, stored));
        }
    }
}
