// Short segments on software drivers: each invocation sorts segments of its own by merging runs in private arrays, which are cheaper
// than shared memory and need no barrier.

const uint MERGE_ITEMS = ITEMS + (KEY_WORDS == 1 ? COMPARE_LONGEST : 0); // its share, and the rest of its last segment

uint held[HELD(2 * MERGE_ITEMS + 1)];    // keys in two halves, of which a round of merges reads one and writes the other
uint origins[HELD(2 * MERGE_ITEMS + 1)]; // where they come from

// The first slot of an invocation's own segments: the first begin in its share or after it.
uint first_own_slot(Part part, uint invocation) {
    uint slot = min(invocation * parts_of(part.slots, WORKGROUP_SIZE), part.slots);
    uint word = min(slot / 32, MARK_WORDS - 1), begun = begins[word] & ~(up_to(slot % 32) >> 1);
    while (begun == 0 && word + 1 < MARK_WORDS) begun = begins[++word];
    return begun == 0 ? part.slots : max(word * 32 + findLSB(begun), slot);
}

// Loads the items from slot `first` on, each with the item after its segment's last one in the upper half. Those outside of segments are
// segments of their own.
void load_runs(Part part, uint first, uint items) {
    uint end = 0;
    held[items] = held[MERGE_ITEMS + items] = 0; // a run that ends there is compared with it
    EACH_ITEM_OF(part, source, items,
        uint slot = first + item;
        if ((begins[slot / 32] >> slot % 32 & 1) != 0) end = min(item + (pool[slot] >> LENGTH_LOW), items);
        held[item] = 0;
        if (item < end) held[item] = key_word(part_key(source, slot), 0);
        origins[item] = item < end ? item | end << 16 : item | OUTSIDE | (item + 1) << 16;)
}

// Merges runs of `width` items in pairs, within their segments.
void merge_runs(uint items, uint width, uint from, uint to) {
    uint low = 0, low_end = 0, high = 0, high_end = 0;
    for (uint item = 0; item < items; item++) {
        if (item == high_end) {
            uint end = origins[from + item] >> 16;
            low = item;
            low_end = min(low + width, end);
            high = low_end;
            high_end = min(high + width, end);
        }
        uint low_key = held[from + low], high_key = held[from + high];
        bool takes_high = high < high_end && (low == low_end || comparable(KEY(high_key)) < comparable(KEY(low_key)));
        held[to + item] = takes_high ? high_key : low_key;
        origins[to + item] = origins[from + (takes_high ? high : low)];
        high += uint(takes_high);
        low += uint(!takes_high);
    }
}

// The element of the result for a slot within a segment, or NO_TARGET.
uint merged_target(Part part, uint slot) {
    uint target = part.start + slot;
    if (TOP != 0) target = top_target(part, pool[first_slot(mark_at(slot))] & (1u << LENGTH_LOW) - 1, slot);
    return target;
}

// Sorts the small segments of a window; false if there are so many slots outside of them that an invocation's share does not fit.
bool merge_part(Part part) {
    uint first = first_own_slot(part, thread()), items = first_own_slot(part, thread() + 1) - first;
    if (subgroupAdd(items > MERGE_ITEMS ? 1 : 0) > 0) return false;
    load_runs(part, first, items);
    uint from = 0;
    for (uint width = 1; width < longest; width *= 2) {
        merge_runs(items, width, from, MERGE_ITEMS - from);
        from = MERGE_ITEMS - from;
    }
    if (DISCARD_KEYS == 0) {
        for (uint item = 0; item < items; item++) {
            if ((origins[from + item] & OUTSIDE) == 0) {
                uint target = merged_target(part, first + item);
                if (target != NO_TARGET) write_key(target, flip_by_sign(KEY(held[from + item])));
            }
        }
    }
    for (uint word = 0; word < VALUE_WORDS; word++) {
        EACH_ITEM_OF(part, source, items,
            if ((origins[from + item] & OUTSIDE) == 0) {
                held[item] = part_value(source, first + offset_in(origins[from + item]), word);
            })
        for (uint item = 0; item < items; item++) {
            if ((origins[from + item] & OUTSIDE) == 0) {
                uint target = merged_target(part, first + item);
                if (target != NO_TARGET) write_value(target, word, held[item]);
            }
        }
    }
    return true;
}
