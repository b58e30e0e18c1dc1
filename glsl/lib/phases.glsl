// The routes of a sort in two phases. A hybrid's first one is passes over the top digits, then a finish that sorts segments
// of whole runs, which are elements with equal top digits, in shared memory. Should a run turn out too long for that, a
// second phase of passes over all digits takes the finish's place. Needs the digits that run, from route.glsl.

shared uint largest[PASSES]; // most keys with the same digit

uint other_place(uint place) { return PLACE_TARGET + PLACE_ALTERNATE - place; }

// Where elements are between the phases. Those that may go anywhere at first are where the second phase, which has as many
// rounds as it says, ends at the target.
uint place_between(bool anywhere, uint rounds, uint second) {
    return ((anywhere ? second : rounds) & 1) == 0 ? PLACE_TARGET : PLACE_ALTERNATE;
}

// Where round `round` of the first phase's `rounds`, or of the second phase, takes elements.
uint first_to(uint between, uint round, uint rounds) {
    return ((rounds - 1 - round) & 1) == 0 ? between : other_place(between);
}
uint second_to(uint between, uint round) { return (round & 1) == 0 ? other_place(between) : between; }

// Passes of the first phase, over the top digits from `low` to `high`; 0 where a finish would save none. Were digits
// independent, the longest run by two of them would be the product of the largest counts by the number of keys.
uint top_rounds(uint count, uint digits, uint low, uint high) {
    uint product_high, product_low, most_high, most_low;
    umulExtended(largest[high], largest[low], product_high, product_low);
    umulExtended(REACH / 4, count, most_high, most_low);
    bool two_fit = product_high < most_high || product_high == most_high && product_low <= most_low;
    uint rounds = 0;
    if (digits > 2 && largest[high] <= REACH) rounds = 1;
    else if (digits > 3 && two_fit) rounds = 2;
    return rounds;
}

// Writes the routes of the second phase, from where the elements are, and of the move behind it; the table's words go on
// from the states of the `ranked` passes of the first. If they have to come back to where they are, an odd number of digits
// takes one round more, as in route.glsl: a pass that only copies, or the move.
void write_second_phase(Digits digits, uint ranked, uint keys_from, uint values_from, uint keys_between,
                        uint values_between, bool come_back) {
    uint rounds = digits.count;
    uint copying = PASSES;
    if (PASSES % 2 == 0 && (rounds & 1) != 0 && come_back) {
        copying = digits.idle;
        rounds++;
    }
    uint round = 0;
    for (uint pass = 0; pass < PASSES; pass++) {
        if (runs[pass] == 0 && pass != copying) continue;
        bool discards = DISCARD_KEYS != 0 && round + 1 == rounds;
        uint keys = discards ? PLACE_NONE : second_to(keys_between, round);
        uint values = VALUE_BITS != 0 ? second_to(values_between, round) : PLACE_NONE;
        uint way = route(keys_from, keys, values_from, values, ranked);
        if (discards) way |= MOVES_VALUES << ROUTE_MOVES;
        if (pass == copying) way |= ROUTE_COPIES;
        else ranked++;
        counters[COUNTERS_ROUTES + PHASE_ROUTES + pass] = way;
        keys_from = keys;
        values_from = values;
        round++;
    }
    bool keys_left = keys_from == PLACE_ALTERNATE;
    bool values_left = values_from == PLACE_ALTERNATE;
    if (keys_left || values_left) {
        counters[COUNTERS_ROUTES + PHASE_ROUTES + PASSES] =
            route(PLACE_ALTERNATE, keys_left ? PLACE_TARGET : PLACE_NONE,
                  PLACE_ALTERNATE, values_left ? PLACE_TARGET : PLACE_NONE, 0);
    }
}

// Writes the routes of the first phase, of the finish, and of the second phase if a run may turn out too long.
void write_both_phases(uint rounds, Digits digits, uint low, uint high) {
    bool has_values = VALUE_BITS != 0;
    uint second = digits.count + (PASSES % 2 == 0 && returns() ? digits.count & 1 : 0);
    uint keys_between = place_between(IN_PLACE == 0, rounds, second);
    uint values_between = place_between(IN_PLACE == 0 || INDEX_VALUES != 0, rounds, second);
    uint keys_from = PLACE_SOURCE;
    uint values_from = INDEX_VALUES != 0 ? PLACE_NONE : PLACE_SOURCE;
    for (uint round = 0; round < rounds; round++) {
        uint keys = first_to(keys_between, round, rounds);
        uint values = has_values ? first_to(values_between, round, rounds) : PLACE_NONE;
        uint pass = round + 1 == rounds ? high : low;
        counters[COUNTERS_ROUTES + pass] = route(keys_from, keys, values_from, values, round);
        keys_from = keys;
        values_from = values;
    }
    counters[COUNTERS_FINISH_ROUTE] = route(keys_from, DISCARD_KEYS != 0 ? PLACE_NONE : PLACE_TARGET,
                                            values_from, has_values ? PLACE_TARGET : PLACE_NONE, 0);
    // Runs of one digit are as long as its largest count says.
    if (rounds == 2) write_second_phase(digits, 2, keys_from, values_from, keys_from, values_from, returns());
}

// Decides between passes over all digits and a finish, and writes what follows from that; one invocation.
void write_phases(uint count) {
    uint low = 0, high = 0;
    for (uint pass = 0; pass < PASSES; pass++) {
        if (runs[pass] == 0) continue;
        low = high;
        high = pass;
        counters[COUNTERS_ACTIVE + pass / 32] |= 1u << (pass & 31);
    }
    Digits digits = find_digits();
    uint rounds = top_rounds(count, digits.count, low, high);
    if (rounds == 0) {
        write_routes(digits);
    } else {
        if (rounds == 1) low = high;
        write_both_phases(rounds, digits, low, high);
        counters[COUNTERS_TOP] = low | high << 8;
        // The bounds are one more than the segments, and their workgroups as large as this one.
        write_arguments(ARGUMENTS_BOUNDS, parts_of(parts_of(count, push.segment) + 1, WORKGROUP_SIZE));
    }
}
