// The arguments of an indirect dispatch. Workgroups are spread over two dimensions if one is too small.
void write_arguments(uint slot, uint workgroups) {
    uint at = COUNTERS_ARGUMENTS + slot * ARGUMENT_WORDS;
    counters[at] = min(workgroups, MAX_WORKGROUPS);
    counters[at + 1] = workgroups <= MAX_WORKGROUPS ? 1 : (workgroups - 1) / MAX_WORKGROUPS + 1;
    counters[at + 2] = 1;
}
