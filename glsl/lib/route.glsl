// Which passes run, and from where to where. A digit that is the same in all keys needs no pass. The routes end where the
// caller wants the result. In place they do so after an even number of passes; else one of those that need not run copies
// the elements, or, where all have run, a final move does.
//
// Where nobody wants the keys, all that the last pass needs of a key is its last digit. If indices leave room for it in a
// word, the pass before joins the two, and one word moves instead of two.

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

// Whether an odd number of passes would leave anything at the alternate that belongs at the target.
bool returns() {
    return IN_PLACE != 0 && (DISCARD_KEYS == 0 || VALUE_BITS != 0 && INDEX_VALUES == 0);
}

struct Digits {
    uint count; // of those that are not the same in all keys
    uint idle;  // the last pass that has nothing to sort by, or PASSES
};

Digits find_digits() {
    Digits digits = Digits(0, PASSES);
    for (uint pass = 0; pass < PASSES; pass++) {
        digits.count += runs[pass];
        if (runs[pass] == 0) digits.idle = pass;
    }
    return digits;
}

// Writes the routes of all passes and of the final move; one invocation.
void write_routes(Digits digits) {
    uint rounds = digits.count;
    uint idle = digits.idle;
    // Elsewhere than in place something has to bring the elements to the target, and indices have to be made.
    if (rounds == 0 && (IN_PLACE == 0 || INDEX_VALUES != 0)) {
        runs[PASSES - 1] = 1;
        rounds = 1;
        idle = PASSES - 2;
    }
    bool joins = JOIN_INDEX != 0 && rounds > 1 && sort_count() <= JOINED_INDICES;
    // Plans with an even number of passes have no final move.
    uint copying = PASSES;
    if (PASSES % 2 == 0 && (rounds & 1) != 0 && returns()) {
        copying = idle;
        runs[idle] = 1;
        rounds++;
    }
    uint round = 0;
    uint ranked = 0;
    uint joining = PASSES;
    uint keys_from = PLACE_SOURCE;
    uint values_from = INDEX_VALUES != 0 ? PLACE_NONE : PLACE_SOURCE;
    for (uint pass = 0; pass < PASSES; pass++) {
        if (runs[pass] == 0) continue;
        uint keys = keys_to(round, rounds);
        uint values = values_to(round, rounds);
        uint way = route(keys_from, keys, values_from, values, ranked);
        if (pass == copying) way |= ROUTE_COPIES;
        else ranked++;
        bool last = round + 1 == rounds;
        if (DISCARD_KEYS != 0 && last) way |= (joins ? MOVES_SPLITTING : MOVES_VALUES) << ROUTE_MOVES;
        if (joins && round + 2 == rounds) {
            way |= MOVES_JOINING << ROUTE_MOVES;
            joining = pass;
        }
        counters[COUNTERS_ROUTES + pass] = way;
        if (joins && last) counters[COUNTERS_ROUTES + joining] |= pass << ROUTE_NEXT;
        keys_from = keys;
        values_from = values;
        round++;
    }
    if (PASSES % 2 != 0 && (rounds & 1) != 0 && returns()) {
        bool values = VALUE_BITS != 0 && INDEX_VALUES == 0;
        counters[COUNTERS_ROUTES + PASSES] =
            route(PLACE_ALTERNATE, DISCARD_KEYS == 0 ? PLACE_TARGET : PLACE_NONE,
                  PLACE_ALTERNATE, values ? PLACE_TARGET : PLACE_NONE, 0);
    }
}
