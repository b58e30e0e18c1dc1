// Ranking by private counters of each invocation, for software drivers. They access shared memory lane by lane, with a lock for
// atomics, whereas private arrays are cheap. On GPUs it is the other way round. A workgroup is one subgroup. An invocation's
// elements are neighbours and are ranked in turn, so they keep their order.
//
// Arrays of items are variables of the file: where loops are not unrolled, a parameter is a copy.

#extension GL_KHR_shader_subgroup_arithmetic : require

uint own_count[OWN_COUNTS];

void clear_own_counts() {
    for (uint at = 0; at < OWN_COUNTS; at++) own_count[at] = 0;
}
