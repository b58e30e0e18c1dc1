// What the last workgroup of the histogram does: it turns the counts of the digits of every pass into the start of each digit, and
// writes the routes.

// The total of a counter of a workgroup. Totals are indexed by digits.
uint total_of(Sort sort, uint counter) {
    Digit digit = counted_digit(window_low(), finish_word(), counter / RADIX);
    return sort.counters_at + COUNTERS_HISTOGRAM + digit_of(counter, digit);
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

#ifdef MAY_FINISH
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
#endif

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
#ifdef MAY_FINISH
        // All of them may be one run.
        if (FINISHES != 0 && at / RADIX == LOWER_LEADING && bin_count[at] > sort.count / FINISH_SHARE) {
            atomicAnd(needed[LOWER_LEADING], 0);
        }
#endif
    }
    barrier();
    write_starts(sort);
    if (gl_LocalInvocationIndex == 0) {
#ifdef MAY_FINISH
        if (FINISHES != 0) choose_leading_digits();
#endif
        write_routes(sort.counters_at + COUNTERS_ROUTES);
    }
}
