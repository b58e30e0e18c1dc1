// Private counters of each invocation, for software drivers. They access shared memory lane by lane, with a lock for
// atomics, whereas private arrays are cheap. On GPUs it is the other way round.

#if PRIVATE

#extension GL_KHR_shader_subgroup_arithmetic : require

uint own_count[OWN_COUNTS];

void clear_own_counts() {
    for (uint at = 0; at < OWN_COUNTS; at++) own_count[at] = 0;
}

// Adds the counts of all invocations to `word`, an expression in the counter `at`.
#define ADD_OWN_COUNTS(word) \
    for (uint at = 0; at < OWN_COUNTS; at++) { \
        uint counted = subgroupAdd(own_count[at]); \
        if (subgroupElect() && counted != 0) atomicAdd(word, counted); \
    }

#endif
