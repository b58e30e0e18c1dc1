// Listing parents for a round: the kernel of windows does so. It declares `pool`.

#include "split/parents.glsl"

// Takes `count` words of those that are counted at a word: the first of them, or `most` if there is no room. What is full is not counted
// further. If ranges overlap, a counter may wrap all the same; parents then share words, which belong to one of them.
uint take_room(uint at, uint count, uint most) {
    uint taken = atomicAdd(counters[at], 0);
    if (taken < most) taken = atomicAdd(counters[at], count);
    return min(taken, most);
}

// Lists elements as a parent of a round. All invocations call it.
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
