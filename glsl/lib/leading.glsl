// The choice of leading digits: the top digits that distinguish most keys. Ties are keys with equal leading digits. After
// the passes, `mend` sorts ties by insertion; if there are too many, a second phase of passes over all digits follows.

shared uint largest[PASSES];   // the largest count of a digit
shared uint leading_low;       // the lowest leading digit; PASSES if the sort goes over all digits
shared uint sampled_inversions;

// Samples of the keys are stored in `digit_count`, whose counts are no longer needed.
const uint SAMPLES = COUNTS / KEY_WORDS < MAX_SAMPLES ? COUNTS / KEY_WORDS : MAX_SAMPLES;

// Adds digits from the top until the expected number of other keys with the same digits is at most MAX_EXPECTED_TIES. One
// invocation calls it. In place the number of passes is even, so that elements end at the target.
void find_leading(uint count) {
    // For independent digits, that number is at most count times the product of the largest shares.
    float ties = float(count);
    uint low = PASSES, rounds = 0;
    while (low > 0 && (ties > MAX_EXPECTED_TIES || IN_PLACE != 0 && (rounds & 1) != 0)) {
        low--;
        if (needed[low] != 0) {
            ties *= float(largest[low]) / float(count);
            rounds++;
        }
    }
    leading_low = count_needed() < rounds + MIN_SAVED_PASSES ? PASSES : low;
}

KEY sample_at(uint index) {
    KEY key;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) KEY_WORD(key, word) = digit_count[index * KEY_WORDS + word];
    return key;
}

// Chooses the leading digits, and counts pairs of samples that are tied and out of order: several such pairs mean that long
// runs of ties are everywhere. Returns whether to go by leading digits. All invocations call it, once the counts are no
// longer needed.
bool try_leading(uint count) {
    uint thread = gl_LocalInvocationIndex;
    if (thread == 0) {
        find_leading(count);
        sampled_inversions = 0;
    }
    barrier();
    uint samples = leading_low < PASSES ? SAMPLES : 0;
    for (uint at = thread; at < samples; at += WORKGROUP_SIZE) {
        // Samples are evenly spread over the input.
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
    return leading_low < PASSES && sampled_inversions <= MAX_SAMPLED_INVERSIONS;
}

// Writes the routes of both phases. One invocation calls it.
void route_leading_digits(uint count) {
    uint rounds = 0;
    for (uint pass = leading_low; pass < PASSES; pass++) rounds += needed[pass];
    uint values = VALUE_BITS != 0 ? PLACE_TARGET : PLACE_NONE;
    write_leg(0, leading_low, PLACE_SOURCE, caller_values(), 0, false);
    // The move behind the passes gives the elements to the caller's code if ties are in order. Otherwise the second phase does.
    if (VISITED_OUTPUT != 0) {
        counters[COUNTERS_ROUTES + PASSES] = route(PLACE_TARGET, PLACE_NONE, values, PLACE_NONE, 0) | ROUTE_VISITS;
    }
    counters[COUNTERS_LEADING_LOW] = leading_low;
    counters[COUNTERS_TIES_ROUTE] = route(PLACE_TARGET, PLACE_ALTERNATE, values, values, 0);
    // Out of place, the second phase starts from the source.
    bool in_place = IN_PLACE != 0;
    write_leg(1, 0, in_place ? PLACE_TARGET : PLACE_SOURCE, in_place ? values : caller_values(), rounds, true);
    write_arguments(ARGUMENTS_TIES, parts_of(count, push.tie_part));
}
