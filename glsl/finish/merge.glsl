// Runs that do not fit a window, or whose keys crowd a bucket, are merged in memory, between their place and the same place of the other
// buffer: slow, but in a time that only their number decides. Equal keys keep their order.

KEY merged_key(bool there, uint index) { return ascending_key(there ? read_key_back(index) : read_key(index)); }

// Moves an element to its place among those of the other buffer.
void merge_element(bool there, uint from, uint target, KEY key) {
    uint value = VALUE_BITS == 0 ? 0 : there ? read_value_back(from, 0) : read_value(from, 0);
    if (there) write_key_back(target, flip_by_sign(key ^ all_flips()));
    else store_ascending(target, key);
    if (VALUE_BITS > 0) {
        if (there) write_value_back(target, 0, value);
        else write_value(target, 0, value);
    }
}

// How many elements of a sorted stretch are lower than a key, or not higher.
uint lower_ones(bool there, uint first, uint end, KEY key, bool equal_too) {
    uint low = first, high = end;
    while (low < high) {
        uint middle = low + (high - low) / 2;
        KEY other = merged_key(there, middle);
        if (precedes(other, 0, key, equal_too ? 1 : 0)) low = middle + 1;
        else high = middle;
    }
    return low - first;
}

// Merges stretches of twice as many elements each round.
void merge_runs(uint begin, uint end) {
    uint elements = end - begin;
    bool there = true; // at the place where they belong
    for (uint width = 1; width < elements || !there; width *= 2) {
        for (uint at = gl_LocalInvocationIndex; at < elements; at += WORKGROUP_SIZE) {
            uint first = at & ~(2 * width - 1), middle = first + min(width, elements - first);
            uint last = middle + min(width, elements - middle);
            KEY key = merged_key(there, begin + at);
            bool is_first = at < middle;
            uint before = is_first ? lower_ones(there, begin + middle, begin + last, key, false)
                                   : lower_ones(there, begin + first, begin + middle, key, true);
            merge_element(there, begin + at, begin + (is_first ? at : at - (middle - first)) + before, key);
        }
        elements_barrier();
        there = !there;
    }
}
