// The survivors of long rows, for the kernel of windows.

#include "top/rows.glsl"

const bool SURVIVORS = SEGMENT_LAYOUT == LAYOUT_SURVIVORS;

// Of tiles behind the first one of a row there are none.
uint survivors_of(uint row) {
    bool is_row = !LISTED || table[record_at(row)] == row;
    return is_row ? min(counters[state_at(row) + TOP_KEPT], most_survivors()) : 0;
}

// The index of a survivor in its row.
uint survivor(uint row, uint slot) { return table[survivor_at(row, slot)]; }
