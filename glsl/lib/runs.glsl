// Counting digits by shared atomics. In sorted and skewed inputs an invocation meets runs of equal digits, and its
// neighbours the same digits at the same time, whose atomics are serialized. So an invocation merges a run before it counts
// it.

struct Run {
    uint digit;
    uint count;
};

// A run without elements adds nothing, which takes fewer branches than to ask for it.
#define COUNT_DIGIT(counters, run, next) \
    if (MERGE_RUNS == 0) { \
        atomicAdd(counters[next], 1); \
    } else if (run.digit == next) { \
        run.count++; \
    } else { \
        END_RUN(counters, run); \
        run = Run(next, 1); \
    }

#define END_RUN(counters, run) if (MERGE_RUNS != 0) atomicAdd(counters[run.digit], run.count)
