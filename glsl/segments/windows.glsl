// Windows: a workgroup sorts neighbouring segments together, as slots of one block.
//
// Segment s stands at the unit `begin + s`, so that units ascend strictly. A window is a stretch of units, and its workgroup owns
// the segments whose units are there. Small segments are sorted together; those that are longer, of which a window has few, one by
// one. docs/ALGORITHMS.md has an example ("Segments"). Segments that are longer than they may be stay as they are.
//
// What the host cannot see is limited here: begins and ends by the capacity, owned segments by the units of a window, slots by the block.

layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

// Push constants under the names of other kernels.
uint capacity() { return push.part; }            // elements
uint row_length() { return push.histogram_part; }
uint small_length() { return push.stage; }       // the most elements of a small segment: at most a quarter of the block
uint most_length() { return push.route; }        // the most elements of a segment: at most the block

const uint LARGEST_PART = WORKGROUP_SIZE * ITEMS;
const uint MARK_WORDS = (LARGEST_PART + 31) / 32;
const uint MOST_MEDIUM = 3; // medium segments begin more than a quarter of the block apart, and a window has three quarters

shared uint begins[MARK_WORDS];  // a bit for the first slot of each small segment
shared uint ends[MARK_WORDS];    // a bit for the slot after its last one
shared uint before[MARK_WORDS];  // mark_at of the slot before each word
shared uint bounds[2];           // first owned segment, and the one after the last
shared uint span;                // slots up to the end of the last small segment
shared uint longest;             // elements of the longest small segment
shared uint medium[MOST_MEDIUM]; // medium segments
shared uint medium_count;        // of all that the window owns; more than there is room for if offsets are not in order

uint begin_of(uint segment) {
    uint begin = segment * row_length();
    if (SEGMENT_LAYOUT == LAYOUT_OFFSETS) begin = segment_words[segment];
    if (SEGMENT_LAYOUT == LAYOUT_RANGES) begin = segment_words[2 * segment];
    return min(begin, capacity());
}

uint end_of(uint segment) {
    uint end;
    if (SEGMENT_LAYOUT == LAYOUT_OFFSETS) end = segment_words[segment + 1];
    else if (SEGMENT_LAYOUT == LAYOUT_RANGES) end = segment_words[2 * segment + 1];
    else if (SEGMENT_LAYOUT == LAYOUT_ROWS) end = begin_of(segment) + row_length();
    else end = begin_of(segment) + min(segment_words[segment], row_length());
    return min(end, capacity());
}

struct Window {
    uint first; // first segment that it owns
    uint owned; // segments that it owns
    uint base;  // element of slot 0
};

uint units_of_window() { return LARGEST_PART - small_length(); }

// Windows up to the last segment. The last range may be empty and at 0, so its begin says nothing.
uint windows_of(uint segments) {
    uint last = capacity();
    if (SEGMENT_LAYOUT != LAYOUT_RANGES && segments > 0) last = begin_of(segments - 1);
    return segments == 0 ? 0 : parts_of(last + segments, units_of_window());
}

// The first segment whose unit is not below `unit`. Whatever memory holds, it does not descend when `unit` ascends, so that each
// segment has one owner.
uint first_owned(uint unit, uint segments) {
    uint low = 0, high = segments;
    if (SEGMENT_LAYOUT == LAYOUT_ROWS || SEGMENT_LAYOUT == LAYOUT_ROWS_OF) {
        low = min(parts_of(unit, row_length() + 1), segments);
    } else {
        while (low < high) {
            uint middle = low + (high - low) / 2;
            if (begin_of(middle) + middle < unit) low = middle + 1;
            else high = middle;
        }
    }
    return low;
}

Window find_window(uint index, uint segments) {
    if (thread() < 2) {
        uint unit = index * units_of_window();
        bounds[thread()] = first_owned(thread() == 0 ? unit : unit + min(units_of_window(), ~0u - unit), segments);
    }
    for (uint at = thread(); at < MARK_WORDS; at += WORKGROUP_SIZE) {
        begins[at] = 0;
        ends[at] = 0;
    }
    if (thread() == 0) {
        span = 0;
        longest = 0;
        medium_count = 0;
    }
    barrier();
    uint first = uniform_in_subgroup(bounds[0]), end = uniform_in_subgroup(bounds[1]);
    uint owned = min(max(end, first) - first, units_of_window());
    return Window(first, owned, owned == 0 ? 0 : begin_of(first));
}

uint up_to(uint bit) { return ~0u >> (31 - bit); } // bits 0 to `bit`

// A mark says in which small segment a slot is: one more than the segment's first slot, negative if the segment has ended before
// the slot. 0 is before the first segment.
const uint ENDED = 1u << 31;

bool is_inside(uint mark) { return int(mark) > 0; }

uint first_slot(uint mark) { return (mark & ~ENDED) - 1; }

uint mark_at(uint slot) {
    uint word = slot / 32, begun = begins[word] & up_to(slot % 32), ended = ends[word] & up_to(slot % 32);
    uint mark = before[word];
    if (begun != 0) {
        mark = word * 32 + findMSB(begun) + 1;
        ended &= ~up_to(findMSB(begun)); // a segment may begin where another one ends
    }
    return ended != 0 && mark != 0 ? mark | ENDED : mark;
}

const uint LENGTH_LOW = 16;

// Marks the small segments of a window, and lists the others. Where a small one begins, the pool gets its number in the window, and
// above it its length.
void mark_segments(Window window) {
    for (uint number = thread(); number < window.owned; number += WORKGROUP_SIZE) {
        uint segment = window.first + number, begin = begin_of(segment), end = end_of(segment);
        uint length = max(end, begin) - begin, slot = begin - window.base, bit = 1u << (slot % 32);
        if (length > small_length()) {
            uint place = length > most_length() ? MOST_MEDIUM : atomicAdd(medium_count, 1);
            if (place < MOST_MEDIUM) medium[place] = segment;
        } else if (length > 0 && slot < LARGEST_PART && length <= LARGEST_PART - slot
                   && (atomicOr(begins[slot / 32], bit) & bit) == 0) {
            pool[slot] = number | length << LENGTH_LOW;
            uint end_slot = slot + length;
            if (end_slot < LARGEST_PART) atomicOr(ends[end_slot / 32], 1u << (end_slot % 32));
            atomicMax(span, end_slot);
            atomicMax(longest, length);
        }
    }
    barrier();
    for (uint word = thread(); word < MARK_WORDS; word += WORKGROUP_SIZE) {
        uint at = word, ended = 0;
        while (at > 0 && begins[at - 1] == 0) ended |= ends[--at];
        uint mark = 0;
        if (at > 0) {
            uint bit = findMSB(begins[at - 1]);
            ended |= ends[at - 1] & ~up_to(bit);
            mark = (at - 1) * 32 + bit + 1 | (ended != 0 ? ENDED : 0);
        }
        before[word] = mark;
    }
    barrier();
}

// What a workgroup sorts at a time: the small segments of a window, or a medium one.
struct Part {
    uint start; // element of slot 0
    uint slots;
    bool small;
};

// The part of a turn: 0 for the small segments, or a medium one.
Part part_of(Window window, uint turn) {
    Part part = Part(window.base, uniform_in_subgroup(span), true);
    if (turn > 0) {
        uint segment = uniform_in_subgroup(medium[turn - 1]);
        part.start = begin_of(segment);
        part.slots = end_of(segment) - part.start;
        part.small = false;
    }
    return part;
}

uint part_mark(Part part, uint slot) { return part.small ? mark_at(slot) : slot < part.slots ? 1 : 1 | ENDED; }

// A slot, whether it is outside of segments, and the number of the segment that it is in, or of the last one before it. Slots after a
// segment hold the last key of the order, so that they stay after it.
const uint OUTSIDE = 1u << 15;
const uint NUMBER_LOW = 16;

uint numbered_slot(Part part, uint slot, uint mark) {
    uint numbered = is_inside(mark) ? slot : slot | OUTSIDE;
    if (part.small && mark != 0) numbered |= pool[first_slot(mark)] << NUMBER_LOW;
    return numbered;
}

// It has no bits beyond those of a key, which would be stored over neighbouring keys if segments are not in order.
KEY last_of_order() {
    KEY key = ~all_flips();
    if (KEY_BITS < 32) key &= (1u << (KEY_BITS & 31)) - 1;
    return key;
}

uint slot_in(uint numbered) { return numbered & OUTSIDE - 1; }

// Passes over the numbers of the small segments, and the digit of such a pass.
uint passes_of_numbers(Part part, uint owned) { return part.small && owned > 1 ? parts_of(findMSB(owned - 1) + 1, RADIX_BITS) : 0; }

Digit number_digit(uint pass) {
    uint low = NUMBER_LOW + pass * RADIX_BITS;
    return Digit(0, low, min(RADIX_BITS, 32 - low), 0);
}

// Whether segments of a part are sorted by comparing keys.
bool compares(Part part) { return KEY_WORDS == 1 && part.small && uniform_in_subgroup(longest) <= COMPARE_LONGEST; }

// The window of a key of one word, as a number that ascends with the order of the request.
uint comparable(KEY key) {
    uint number = key_word(key ^ all_flips(), 0);
    if (WINDOW_BITS < 32) number = bitfieldExtract(number, int(window_low()), int(WINDOW_BITS));
    return number;
}

// One word of the value that moves to an element of the part.
uint part_value(Part part, uint origin, uint target, uint word) {
    uint value = part.start + origin;
    if (INDEX_VALUES == INDEX_OF_SEGMENT) value = origin - first_slot(part_mark(part, target));
    if (INDEX_VALUES == 0) value = given_value(part.start + origin, word);
    return value;
}
