// The routes of a sort by leading digits: passes over as many of them as tell most keys apart, behind which the ties are
// mended where they are. Should runs of them turn out too long for that, a second phase of passes over all digits follows.

// Most elements that share an element's leading digits, as far as can be expected: there are few runs of several then, and
// hardly any of more than MOST_TIED.
const float MOST_ALIKE = 0.25;

// Decides how many digits lead, and writes what follows from that; one invocation.
void write_leading(uint count) {
    uint digits = 0, idle = PASSES;
    for (uint pass = 0; pass < PASSES; pass++) {
        digits += runs[pass];
        if (runs[pass] == 0) idle = pass;
    }
    // Were digits independent, as many would be alike in several as the product of the largest shares says. In place, an
    // even number of passes ends where it began.
    float alike = float(count);
    uint low = PASSES, rounds = 0;
    while (low > 0 && (alike > MOST_ALIKE || IN_PLACE != 0 && (rounds & 1) != 0)) {
        low--;
        if (runs[low] != 0) {
            alike *= float(largest[low]) / float(count);
            rounds++;
        }
    }
    if (digits < rounds + 2) {
        write_routes();
    } else {
        bool in_place = IN_PLACE != 0, has_values = VALUE_BITS != 0;
        uint values_source = INDEX_VALUES != 0 ? PLACE_NONE : PLACE_SOURCE;
        uint keys_from = PLACE_SOURCE, values_from = values_source;
        uint round = 0;
        for (uint pass = low; pass < PASSES; pass++) {
            if (runs[pass] == 0) continue;
            uint keys = first_to(PLACE_TARGET, round, rounds);
            uint values = has_values ? keys : PLACE_NONE;
            counters[COUNTERS_ROUTES + pass] = route(keys_from, keys, values_from, values, round);
            keys_from = keys;
            values_from = values;
            round++;
        }
        counters[COUNTERS_TOP] = low;
        counters[COUNTERS_FINISH_ROUTE] = route(PLACE_TARGET, PLACE_ALTERNATE, values_from, values_from, 0);
        // Out of place the source is still there, and where a second phase begins.
        uint between = in_place ? PLACE_TARGET : place_between(true, 0, digits);
        write_second_phase(digits, idle, rounds, in_place ? PLACE_TARGET : PLACE_SOURCE,
                           in_place ? values_from : values_source, between, between, in_place);
        write_arguments(ARGUMENTS_BOUNDS, parts_of(count, push.segment));
    }
}
