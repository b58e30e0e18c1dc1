#version 460
// Counts every digit of every key in one read. Each workgroup counts one part in shared memory, then adds its counts to the
// totals. The last workgroup turns totals into starts, and writes the routes. On devices without fences between workgroups a
// second dispatch does this. Loops over counters stay loops, which compile sooner.

#define COUNTERS_WRITTEN
#define ELEMENTS_READ_ONLY
#define KEY_VECTORS

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/pass.glsl"
#include "lib/routes.glsl"
#include "lib/last_workgroup.glsl"

const uint COUNTS = PASSES * RADIX;
const uint AT_ONCE = 4; // keys that an invocation loads at a time without vectors

shared uint digit_count[COUNTS];

#define COUNTERS COUNTS
#define DIGITS PASSES
#include "lib/counts.glsl"
#include "lib/starts.glsl"

// Counters are indexed by the bits of the key. Keys behind the last whole load of a part are counted alone, as code for runs is
// large; so are all keys of a part that begins within a vector.
void count_key(KEY key, bool alone) {
    key = take_order(key);
    [[unroll]] for (uint pass = 0; pass < PASSES; pass++) {
        uint counter = pass * RADIX + bits_at(key, digit_shift(pass), digit_bits(pass));
        if (alone) COUNT_ALONE(pass, counter);
        else { COUNT(pass, counter); }
    }
}

// The total of a counter. Totals are indexed by digits.
uint total_of(uint counter) {
    uint pass = counter / RADIX;
    return COUNTERS_HISTOGRAM + (counter ^ bits_at(all_flips(), digit_shift(pass), digit_bits(pass)));
}

#if HAS_KEY_VECTORS
void count_word(uint word) {
    [[unroll]] for (uint part = 0; part < KEYS_PER_WORD; part++) {
        count_key(key_in_word(word, part), false);
    }
}
#endif

// Counts a part of the keys, and adds the counts to the totals.
void count_part(uint start, uint elements) {
#if !PRIVATE
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < COUNTS; at += WORKGROUP_SIZE) digit_count[at] = 0;
    barrier();
#endif
    begin_counts();
    uint i = gl_LocalInvocationIndex;
#if HAS_KEY_VECTORS
    uint vectors = start % KEYS_PER_VECTOR == 0 ? elements / KEYS_PER_VECTOR : 0;
    for (uint at = i; at < vectors; at += WORKGROUP_SIZE) {
        uvec4 words = keys_from.cells[start / KEYS_PER_VECTOR + at];
        count_word(words.x);
        count_word(words.y);
        count_word(words.z);
        count_word(words.w);
    }
    i += vectors * KEYS_PER_VECTOR;
#else
    for (; i + (AT_ONCE - 1) * WORKGROUP_SIZE < elements; i += AT_ONCE * WORKGROUP_SIZE) {
        KEY keys[AT_ONCE];
        [[unroll]] for (uint at = 0; at < AT_ONCE; at++) {
            keys[at] = load_key(true, start + i + at * WORKGROUP_SIZE);
        }
        [[unroll]] for (uint at = 0; at < AT_ONCE; at++) count_key(keys[at], false);
    }
#endif
    for (; i < elements; i += WORKGROUP_SIZE) count_key(load_key(true, start + i), true);
#if PRIVATE
    END_COUNTS(counters[total_of(at)])
#else
    END_COUNTS(digit_count[at])
    barrier();
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < COUNTS; at += WORKGROUP_SIZE) {
        if (digit_count[at] != 0) atomicAdd(counters[total_of(at)], digit_count[at]);
    }
#endif
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint count = sort_count();
    uint index = workgroup_index();
    uint parts = parts_of(count, push.part);
    if (index >= parts) return;
    if (push.stage != STAGE_DECIDES) {
        count_part(index * push.part, min(count - index * push.part, push.part));
        if (push.stage == STAGE_COUNTS || !finishes_last(COUNTERS_FINISHED, parts)) return;
    } else if (index > 0) {
        return;
    }

    [[dont_unroll]] for (uint pass = thread; pass < PASSES; pass += WORKGROUP_SIZE) needed[pass] = 1;
    barrier();
    [[dont_unroll]] for (uint at = thread; at < COUNTS; at += WORKGROUP_SIZE) {
        digit_count[at] = atomicLoad(counters[COUNTERS_HISTOGRAM + at], gl_ScopeDevice, gl_StorageSemanticsNone,
                                     gl_SemanticsRelaxed);
        if (digit_count[at] == count) needed[at / RADIX] = 0;
    }
    barrier();
    write_starts();
    if (thread == 0) write_routes();
}
