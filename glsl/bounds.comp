#version 460
// Finds where the segments of a hybrid's finish start: the first run at or behind each multiple of their size, by binary
// search, as runs are sorted. The last workgroup to finish knows whether a run is too long, and decides between finish
// and passes.

#extension GL_GOOGLE_include_directive : require

#define COUNTERS_WRITTEN
#define ELEMENTS_READ_ONLY

#include "abi.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/arguments.glsl"
#include "lib/segments.glsl"

layout(set = 0, binding = BINDING_TABLE) writeonly buffer Table { uint table[]; };

shared uint finished;

void main() {
    uint place = route_keys_from(counters[COUNTERS_FINISH_ROUTE]);
    uint top = counters[COUNTERS_TOP];
    uint count = sort_count();
    uint segments = parts_of(count, push.segment);
    uint workgroups = parts_of(segments + 1, WORKGROUP_SIZE);
    if (workgroup_index() >= workgroups) return;

    uint segment = workgroup_index() * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    uint start = min(segment, segments) * push.segment;
    if (segment > 0 && segment < segments) {
        uint run = top_digits(load_key(place, start - 1), top);
        uint end = min(start + REACH, count);
        for (uint from = start; from < end;) {
            uint middle = from + (end - from) / 2;
            if (top_digits(load_key(place, middle), top) == run) from = middle + 1;
            else end = middle;
        }
        if (end == start + REACH && end < count && top_digits(load_key(place, end), top) == run) {
            atomicAdd(counters[COUNTERS_MISFITS], 1);
        }
        start = end;
    }
    if (segment <= segments) table[bounds_at(count) + segment] = min(start, count);
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0) finished = atomicAdd(counters[COUNTERS_BOUNDED], 1) + 1;
    barrier();
    if (finished != workgroups || gl_LocalInvocationIndex != 0) return;

    memoryBarrierBuffer();
    if (atomicAdd(counters[COUNTERS_MISFITS], 0) == 0) {
        write_arguments(ARGUMENTS_FINISH, segments);
    } else {
        write_arguments(ARGUMENTS_FALLBACK, parts_of(count, push.part));
        counters[COUNTERS_ROUTES + PASSES] = counters[COUNTERS_ROUTES + PHASE_ROUTES + PASSES];
    }
}
