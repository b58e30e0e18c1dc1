#version 460
// Reports what a sort is asked for, and what it leaves out: each invocation looks at a segment. Without segments, all elements are one.

#define SEGMENTS
#define INSPECTS
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) buffer Report { uint report[]; };
layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

#include "shared/pass.glsl"

shared uint found[INSPECTION_WORDS]; // by the workgroup

// Begins, ends and lengths are as the words have them, not limited by the capacity.
uint begin_of(uint segment) {
    uint begin = 0;
    if (SEGMENT_LAYOUT == LAYOUT_OFFSETS) begin = segment_words[segment];
    else if (SEGMENT_LAYOUT == LAYOUT_RANGES) begin = segment_words[2 * segment];
    else if (SEGMENT_LAYOUT != LAYOUT_WHOLE) begin = segment * PUSH_ROW_LENGTH;
    return begin;
}

uint length_of(uint segment, uint begin, uint asked) {
    uint end = asked;
    if (SEGMENT_LAYOUT == LAYOUT_ROWS) return PUSH_ROW_LENGTH;
    if (SEGMENT_LAYOUT == LAYOUT_ROWS_OF) return segment_words[segment]; // maybe more than a row
    if (SEGMENT_LAYOUT == LAYOUT_OFFSETS) end = segment_words[segment + 1];
    if (SEGMENT_LAYOUT == LAYOUT_RANGES) end = segment_words[2 * segment + 1];
    return max(end, begin) - begin;
}

// Whether the segment after this one begins before it. The last offset is the begin of no segment, and ascends too.
bool descends(uint segment, uint begin, uint segments) {
    bool follows = SEGMENT_LAYOUT == LAYOUT_OFFSETS || SEGMENT_LAYOUT == LAYOUT_RANGES && segment + 1 < segments;
    return follows && begin_of(segment + 1) < begin;
}

void main() {
    for (uint word = gl_LocalInvocationIndex; word < INSPECTION_WORDS; word += WORKGROUP_SIZE) found[word] = 0;
    barrier();
    uint asked = push.count_word == 0 ? push.count : count_words[push.count_word - 1], segments = min(asked, push.count);
    if (SEGMENT_LAYOUT == LAYOUT_WHOLE) segments = 1;
    else if (gl_LocalInvocationIndex == 0) found[INSPECTION_SEGMENTS_BEYOND] = asked - segments;
    if (gl_LocalInvocationIndex == 0) found[INSPECTION_COUNT] = asked;
    uint group = workgroup_index(), segment = group * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    // Of so many workgroups, some have indices that no word holds.
    if (group < parts_of(segments, WORKGROUP_SIZE) && segment < segments) {
        uint begin = begin_of(segment), size = length_of(segment, begin, asked);
        uint covered = SEGMENT_LAYOUT == LAYOUT_ROWS_OF ? min(size, PUSH_ROW_LENGTH) : size; // from the begin on
        uint beyond = max(begin + covered, PUSH_CAPACITY) - PUSH_CAPACITY;
        atomicMax(found[INSPECTION_LONGEST], size);
        if (covered > 0) atomicMax(found[INSPECTION_ELEMENTS_BEYOND], beyond);
        if (size > PUSH_LONGEST) atomicAdd(found[INSPECTION_TOO_LONG], 1);
        if (descends(segment, begin, segments)) atomicAdd(found[INSPECTION_DESCENDING], 1);
    }
    barrier();
    for (uint word = gl_LocalInvocationIndex; word < INSPECTION_WORDS; word += WORKGROUP_SIZE) {
        if (found[word] == 0) continue;
        if (word < INSPECTION_TOO_LONG) atomicMax(report[word], found[word]);
        else atomicAdd(report[word], found[word]);
    }
}
