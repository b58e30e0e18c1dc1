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

PER_ITEM(origins); // index in the input of each key

// Sorts one word of each element through the pool, which is free before and after; `word` is an expression in `item`, and `take`
// a statement that takes a word from the pool.
#define SORT_WORD(word, take) \
    EACH_ITEM pool[rank_of(item)] = word; \
    barrier(); \
    EACH_ITEM { take; } \
    barrier()

// Sorts the block by the digit of `pass`. Words come back in stripes, in sorted order.
void sort_by_digit(uint pass, bool ordered) {
    begin_pass(0, pass);
    count_block();
    rank_block(ordered);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        SORT_WORD(KEY_WORD(keys[item], word), KEY_WORD(keys[item], word) = pool[block_index(item)]);
    }
    if (VALUE_WORDS > 0) {
        SORT_WORD(NUMBER_OF(origins, item), SET_NUMBER(origins, item, pool[block_index(item)]));
    }
}

void take_keys(uint count) {
    KEY first = KEY(0), differing = KEY(0);
    if (LOOKS) {
        if (thread_index() == 0) {
            for (uint word = 0; word < KEY_WORDS; word++) varying_bits[word] = 0;
        }
        barrier();
        first = load_key(PLACE_SOURCE, 0);
    }
    EACH_ITEM {
        uint index = block_index(item);
        // Lanes past the end load too, without a branch.
        KEY key = load_key(PLACE_SOURCE, min(index, count - 1));
        [[unroll]] for (uint word = 0; word < KEY_WORDS && LOOKS; word++) {
            KEY_WORD(differing, word) |= KEY_WORD(sortable(key), word) ^ KEY_WORD(sortable(first), word);
        }
        keys[item] = index < count ? take_order(key) : last_key();
        SET_NUMBER(origins, item, index);
    }
    if (LOOKS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            if (KEY_WORD(differing, word) != 0) atomicOr(varying_bits[word], KEY_WORD(differing, word));
        }
        barrier();
    }
}

void put_key_word(uint index, uint word, uint bits) {
#if KEY_WORDS == 1
    store_key(PLACE_TARGET, index, bits);
#else
    KEY_WORD(KEY_CELL(PLACE_TARGET, index), word) = bits;
#endif
}

uint value_of(uint origin, uint plane, uint count) {
    return INDEX_VALUES != 0 ? origin : load_value(PLACE_SOURCE, min(origin, count - 1), plane);
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
        sort_by_digit(pass, ordered);
        ordered = true;
    }
#if VISITED_OUTPUT
    EACH_ITEM {
        uint position = block_index(item);
        if (position < count) {
            uvec4 words;
            for (uint plane = 0; plane < VALUE_WORDS; plane++) words[plane] = value_of(NUMBER_OF(origins, item), plane, count);
            visit_sorted(position, take_order(keys[item]), words);
        }
    }
    return;
#endif
    for (uint word = 0; word < KEY_WORDS && DISCARD_KEYS == 0; word++) {
        WRITE(KEY_WORD(take_order(keys[item]), word), put_key_word(index, word, pool[index]));
    }
    for (uint plane = 0; plane < VALUE_WORDS; plane++) {
        // In place, all values are read before the first is written.
        WRITE(value_of(NUMBER_OF(origins, item), plane, count), store_value(PLACE_TARGET, index, plane, pool[index]));
    }
}
