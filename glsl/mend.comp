#version 460
// Sorts each listed run of ties in place by insertion, one invocation per run. Equal keys keep their order.

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/ties.glsl"

void load_words(uint place, uint index, out uint words[VALUE_STRIDE]) {
    for (uint plane = 0; plane < VALUE_WORDS; plane++) words[plane] = load_value(place, index, plane);
}

void store_words(uint place, uint index, uint words[VALUE_STRIDE]) {
    for (uint plane = 0; plane < VALUE_WORDS; plane++) store_value(place, index, plane, words[plane]);
}

void main() {
    uint route = counters[COUNTERS_TIES_ROUTE];
    uint run = workgroup_index() * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    if (run >= counters[COUNTERS_RUNS]) return;
    uint keys = route_keys_from(route), values = route_values_from(route);
    uint first = LISTED_RUN(route_keys_to(route), run, 0), elements = LISTED_RUN(route_keys_to(route), run, 1);
    for (uint at = first + 1; at - first < elements; at++) {
        KEY key = load_key(keys, at);
        uint words[VALUE_STRIDE];
        load_words(values, at, words);
        uint to = at;
        for (; to > first; to--) {
            KEY before = load_key(keys, to - 1);
            if (!precedes(key, before)) break;
            uint before_words[VALUE_STRIDE];
            load_words(values, to - 1, before_words);
            store_key(keys, to, before);
            store_words(values, to, before_words);
        }
        if (to < at) {
            store_key(keys, to, key);
            store_words(values, to, words);
        }
    }
}
