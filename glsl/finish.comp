#version 460
// The finish of a hybrid: each workgroup sorts one segment, which is whole runs of elements with equal top digits, in
// shared memory; by buckets, or digit by digit where those get too crowded.

#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

#define COUNTERS_WRITTEN
#define SHORT_BLOCKS

#include "abi.glsl"
#include "lib/subgroup.glsl"
#include "lib/key.glsl"
#include "lib/memory.glsl"
#include "lib/control.glsl"
#include "lib/block.glsl"
#include "lib/digits.glsl"
#include "lib/segments.glsl"
#include "lib/buckets.glsl"

layout(set = 0, binding = BINDING_TABLE) readonly buffer Table { uint table[]; };

uint finish_route;

uint input_place() { return route_keys_from(finish_route); }

uint input_digit(KEY key, uint pass) { return digit_of(key, pass); }

void take_keys(uint elements) {
    EACH_ITEM {
        keys[item] = has_item(item, elements) ? load_key(input_place(), block_start + staged_place(item)) : NO_ELEMENT;
    }
}

// Fills `places` like rank_by_buckets, for any keys.
void rank_by_digits(uint elements) {
    EACH_ITEM {
        origins[item] = block_index(item);
        keys[item] = origins[item] < elements ? key_in_place(item) : NO_ELEMENT;
    }
    barrier(); // the pool has been read
    for (uint pass = 0; pass < PASSES; pass++) {
        if (is_active(pass)) sort_by_digit(elements, pass, true, true);
    }
    EACH_ITEM pool[origins[item]] = block_index(item);
    barrier();
    EACH_ITEM places[item] = pool[staged_place(item)];
    take_keys(elements);
}

// Puts one word of each element into the pool at the element's rank.
#define STAGE_RANKED(word) \
    barrier(); /* whatever was staged before has been read */ \
    EACH_ITEM { \
        if (has_item(item, elements)) pool[places[item]] = word; \
    } \
    barrier()

// Writes the ranked elements. What is written may lie where others have read: all of a word have been by then.
void write_segment(uint elements) {
    memoryBarrierBuffer();
    if (DISCARD_KEYS == 0) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            STAGE_RANKED(KEY_WORD(keys[item], word));
            EACH_ITEM {
                if (has_item(item, elements)) KEY_WORD(keys[item], word) = pool[staged_place(item)];
            }
        }
        EACH_ITEM {
            if (has_item(item, elements)) {
                store_key(route_keys_to(finish_route), block_start + staged_place(item), keys[item]);
            }
        }
    }
    for (uint plane = 0; plane < VALUE_WORDS; plane++) {
        STAGE_RANKED(load_value(route_values_from(finish_route), block_start + staged_place(item), plane));
        memoryBarrierBuffer();
        EACH_ITEM {
            if (has_item(item, elements)) {
                uint place = staged_place(item);
                store_value(route_values_to(finish_route), block_start + place, plane, pool[place]);
            }
        }
    }
}

void main() {
    finish_route = counters[COUNTERS_FINISH_ROUTE];
    uint count = sort_count();
    uint segment = workgroup_index();
    if (segment >= parts_of(count, push.segment)) return;
    block_start = table[bounds_at(count) + segment];
    uint elements = table[bounds_at(count) + segment + 1] - block_start;
    if (elements == 0) return;
    expect_elements(elements); // so that short segments take no longer than they must
    take_digits(counters[COUNTERS_TOP] & 0xFF);
    take_keys(elements);
    if (!rank_by_buckets(elements)) {
        if (thread_index() == 0) atomicAdd(counters[COUNTERS_CROWDED], 1);
        rank_by_digits(elements);
    }
    write_segment(elements);
}
