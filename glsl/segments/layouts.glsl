// Where segments are, in each of the layouts, and which of them a window owns.
//
// Segment s stands at the unit `begin + s`, so that units ascend strictly. A window is a stretch of units, and its workgroup owns
// the segments whose units are there. The survivors of a long row are a segment, and have a window for themselves. The children of a
// parent have windows of their own.

#include "segments/words.glsl"
#include "top/rows.glsl"
#include "split/parents.glsl"

// Whether segments that are longer than a block are listed, for rounds or to be narrowed.
const bool LISTS = SPLITS != 0 && !SURVIVORS;

// The most elements of a small segment, at most a quarter of the block, and of any segment.
uint small_length() { return LISTS ? LARGEST_PART / 4 : PUSH_SMALL; }
uint most_length() { return LISTS ? ~0u : PUSH_LONGEST; }

// The segments of which a workgroup takes a window.
struct Source {
    uint segments; // their number
    uint window;   // the workgroup's
    uint start;    // the element that begins and ends count from
    uint place;    // where the elements are
};

Source source_of(uint workgroup) {
    Source source = Source(0, workgroup, 0, GIVEN);
    if (SURVIVORS && LISTED) {
        // Of a listed row, the first tile stands for the row.
        uint tiles = listed_tiles();
        source.segments = workgroup < tiles && table[record_at(workgroup)] == workgroup ? tiles : 0;
    } else if (!OF_CHILDREN) source.segments = sort_count();
    else {
        Parent parent = parent_of_window(workgroup);
        if (parent.size > 0) {
            find_children(parent);
            source = Source(CHILDREN, workgroup - parent.window, parent.begin, table[left_at(parent)]);
        }
    }
    return source;
}

// The round that longer segments are listed for.
uint next_round() { return OF_CHILDREN ? push.pass + 1 : 0; }

uint begin_of(uint segment) {
    uint begin = given_begin(segment);
    if (OF_CHILDREN) begin = min(child_begins[segment], capacity());
    if (SURVIVORS) begin = min(row_begin(segment), capacity());
    return begin;
}

uint end_of(uint segment) {
    uint end = given_end(segment);
    if (OF_CHILDREN) end = min(child_begins[segment + 1], capacity());
    if (SURVIVORS) end = min(begin_of(segment) + survivors_of(segment), capacity());
    return end;
}

uint unit_of(uint segment) { return SURVIVORS ? segment : begin_of(segment) + segment; }

// The most units of a window: segments of all of them have slots in the block.
uint window_units() { return SURVIVORS ? 1 : LARGEST_PART - small_length(); }

// Windows up to the last segment. The last range may be empty and at 0, so its begin says nothing.
uint windows_of(uint segments) {
    uint units = segments;
    if (segments > 0) units = SEGMENT_LAYOUT == LAYOUT_RANGES ? capacity() + segments : unit_of(segments - 1) + 1;
    return parts_of(units, window_units());
}

// The first segment whose unit is not below `unit`. Whatever memory holds, it does not descend when `unit` ascends, so that each
// segment has one owner.
uint first_owned(uint unit, uint segments) {
    uint low = 0, high = segments;
    if (SURVIVORS) {
        low = min(unit, segments);
    } else if (SEGMENT_LAYOUT == LAYOUT_ROWS || SEGMENT_LAYOUT == LAYOUT_ROWS_OF) {
        low = min(parts_of(unit, row_length() + 1), segments);
    } else {
        while (low < high) {
#if EMULATED
            uint middle = low + (high - low) / 2;
            if (unit_of(middle) < unit) low = middle + 1;
            else high = middle;
#else
            // Each lane looks at one of as many segments, evenly spread.
            uint stride = parts_of(high - low, SUBGROUP_SIZE), offset = lane() * stride;
            bool is_below = offset < high - low && unit_of(low + offset) < unit;
            uint passed = count_lanes(subgroup_ballot(is_below)) * stride;
            if (passed < high - low) high = low + passed;
            if (passed > 0) low += passed - stride + 1;
#endif
        }
    }
    return low;
}
