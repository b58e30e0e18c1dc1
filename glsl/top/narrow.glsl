// A workgroup counts the next digit of a tile for its row, or keeps what is left of it.
void narrow() {
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
        // A short row survives as a whole.
        if (elements <= most_survivors()) level = Level(false, level.digit, KEY(0), 0);
        keep_tile(row, level, tile_of(row, tile));
    } else {
        if (!decides) count_tile(row, level, tile_of(row, tile));
        // Each level counts as many workgroups.
        uint workgroups = parts_of(elements, PUSH_PART) * (number + 1);
        if (!decides && (PUSH_STAGE == STAGE_COUNTS || !finishes_last(state + TOP_FINISHED, workgroups))) return;
        decide(row, number, level, tiles);
    }
}
