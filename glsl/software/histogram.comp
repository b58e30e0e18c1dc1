#version 460
// The histogram on software drivers: histogram/main.comp with private counters. An invocation counts fewer than 2^15 keys.

#define ELEMENTS_READ_ONLY
#define KEY_VECTORS

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint DIGITS = PASSES;
const uint COUNTERS = DIGITS * RADIX;
const uint CHUNK = RADIX < HISTOGRAM_CHUNK ? RADIX : HISTOGRAM_CHUNK; // counters that an invocation adds up
const uint CHUNKS = COUNTERS / CHUNK;

shared uint bin_count[COUNTERS];
shared uint out_of_order;      // 1 as soon as an invocation has met a key before a lower one
shared uint needed[DIGITS];    // 1 for a digit that is not the same in all keys, else 0
shared uint chunk_sum[CHUNKS];
shared uint finished;          // workgroups

#include "histogram/order.glsl"
#include "histogram/routes.glsl"
#include "shared/last_workgroup.glsl"
#include "histogram/decide.glsl"

// Two passes share a word, with 16 bits for each count.
const uint HALF_OF_PASSES = (PASSES + 1) / 2;
#define OWN_COUNTS (HALF_OF_PASSES * RADIX)
#define HELD_COUNTS HELD(OWN_COUNTS)
#include "software/counters.glsl"

void count_key(KEY key, uint window) {
    key = flip_by_sign(key);
    [[unroll]] for (uint pass = 0; pass < PASSES; pass++) {
        uint counter = pass * RADIX + bits_at(key, digit_at(window, pass));
        if (pass < HALF_OF_PASSES) own_count[counter]++;
        else own_count[counter - OWN_COUNTS] += 1u << 16;
    }
}

// Adds the counts of all invocations to a total.
void add_count(Sort sort, uint counter, uint count) {
    uint counted = subgroupAdd(count);
    if (counter < COUNTERS && subgroupElect() && counted != 0) atomicAdd(counters[total_of(sort, 0, counter)], counted);
}

void count_part(Sort sort, uint start, uint elements) {
    // Loaded once, because these drivers load a push constant in every iteration of a loop.
    uint window = window_low(), at = gl_LocalInvocationIndex;
    barrier(); // the counters live across it: see software/counters.glsl
    look_for_order(sort, start, elements);
    clear_own_counts();
#if HAS_KEY_VECTORS
    uint vectors = start % KEYS_PER_VECTOR == 0 ? elements / KEYS_PER_VECTOR : 0;
    for (uint vector = at; vector < vectors; vector += WORKGROUP_SIZE) {
        uvec4 words = keys_from.cells[start / KEYS_PER_VECTOR + vector];
        [[unroll]] for (uint key = 0; key < KEYS_PER_VECTOR; key++) {
            count_key(key_in_word(words[key / KEYS_PER_WORD], key % KEYS_PER_WORD), window);
        }
    }
    at += vectors * KEYS_PER_VECTOR;
#endif
    for (; at < elements; at += WORKGROUP_SIZE) count_key(given_key(start + at), window);
    for (uint own = 0; own < OWN_COUNTS; own++) {
        uint counts = own_count[own];
        add_count(sort, own, counts & 0xFFFFu);
        if (PASSES > 1) add_count(sort, own + OWN_COUNTS, counts >> 16);
    }
}

void main() {
    Sort sort = whole_sort();
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
