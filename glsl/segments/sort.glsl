// Sorts a part by the digits of its keys and of its numbers (segments/elements.glsl).

// Lets keys and origins change places, so that the passes over the numbers are those over keys.
void exchange(Block block, inout KEY keys[ITEMS], inout uint origins[RANK_WORDS]) {
    EACH_HELD(block.held) {
        uint origin = origins[item];
        origins[item] = key_word(keys[item], 0);
        set_key_word(keys[item], 0, origin);
    }
}

// Also gives the targets of the elements.
void sort_part(Block block, Part part, uint owned, uint inside, inout KEY keys[ITEMS],
               inout uint origins[RANK_WORDS], inout uint targets[ITEMS]) {
    uint numbers = number_passes(part, owned), of_key = key_passes(part), first = SURVIVORS ? 0 : of_key;
    [[dont_unroll]] for (uint pass = 0; pass < of_key + numbers; pass++) {
        uint of_numbers = pass - first, of_keys = SURVIVORS ? pass - numbers : pass;
        bool by_number = of_numbers < numbers;
        if (!by_number && !key_varies(part, of_keys)) continue;
        Digit digit;
        if (by_number) digit = number_digit(of_numbers);
        else digit = key_digit(part, of_keys);
        if (by_number && of_numbers == 0) exchange(block, keys, origins);
        sort_block(block, digit, true, keys, origins);
        if (by_number && of_numbers + 1 == numbers) exchange(block, keys, origins);
    }
    EACH_HELD(block.held) {
        set_target(part, (inside >> item & 1) != 0, place_of(block, item), origins[item], targets[item]);
    }
}
