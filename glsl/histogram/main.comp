#version 460
// Counts every digit of every key in one read, and looks whether the keys are in order. Each workgroup counts one part in shared
// memory, then adds its counts to the totals. The last workgroup turns totals into starts, and writes the routes. On devices
// without fences between workgroups a second dispatch does this. Loops over counters stay loops, which compile sooner.

#define ELEMENTS_READ_ONLY
#define MAY_FINISH
#define KEY_VECTORS

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint DIGITS = FINISHES != 0 ? PASSES + 2 : PASSES; // the leading ones come last
const uint COUNTERS = DIGITS * RADIX;
const uint CHUNK = RADIX < HISTOGRAM_CHUNK ? RADIX : HISTOGRAM_CHUNK; // counters that an invocation adds up
const uint CHUNKS = COUNTERS / CHUNK;
const uint RUNS = DIGITS;
const uint AT_ONCE = 4; // keys that an invocation loads at a time without vectors

shared uint bin_count[COUNTERS];
shared uint out_of_order;      // 1 as soon as an invocation has met a key before a lower one
shared uint needed[DIGITS];    // 1 for a digit that is not the same in all keys, else 0
shared uint chunk_sum[CHUNKS];
shared uint finished;          // workgroups

#include "histogram/runs.glsl"
#include "histogram/order.glsl"
#include "histogram/routes.glsl"
#include "shared/last_workgroup.glsl"
#include "histogram/decide.glsl"

// The counter of a key by digit number `index`.
uint counter_of(KEY key, uint window, uint finish, uint index) {
    return index * RADIX + bits_at(key, counted_digit(window, finish, index));
}

void count_key(KEY key, uint window, uint finish, inout Run runs[RUNS], inout bool outside) {
    key = flip_by_sign(key);
    [[unroll]] for (uint index = 0; index < DIGITS; index++) {
        if (index < PASSES || finish != 0) count_bin(runs, index, counter_of(key, window, finish, index));
    }
    if (is_outside(key, finish)) outside = true;
}

// Counts a part of the keys, and adds the counts to the totals.
void count_part(Sort sort, uint start, uint elements) {
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < COUNTERS; at += WORKGROUP_SIZE) bin_count[at] = 0;
    look_for_order(sort, start, elements); // its barriers show the zeros
    Run runs[RUNS];
    [[unroll]] for (uint index = 0; index < DIGITS; index++) runs[index] = no_run(COUNTERS);
    // Loaded once, because some drivers load a push constant in every iteration of a loop.
    uint window = window_low(), finish = finish_word(), at = gl_LocalInvocationIndex;
    bool outside = false;
#if HAS_KEY_VECTORS
    uint vectors = start % KEYS_PER_VECTOR == 0 ? elements / KEYS_PER_VECTOR : 0;
    for (uint vector = at; vector < vectors; vector += WORKGROUP_SIZE) {
        uvec4 words = keys_from.cells[start / KEYS_PER_VECTOR + vector];
        [[unroll]] for (uint key = 0; key < KEYS_PER_VECTOR; key++) {
            count_key(key_in_word(words[key / KEYS_PER_WORD], key % KEYS_PER_WORD), window, finish, runs, outside);
        }
    }
    at += vectors * KEYS_PER_VECTOR;
#else
    for (; at + (AT_ONCE - 1) * WORKGROUP_SIZE < elements; at += AT_ONCE * WORKGROUP_SIZE) {
        KEY keys[AT_ONCE];
        [[unroll]] for (uint key = 0; key < AT_ONCE; key++) keys[key] = given_key(start + at + key * WORKGROUP_SIZE);
        [[unroll]] for (uint key = 0; key < AT_ONCE; key++) count_key(keys[key], window, finish, runs, outside);
    }
#endif
    // Keys behind the last whole load of a part are counted alone, because code for runs is large; so are all keys of a part
    // that begins within a vector.
    for (; at < elements; at += WORKGROUP_SIZE) {
        KEY key = flip_by_sign(given_key(start + at));
        [[unroll]] for (uint index = 0; index < DIGITS; index++) {
            if (index < PASSES || finish != 0) atomicAdd(bin_count[counter_of(key, window, finish, index)], 1);
        }
        if (is_outside(key, finish)) outside = true;
    }
    if (outside) atomicOr(counters[COUNTERS_FINISH], FINISH_OUTSIDE);
    [[unroll]] for (uint index = 0; index < DIGITS; index++) end_run(runs[index]);
    barrier();
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < COUNTERS; at += WORKGROUP_SIZE) {
        if (bin_count[at] != 0) atomicAdd(counters[total_of(sort, finish, at)], bin_count[at]);
    }
}

void main() {
    Sort sort = sort_of(PUSH_PART);
    uint start = sort.group * PUSH_PART, parts = parts_of(sort.count, PUSH_PART);
    if (sort.group >= parts) return;
    if (PUSH_STAGE != STAGE_DECIDES) {
        count_part(sort, sort.first + start, min(sort.count - start, PUSH_PART));
        if (PUSH_STAGE == STAGE_COUNTS || !finishes_last(sort.counters_at + COUNTERS_FINISHED, parts)) return;
    } else if (sort.group > 0) {
        return;
    }
    decide(sort);
}
