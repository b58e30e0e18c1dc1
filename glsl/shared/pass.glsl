// What a pass sorts by, and what it moves. The histogram's last workgroup writes this to the counters as the route of the pass.
// Kernels declare their access to the counters before they include this file.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require

layout(set = 0, binding = BINDING_COUNT) readonly buffer Count { uint count_words[]; };

#include "shared/key.glsl"

struct Pass {
    bool runs;
    bool given;   // it reads the caller's elements: the first pass does, and a move without passes
    bool copies;  // it moves elements without sorting them
    bool visits;  // it gives the elements to the caller's code
    uint moves;   // one of the MOVES_* constants
    uint starts;  // the word of the counters with the start of the first digit
    Digit digit;
};

// Elements to sort. A count on the device is at most the capacity.
uint sort_count() { return push.count_word == 0 ? push.count : min(count_words[push.count_word - 1], push.count); }

uint parts_of(uint elements, uint part) { return elements == 0 ? 0 : (elements - 1) / part + 1; }

// Index of the workgroup in a dispatch that may be spread over two dimensions.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

Pass pass_of(uint route) {
    uint digit = route >> ROUTE_DIGIT & 63;
    return Pass((route & ROUTE_RUNS) != 0, push.pass == 0, (route & ROUTE_COPIES) != 0,
                VISITED_OUTPUT != 0 && (route & ROUTE_VISITS) != 0, route >> ROUTE_MOVES & 1,
                COUNTERS_HISTOGRAM + digit * RADIX, digit_at(window_low(), digit));
}

// Whether it moves keys and values.
bool moves_all(Pass pass) { return DISCARD_KEYS == 0 || pass.moves == MOVES_ALL; }

// The last key of the order in every pass, for lanes past the end.
KEY last_key() { return ~all_flips(); }
