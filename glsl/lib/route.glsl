// Which passes run, and from where to where. A digit that is the same in all keys needs no pass. The routes end where the
// caller wants the result; in place an odd number of passes ends at the alternate, and a move brings the elements back.

shared uint runs[PASSES]; // whether the pass runs

uint from_start(uint round) { return (round & 1) == 0 ? PLACE_ALTERNATE : PLACE_TARGET; }
uint to_end(uint round, uint rounds) { return ((rounds - 1 - round) & 1) == 0 ? PLACE_TARGET : PLACE_ALTERNATE; }

uint keys_to(uint round, uint rounds) {
    if (DISCARD_KEYS != 0) return round + 1 == rounds ? PLACE_NONE : from_start(round);
    return IN_PLACE != 0 ? from_start(round) : to_end(round, rounds);
}

uint values_to(uint round, uint rounds) {
    if (VALUE_BITS == 0) return PLACE_NONE;
    return IN_PLACE != 0 && INDEX_VALUES == 0 ? from_start(round) : to_end(round, rounds);
}

uint route(uint keys_from, uint keys_to, uint values_from, uint values_to, uint round) {
    return ROUTE_RUNS | keys_from << ROUTE_KEYS_FROM | keys_to << ROUTE_KEYS_TO | values_from << ROUTE_VALUES_FROM
        | values_to << ROUTE_VALUES_TO | round << ROUTE_ROUND;
}

// Writes the routes of all passes and of the final move; one invocation.
void write_routes() {
    uint rounds = 0;
    for (uint pass = 0; pass < PASSES; pass++) rounds += runs[pass];
    // Elsewhere than in place something has to bring the elements to the target, and indices have to be made.
    if (rounds == 0 && (IN_PLACE == 0 || INDEX_VALUES != 0)) {
        runs[PASSES - 1] = 1;
        rounds = 1;
    }
    uint round = 0;
    uint keys_from = PLACE_SOURCE;
    uint values_from = INDEX_VALUES != 0 ? PLACE_NONE : PLACE_SOURCE;
    for (uint pass = 0; pass < PASSES; pass++) {
        if (runs[pass] == 0) continue;
        uint keys = keys_to(round, rounds);
        uint values = values_to(round, rounds);
        counters[COUNTERS_ROUTES + pass] = route(keys_from, keys, values_from, values, round);
        keys_from = keys;
        values_from = values;
        round++;
    }
    bool keys_left = IN_PLACE != 0 && DISCARD_KEYS == 0 && keys_from == PLACE_ALTERNATE;
    bool values_left = IN_PLACE != 0 && VALUE_BITS != 0 && values_from == PLACE_ALTERNATE;
    if (keys_left || values_left) {
        counters[COUNTERS_ROUTES + PASSES] =
            route(PLACE_ALTERNATE, keys_left ? PLACE_TARGET : PLACE_NONE,
                  PLACE_ALTERNATE, values_left ? PLACE_TARGET : PLACE_NONE, 0);
    }
}
