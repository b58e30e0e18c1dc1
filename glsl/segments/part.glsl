// Loading a part, sorting it by the digits of its keys and of its numbers (segments/elements.glsl), and storing it.

// Where the elements of a sorted part go: to a slot, which is above the offset in the origin because a word of its own would take
// registers. If only the first elements of each segment are wanted, it is a word of its own, and an element of the result.

const uint SLOT_LOW = 16;

void set_target(Part part, bool is_in, uint slot, inout uint origin, inout uint target) {
    if (TOP == 0) {
        origin = is_in ? offset_in(origin) | slot << SLOT_LOW : NO_TARGET;
    } else {
        target = is_in ? top_target(part, origin >> NUMBER_LOW, slot) : NO_TARGET;
    }
}

bool has_target(uint origin, uint target) { return (TOP == 0 ? origin : target) != NO_TARGET; }

// The element of the result.
uint target_of(Part part, uint origin, uint target) { return TOP == 0 ? part.start + (origin >> SLOT_LOW) : target; }

// Loads a part, and gives a bit for each item that is inside of a segment. Slots outside are not loaded, as they may be another
// workgroup's or hold nothing; instead of a branch, their lanes load the last slot.
uint load_part(Block block, Part part, out KEY keys[ITEMS], out uint origins[RANK_WORDS]) {
    KEY first = KEY(0), differing = KEY(0);
    uint inside = 0, last = part.slots - 1;
    clear_varying();
    if (LOOKS) first = part_key(part, offset_of(part, last));
    EACH_HELD(block.held) {
        {
            uint slot = place_of(block, item), mark = part_mark(part, slot);
            bool is_in = is_inside(mark);
            uint offset = offset_of(part, is_in ? slot : last);
            KEY key = part_key(part, offset);
            if (LOOKS) differing |= key ^ first;
            keys[item] = is_in ? key : last_of_order();
            origins[item] = origin_of(part, offset, mark);
            inside |= uint(is_in) << item;
        }
    }
    memoryBarrierBuffer(); // in place, all keys have been read
    find_varying(differing);
    if (!LOOKS) barrier(); // and the numbers from the pool
    return inside;
}

// The same of children, of which all slots are loaded: the digits of longer ones keep their places among the small ones. A child has a
// digit to sort by, whose pass waits before an element is stored: after the last round there are no windows.
uint load_children(Block block, Part part, out KEY keys[ITEMS], out uint origins[RANK_WORDS]) {
    KEY first = KEY(0), differing = KEY(0);
    uint inside = 0;
    clear_varying();
    if (LOOKS) first = part_key(part, part.slots - 1);
    if (part.back) {
        EACH_HELD(block.held) keys[item] = flip_by_sign(read_key_back(part.start + min(place_of(block, item), part.slots - 1)));
    } else {
        EACH_HELD(block.held) keys[item] = flip_by_sign(read_key(part.start + min(place_of(block, item), part.slots - 1)));
    }
    EACH_HELD(block.held) {
        uint slot = place_of(block, item);
        if (LOOKS) differing |= keys[item] ^ first;
        if (slot >= part.slots) keys[item] = last_of_order();
        origins[item] = min(slot, part.slots - 1);
        inside |= uint(is_inside(part_mark(part, slot))) << item;
    }
    memoryBarrierBuffer(); // in place, all keys have been read
    find_varying(differing);
    return inside;
}

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
