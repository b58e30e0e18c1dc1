// Private counters of each invocation, for software drivers. They access shared memory lane by lane, with a lock for
// atomics, whereas private arrays are cheap. On GPUs it is the other way round.

#extension GL_KHR_shader_subgroup_arithmetic : require

uint own_count[OWN_COUNTS];

void clear_own_counts() {
    for (uint at = 0; at < OWN_COUNTS; at++) own_count[at] = 0;
}
