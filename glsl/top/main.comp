#version 460
// Narrows long rows to their first elements, digit by digit, and then keeps the indices of those that are left, a few more than are
// wanted, for segments/main.comp to sort. The last workgroup of a row decides what its prefix is; on devices without fences between
// workgroups a second dispatch does this.

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

const uint RUNS = 1; // of one digit

#include "shared/last_workgroup.glsl"
#include "histogram/runs.glsl"
#include "top/tiles.glsl"

// An invocation takes some elements of a tile at a time, as long as there are so many; the last ones it takes one by one.
const uint AT_ONCE = 4;
bool takes_several(Tile tile, uint at) { return tile.elements - at > (AT_ONCE - 1) * WORKGROUP_SIZE; }
uint after(uint at, bool several) { return at + (several ? AT_ONCE : 1) * WORKGROUP_SIZE; }

// The index in the row of one of them.
uint index_of(Tile tile, uint at, uint turn) { return tile.start + at + turn * WORKGROUP_SIZE; }

// Counts the next digit of a tile.
void count_tile(Row row, Level level, Tile tile) {
    bool several;
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < TOP_BINS; at += WORKGROUP_SIZE) bin_count[at] = 0;
    barrier();
    Run runs[RUNS];
    runs[0] = no_run(TOP_BINS);
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < tile.elements; at = after(at, several)) {
        KEY keys[AT_ONCE];
        several = takes_several(tile, at);
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            if (turn == 0 || several) keys[turn] = read_key(row.start + index_of(tile, at, turn));
        }
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            if (turn > 0 && !several) continue;
            uint index = index_of(tile, at, turn);
            KEY key = flip_by_sign(keys[turn]) ^ row.flips;
            if (is_counted(row, level, key, index)) count_bin(runs, 0, bin_at(level, key, index));
        }
    }
    end_run(runs[0]);
    barrier();
    uint bins = bins_at(row.number);
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < TOP_BINS; at += WORKGROUP_SIZE) {
        if (bin_count[at] != 0) atomicAdd(counters[bins + at], bin_count[at]);
    }
}

// Keeps the indices of those that may be among the first.
void keep_tile(Row row, Level level, Tile tile) {
    bool several;
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < tile.elements; at = after(at, several)) {
        KEY keys[AT_ONCE];
        several = takes_several(tile, at);
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            if (turn == 0 || several) keys[turn] = read_key(row.start + index_of(tile, at, turn));
        }
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            if (turn > 0 && !several) continue;
            KEY key = flip_by_sign(keys[turn]) ^ row.flips;
            keep_element(row, level, key, index_of(tile, at, turn));
        }
    }
}

#include "top/narrow.glsl"

void main() { narrow(); }
