// Windows of a run that does not fit one are merged in memory, between their place and the same place of the other buffer: slow, but in
// a time that only their number decides. Equal keys keep their order.

KEY merged_key(bool there, uint index) { return ascending_key(there ? read_key_back(index) : read_key(index)); }

// Moves an element to its place among those of the other buffer.
void merge_element(bool there, uint from, uint target, KEY key) {
    uint value = VALUE_BITS == 0 ? 0 : there ? read_value_back(from, 0) : read_value(from, 0);
    if (there) {
        write_key_back(target, stored_key(key));
        if (VALUE_BITS > 0) write_value_back(target, 0, value);
    } else {
        store_ascending(target, key);
        if (VALUE_BITS > 0) write_value(target, 0, value);
    }
}

// How many elements of a sorted stretch come before a key; equal ones too, if its origin is 1 and not 0.
uint lower_ones(bool there, uint first, uint end, KEY key, uint origin) {
    uint low = first, high = end;
    while (low < high) {
        uint middle = low + (high - low) / 2;
        if (precedes(merged_key(there, middle), 0, key, origin)) low = middle + 1;
        else high = middle;
    }
    return low - first;
}

// Merges windows from `start` on, whose elements begin at `begin`. A stretch has twice as many each round.
void merge_windows(uint start, uint begin, uint end) {
    elements_barrier(); // all are stored
    uint skipped = begin - start, elements = end - start;
    bool there = true; // at the place where they belong
    for (uint width = WINDOW; width < elements || !there; width *= 2) {
        for (uint at = skipped + gl_LocalInvocationIndex; at < elements; at += WORKGROUP_SIZE) {
            uint stretch = at / width / 2 * 2 * width, first = max(stretch, skipped);
            uint middle = stretch + min(width, elements - stretch), last = middle + min(width, elements - middle);
            KEY key = merged_key(there, start + at);
            uint target = at < middle ? at + lower_ones(there, start + middle, start + last, key, 0)
                                      : at - (middle - first) + lower_ones(there, start + first, start + middle, key, 1);
            merge_element(there, start + at, start + target, key);
        }
        elements_barrier();
        there = !there;
    }
}
