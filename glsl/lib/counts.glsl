// Counting digits, DIGITS of them per key, by COUNTERS counters: private ones, or the shared `digit_count`, which the kernel
// zeroes.

#if PRIVATE

// Two digits share a word, with 16 bits for each count, as an invocation counts fewer than 2^15 keys. LLVM takes time that
// grows with the square of a private array.
const uint HALF_OF_DIGITS = (DIGITS + 1) / 2;
#define OWN_COUNTS (COUNTERS / DIGITS * HALF_OF_DIGITS)
#include "lib/own.glsl"

void begin_counts() { clear_own_counts(); }

void count_own(uint digit, uint counter) {
    if (digit < HALF_OF_DIGITS) own_count[counter]++;
    else own_count[counter - OWN_COUNTS] += 1u << 16;
}
#define COUNT(digit, counter) count_own(digit, counter)
#define COUNT_ALONE(digit, counter) count_own(digit, counter)

// Adds the counts of all invocations to `word`, an expression in the counter `at`.
#define END_COUNTS(word) \
    for (uint own = 0; own < OWN_COUNTS; own++) { \
        uint counts = own_count[own]; \
        ADD_OWN_COUNT(own, counts & 0xFFFFu, word) \
        if (DIGITS > 1) { ADD_OWN_COUNT(own + OWN_COUNTS, counts >> 16, word) } \
    }
#define ADD_OWN_COUNT(counter, count, word) { \
        uint at = counter; \
        uint counted = subgroupAdd(count); \
        if (at < COUNTERS && subgroupElect() && counted != 0) atomicAdd(word, counted); \
    }

#else

// In sorted and skewed inputs an invocation meets runs of equal digits, and its neighbours the same digits at the same time,
// whose atomics are serialized. So an invocation merges a run before it counts it.
struct Run {
    uint counter;
    uint count;
};

Run run_of[DIGITS];

// The first run has no elements. Its counter is another one for each invocation, as atomics on one would be serialized.
void begin_counts() {
    [[unroll]] for (uint digit = 0; digit < DIGITS; digit++) run_of[digit] = Run(gl_LocalInvocationIndex % COUNTERS, 0);
}

// A run without elements adds nothing, which takes fewer branches than to ask for it.
#define END_RUN(run) if (MERGE_RUNS != 0) atomicAdd(digit_count[run.counter], run.count)
#define COUNT_ALONE(digit, next) atomicAdd(digit_count[next], 1)
#define COUNT(digit, next) \
    if (MERGE_RUNS == 0) { \
        COUNT_ALONE(digit, next); \
    } else if (run_of[digit].counter == next) { \
        run_of[digit].count++; \
    } else { \
        END_RUN(run_of[digit]); \
        run_of[digit] = Run(next, 1); \
    }
// All other counts are in `digit_count` already, which is `word`.
#define END_COUNTS(word) [[unroll]] for (uint digit = 0; digit < DIGITS; digit++) END_RUN(run_of[digit]);

#endif
