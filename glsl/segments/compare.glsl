// Sorts segments of few elements by comparing keys. The rank of a key is the number of keys of its segment that come before it. Keys
// are compared with those at one distance after the other, so that items are in registers.
void compare_part(Block block, Part part, KEY keys[ITEMS], inout uint origins[RANK_WORDS], inout uint targets[ITEMS]) {
    uint nearby[ITEMS]; // elements of its segment before a slot, and above them those after it
    uint slots[ITEMS];  // where keys belong, as far as they have been compared
    EACH_HELD(block.held) {
        uint slot = place_of(block, item), mark = mark_at(slot), others = 0, first = NO_TARGET;
        if (is_inside(mark)) {
            first = first_slot(mark);
            uint earlier = slot - first;
            others = earlier | ((pool[first] >> LENGTH_LOW) - 1 - earlier) << 16;
        }
        nearby[item] = others;
        slots[item] = first;
    }
    barrier(); // the lengths have been read from the pool
    EACH_HELD(block.held) {
        pool[place_of(block, item)] = comparable(keys[item]);
    }
    barrier();
    uint most = uniform_in_subgroup(longest);
    [[dont_unroll]] for (uint distance = 1; distance < most; distance++) {
        EACH_HELD(block.held) {
            uint slot = place_of(block, item), key = comparable(keys[item]);
            bool earlier = distance <= (nearby[item] & 0xFFFFu), later = distance <= nearby[item] >> 16;
            // Equal keys come before it if they are before it now.
            bool low = pool[earlier ? slot - distance : slot] <= key, high = pool[later ? slot + distance : slot] < key;
            slots[item] += uint(earlier && low) + uint(later && high);
        }
    }
    EACH_HELD(block.held) {
        if (TOP == 0) origins[item] = place_of(block, item); // no item has moved, and origins have taken no registers meanwhile
        set_target(part, slots[item] != NO_TARGET, slots[item], origins[item], targets[item]);
    }
}
