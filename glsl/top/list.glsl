// Listing segments as rows that are narrowed to their first elements: the kernel of windows does so. It declares `pool`.

// Elements of a tile.
uint tile_length() { return PUSH_TILE_LENGTH; }

// Lists a segment, and clears the counters of its row. All invocations call it.
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
