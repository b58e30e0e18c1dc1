// The tiles of a round's parents, and the stages that need no counters.

struct Tile {
    uint index;    // in its parent
    uint start;    // its first element
    uint elements; // 0 for none
};

Tile tile_of(Parent parent, uint index) {
    uint elements = tile_elements(parent.size), first = index < tiles_of_size(parent.size) ? index * elements : parent.size;
    return Tile(index, parent.begin + first, min(elements, parent.size - first));
}

// A value that is made of its key's index. A parent of GIVEN elements is a segment of the caller.
bool makes_indices(Parent parent) { return INDEX_VALUES != 0 && parent.place == GIVEN; }
uint made_index(Parent parent, uint index) { return INDEX_VALUES == INDEX_OF_SEGMENT ? index - parent.begin : index; }

// Where the counts of a tile go.
uint counts_at(Parent parent, Tile tile) {
    return tiles_of_size(parent.size) > 1 ? row_at(parent.row + tile.index) : sizes_at(parent.slot);
}

// Turns a parent's rows into the elements of earlier tiles, and sets the sizes of its children. Invocations share the digits, and then
// the tiles.
void scan_rows() {
    const uint runs = WORKGROUP_SIZE / SCANNED_DIGITS;
    uint slot = workgroup_index() / SCANNING, run = thread() / SCANNED_DIGITS, lane_of_run = thread() % SCANNED_DIGITS;
    if (slot >= min(counters[counter_at(push.pass, PARENTS)], most_parents())) return;
    Parent parent = parent_of(push.pass, slot);
    uint tiles = tiles_of_size(parent.size), digit = workgroup_index() % SCANNING * SCANNED_DIGITS + lane_of_run;
    if (tiles < 2) return;
    uint each = run < runs && digit < SPLIT_CHILDREN ? parts_of(tiles, runs) : 0, first = min(run * each, tiles);
    uint end = min(first + each, tiles), at = row_at(parent.row) + digit, sum = 0;
    [[dont_unroll]] for (uint tile = first; tile < end; tile++) sum += table[at + tile * SPLIT_CHILDREN];
    run_sums[thread()] = sum;
    barrier();
    uint before = 0, all = 0;
    for (uint other = 0; other < runs; other++) {
        uint of_run = run_sums[other * SCANNED_DIGITS + lane_of_run];
        if (other < run) before += of_run;
        all += of_run;
    }
    [[dont_unroll]] for (uint tile = first; tile < end; tile++) {
        uint counted = table[at + tile * SPLIT_CHILDREN];
        table[at + tile * SPLIT_CHILDREN] = before;
        before += counted;
    }
    if (run == 0 && each > 0) table[sizes_at(slot) + digit] = all;
}

// Copies a tile to the target that the last round has left elsewhere. Indices of elements that never moved are made.
void move_tile(Parent parent, Tile tile) {
    parent.place = table[left_at(parent)];
    bool moves = parent.place == ALTERNATE, makes = makes_indices(parent);
    if (!moves && !makes) return;
    for (uint at = thread(); at < tile.elements; at += WORKGROUP_SIZE) {
        uint index = tile.start + at;
        if (moves && DISCARD_KEYS == 0) write_key(index, read_key(index));
        for (uint word = 0; word < VALUE_WORDS; word++) {
            uint value = made_index(parent, index);
            if (!makes) value = read_value(index, word);
            write_value(index, word, value);
        }
    }
}

// Finds the children of a tile's parent, and sets where its elements go: the next element of each digit. False if they stay, because
// the digit is the same in all of them; but out of place the caller's have to leave. A barrier has to follow.
bool find_targets(Parent parent, Tile tile) {
    bool stays = find_children(parent) && (IN_PLACE != 0 || parent.place != GIVEN);
    uint left = is_target(parent.place) ? ALTERNATE : TARGET;
    if (stays) left = parent.place;
    if (tile.index == 0 && thread() == 0) table[left_at(parent)] = left;
    if (!stays && tiles_of_size(parent.size) > 1) {
        for (uint digit = thread(); digit < CHILDREN; digit += WORKGROUP_SIZE) {
            child_begins[digit] += table[row_at(parent.row + tile.index) + digit];
        }
    }
    return !stays;
}

// The target of an element, or NO_TARGET. Elements that belong to another parent too may have another digit than when they were
// counted, and must not leave this parent.
const uint NO_TARGET = ~0u;
uint within(Parent parent, uint target) { return target < parent.size ? parent.begin + target : NO_TARGET; }
