// Sorts segments in registers, each in the lanes of a subgroup that hold it, by a bitonic network (Batcher, "Sorting Networks and Their
// Applications", 1968). A lane holds HELD_SLOTS, four neighbouring ones. In each merge the first stage compares a slot with its mirror
// image, so that all stages put the lower key first. The network is not stable, so equal keys are compared by the slots that they came
// from.

// Whether anyone sees which of two equal keys comes first: by their values, or by bits outside of the window.
const bool SHOWS_TIES = VALUE_BITS > 0 || INDEX_VALUES != 0 || WINDOW_BITS < KEY_BITS;

// The bits of a key that it is sorted by.
KEY in_window(KEY key) {
    if (WINDOW_BITS < KEY_BITS) {
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            uint bits = bits_between(word, window_low(), window_low() + WINDOW_BITS);
            set_key_word(key, word, key_word(key, word) & bits);
        }
    }
    return key;
}

// Whether the first of two elements belongs before the second: keys hold all flips, so they ascend as numbers.
bool comes_before(KEY first, uint first_origin, KEY second, uint second_origin) {
    KEY a = in_window(first), b = in_window(second);
    bool is_below = SHOWS_TIES && first_origin < second_origin;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        is_below = key_word(a, word) < key_word(b, word) || key_word(a, word) == key_word(b, word) && is_below;
    }
    return is_below;
}

// Puts the lower one of two slots of a lane first.
void order_slots(inout KEY keys[HELD_SLOTS], inout uint origins[HELD_SLOTS], uint low, uint high) {
    KEY first = keys[low], second = keys[high];
    uint origin = origins[low], other = origins[high];
#if KEY_WORDS == 1
    if (!SHOWS_TIES) {
        keys[low] = min(first, second);
        keys[high] = max(first, second);
    } else
#endif
    {
        bool swaps = comes_before(second, other, first, origin);
        keys[low] = swaps ? second : first;
        keys[high] = swaps ? first : second;
        origins[low] = swaps ? other : origin;
        origins[high] = swaps ? origin : other;
    }
}

void order_neighbours(inout KEY keys[HELD_SLOTS], inout uint origins[HELD_SLOTS]) {
    order_slots(keys, origins, 0, 1);
    order_slots(keys, origins, 2, 3);
}

// Compares the slots of a lane with those of another one, in reverse if it mirrors: the lower lane keeps the lower ones.
void exchange_slots(inout KEY keys[HELD_SLOTS], inout uint origins[HELD_SLOTS], uint lane_mask, bool mirrors) {
    bool keeps_lower = lane() < (lane() ^ lane_mask);
    KEY others[HELD_SLOTS];
    uint other_origins[HELD_SLOTS];
    [[unroll]] for (uint slot = 0; slot < HELD_SLOTS; slot++) {
        uint from = mirrors ? HELD_SLOTS - 1 - slot : slot;
        others[slot] = keys[from];
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
            set_key_word(others[slot], word, subgroup_shuffle_xor(key_word(keys[from], word), lane_mask));
        }
        other_origins[slot] = SHOWS_TIES ? subgroup_shuffle_xor(origins[from], lane_mask) : 0;
    }
    [[unroll]] for (uint slot = 0; slot < HELD_SLOTS; slot++) {
#if KEY_WORDS == 1
        if (!SHOWS_TIES) {
            keys[slot] = keeps_lower ? min(keys[slot], others[slot]) : max(keys[slot], others[slot]);
        } else
#endif
        {
            bool takes = comes_before(others[slot], other_origins[slot], keys[slot], origins[slot]) == keeps_lower;
            if (takes) {
                keys[slot] = others[slot];
                origins[slot] = other_origins[slot];
            }
        }
    }
}

// Sorts segments of up to 2^bits slots.
void sort_in_lanes(uint bits, inout KEY keys[HELD_SLOTS], inout uint origins[HELD_SLOTS]) {
    order_neighbours(keys, origins);
    order_slots(keys, origins, 0, 3);
    order_slots(keys, origins, 1, 2);
    order_neighbours(keys, origins);
    [[unroll]] for (uint merged = 3; merged <= bits; merged++) {
        exchange_slots(keys, origins, (1u << (merged - 2)) - 1, true);
        [[unroll]] for (uint distance = merged - 3; distance > 0; distance--) {
            exchange_slots(keys, origins, 1u << (distance - 1), false);
        }
        order_slots(keys, origins, 0, 2);
        order_slots(keys, origins, 1, 3);
        order_neighbours(keys, origins);
    }
}

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
