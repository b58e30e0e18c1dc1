// The element count, and the route of each pass, which the histogram's last workgroup writes. Kernels that write counters
// define COUNTERS_WRITTEN, as validation layers check `readonly`. Every kernel includes this file first.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require

#ifdef COUNTERS_WRITTEN
layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };

// The arguments of an indirect dispatch. Workgroups are spread over two dimensions if one is too small.
void write_arguments(uint slot, uint workgroups) {
    uint at = COUNTERS_ARGUMENTS + slot * ARGUMENT_WORDS;
    counters[at] = min(workgroups, MAX_WORKGROUPS);
    counters[at + 1] = workgroups <= MAX_WORKGROUPS ? 1 : (workgroups - 1) / MAX_WORKGROUPS + 1;
    counters[at + 2] = 1;
}
#else
layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };
#endif
layout(set = 0, binding = BINDING_COUNT) readonly buffer Count { uint count_words[]; };

// Elements to sort. A count on the device is at most the capacity.
uint sort_count() { return push.count_word == 0 ? push.count : min(count_words[push.count_word - 1], push.count); }

uint parts_of(uint elements, uint part) { return elements == 0 ? 0 : (elements - 1) / part + 1; }

// Index of the workgroup in a dispatch that may be spread over two dimensions.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

// Whether a step reads the caller's elements: the first pass does, and a move without passes.
bool takes_given() { return push.pass == 0; }

// The fields of a route: whether the pass runs, its digit, and what it moves.
bool route_runs(uint route) { return (route & ROUTE_RUNS) != 0; }
uint route_digit(uint route) { return route >> ROUTE_DIGIT & 63; }
bool route_visits(uint route) { return VISITED_OUTPUT != 0 && (route & ROUTE_VISITS) != 0; }
bool route_copies(uint route) { return (route & ROUTE_COPIES) != 0; }
uint route_moves(uint route) { return route >> ROUTE_MOVES & 3; }
// The digit that this pass joins with indices: that of the next pass.
uint route_next(uint route) { return route >> ROUTE_NEXT & 63; }
