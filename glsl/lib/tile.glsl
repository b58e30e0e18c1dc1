// Moving the blocks of a tile to their places in the output: shared by every kernel that scatters by one digit.

layout(set = 0, binding = BINDING_KEYS_IN) readonly buffer KeysIn { uint keys_in[]; };
layout(set = 0, binding = BINDING_KEYS_OUT) writeonly buffer KeysOut { uint keys_out[]; };
#if VALUE_WORDS > 0
layout(set = 0, binding = BINDING_VALUES_IN) readonly buffer ValuesIn { uint values_in[]; };
layout(set = 0, binding = BINDING_VALUES_OUT) writeonly buffer ValuesOut { uint values_out[]; };
#endif

// Elements of a tile, the unit that finds its place in the output as a whole.
uint tile_size() { return BLOCK * push.blocks; }

// Elements from `start` up to the end of the input or of a part of `size`.
uint elements_from(uint start, uint size) { return start < push.count ? min(push.count - start, size) : 0; }

void load_keys(uint start) {
    uint elements = elements_from(start, BLOCK);
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint index = block_index(item);
        keys[item] = index < elements ? keys_in[start + index] : NO_ELEMENT;
    }
}

// Writes the ranked block that starts at `start`. Afterwards digit_base has moved past the block.
void scatter_block(uint start) {
    uint elements = elements_from(start, BLOCK);
    uint targets[ITEMS];
    stage(keys);
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint place = thread_index() + item * WORKGROUP_SIZE;
        uint key = pool[place];
        uint digit = digit_of(key, push.shift);
        targets[item] = digit_base[digit] + place - digit_start[digit];
        if (place < elements && targets[item] < push.count) keys_out[targets[item]] = key;
    }
#if VALUE_WORDS > 0
    uint values[ITEMS];
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint index = block_index(item);
        values[item] = index < elements ? values_in[start + index] : 0;
    }
    stage(values);
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint place = thread_index() + item * WORKGROUP_SIZE;
        if (place < elements && targets[item] < push.count) values_out[targets[item]] = pool[place];
    }
#endif
    barrier(); // digit_base and the pool have been read
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        digit_base[digit] += digit_count[digit];
    }
}
