#version 460
// Sorts up to one block in one workgroup: all digits, one after the other, without leaving shared memory. Values are
// fetched at the end, by the index that each key has brought along.

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

uint input_place() { return PLACE_SOURCE; }

uint input_digit(KEY key, uint pass) { return digit_of(key, pass); }

uint origins[ITEMS]; // index of each key in the input

void main() {
    uint count = sort_count();
    expect_elements(count); // so that few elements take no longer than they must
    EACH_ITEM {
        origins[item] = block_index(item);
        keys[item] = origins[item] < count ? load_key(input_place(), origins[item]) : NO_ELEMENT;
    }
    for (uint pass = 0; pass < PASSES; pass++) {
        rank_block(count, pass, UNORDERED == 0 || pass > 0);
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
