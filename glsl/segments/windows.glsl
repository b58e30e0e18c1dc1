// Windows: a workgroup sorts neighbouring segments together, as slots of one block.
//
// Small segments are sorted together; those that are longer, of which a window has few, one by one. docs/ALGORITHMS.md has an example
// ("Segments"). Segments that are longer than they may be stay as they are, or are listed (segments/lists.glsl).
//
// Kernels declare the shared memory, with a bit for each slot of the block in MARK_WORDS. Owned segments are limited by the units of a window, and slots by the block, whatever the words of segments say.

struct Window {
    uint first; // first segment that it owns
    uint owned; // segments that it owns
    uint base;  // element of slot 0
};

// The first segments that the window and the next one own. Lanes of a subgroup search together.
void find_bounds(uint index, uint segments) {
    uint unit = index * window_units(), next = unit + min(window_units(), ~0u - unit);
#if EMULATED
    if (thread() < 2) bounds[thread()] = first_owned(thread() == 0 ? unit : next, segments);
#else
    for (uint bound = subgroup_index(); bound < 2; bound += SUBGROUPS) {
        uint first = first_owned(bound == 0 ? unit : next, segments);
        if (lane() == 0) bounds[bound] = first;
    }
#endif
}

Window find_window(uint index, uint segments) {
    find_bounds(index, segments);
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
    uint owned = min(max(end, first) - first, window_units());
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

// Marks the small segments of a window, and lists the others. Where a small one begins, the pool gets its number in the window.
void mark_segments(Window window) {
    uint end_of_last = 0, most = 0; // of the segments that this invocation marks
    for (uint number = thread(); number < window.owned; number += WORKGROUP_SIZE) {
        uint segment = window.first + number, begin = begin_of(segment), end = end_of(segment);
        uint length = max(end, begin) - begin, slot = begin - window.base, bit = 1u << (slot % 32);
        if (length > small_length()) {
            uint place = length > most_length() ? MOST_MEDIUM : atomicAdd(medium_count, 1);
            if (place < MOST_MEDIUM) medium[place] = segment;
        } else if (length > 0 && slot < LARGEST_PART && length <= LARGEST_PART - slot
                   && (atomicOr(begins[slot / 32], bit) & bit) == 0) {
            pool[slot] = number;
            uint end_slot = slot + length;
            if (end_slot < LARGEST_PART) atomicOr(ends[end_slot / 32], 1u << (end_slot % 32));
            end_of_last = max(end_of_last, end_slot);
            most = max(most, length);
        }
    }
    end_of_last = subgroup_max(end_of_last);
    most = subgroup_max(most);
    if (is_for_subgroup()) {
        atomicMax(span, end_of_last);
        atomicMax(longest, most);
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
    uint segment; // the medium one, or the first of the window
    bool back;    // whether its elements are read from the target; of children
};

// The part of a turn: 0 for the small segments, or a medium one.
Part part_of(Source source, Window window, uint turn) {
    Part part = Part(window.base, uniform_in_subgroup(span), true, window.first, OF_CHILDREN && is_target(source.place));
    if (turn > 0) {
        uint segment = uniform_in_subgroup(medium[turn - 1]);
        part.start = begin_of(segment);
        part.slots = end_of(segment) - part.start;
        part.small = false;
        part.segment = segment;
    }
    part.start += source.start;
    return part;
}

uint part_mark(Part part, uint slot) { return part.small ? mark_at(slot) : slot < part.slots ? 1 : 1 | ENDED; }
