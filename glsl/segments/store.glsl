// Stores a sorted part. Lanes without a target load the last value instead of a branch, except if most have none.
void store_part(Block block, Part part, KEY keys[ITEMS], uint origins[RANK_WORDS], uint targets[ITEMS]) {
    if (DISCARD_KEYS == 0) {
        EACH_HELD(block.held) {
            uint origin = origins[item], target = targets[item];
            if (has_target(origin, target)) write_key(target_of(part, origin, target), flip_by_sign(keys[item]));
        }
    }
    [[dont_unroll]] for (uint word = 0; word < VALUE_WORDS; word++) {
        uint values[ITEMS];
        EACH_HELD(block.held) {
            uint offset = TOP == 0 ? min(offset_in(origins[item]), part.slots - 1) : offset_in(origins[item]);
            values[item] = 0;
            if (TOP == 0 || targets[item] != NO_TARGET) values[item] = part_value(part, offset, word);
        }
        memoryBarrierBuffer(); // in place, this word of all values has been read
        barrier();
        EACH_HELD(block.held) {
            uint origin = origins[item], target = targets[item];
            if (has_target(origin, target)) write_value(target_of(part, origin, target), word, values[item]);
        }
    }
}
