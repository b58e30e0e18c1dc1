#version 460
// Checks a sort. Before it and after it, each workgroup adds up the hashes of its elements, so that equal elements have equal sums in
// any order. After it, neighbours are compared too. The last dispatch, of one workgroup, compares the sums and writes the answer.

#define ELEMENTS_READ_ONLY
#define VERIFIES

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) buffer Counters { uint report[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"

shared uint sums[REPORT_WORDS]; // the sum of the hashes in two words, and what is wrong

// Each half is a bijection of the word, by the finalizer of MurmurHash3 (Appleby).
uvec2 hashed(uvec2 hash, uint word) {
    hash ^= word * uvec2(0x9E3779B1u, 0x85EBCA77u);
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return hash ^ hash >> 16;
}

// The sum of two numbers of two words, the lower one first.
uvec2 plus(uvec2 one, uvec2 other) {
    uint low = one.x + other.x;
    return uvec2(low, one.y + other.y + (low < one.x ? 1 : 0));
}

uvec2 negated(uvec2 number) { return plus(~number, uvec2(1, 0)); }

// Where the report has a workgroup's sums, behind the answer.
uint words_of(uint stage, uint group) { return 1 + (stage * PUSH_WORKGROUPS + group) * REPORT_WORDS; }

bool checks(uint what) { return (PUSH_CHECKS & what) != 0; }

KEY key_at(uint index, uint count) {
    if (PUSH_VERIFY_STAGE == VERIFY_AFTER && checks(CHECKS_BY_INDEX)) index = min(read_value(index, 0), count - 1);
    return read_key(index);
}

uvec2 hash_of(uint index, uint count) {
    uvec2 hash = uvec2(0x243F6A88u, 0x85A308D3u);
    KEY key = key_at(index, count);
    for (uint word = 0; word < KEY_WORDS && checks(CHECKS_KEYS); word++) hash = hashed(hash, key_word(key, word));
    if (INDEX_VALUES != 0 && PUSH_VERIFY_STAGE == VERIFY_BEFORE) return hashed(hash, index);
    for (uint word = 0; word < VALUE_WORDS; word++) hash = hashed(hash, read_value(index, word));
    return hash;
}

// What is wrong between an element and the one before it.
uint wrong_at(uint index, uint count) {
    KEY low = flip_by_sign(key_at(index - 1, count)) ^ all_flips(), high = flip_by_sign(key_at(index, count)) ^ all_flips();
    int order = 0; // of the topmost words that differ in the window
    for (uint word = 0; word < KEY_WORDS; word++) {
        ivec2 window = clamp(ivec2(window_low(), window_low() + WINDOW_BITS) - int(32 * word), 0, 32);
        uint mask = bitfieldInsert(0u, ~0u, window.x, window.y - window.x);
        uint one = key_word(low, word) & mask, other = key_word(high, word) & mask;
        if (one != other) order = one < other ? 1 : -1;
    }
    if (order == 0 && checks(CHECKS_STABILITY) && read_value(index - 1, 0) >= read_value(index, 0)) return WRONG_STABILITY;
    return order < 0 ? WRONG_ORDER : 0;
}

void main() {
    for (uint word = gl_LocalInvocationIndex; word < REPORT_WORDS; word += WORKGROUP_SIZE) sums[word] = 0;
    barrier();
    uint count = sort_count(), step = gl_NumWorkGroups.x * WORKGROUP_SIZE, wrong = 0;
    uint index = gl_WorkGroupID.x * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    uvec2 sum = uvec2(0);
    // Iterations are counted, because the index behind the last one may have more than 32 bits.
    for (uint rest = index < count ? parts_of(count - index, step) : 0; rest > 0; rest--, index += step) {
        if (PUSH_VERIFY_STAGE == VERIFY_ANSWER) {
            uint before = words_of(VERIFY_BEFORE, index), after = words_of(VERIFY_AFTER, index);
            sum = plus(sum, uvec2(report[before], report[before + 1]));
            sum = plus(sum, negated(uvec2(report[after], report[after + 1])));
            wrong |= report[after + 2];
        } else {
            sum = plus(sum, hash_of(index, count));
            if (PUSH_VERIFY_STAGE == VERIFY_AFTER && checks(CHECKS_KEYS) && index > 0) wrong |= wrong_at(index, count);
        }
    }
    bool carries = atomicAdd(sums[0], sum.x) > ~sum.x;
    atomicAdd(sums[1], sum.y + (carries ? 1 : 0));
    atomicOr(sums[2], wrong);
    barrier();
    if (gl_LocalInvocationIndex != 0) return;
    uint at = words_of(PUSH_VERIFY_STAGE, gl_WorkGroupID.x);
    for (uint word = 0; word < REPORT_WORDS; word++) report[at + word] = sums[word];
    if (PUSH_VERIFY_STAGE == VERIFY_ANSWER) report[0] = sums[2] | ((sums[0] | sums[1]) != 0 ? WRONG_ELEMENTS : 0);
    else if (at == words_of(VERIFY_BEFORE, 0)) report[0] = WRONG_UNFINISHED;
}
