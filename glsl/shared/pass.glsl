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
    bool joined;  // its keys are indices, each joined with its digit
    uint starts;  // the word of the counters with the start of the first digit
    Digit digit;
    Digit next;   // the digit that it joins with indices
};

// Elements to sort. A count on the device is at most the capacity.
uint sort_count() { return push.count_word == 0 ? push.count : min(count_words[push.count_word - 1], push.count); }

uint parts_of(uint elements, uint part) { return elements == 0 ? 0 : (elements - 1) / part + 1; }

// Index of the workgroup in a dispatch that may be spread over two dimensions.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

Pass pass_of(uint route) {
    uint digit = route >> ROUTE_DIGIT & 63, moves = route >> ROUTE_MOVES & 3;
    bool joined = JOIN_INDEX != 0 && moves == MOVES_SPLITTING;
    Digit sorted_by = digit_at(window_low(), digit);
    if (joined) sorted_by = Digit(0, 0, RADIX_BITS, 0);
    return Pass((route & ROUTE_RUNS) != 0, push.pass == 0, (route & ROUTE_COPIES) != 0,
                VISITED_OUTPUT != 0 && (route & ROUTE_VISITS) != 0, moves, joined, COUNTERS_HISTOGRAM + digit * RADIX,
                sorted_by, digit_at(window_low(), route >> ROUTE_NEXT & 63));
}

// Whether it moves keys and values.
bool moves_all(Pass pass) { return DISCARD_KEYS == 0 || pass.moves == MOVES_ALL; }

// Whether it joins the indices that it moves with their keys' next digits.
bool joins(Pass pass) { return JOIN_INDEX != 0 && pass.moves == MOVES_JOINING; }

// An index and a digit in one word.
uint join(uint index, uint digit) { return index << RADIX_BITS | digit; }
uint joined_index(KEY joined) { return key_word(joined, 0) >> RADIX_BITS; }

// The last key of the order in every pass, for lanes past the end.
KEY last_key(Pass pass) { return pass.joined ? KEY(~0u) : ~all_flips(); }
