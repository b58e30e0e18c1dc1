// Listing segments that are longer than a block: as parents for a round of splits, or as rows that are narrowed to their first elements.
// All invocations call these functions.

// Takes `count` words of those that are counted at a word: the first of them, or `most` if there is no room. What is full is not counted
// further. If ranges overlap, a counter may wrap all the same; parents then share words, which belong to one of them.
uint take_room(uint at, uint count, uint most) {
    uint taken = atomicAdd(counters[at], 0);
    if (taken < most) taken = atomicAdd(counters[at], count);
    return min(taken, most);
}

// Lists elements as a parent of a round.
void list_parent(uint round, uint begin, uint size, uint place) {
    uint tiles = tiles_of_size(size), windows = windows_of_size(size);
    barrier(); // the pool is free
    if (thread() == 0) {
        uint slot = take_room(counter_at(round, PARENTS), 1, most_parents()), tile = most_parents(), window = most_windows();
        pool[0] = NO_PARENT;
        if (slot < most_parents()) {
            uint row = 0;
            tile = take_room(counter_at(round, TILES), tiles, most_parents());
            window = take_room(counter_at(round, WINDOWS), windows, most_windows());
            if (tiles > 1) row = take_room(counter_at(round, ROWS), tiles, most_rows());
            bool fits = tiles <= most_parents() - tile && windows <= most_windows() - window && (tiles == 1 || tiles <= most_rows() - row);
            uint at = parent_at(round, slot);
            table[at] = begin;
            table[at + 1] = fits ? size : 0;
            table[at + 2] = place;
            table[at + 3] = tile;
            table[at + 4] = row;
            table[at + 5] = window;
            if (fits) {
                pool[0] = slot;
                uint first = round * ROUND_ARGUMENTS;
                ask_for(first + ARGUMENTS_SPLIT_TILES, tile + tiles);
                ask_for(first + ARGUMENTS_SPLIT_WINDOWS, window + windows);
                if (tiles > 1) ask_for(first + ARGUMENTS_SPLIT_ROWS, (slot + 1) * SCANNING);
            }
        }
        pool[1] = tile;
        pool[2] = window;
    }
    barrier();
    // What has been taken is written, so that no word is of an earlier sort.
    uint slot = uniform_in_subgroup(pool[0]), tile = uniform_in_subgroup(pool[1]), window = uniform_in_subgroup(pool[2]);
    for (uint at = thread(); at < min(tiles, most_parents() - tile); at += WORKGROUP_SIZE) table[tile_parent_at(tile + at)] = slot;
    for (uint at = thread(); at < min(windows, most_windows() - window); at += WORKGROUP_SIZE) {
        table[window_parent_at(round, window + at)] = slot;
    }
    barrier(); // the pool is free
}

// Elements of a tile.
uint tile_length() { return PUSH_TILE_LENGTH; }

// Lists a segment, and clears the counters of its row.
void list_row(uint segment, uint begin, uint size) {
    uint tiles = parts_of(size, tile_length());
    barrier(); // the pool is free; the next part waits before it writes there
    if (thread() == 0) pool[0] = take_room(TOP_TILES, tiles, most_tiles());
    barrier();
    uint row = uniform_in_subgroup(pool[0]), room = most_tiles() - row;
    bool fits = tiles <= room;
    // What has been taken is written, so that no word is of an earlier sort.
    for (uint tile = thread(); tile < min(tiles, room); tile += WORKGROUP_SIZE) table[record_at(row + tile)] = row;
    if (room > 0) {
        for (uint word = thread(); word < TOP_STATE_WORDS + TOP_BINS; word += WORKGROUP_SIZE) counters[state_at(row) + word] = 0;
    }
    if (thread() == 0 && room > 0) {
        table[record_at(row) + RECORD_BEGIN] = begin;
        table[record_at(row) + RECORD_SIZE] = fits ? size : 0;
        table[record_at(row) + RECORD_SEGMENT] = segment;
        if (fits) ask_for(0, row + tiles);
    }
}
