#version 460
// Sorts segments that are promised to be short, each in registers of a few lanes. An invocation holds four slots of a segment. It
//   1. finds the segment, and loads the keys of its slots,
//   2. sorts the segment with the other lanes that hold it (segments/network.glsl),
//   3. stores the keys of the same slots, then loads the value of each key from where the key was, and stores it.
// A segment takes as many slots as the longest may have, rounded up to a power of two. One that is longer stays as it is.

#define SEGMENTS
#define NEIGHBOURS_WRITE // lanes and workgroups share words of several elements
#include "abi.glsl"

layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/subgroup.glsl"
#include "segments/words.glsl"
#include "segments/network.glsl"

void main() {
    uint count = sort_count(), each = segments_at_a_time(NETWORK_BITS);
    if (workgroup_index() >= parts_of(count, each)) return;
    uint first = workgroup_index() * each, place = thread() / lanes_of(NETWORK_BITS);
    sort_segment(segment_of(first + place, place < count - first, PUSH_LONGEST), NETWORK_BITS);
}
