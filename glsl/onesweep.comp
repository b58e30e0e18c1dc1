#version 460
// One pass of OneSweep (Adinets and Merrill 2022). A workgroup publishes the digit counts of its tile, ranks its keys, looks
// back for the counts of earlier tiles, and writes its elements.

#define COUNTERS_WRITTEN

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/tile.glsl"
#include "lib/lookback.glsl"

shared uint ticket;

void main() {
    count = sort_count();
    uint route = counters[COUNTERS_ROUTES + push.pass];
    begin_pass(route, route_digit(route));
    uint tiles = parts_of(count, tile_size());
    first_epoch = push.pass * ((tiles >> RING_BITS) + 1);
    if (!route_runs(active_route) || workgroup_index() >= tiles) return;
    // Workgroups take tickets in the order of their start, so the workgroups of earlier tiles have started.
    if (thread_index() == 0) ticket = atomicAdd(counters[push.pass], 1);
    barrier();
    tile = uniform_in_subgroup(ticket);
    uint start = tile * tile_size(), base = start;
    uint elements = min(count - start, tile_size());
    bool copies = route_copies(active_route);
    if (!copies) {
        take_tile(start, elements);
        count_block();
        // This adds 0, which is unknown to compilers: otherwise they keep all digits in registers from counting to ranking.
        if (FEW_REGISTERS != 0) digit_low += tile >> 31;
        one += tile >> 31;
        rank_tile(elements);
        look_back();
        publish_sums(elements);
        barrier(); // digit_base and the pool are complete
        copies = moves_as_it_is;
        if (copies) base = only_base();
    }
    write_tile(start, elements, copies, base);
}
