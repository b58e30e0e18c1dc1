#version 460
// Sorts up to one block in one workgroup: all digits, one after the other, without leaving shared memory.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/block.glsl"
#include "lib/tile.glsl"

// Brings the staged words back in stripes, now in the order of the digit just sorted by.
#define UNSTAGE(words) [[unroll]] for (uint item = 0; item < ITEMS; item++) words[item] = pool[block_index(item)]

void main() {
    load_keys(0);
#if VALUE_WORDS > 0
    uint values[ITEMS];
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint index = block_index(item);
        values[item] = index < push.count ? values_in[index] : 0;
    }
#endif
    for (uint pass = 0; pass < PASSES; pass++) {
        rank_block(push.count, pass * RADIX_BITS);
        stage(keys);
        UNSTAGE(keys);
#if VALUE_WORDS > 0
        stage(values);
        UNSTAGE(values);
#endif
        barrier(); // the pool has been read
    }
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint index = block_index(item);
        if (index < push.count) {
            keys_out[index] = keys[item];
#if VALUE_WORDS > 0
            values_out[index] = values[item];
#endif
        }
    }
}
