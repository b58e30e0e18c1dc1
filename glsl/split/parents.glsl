// Parents: segments that are longer than a block, and children of other parents that still are. Each round divides its parents by their
// next digit, from the top of the window, into a child for each value. Windows then sort the children that fit a block, and list the
// others as parents of the next round. docs/ALGORITHMS.md has the steps ("Longer segments"). Kernels declare the counters, the
// table and the shared array `child_begins` before they include this file.
//
// The counters hold how many parents, tiles, rows and windows each round has asked for, and the arguments of its dispatches. The
// table holds
//   two lists of parents,
//   the parent of each tile of a round,
//   two lists with the parent of each window,
//   the sizes of each parent's children,
//   rows, which are the same for each tile of a parent that has several, later the elements of earlier tiles.
// Of two lists one is for even rounds and one for odd ones, as a dispatch reads that of its round and writes that of the next.
//
// Elements that the caller lists twice belong to two parents, which change them at the same time. So whatever memory holds, children
// are within their parents, and what has no room in the lists is left out.

const uint LARGEST_PART = WORKGROUP_SIZE * ITEMS;           // a block
const uint CHILDREN_UNITS = LARGEST_PART - LARGEST_PART / 4; // units of a window of children
const uint NO_PARENT = ~0u;

// Room for a round. Each parent has at least a tile, and tiles need no more words, because those of a parent with several are four
// times as long.
uint most_parents() { return PUSH_MOST_PARENTS; }
uint most_rows() { return PUSH_MOST_ROWS; }
uint most_windows() { return PUSH_MOST_WINDOWS; }

// What the counters count.
const uint PARENTS = 0, TILES = 1, ROWS = 2, WINDOWS = 3;

uint counter_at(uint round, uint which) { return round * ROUND_WORDS + which; }

uint parent_at(uint round, uint slot) { return ((round & 1) * most_parents() + slot) * PARENT_WORDS; }
uint tile_parent_at(uint tile) { return 2 * most_parents() * PARENT_WORDS + tile; }
uint window_parent_at(uint round, uint window) { return tile_parent_at(most_parents()) + (round & 1) * most_windows() + window; }
uint sizes_at(uint slot) { return window_parent_at(0, 2 * most_windows()) + slot * SPLIT_CHILDREN; }
uint row_at(uint row) { return sizes_at(most_parents()) + row * SPLIT_CHILDREN; }

// Where a parent's elements are. Those of the caller are GIVEN, until they are moved; in place they are in the target.
const uint GIVEN = 0, ALTERNATE = 1, TARGET = 2;

struct Parent {
    uint slot;   // in the list of its round
    uint begin;  // its first element
    uint size;   // elements; 0 if there was no room for what it needs
    uint place;
    uint tile;   // its first one; the others follow
    uint row;    // the same of its rows
    uint window; // and of its windows
};

// The word behind these, where a round leaves its elements. Its first tile writes it, while others still read the place.
const uint PARENT_LEFT = 6;

// A parent in the list of a round, of which NO_PARENT is none.
Parent parent_of(uint round, uint slot) {
    Parent parent = Parent(slot, 0, 0, GIVEN, 0, 0, 0);
    if (slot != NO_PARENT) {
        uint at = parent_at(round, slot);
        parent = Parent(slot, table[at], table[at + 1], table[at + 2], table[at + 3], table[at + 4], table[at + 5]);
    }
    return parent;
}

// The place where the round leaves its elements.
uint left_at(Parent parent) { return parent_at(push.pass, parent.slot) + PARENT_LEFT; }

// The parent of a tile and of a window of the round. There is none if it had no room.
Parent parent_of_tile(uint tile) {
    uint slot = NO_PARENT;
    if (tile < min(counters[counter_at(push.pass, TILES)], most_parents())) slot = table[tile_parent_at(tile)];
    return parent_of(push.pass, slot);
}

Parent parent_of_window(uint window) {
    uint slot = NO_PARENT;
    if (window < min(counters[counter_at(push.pass, WINDOWS)], most_windows())) slot = table[window_parent_at(push.pass, window)];
    return parent_of(push.pass, slot);
}

// Whether a place is the one that kernels call `to`. Out of place, GIVEN elements are read in the first round only, where `from` is
// the source; then `from` is the alternate.
bool is_target(uint place) { return place == TARGET || IN_PLACE != 0 && place == GIVEN; }

uint tile_elements(uint size) {
    return max(SPLIT_TILE_BLOCKS, parts_of(parts_of(size, SPLIT_TILES), LARGEST_PART)) * LARGEST_PART;
}
uint tiles_of_size(uint size) { return parts_of(size, tile_elements(size)); }

// Windows of its children. Each child is a unit too, so the last one begins up to 255 units behind the parent's end.
uint windows_of_size(uint size) { return size / CHILDREN_UNITS + (size % CHILDREN_UNITS + SPLIT_CHILDREN - 1) / CHILDREN_UNITS + 1; }

// Bits of the window that a round has not looked at, and those behind it.
uint bits_left(uint round) { return WINDOW_BITS - min(round * SPLIT_BITS, WINDOW_BITS); }

Digit digit_of_round(uint round) {
    uint width = min(bits_left(round), SPLIT_BITS), low = window_low() + bits_left(round) - width;
    Digit digit = Digit(low / 32, low % 32, width, 0, 0);
    digit.flip = bits_at(all_flips(), digit);
    return digit;
}

// A workgroup that adds up rows takes some digits of a parent, and splits its tiles into runs.
const uint SCANNED_DIGITS = WORKGROUP_SIZE < SPLIT_SCANNED ? WORKGROUP_SIZE : SPLIT_SCANNED;
const uint SCANNING = (SPLIT_CHILDREN + SCANNED_DIGITS - 1) / SCANNED_DIGITS; // workgroups of a parent

// Where the children of a parent begin, counted from its begin, stands in `child_begins`; the last one ends where the parent does.
const bool OF_CHILDREN = SEGMENT_LAYOUT == LAYOUT_CHILDREN;
const uint CHILDREN = OF_CHILDREN ? SPLIT_CHILDREN : 0;

// Adds up the sizes of the children. Whether one of them has all elements. Each subgroup adds up all of them, which takes no barrier in
// between, and knows the same.
bool find_children(Parent parent) {
    uint begin = 0;
    bool is_all = false;
    [[dont_unroll]] for (uint first = 0; first < CHILDREN; first += SUBGROUP_SIZE) {
        uint size = table[sizes_at(parent.slot) + first + lane()], sum = subgroup_inclusive_add(size);
        is_all = is_all || size == parent.size;
        if (subgroup_index() == 0) child_begins[first + lane() + 1] = min(begin + sum, parent.size);
        begin += subgroup_shuffle(sum, SUBGROUP_SIZE - 1);
    }
    if (thread() == 0) child_begins[0] = 0;
    bool any = !is_empty(existing_lanes(subgroup_ballot(is_all)));
    barrier();
    return any;
}
