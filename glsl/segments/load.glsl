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
