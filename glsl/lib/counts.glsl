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
#define ADD_COUNTS(word) \
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

#include "lib/runs.glsl"

Run run_of[DIGITS];

// The first run has no elements. Its counter is another one for each invocation, as atomics on one would be serialized.
void begin_counts() {
    [[unroll]] for (uint digit = 0; digit < DIGITS; digit++) run_of[digit] = Run(gl_LocalInvocationIndex % COUNTERS, 0);
}
#define COUNT(digit, counter) COUNT_DIGIT(digit_count, run_of[digit], counter)
#define COUNT_ALONE(digit, counter) atomicAdd(digit_count[counter], 1)
void end_runs() {
    [[unroll]] for (uint digit = 0; digit < DIGITS; digit++) END_RUN(digit_count, run_of[digit]);
}

#endif
