// Long rows, which are narrowed until few elements of each are left: where their words are. The kernel declares counters and table,
// and includes segments/words.glsl.
//
// Rows are those of the caller, or the whole array, or segments that windows have listed because they are longer than a block
// (segments/lists.glsl). The number of a listed row is that of its first tile. Tiles are longer than two blocks, so that there are no more of
// them than segments beyond a block.
//
// The counters hold the number of tiles of listed rows and the arguments of the dispatch of each level, and then for each row its
// state and its bins. The table holds for each row, if it is listed, what follows from the words of the caller, and then its
// survivors: the indices in the row of the elements that are left, in any order.

const bool LISTED = SPLITS != 0 && TOP != 0;

uint most_survivors() { return PUSH_MOST_SURVIVORS; }

uint state_at(uint row) { return TOP_ROWS + row * (TOP_STATE_WORDS + TOP_BINS); }
// What a level reads of its row. It writes that of the next one, as other workgroups still read this.
uint found_at(uint row, uint level) { return state_at(row) + (level & 1) * TOP_FOUND_WORDS; }
uint bins_at(uint row) { return state_at(row) + TOP_STATE_WORDS; }
uint record_at(uint row) { return row * ((LISTED ? TOP_RECORD_WORDS : 0) + most_survivors()); }
uint survivor_at(uint row, uint slot) { return record_at(row) + (LISTED ? TOP_RECORD_WORDS : 0) + slot; }

// The record of a tile begins with its row. That of a row goes on with its first element, its length and the segment.
const uint RECORD_BEGIN = 1, RECORD_SIZE = 2, RECORD_SEGMENT = 3;

// Tiles of all listed rows. A row that had no room has no elements.
uint most_tiles() { return PUSH_MOST_TILES; }
uint listed_tiles() { return min(counters[TOP_TILES], most_tiles()); }

uint row_begin(uint row) {
    return LISTED ? min(table[record_at(row) + RECORD_BEGIN], row_length()) : row * row_length();
}

// Lets a dispatch have at least so many workgroups. The greatest number stands in the end.
void ask_for(uint dispatch, uint workgroups) {
    uint at = COUNTERS_ARGUMENTS + dispatch * ARGUMENT_WORDS;
    atomicMax(counters[at], min(workgroups, MAX_WORKGROUPS));
    atomicMax(counters[at + 1], parts_of(workgroups, MAX_WORKGROUPS));
    atomicMax(counters[at + 2], 1);
}

// For the kernel of windows.
const bool SURVIVORS = SEGMENT_LAYOUT == LAYOUT_SURVIVORS;

uint survivors_of(uint row) { return min(counters[state_at(row) + TOP_KEPT], most_survivors()); }

// The index of a survivor in its row.
uint survivor(uint row, uint slot) { return table[survivor_at(row, slot)]; }
