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

const uint AT_ONCE = 4; // keys in a turn of a loop

#include "top/narrow.glsl"
#define OWN_COUNTS TOP_BINS
#include "software/counters.glsl"

void count_tile(Row row, Level level, uint tile) {
    barrier(); // the counters live across it: see software/counters.glsl
    clear_own_counts();
    EACH_ELEMENT(row, tile, if (is_counted(row, level, key, index)) own_count[bin_at(level, key, index)]++)
    uint bins = bins_at(row.number);
    for (uint bin = 0; bin < TOP_BINS; bin++) {
        uint counted = subgroupAdd(own_count[bin]);
        if (subgroupElect() && counted != 0) atomicAdd(counters[bins + bin], counted);
    }
}
