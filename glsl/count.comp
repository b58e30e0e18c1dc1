#version 460
// First step of a reduce-then-scan pass: writes the digit counts of each tile, one row of tiles per digit.

#define ELEMENTS_READ_ONLY

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/pass.glsl"

layout(set = 0, binding = BINDING_TABLE) writeonly buffer Table { uint table[]; };

shared uint digit_count[RADIX];

#define COUNTERS RADIX
#define DIGITS 1
#include "lib/counts.glsl"

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint count = sort_count();
    uint tile = workgroup_index();
    uint tiles = parts_of(count, push.part);
    uint route = counters[COUNTERS_ROUTES + push.pass];
    if (!route_runs(route) || route_copies(route) || tile >= tiles) return;
    for (uint digit = thread; digit < RADIX; digit += WORKGROUP_SIZE) digit_count[digit] = 0;
    barrier();

    uint start = tile * push.part;
    uint elements = min(count - start, push.part);
    begin_pass(route, route_digit(route));
    begin_counts();
    for (uint i = thread; i < elements; i += WORKGROUP_SIZE) {
        uint bits = digit_bits_of(take_order(load_key(takes_given(), start + i)));
        COUNT(0, bits);
    }
    END_COUNTS(digit_count[at])
    barrier();
    for (uint digit = thread; digit < RADIX; digit += WORKGROUP_SIZE) {
        table[digit * tiles + tile] = digit_count[digit ^ digit_flip];
    }
}
