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

// The elements of a tile. An invocation takes some at a time, as long as there are so many; the last ones it takes one by one.
const uint AT_ONCE = 4;

struct Tile {
    uint start;    // its first element, counted from the begin of its row
    uint elements;
};

Tile tile_of(Row row, uint tile) {
    uint start = tile * PUSH_PART;
    return Tile(start, min(row.elements - start, PUSH_PART));
}

// Whether an invocation takes several from element `at` of the tile on.
bool takes_several(Tile tile, uint at) { return tile.elements - at > (AT_ONCE - 1) * WORKGROUP_SIZE; }
uint after(uint at, bool several) { return at + (several ? AT_ONCE : 1) * WORKGROUP_SIZE; }

// The index in the row of one of them.
uint index_of(Tile tile, uint at, uint turn) { return tile.start + at + turn * WORKGROUP_SIZE; }

// Keeps the indices of those that may be among the first.
void keep_tile(Row row, Level level, Tile tile) {
    uint kept_at = state_at(row.number) + TOP_KEPT, slots = most_survivors(), first_at = survivor_at(row.number, 0);
    bool several;
    // A short row survives as a whole.
    if (row.elements <= slots) level = Level(false, level.digit, KEY(0), 0);
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < tile.elements; at = after(at, several)) {
        KEY keys[AT_ONCE];
        several = takes_several(tile, at);
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            if (turn == 0 || several) keys[turn] = given_key(row.start + index_of(tile, at, turn));
        }
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) {
            uint index = index_of(tile, at, turn);
            if ((turn == 0 || several) && is_first(row, level, flip_by_sign(keys[turn]) ^ row.flips, index)) {
                uint slot = atomicAdd(counters[kept_at], 1);
                // There is room, unless another program changes the elements.
                if (slot < slots) table[first_at + slot] = index;
            }
        }
    }
}
