#version 460
// Narrowing on software drivers: top/main.comp with private counters.

#define ELEMENTS_READ_ONLY
#define SEGMENTS
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint CHUNKS = TOP_BINS / HISTOGRAM_CHUNK;

shared uint bin_count[TOP_BINS];                  // of the tile, then of the row
shared uint chunk_sum[CHUNKS];                    // of neighbouring bins
shared uint found_bin, found_before, found_count; // the bin of the last of the first elements
shared uint finished;                             // workgroups of the row

#include "shared/last_workgroup.glsl"
#include "top/tiles.glsl"
#define OWN_COUNTS TOP_BINS
#include "software/counters.glsl"

void count_tile(Row row, Level level, Tile tile) {
    bool several;
    barrier(); // the counters live across it: see software/counters.glsl
    clear_own_counts();
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < tile.elements; at = after(at, several)) {
        KEY keys[AT_ONCE];
        several = takes_several(tile, at);
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            if (turn == 0 || several) keys[turn] = given_key(row.start + index_of(tile, at, turn));
        }
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            uint index = index_of(tile, at, turn);
            KEY key = flip_by_sign(keys[turn]) ^ row.flips;
            if ((turn == 0 || several) && is_counted(row, level, key, index)) own_count[bin_at(level, key, index)]++;
        }
    }
    uint bins = bins_at(row.number);
    for (uint bin = 0; bin < TOP_BINS; bin++) {
        uint counted = subgroupAdd(own_count[bin]);
        if (subgroupElect() && counted != 0) atomicAdd(counters[bins + bin], counted);
    }
}

#include "top/narrow.glsl"

void main() { narrow(); }
