#version 460
// Third step of a reduce-then-scan pass: ranks and writes each tile. The scanned table gives its places, so no workgroup
// waits.

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/tile.glsl"

layout(set = 0, binding = BINDING_TABLE) readonly buffer Table { uint table[]; };

void publish_count(uint turn) {}

void main() {
    count = sort_count();
    uint route = counters[COUNTERS_ROUTES + push.pass];
    begin_pass(route, route_digit(route));
    uint tile = workgroup_index();
    uint tiles = parts_of(count, push.part);
    if (!route_runs(active_route) || tile >= tiles) return;

    uint start = tile * push.part;
    uint elements = min(count - start, push.part);
    // A pass that copies has no counts.
    if (!route_copies(active_route)) {
        EACH_DIGIT {
            uint digit = own_digit(turn);
            befores[turn] = counters[COUNTERS_HISTOGRAM + route_digit(active_route) * RADIX + digit] + table[digit * tiles + tile];
        }
    }
    for (uint done = 0; done < elements; done += tile_size()) {
        uint first = start + done, base = first, here = min(elements - done, tile_size());
        bool copies = route_copies(active_route);
        if (done > 0) barrier(); // pool and digit_base have been read
        if (!copies) {
            take_tile(first, here);
            count_block();
            rank_tile(here);
            EACH_DIGIT {
                set_base(turn, befores[turn], here);
                befores[turn] += totals[turn];
            }
            barrier(); // digit_base and the pool are complete
            copies = moves_as_it_is;
            if (copies) base = only_base();
        }
        write_tile(first, here, copies, base);
    }
}
