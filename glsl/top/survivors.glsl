// The survivors of long rows, for the kernel of windows.

#include "top/rows.glsl"

const bool SURVIVORS = SEGMENT_LAYOUT == LAYOUT_SURVIVORS;

uint survivors_of(uint row) { return min(counters[state_at(row) + TOP_KEPT], most_survivors()); }

// The index of a survivor in its row.
uint survivor(uint row, uint slot) { return table[survivor_at(row, slot)]; }
