#version 460
// Sorts each listed run of ties in place by insertion, one invocation per run. Equal keys keep their order.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require

#include "abi.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/ties.glsl"

void load_words(uint place, uint index, out uint words[VALUE_STRIDE]) {
    for (uint plane = 0; plane < VALUE_WORDS; plane++) words[plane] = load_value(place, index, plane);
}

void store_words(uint place, uint index, uint words[VALUE_STRIDE]) {
    for (uint plane = 0; plane < VALUE_WORDS; plane++) store_value(place, index, plane, words[plane]);
}

void main() {
    uint route = counters[COUNTERS_TIES_ROUTE];
    uint low = digit_shift(counters[COUNTERS_LEADING_LOW]);
    uint count = sort_count();
    uint run = workgroup_index() * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    if (run >= counters[COUNTERS_RUNS]) return;
    uint keys = route_keys_from(route), values = route_values_from(route);
    uint first = LISTED_RUN(route_keys_to(route), run);
    KEY tie = load_key(keys, first);
    uint most = min(count - first, MAX_TIES);
    bool within = true;
    for (uint item = 1; item < most && within; item++) {
        KEY key = load_key(keys, first + item);
        within = is_tied(key, tie, low);
        if (within) {
            uint words[VALUE_STRIDE];
            load_words(values, first + item, words);
            uint to = first + item;
            for (; to > first; to--) {
                KEY before = load_key(keys, to - 1);
                if (!precedes(key, before)) break;
                uint before_words[VALUE_STRIDE];
                load_words(values, to - 1, before_words);
                store_key(keys, to, before);
                store_words(values, to, before_words);
            }
            if (to < first + item) {
                store_key(keys, to, key);
                store_words(values, to, words);
            }
        }
    }
}
