// The routes of a sort by leading digits: passes over as many of them as tell most keys apart, behind which the ties are
// mended where they are. Should runs of them turn out too long for that, a second phase of passes over all digits follows.

// Most elements that share an element's leading digits, as far as can be expected: there are few runs of several then, and
// hardly any of more than MOST_TIED.
const float MOST_ALIKE = 0.25;

// Samples of the keys: where several of them are tied and out of order, runs are long, and so they are everywhere. Uniform
// keys have more than CHANCE_INVERSIONS hardly ever, however few they are. Samples take the place of counts that have been
// added up.
const uint MOST_SAMPLES = 64;
const uint CHANCE_INVERSIONS = 1;
const uint SAMPLES = COUNTS / KEY_WORDS < MOST_SAMPLES ? COUNTS / KEY_WORDS : MOST_SAMPLES;

shared uint leading_low;    // the lowest of the leading digits; PASSES where all digits are to be sorted by
shared uint leading_rounds; // passes over the leading digits
shared uint sampled_inversions;

// The digits that lead: as many as tell most keys apart; one invocation.
void find_leading(uint count) {
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
    leading_low = find_digits().count < rounds + 2 ? PASSES : low;
    leading_rounds = rounds;
}

KEY sample_at(uint index) {
    KEY key;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) KEY_WORD(key, word) = digit_count[index * KEY_WORDS + word];
    return key;
}

// Looks for samples that tell against the leading digits; all invocations, once counts have been added up.
void try_leading(uint count) {
    uint thread = gl_LocalInvocationIndex;
    barrier(); // the counts have been read
    if (thread == 0) {
        find_leading(count);
        sampled_inversions = 0;
    }
    barrier();
    // Where none lead, none are looked at.
    uint samples = leading_low < PASSES ? SAMPLES : 0;
    for (uint at = thread; at < samples; at += WORKGROUP_SIZE) {
        // In their order, and spread over all keys as far as these have as many.
        KEY key = load_key(PLACE_SOURCE, min(count / SAMPLES * at, count - 1));
        [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) digit_count[at * KEY_WORDS + word] = KEY_WORD(key, word);
    }
    barrier();
    uint low = leading_low < PASSES ? digit_shift(leading_low) : 0;
    uint against = 0;
    for (uint at = thread; at < samples; at += WORKGROUP_SIZE) {
        KEY key = sample_at(at);
        for (uint earlier = 0; earlier < at; earlier++) {
            KEY other = sample_at(earlier);
            if (is_tied(key, other, low) && precedes(key, other)) against++;
        }
    }
    if (against > 0) atomicAdd(sampled_inversions, against);
    barrier();
}

// Writes the routes of both phases, or of plain passes over all digits; one invocation.
void write_leading(uint count) {
    Digits digits = find_digits();
    uint low = leading_low, rounds = leading_rounds;
    if (low == PASSES || sampled_inversions > CHANCE_INVERSIONS) {
        write_routes(digits);
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
        uint between = in_place ? PLACE_TARGET : place_between(true, 0, digits.count);
        write_second_phase(digits, rounds, in_place ? PLACE_TARGET : PLACE_SOURCE,
                           in_place ? values_from : values_source, between, between, in_place);
        write_arguments(ARGUMENTS_BOUNDS, parts_of(count, push.segment));
    }
}
