#version 460
// Sorts up to one block in the shared memory of one workgroup, digit by digit. With many digits, it skips those that are the
// same in all keys. At the end it loads each value by the index that has moved with its key.

#define SHORT_BLOCKS

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/pass.glsl"
#include "lib/block.glsl"
#include "lib/varying.glsl"

void publish_count(uint turn) {}

#if PRIVATE
#include "lib/single_private.glsl"
#else
#include "lib/single_shared.glsl"
#endif

void put_key_word(uint index, uint word, uint bits) {
#if KEY_WORDS == 1
    store_key(index, bits);
#else
    KEY_WORD(KEY_CELL(to, index), word) = bits;
#endif
}

uint value_of(uint origin, uint plane, uint count) {
    return INDEX_VALUES != 0 ? origin : load_value(true, min(origin, count - 1), plane);
}

// Writes one word of each element, an expression in `item`, from the pool by `store`, a statement in `index`.
#define WRITE(word, store) \
    EACH_ITEM pool[block_index(item)] = word; \
    memoryBarrierBuffer(); \
    barrier(); \
    [[dont_unroll]] for (uint index = thread_index(); index < count; index += WORKGROUP_SIZE) store; \
    barrier()

void main() {
    uint count = sort_count();
    if (count == 0) return;
    expect_elements(count); // few elements take fewer turns
    take_keys(count);
    bool ordered = UNORDERED == 0 || count < block_ranks();
    for (uint pass = 0; pass < PASSES; pass++) {
        if (!varies(pass)) continue;
        sort_by_digit(pass, ordered, count);
        ordered = true;
    }
#if VISITED_OUTPUT
    EACH_ITEM {
        uint position = block_index(item);
        if (position < count) {
            uvec4 words;
            for (uint plane = 0; plane < VALUE_WORDS; plane++) words[plane] = value_of(origin_of(item, count), plane, count);
            visit_sorted(position, sorted_key(item, count), words);
        }
    }
    return;
#endif
    for (uint word = 0; word < KEY_WORDS && DISCARD_KEYS == 0; word++) {
        WRITE(sorted_word(item, word, count), put_key_word(index, word, pool[index]));
    }
    for (uint plane = 0; plane < VALUE_WORDS; plane++) {
        // In place, all values are read before the first is written.
        WRITE(value_of(origin_of(item, count), plane, count), store_value(index, plane, pool[index]));
    }
}
