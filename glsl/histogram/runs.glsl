// Counting bins in the shared array `bin_count`, which the kernel declares and zeroes.
//
// In sorted and skewed inputs an invocation meets runs of equal digits, and its neighbours the same digits at the same time,
// whose atomics are serialized. So an invocation merges a run before it counts it.

struct Run {
    uint counter;
    uint keys;
};

// Before the first key. The counter is another one for each invocation, because atomics on one would be serialized.
Run no_run(uint bins) { return Run(gl_LocalInvocationIndex % bins, 0); }

// A run without elements adds nothing, which takes fewer branches than to ask for it.
void end_run(Run run) {
    if (MERGE_RUNS != 0) atomicAdd(bin_count[run.counter], run.keys);
}

// Counts a bin in the run number `which`.
void count_bin(inout Run runs[RUNS], uint which, uint counter) {
    if (MERGE_RUNS == 0) {
        atomicAdd(bin_count[counter], 1);
    } else if (runs[which].counter == counter) {
        runs[which].keys++;
    } else {
        end_run(runs[which]);
        runs[which] = Run(counter, 1);
    }
}
