// Narrowing long rows to their first elements, TOP of each. A level reads the elements whose key begins with the row's prefix, counts
// their next digit, and extends the prefix by the digit that the last of the first elements has. It goes on until the elements up to
// the prefix are so few that they can be sorted together. Once the digits of the key are used up, those of the index follow, so that
// of many equal keys those with the lowest indices are found. No workgroup waits for another one.
//
// All of this is about keys with their flips, in ascending order.

#include "segments/words.glsl"
#include "top/rows.glsl"
#include "top/levels.glsl"
#include "top/decide.glsl"

// Long rows, of which the whole array is one.
uint row_count() {
    uint count = sort_count();
    return SEGMENT_LAYOUT == LAYOUT_WHOLE ? min(count, 1) : count;
}

uint row_elements(uint row) {
    uint elements = row_length();
    if (SEGMENT_LAYOUT == LAYOUT_ROWS_OF) elements = min(segment_words[row], row_length());
    if (SEGMENT_LAYOUT == LAYOUT_WHOLE) elements = min(sort_count(), row_length());
    if (LISTED) elements = min(table[record_at(row) + RECORD_SIZE], row_length() - row_begin(row));
    return elements;
}

struct Tile {
    uint start;    // its first element, counted from the begin of its row
    uint elements;
};

Tile tile_of(Row row, uint tile) {
    uint start = tile * PUSH_PART;
    return Tile(start, min(row.elements - start, PUSH_PART));
}

// Keeps the index of an element that may be among the first.
void keep_element(Row row, Level level, KEY key, uint index) {
    if (is_first(row, level, key, index)) {
        uint slot = atomicAdd(counters[state_at(row.number) + TOP_KEPT], 1);
        // There is room, unless another program changes the elements.
        if (slot < most_survivors()) table[survivor_at(row.number, slot)] = index;
    }
}
