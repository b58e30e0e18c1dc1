// Counting digits, RUNS of them per key, by COUNTERS counters: private ones, or the shared `digit_count`, which the kernel
// zeroes.

#if PRIVATE

#define OWN_COUNTS COUNTERS
#include "lib/own.glsl"

void begin_counts() { clear_own_counts(); }
#define COUNT(run, counter) own_count[counter]++
#define COUNT_ALONE(counter) own_count[counter]++

#else

#include "lib/runs.glsl"

Run runs_of[RUNS];

// The first run has no elements. Its counter is another one for each invocation, as atomics on one would be serialized.
void begin_counts() {
    [[unroll]] for (uint run = 0; run < RUNS; run++) runs_of[run] = Run(gl_LocalInvocationIndex % COUNTERS, 0);
}
#define COUNT(run, counter) COUNT_DIGIT(digit_count, runs_of[run], counter)
#define COUNT_ALONE(counter) atomicAdd(digit_count[counter], 1)
void end_runs() {
    [[unroll]] for (uint run = 0; run < RUNS; run++) END_RUN(digit_count, runs_of[run]);
}

#endif
