// Counters of an invocation's own, for software drivers: these make every access to shared memory lane by lane, and lock it
// for an atomic, where an array that nobody else sees costs them next to nothing. On a GPU it would be the other way round.

#if PRIVATE

#extension GL_KHR_shader_subgroup_arithmetic : require

uint own_count[OWN_COUNTS];

void clear_own_counts() {
    for (uint at = 0; at < OWN_COUNTS; at++) own_count[at] = 0;
}

// Adds what every invocation has counted to `word`, an expression in the counter `at`.
#define ADD_OWN_COUNTS(word) \
    for (uint at = 0; at < OWN_COUNTS; at++) { \
        uint counted = subgroupAdd(own_count[at]); \
        if (subgroupElect() && counted != 0) atomicAdd(word, counted); \
    }

#endif
