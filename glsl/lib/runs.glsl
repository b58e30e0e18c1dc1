// Counting digits by shared atomics. Sorted and skewed inputs give an invocation the same digit many times in a row, and
// its neighbours the same one at a time, which then wait for each other; so equal digits in a row are added up first.

struct Run {
    uint digit;
    uint count;
};

#define COUNT_DIGIT(counters, run, next) \
    if (MERGE_RUNS == 0) { \
        atomicAdd(counters[next], 1); \
    } else if (run.digit == next) { \
        run.count++; \
    } else { \
        END_RUN(counters, run); \
        run = Run(next, 1); \
    }

#define END_RUN(counters, run) if (run.count != 0) atomicAdd(counters[run.digit], run.count)
