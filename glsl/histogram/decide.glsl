// What the last workgroup of the histogram does: it turns the counts of the digits of every pass into the start of each digit, and
// writes the routes.

// The word of the sample, if there was one; other workgroups may find keys outside meanwhile.
uint finish_word() {
    uint word = 0;
    if (FINISHES != 0) word = atomicLoad(counters[COUNTERS_FINISH], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    return word;
}

// The total of a counter of a workgroup. Totals are indexed by digits.
uint total_of(Sort sort, uint finish, uint counter) {
    return sort.counters_at + COUNTERS_HISTOGRAM + digit_of(counter, counted_digit(window_low(), finish, counter / RADIX));
}

// Writes the exclusive prefix sums of each pass's counts. An invocation adds up a chunk of counts, then the sums of earlier
// chunks.
void write_starts(Sort sort) {
    [[dont_unroll]] for (uint chunk = gl_LocalInvocationIndex; chunk < CHUNKS; chunk += WORKGROUP_SIZE) {
        uint sum = 0;
        [[dont_unroll]] for (uint i = 0; i < CHUNK; i++) sum += bin_count[chunk * CHUNK + i];
        chunk_sum[chunk] = sum;
    }
    barrier();
    [[dont_unroll]] for (uint chunk = gl_LocalInvocationIndex; chunk < CHUNKS; chunk += WORKGROUP_SIZE) {
        uint before = 0;
        for (uint earlier = chunk / (RADIX / CHUNK) * (RADIX / CHUNK); earlier < chunk; earlier++) {
            before += chunk_sum[earlier];
        }
        for (uint at = chunk * CHUNK; at < (chunk + 1) * CHUNK; at++) {
            counters[sort.counters_at + COUNTERS_HISTOGRAM + at] = before;
            before += bin_count[at];
        }
    }
}

const uint LOWER_LEADING = FINISHES != 0 ? PASSES : 0; // the digit

// Sorts by the leading digits alone, and with a finish, if a sample said so, no key is outside of them, no run is long and more digits
// are needed.
void choose_leading_digits() {
    uint finish = finish_word(), running = 0;
    [[dont_unroll]] for (uint digit = 0; digit < PASSES; digit++) running += needed[digit];
    bool finishes = running > 2 && finish != 0 && (finish & FINISH_OUTSIDE) == 0 && needed[LOWER_LEADING] != 0;
    if (!finishes) atomicAnd(counters[COUNTERS_FINISH], 0);
    [[dont_unroll]] for (uint digit = 0; digit < DIGITS; digit++) {
        if (finishes || digit >= PASSES) needed[digit] = uint(digit >= PASSES && finishes);
    }
}

void decide(Sort sort) {
    // An unordered pass would not keep the order that is there.
    bool in_order = UNORDERED == 0 && atomicLoad(counters[sort.counters_at + COUNTERS_OUT_OF_ORDER], gl_ScopeDevice,
                                                 gl_StorageSemanticsNone, gl_SemanticsRelaxed) == 0;
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < DIGITS; at += WORKGROUP_SIZE) needed[at] = uint(!in_order);
    barrier();
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < COUNTERS; at += WORKGROUP_SIZE) {
        bin_count[at] = atomicLoad(counters[sort.counters_at + COUNTERS_HISTOGRAM + at], gl_ScopeDevice, gl_StorageSemanticsNone,
                                   gl_SemanticsRelaxed);
        if (bin_count[at] == sort.count) needed[at / RADIX] = 0;
        // All of them may be one run.
        bool long_run = FINISHES != 0 && at / RADIX == LOWER_LEADING && bin_count[at] > sort.count / FINISH_SHARE;
        if (long_run) atomicAnd(needed[LOWER_LEADING], 0);
    }
    barrier();
    write_starts(sort);
    if (gl_LocalInvocationIndex == 0) {
        if (FINISHES != 0) choose_leading_digits();
        write_routes(sort.counters_at + COUNTERS_ROUTES);
    }
}
