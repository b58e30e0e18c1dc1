#version 460
// Counts every digit of every key in one read. Each workgroup counts one chunk in shared memory, then adds to the totals.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require

#include "abi.glsl"
#include "lib/key.glsl"

layout(set = 0, binding = BINDING_KEYS_IN) readonly buffer KeysIn { uint keys_in[]; };
layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };

shared uint digit_count[PASSES * RADIX];

void main() {
    uint thread = gl_LocalInvocationIndex;
    for (uint i = thread; i < PASSES * RADIX; i += WORKGROUP_SIZE) digit_count[i] = 0;
    barrier();

    uint chunk = WORKGROUP_SIZE * ITEMS * push.blocks;
    uint index = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (index < push.tiles) {
        uint end = min(push.count - index * chunk, chunk) + index * chunk;
        for (uint i = index * chunk + thread; i < end; i += WORKGROUP_SIZE) {
            uint key = keys_in[i];
            [[unroll]] for (uint pass = 0; pass < PASSES; pass++) {
                atomicAdd(digit_count[pass * RADIX + digit_of(key, pass * RADIX_BITS)], 1);
            }
        }
    }
    barrier();
    for (uint i = thread; i < PASSES * RADIX; i += WORKGROUP_SIZE) {
        if (digit_count[i] != 0) atomicAdd(counters[COUNTERS_HISTOGRAM + i], digit_count[i]);
    }
}
