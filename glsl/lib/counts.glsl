// Counting digits, RUNS of them per key, by COUNTERS counters: private ones, or the shared `digit_count`, which the kernel
// zeroes.

#if PRIVATE

// Two runs share a word, with 16 bits for each count, as an invocation counts fewer than 2^15 keys. LLVM takes time that grows
// with the square of a private array.
const uint HALF_OF_RUNS = (RUNS + 1) / 2;
#define OWN_COUNTS (COUNTERS / RUNS * HALF_OF_RUNS)
#include "lib/own.glsl"

void begin_counts() { clear_own_counts(); }

void count_own(uint run, uint counter) {
    if (run < HALF_OF_RUNS) own_count[counter]++;
    else own_count[counter - OWN_COUNTS] += 1u << 16;
}
#define COUNT(run, counter) count_own(run, counter)
#define COUNT_ALONE(run, counter) count_own(run, counter)

// Adds the counts of all invocations to `word`, an expression in the counter `at`.
#define ADD_COUNTS(word) \
    for (uint own = 0; own < OWN_COUNTS; own++) { \
        uint counts = own_count[own]; \
        ADD_OWN_COUNT(own, counts & 0xFFFFu, word) \
        if (RUNS > 1) { ADD_OWN_COUNT(own + OWN_COUNTS, counts >> 16, word) } \
    }
#define ADD_OWN_COUNT(counter, count, word) { \
        uint at = counter; \
        uint counted = subgroupAdd(count); \
        if (at < COUNTERS && subgroupElect() && counted != 0) atomicAdd(word, counted); \
    }

#else

#include "lib/runs.glsl"

Run runs_of[RUNS];

// The first run has no elements. Its counter is another one for each invocation, as atomics on one would be serialized.
void begin_counts() {
    [[unroll]] for (uint run = 0; run < RUNS; run++) runs_of[run] = Run(gl_LocalInvocationIndex % COUNTERS, 0);
}
#define COUNT(run, counter) COUNT_DIGIT(digit_count, runs_of[run], counter)
#define COUNT_ALONE(run, counter) atomicAdd(digit_count[counter], 1)
void end_runs() {
    [[unroll]] for (uint run = 0; run < RUNS; run++) END_RUN(digit_count, runs_of[run]);
}

#endif
