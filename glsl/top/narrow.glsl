// Narrowing long rows to their first elements, TOP of each. A level reads the elements whose key begins with the row's prefix, counts
// their next digit, and extends the prefix by the digit that the last of the first elements has. It goes on until the elements up to
// the prefix are so few that they can be sorted together. Once the digits of the key are used up, those of the index follow, so that
// of many equal keys those with the lowest indices are found. No workgroup waits for another one.
//
// All of this is about keys with their flips, in ascending order.

#include "segments/words.glsl"
#include "top/rows.glsl"

shared uint bin_count[TOP_BINS];
uint finished_at; // the word that counts the finished workgroups of the row

#define FINISHED finished_at
#include "shared/last_workgroup.glsl"
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

// Runs a statement for each element of a tile, with its `key` and its `index` in the row. An invocation loads some at a time. Past the
// last one its index may wrap around, which the difference from the begin of the tile does not.
#define EACH_ELEMENT(row, tile, statement) { \
    uint from = (tile) * PUSH_PART, elements = min(row.elements - from, PUSH_PART), at = from + gl_LocalInvocationIndex; \
    uint together = elements - min((AT_ONCE - 1) * WORKGROUP_SIZE, elements); \
    [[dont_unroll]] for (; at - from < together; at += AT_ONCE * WORKGROUP_SIZE) { \
        KEY keys[AT_ONCE]; \
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) keys[turn] = given_key(row.start + at + turn * WORKGROUP_SIZE); \
        [[unroll]] for (uint turn = 0; turn < AT_ONCE; turn++) { \
            KEY key = flip_by_sign(keys[turn]) ^ row.flips; \
            uint index = at + turn * WORKGROUP_SIZE; \
            statement; \
        } \
    } \
    [[dont_unroll]] for (; at - from < elements; at += WORKGROUP_SIZE) { \
        KEY key = flip_by_sign(given_key(row.start + at)) ^ row.flips; \
        uint index = at; \
        statement; \
    } \
}

void keep_tile(Row row, Level level, uint tile) {
    uint kept_at = state_at(row.number) + TOP_KEPT, slots = most_survivors(), first_at = survivor_at(row.number, 0);
    // A short row survives as a whole.
    if (row.elements <= slots) level = Level(false, level.digit, KEY(0), 0);
    EACH_ELEMENT(row, tile, if (is_first(row, level, key, index)) {
        uint slot = atomicAdd(counters[kept_at], 1);
        // There is room, unless another program changes the elements.
        if (slot < slots) table[first_at + slot] = index;
    })
}

// Counts the next digits of a tile.
void count_tile(Row row, Level level, uint tile);

void main() {
    uint of_row = parts_of(row_length(), PUSH_PART), tiles = LISTED ? listed_tiles() : row_count() * of_row;
    uint at = workgroup_index(), number = push.pass;
    if (at >= tiles) return;
    uint row_number = LISTED ? table[record_at(at)] : at / of_row, tile = LISTED ? at - row_number : at % of_row;
    uint elements = row_elements(row_number), state = state_at(row_number);
    bool keeps = PUSH_STAGE == STAGE_KEEPS, decides = PUSH_STAGE == STAGE_DECIDES;
    if (decides && tile > 0) return;
    // Rows that survive as a whole need no prefix. A workgroup without elements must not read one, which may change meanwhile.
    if (tile * PUSH_PART >= elements || !keeps && elements <= most_survivors()) return;
    if (!keeps && counters[found_at(row_number, number) + TOP_NEXT] != number) return;
    if (keeps) number = counters[state + TOP_LEVEL];
    Row row = row_of(row_number, elements, number);
    Level level = level_of(number);
    if (keeps) {
        keep_tile(row, level, tile);
    } else {
        if (!decides) count_tile(row, level, tile);
        // Each level counts as many workgroups.
        uint workgroups = parts_of(elements, PUSH_PART) * (number + 1);
        finished_at = state + TOP_FINISHED;
        if (!decides && (PUSH_STAGE == STAGE_COUNTS || !finishes_last(workgroups))) return;
        decide(row, number, level, tiles);
    }
}
