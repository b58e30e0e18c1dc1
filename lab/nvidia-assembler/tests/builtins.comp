#version 460
// What the translator and its shim have to know, for a test: each invocation writes what every built-in gives it.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "lib/answers.glsl"

layout(constant_id = 0) const uint WORKGROUP_SIZE = 64;
layout(constant_id = 1) const uint ROUNDS = 3;
layout(local_size_x_id = 0) in;

layout(set = 0, binding = 0) readonly restrict buffer Source { uint source[]; };
layout(set = 0, binding = 1) writeonly buffer Answers { uint cells[]; } answers[2];
layout(set = 0, binding = 2) coherent buffer Head { uint tickets[4]; uint rest[]; };
layout(push_constant) uniform Push { uint offset; uvec2 pair; uint shift; } push;

struct Pair {
    uint first;
    uint second;
};

const uint SUBGROUPS = WORKGROUP_SIZE / 32;
shared uint counts[SUBGROUPS * 8], total;
uint written = 0; // a private variable
uint scaled = push.offset * 2;

uint last_of(uint at);

void answer(uint value) {
    answers[1].cells[(written++) * WORKGROUP_SIZE + gl_LocalInvocationIndex] = value;
}

void fill(inout uint items[ROUNDS], in uint from, out uint sum) {
    sum = 0;
    [[unroll]] for (uint i = 0; i < ROUNDS; i++) {
        items[i] += from + i;
        sum += items[i];
    }
}

uint sum_of(uint items[ROUNDS]) {
    uint sum = 0;
    [[dont_unroll]] for (uint i = 0; i < ROUNDS; i++) sum += items[i];
    return sum;
}

void main() {
    uint thread = gl_SubgroupID * 32 + gl_SubgroupInvocationID;
    uint value = source[push.offset + thread];
    answer(subgroupBallot((value & 1) != 0).x);
    answer(subgroupBallot(value > 0x80000000u).x & gl_SubgroupLtMask.x);
    answer(bitfieldExtract(value, 4, 12));
    answer(uint(bitfieldExtract(int(value), int(push.shift), 1)));
    [[unroll]] for (uint bit = 0; bit < 2; bit++) answer(uint(bitfieldExtract(int(value), int(7 * bit), 5)));
    answer(subgroupInclusiveAdd(value & 0xFFFFu));
    answer(subgroupExclusiveAdd(value & 0xFFFFu));
    answer(subgroupAdd(value & 0xFFFFu));
    answer(subgroupMax(value));
    answer(subgroupBroadcastFirst(value));
    answer(subgroupShuffle(value, gl_SubgroupInvocationID ^ 5));
    answer(subgroupShuffleUp(value, 1));
    answer(subgroupShuffleXor(value, 9));
    answer(subgroupBallotExclusiveBitCount(subgroupBallot((value & 2) != 0)));
    answer(uint(subgroupElect()));
    answer(uint(findLSB(value | 0x100u)) << 8 | uint(findMSB(value | 1)));

    uint items[ROUNDS], sum;
    for (uint i = 0; i < ROUNDS; i++) items[i] = value;
    fill(items, push.pair.y, sum);
    answer(sum - sum_of(items) + last_of(thread) + scaled);
    Pair both = Pair(value, 1);
    both.second += both.first;
    answer(both.second);
    uvec4 mask = uvec4(value, 1, 2, 3);
    mask.zw = uvec2(value);
    mask &= ~uvec4(255);
    answer(mask.x ^ mask[1] ^ mask.w);
    uint high, low, carry;
    umulExtended(value, value, high, low);
    answer(high);
    answer(uaddCarry(value, low, carry) ^ carry);

    if (thread == 0) total = 0;
    for (uint i = thread; i < SUBGROUPS * 8; i += WORKGROUP_SIZE) counts[i] = 0;
    barrier();
    atomicAdd(counts[gl_SubgroupID * 8 + (value & 7)], 1);
    atomicMax(total, value);
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    answer(counts[gl_SubgroupID * 8 + (value & 7)]);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    answer(total);
    if (thread == 0) {
        atomicStore(rest[1], 77u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        tickets[3] = atomicAdd(rest[0], 2);
    }
}

uint last_of(uint at) { return at == LAST ? 1000 : 0; }
