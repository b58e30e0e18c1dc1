// Long rows, which are narrowed until few elements of each are left: where their words are. The kernel declares counters and table,
// and includes segments/words.glsl.
//
// The counters hold the number of rows of each level and the arguments of its dispatch, and then for each row its state and its
// bins. The table holds for each row its place in two lists of rows, of the even and of the odd levels, and then its survivors: the
// indices in the row of the elements that are left, in any order.

const uint TOP_BINS = 1u << TOP_DIGIT_BITS;

uint most_survivors() { return push.route; }

uint state_at(uint row) { return TOP_ROWS + row * (TOP_STATE_WORDS + TOP_BINS); }
// What a level reads of its row. It writes that of the next one, as other workgroups still read this.
uint found_at(uint row, uint level) { return state_at(row) + (level & 1) * TOP_FOUND_WORDS; }
uint bins_at(uint row) { return state_at(row) + TOP_STATE_WORDS; }
uint listed_at(uint level, uint place) { return place * (2 + most_survivors()) + (level & 1); }
uint survivor_at(uint row, uint slot) { return row * (2 + most_survivors()) + 2 + slot; }
