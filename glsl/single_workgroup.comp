#version 460
// Sorts up to one block in one workgroup: one digit after the other, without leaving shared memory. Of wide keys, digits that
// are the same in all keys are skipped. Values are fetched at the end, by the index that each key has brought along.

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
#include "lib/digits.glsl"
#include "lib/varying.glsl"

uint input_place() { return PLACE_SOURCE; }

uint input_digit(KEY key, uint pass) { return digit_of(key, pass); }

void take_keys(uint count) {
    KEY first = KEY(0), differing = KEY(0);
    if (LOOKS) {
        if (thread_index() == 0) {
            for (uint word = 0; word < KEY_WORDS; word++) varying_bits[word] = 0;
        }
        barrier();
        first = load_key(input_place(), 0);
    }
    EACH_ITEM {
        uint index = block_index(item);
        KEY key = index < count ? load_key(input_place(), index) : NO_ELEMENT;
        origins[item] = index;
        keys[item] = key;
        [[unroll]] for (uint word = 0; word < KEY_WORDS && LOOKS; word++) {
            uint difference = sortable_word(key, word) ^ sortable_word(first, word);
            KEY_WORD(differing, word) |= index < count ? difference : 0;
        }
    }
    if (LOOKS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            if (KEY_WORD(differing, word) != 0) atomicOr(varying_bits[word], KEY_WORD(differing, word));
        }
        barrier();
    }
}

void main() {
    uint count = sort_count();
    if (count == 0) return;
    expect_elements(count); // so that few elements take no longer than they must
    take_keys(count);
    bool ordered = UNORDERED == 0;
    for (uint pass = 0; pass < PASSES; pass++) {
        if (!varies(pass)) continue;
        sort_by_digit(count, pass, ordered, VALUE_WORDS > 0);
        ordered = true;
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
