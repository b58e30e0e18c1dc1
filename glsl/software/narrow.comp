#version 460
// Narrowing on software drivers: top/main.comp with private counters.

#define ELEMENTS_READ_ONLY
#define SEGMENTS
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) coherent buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };
layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"

const uint CHUNKS = TOP_BINS / HISTOGRAM_CHUNK;

shared uint bin_count[TOP_BINS];                  // of the tile, then of the row
shared uint chunk_sum[CHUNKS];                    // of neighbouring bins
shared uint found_bin, found_before, found_count; // the bin of the last of the first elements
shared uint finished;                             // workgroups of the row

#include "shared/last_workgroup.glsl"
#include "top/tiles.glsl"
#define OWN_COUNTS TOP_BINS
#include "software/counters.glsl"

const uint AT_ONCE = 4; // keys in a turn of a loop

// Runs a statement for each element of a tile, with its `key` and its `index` in the row. What is behind the last four elements of each
// invocation has a loop of its own, because a branch in the loop would be executed for all of them.
#define EACH_ELEMENT(row, tile, statement) { \
    uint from = tile.start, at = from + gl_LocalInvocationIndex; \
    uint together = tile.elements - min((AT_ONCE - 1) * WORKGROUP_SIZE, tile.elements); \
    [[dont_unroll]] for (; at - from < together; at += AT_ONCE * WORKGROUP_SIZE) { \
        KEY keys[AT_ONCE]; \
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) keys[turn] = read_key(row.start + at + turn * WORKGROUP_SIZE); \
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) { \
            KEY key = flip_by_sign(keys[turn]) ^ row.flips; \
            uint index = at + turn * WORKGROUP_SIZE; \
            statement; \
        } \
    } \
    [[dont_unroll]] for (; at - from < tile.elements; at += WORKGROUP_SIZE) { \
        KEY key = flip_by_sign(read_key(row.start + at)) ^ row.flips; \
        uint index = at; \
        statement; \
    } \
}

void count_tile(Row row, Level level, Tile tile) {
    barrier(); // the counters live across it: see software/counters.glsl
    clear_own_counts();
    EACH_ELEMENT(row, tile, if (is_counted(row, level, key, index)) own_count[bin_at(level, key, index)]++)
    uint bins = bins_at(row.number);
    for (uint bin = 0; bin < TOP_BINS; bin++) {
        uint counted = subgroupAdd(own_count[bin]);
        if (subgroupElect() && counted != 0) atomicAdd(counters[bins + bin], counted);
    }
}

void keep_tile(Row row, Level level, Tile tile) { EACH_ELEMENT(row, tile, keep_element(row, level, key, index)) }

#include "top/narrow.glsl"

void main() { narrow(); }
