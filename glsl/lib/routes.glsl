// Routes: which passes run, and from which place to which place each of them moves keys and values.
//
// One rule gives every place: an element that has to be at place E after r more passes is at E now if r is even, else at
// the other place of the ping-pong. Out of place E is the target. In place the elements start at the target, so after an
// odd number of passes they are at the alternate. Then a pass that need not run copies them back; a plan with an odd
// number of passes has a final move for that instead.
//
// With a visitor's output, the last pass that runs gives the elements to the caller's code. The target is then in scratch, and
// passes use it only if there are more than two.
//
// If the caller discards the keys, the last pass needs one digit of each key and no more. If an index and a digit fit in
// one word, the pass before the last joins them, and both passes move one word instead of two.

shared uint needed[PASSES]; // 1 for a pass whose digit is not the same in all keys, else 0

uint place_before(uint end, uint remaining) {
    return (remaining & 1) == 0 ? end : PLACE_TARGET + PLACE_ALTERNATE - end;
}

uint route(uint keys_from, uint keys_to, uint values_from, uint values_to, uint ranked) {
    return ROUTE_RUNS | keys_from << ROUTE_KEYS_FROM | keys_to << ROUTE_KEYS_TO | values_from << ROUTE_VALUES_FROM
        | values_to << ROUTE_VALUES_TO | ranked << ROUTE_RANKED;
}

// Writes the routes of the passes and of the move behind them; one invocation. tests/common/routes.rs has the same in Rust.
void write_routes() {
    uint running = 0, idle = PASSES;
    [[dont_unroll]] for (uint pass = 0; pass < PASSES; pass++) running += needed[pass];
    bool has_values = VALUE_BITS != 0, keeps_values = has_values && INDEX_VALUES == 0;
    bool discards = DISCARD_KEYS != 0, visits = VISITED_OUTPUT != 0;
    // Even if all keys are equal, a pass has to bring the elements out of place, or to make the indices.
    if (running == 0 && (IN_PLACE == 0 || INDEX_VALUES != 0)) {
        needed[PASSES - 1] = 1;
        running = 1;
    }
    [[dont_unroll]] for (uint pass = 0; pass < PASSES; pass++) {
        if (needed[pass] == 0) idle = pass;
    }
    uint copying = PASSES;
    if (PASSES % 2 == 0 && (running & 1) != 0 && IN_PLACE != 0 && (!discards || keeps_values)) {
        copying = idle;
        running++;
    }
    bool odd = (running & 1) != 0;
    bool joins = JOIN_INDEX != 0 && discards && !keeps_values && running > 1 && sort_count() <= JOINED_INDICES;
    uint keys_end = odd && (IN_PLACE != 0 || discards || visits) ? PLACE_ALTERNATE : PLACE_TARGET;
    uint values_end = odd && (IN_PLACE != 0 && keeps_values || visits) ? PLACE_ALTERNATE : PLACE_TARGET;

    uint keys_from = PLACE_SOURCE, values_from = INDEX_VALUES != 0 ? PLACE_NONE : PLACE_SOURCE;
    uint remaining = running, ranked = 0, before = PASSES;
    [[dont_unroll]] for (uint pass = 0; pass < PASSES; pass++) {
        if (needed[pass] == 0 && pass != copying) continue;
        remaining--;
        bool last = remaining == 0;
        uint keys = (discards || visits) && last ? PLACE_NONE : place_before(keys_end, remaining);
        uint values = has_values && !(visits && last) ? place_before(values_end, remaining) : PLACE_NONE;
        uint moves = MOVES_ALL;
        if (discards && last) moves = joins ? MOVES_SPLITTING : MOVES_VALUES;
        if (joins && remaining == 1) moves = MOVES_JOINING;
        uint word = route(keys_from, keys, values_from, values, ranked) | moves << ROUTE_MOVES;
        if (visits && last) word |= ROUTE_VISITS;
        if (pass == copying) word |= ROUTE_COPIES;
        else ranked++;
        counters[COUNTERS_ROUTES + pass] = word;
        if (joins && last) counters[COUNTERS_ROUTES + before] |= pass << ROUTE_NEXT;
        keys_from = keys;
        values_from = values;
        before = pass;
    }
    bool keys_left = !discards && !visits && keys_end == PLACE_ALTERNATE;
    bool values_left = has_values && !visits && values_end == PLACE_ALTERNATE;
    if (keys_left || values_left) {
        counters[COUNTERS_ROUTES + PASSES] = route(PLACE_ALTERNATE, keys_left ? PLACE_TARGET : PLACE_NONE, PLACE_ALTERNATE,
                                                   values_left ? PLACE_TARGET : PLACE_NONE, 0);
    }
}
