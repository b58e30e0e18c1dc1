// The small segments of a window, if they are so short that each is sorted in a few lanes.

// The slots of one of them as a power of two, or 0 if they are sorted by digits: because one is longer, or most of the slots would be
// empty.
uint slot_bits_of(Window window, Part part) {
    uint most = uniform_in_subgroup(longest), bits = most > HELD_SLOTS ? findMSB(most - 1) + 1 : 2;
    bool serves = bits <= NETWORK_BITS && part.small && window.owned << bits <= SPARSEST * part.slots;
    return SURVIVORS || OF_CHILDREN || !serves ? 0 : bits;
}

void sort_each(Window window, uint bits) {
    uint place = thread() / lanes_of(bits);
    [[dont_unroll]] for (uint done = 0; done < window.owned; done += segments_at_a_time(bits)) {
        bool exists = place < window.owned - done;
        sort_segment(segment_of(window.first + done + place, exists, uniform_in_subgroup(longest)), bits);
    }
}
