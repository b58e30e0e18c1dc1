#version 460
// First step of a reduce-then-scan pass: each tile's count of each digit, as one row of tiles per digit.

#extension GL_GOOGLE_include_directive : require

#include "abi.glsl"
#include "lib/key.glsl"

layout(set = 0, binding = BINDING_KEYS_IN) readonly buffer KeysIn { uint keys_in[]; };
layout(set = 0, binding = BINDING_TABLE) writeonly buffer Table { uint table[]; };

shared uint digit_count[RADIX];

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (tile >= push.tiles) return;
    for (uint digit = thread; digit < RADIX; digit += WORKGROUP_SIZE) digit_count[digit] = 0;
    barrier();

    uint size = WORKGROUP_SIZE * ITEMS * push.blocks;
    uint end = min(push.count - tile * size, size) + tile * size;
    for (uint i = tile * size + thread; i < end; i += WORKGROUP_SIZE) {
        atomicAdd(digit_count[digit_of(keys_in[i], push.shift)], 1);
    }
    barrier();
    for (uint digit = thread; digit < RADIX; digit += WORKGROUP_SIZE) {
        table[digit * push.tiles + tile] = digit_count[digit];
    }
}
