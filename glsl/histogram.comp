#version 460
// Counts every digit of every key in one read. Each workgroup counts one part in shared memory, then adds to the totals;
// the last one to finish turns totals into starts and decides which passes run.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require

#define COUNTERS_WRITTEN
#define ELEMENTS_READ_ONLY

#include "abi.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/route.glsl"

const uint COUNTS = PASSES * RADIX;

shared uint digit_count[COUNTS];
shared uint finished;

void count_part(uint start, uint elements) {
    for (uint i = gl_LocalInvocationIndex; i < elements; i += WORKGROUP_SIZE) {
        KEY key = load_key(PLACE_SOURCE, start + i);
        [[unroll]] for (uint pass = 0; pass < PASSES; pass++) {
            atomicAdd(digit_count[pass * RADIX + digit_of(key, pass)], 1);
        }
    }
}

// Replaces the counts of each pass by their exclusive prefix sums.
void write_starts() {
    const uint share = (COUNTS + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;
    for (uint step = 1; step < RADIX; step <<= 1) {
        uint before[share];
        for (uint i = 0; i < share; i++) {
            uint at = gl_LocalInvocationIndex + i * WORKGROUP_SIZE;
            before[i] = at < COUNTS && at % RADIX >= step ? digit_count[at - step] : 0;
        }
        barrier();
        for (uint i = 0; i < share; i++) {
            uint at = gl_LocalInvocationIndex + i * WORKGROUP_SIZE;
            if (at < COUNTS) digit_count[at] += before[i];
        }
        barrier();
    }
    for (uint at = gl_LocalInvocationIndex; at < COUNTS; at += WORKGROUP_SIZE) {
        counters[COUNTERS_HISTOGRAM + at] = at % RADIX == 0 ? 0 : digit_count[at - 1];
    }
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint count = sort_count();
    uint index = workgroup_index();
    uint parts = parts_of(count, push.part);
    if (index >= parts) return;
    for (uint at = thread; at < COUNTS; at += WORKGROUP_SIZE) digit_count[at] = 0;
    barrier();
    count_part(index * push.part, min(count - index * push.part, push.part));
    barrier();
    for (uint at = thread; at < COUNTS; at += WORKGROUP_SIZE) {
        if (digit_count[at] != 0) atomicAdd(counters[COUNTERS_HISTOGRAM + at], digit_count[at]);
    }
    memoryBarrierBuffer();
    barrier();
    if (thread == 0) finished = atomicAdd(counters[COUNTERS_FINISHED], 1) + 1;
    barrier();
    if (finished != parts) return;

    memoryBarrierBuffer();
    for (uint pass = thread; pass < PASSES; pass += WORKGROUP_SIZE) runs[pass] = 1;
    barrier();
    for (uint at = thread; at < COUNTS; at += WORKGROUP_SIZE) {
        digit_count[at] = atomicAdd(counters[COUNTERS_HISTOGRAM + at], 0);
        if (digit_count[at] == count && SKIP != 0) runs[at / RADIX] = 0;
    }
    barrier();
    write_starts();
    if (thread == 0) write_routes();
}
