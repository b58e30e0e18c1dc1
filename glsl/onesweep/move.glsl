// Moving a full tile as a whole: all of its keys have the same digit, or the pass copies.

#define EACH_TOGETHER(first) [[unroll]] for (uint at = 0; at < ITEMS_TOGETHER; at++) if ((first) + at < ITEMS)

// Moves a full tile as a whole to `base`, in groups of items whose loads come before their stores: few workgroups share a core, and
// one load at a time would take as long as sorting.
void move_tile(Pass pass, Tile tile, uint base) {
    [[dont_unroll]] for (uint first = 0; first < ITEMS; first += ITEMS_TOGETHER) {
        KEY keys[ITEMS_TOGETHER];
        EACH_TOGETHER(first) {
            keys[at] = KEY(0);
            if (loads_copied_keys(pass)) keys[at] = load_key(pass, tile.start + loaded_at(first + at, ITEMS));
        }
        EACH_TOGETHER(first) {
            uint target = base + loaded_at(first + at, ITEMS);
            if (moves_all(pass)) store_key(target, keys[at]);
        }
        for (uint word = 0; word < VALUE_WORDS; word++) {
            uint values[ITEMS_TOGETHER];
            EACH_TOGETHER(first) { values[at] = load_value(pass, tile.start + loaded_at(first + at, ITEMS), word); }
            EACH_TOGETHER(first) {
                uint target = base + loaded_at(first + at, ITEMS);
                write_value(target, word, values[at]);
            }
        }
    }
}
