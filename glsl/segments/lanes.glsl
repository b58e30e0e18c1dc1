// Segments in registers, each in the slots of a few lanes: loading them, and storing them sorted.

struct Segment {
    uint number;
    uint begin;
    uint elements;
};

// The lanes of a segment of up to 2^bits elements, and how many segments a workgroup takes at a time.
uint lanes_of(uint bits) { return (1u << bits) / HELD_SLOTS; }
uint segments_at_a_time(uint bits) { return WORKGROUP_SIZE / lanes_of(bits); }

// The segment of this number, or one without elements: behind the last one, and where a segment is longer than it may be.
Segment segment_of(uint number, bool exists, uint longest) {
    Segment segment = Segment(number, 0, 0);
    if (exists) {
        segment.begin = given_begin(number);
        segment.elements = max(given_end(number), segment.begin) - segment.begin;
        if (segment.elements > longest) segment.elements = 0;
    }
    return segment;
}

// Slots without an element hold the last key of the order, so that they stay behind the others.
void load_slots(Segment segment, uint first, out KEY keys[HELD_SLOTS], out uint origins[HELD_SLOTS]) {
    [[unroll]] for (uint slot = 0; slot < HELD_SLOTS; slot++) {
        keys[slot] = KEY(~0u);
        origins[slot] = first + slot;
        if (first + slot < segment.elements) keys[slot] = flip_by_sign(read_key(segment.begin + first + slot)) ^ all_flips();
    }
}

// A word of the value of the element that was in a slot.
uint slot_value(Segment segment, uint origin, uint word) {
    uint value = INDEX_VALUES == INDEX_OF_SEGMENT ? origin : segment.begin + origin;
    if (INDEX_VALUES == 0) value = read_value(segment.begin + origin, word);
    return value;
}

// Stores the keys of sorted slots, and with them the values of the elements whose keys they are.
void store_slots(Segment segment, uint first, KEY keys[HELD_SLOTS], uint origins[HELD_SLOTS]) {
    uint wanted = TOP == 0 ? segment.elements : min(segment.elements, TOP);
    uint target = (TOP == 0 ? segment.begin : segment.number * TOP) + first;
    if (DISCARD_KEYS == 0) {
        [[unroll]] for (uint slot = 0; slot < HELD_SLOTS; slot++) {
            if (first + slot < wanted) write_key(target + slot, flip_by_sign(keys[slot] ^ all_flips()));
        }
    }
    [[dont_unroll]] for (uint word = 0; word < VALUE_WORDS; word++) {
        uint values[HELD_SLOTS];
        [[unroll]] for (uint slot = 0; slot < HELD_SLOTS; slot++) {
            values[slot] = 0;
            if (first + slot < wanted) values[slot] = slot_value(segment, origins[slot], word);
        }
        if (IN_PLACE != 0) {
            memoryBarrierBuffer(); // this word of all values has been read
            barrier();
        }
        [[unroll]] for (uint slot = 0; slot < HELD_SLOTS; slot++) {
            if (first + slot < wanted) write_value(target + slot, word, values[slot]);
        }
    }
}

// Sorts a segment of up to 2^bits elements together with the other lanes that hold it.
void sort_segment(Segment segment, uint bits) {
    uint first = thread() % lanes_of(bits) * HELD_SLOTS, origins[HELD_SLOTS];
    KEY keys[HELD_SLOTS];
    load_slots(segment, first, keys, origins);
    sort_in_lanes(bits, keys, origins);
    store_slots(segment, first, keys, origins);
}
