// Look-back while keys are ranked: the words of a predecessor are loaded before some keys are ranked, and looked at behind them, so that
// ranking hides the time of the loads. What is not there by then is left to look_back, which waits.

// Keys that are ranked between two steps: in order, and by one atomic each.
const uint AHEAD_IN_ORDER = 4;
const uint AHEAD_UNORDERED = 5;

// A step, for each own digit whose sum is not complete: looks at the words of a predecessor that an earlier step has loaded, and loads
// those of the next one. The first step only loads, and the last one only looks.
void step_ahead(
    Ring ring, uint tile, const bool looks, const bool loads, uint counts[OWN_DIGITS], inout uvec2 words[OWN_DIGITS],
    inout uint next[OWN_DIGITS], inout uint before[OWN_DIGITS]
) {
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn) && next[turn] != 0) {
            uint digit = own_digit(turn);
            if (looks) {
                Entry entry = entry_of(slot_of(ring, next[turn] - 1), words[turn]);
                if (entry.is_there) take_entry(ring, tile, digit, entry, counts[turn], next[turn], before[turn]);
            }
            // Behind a complete sum these are words of the first tile, at which nobody looks.
            if (loads) words[turn] = load_words(slot_of(ring, max(next[turn], 1) - 1), digit);
        }
    }
}

// Ranks the keys as rank_keys does.
void rank_keys_ahead(
    Ring ring, uint tile, KEY keys[ITEMS], Digit digit, bool in_order, uint one, uint counts[OWN_DIGITS], inout uint next[OWN_DIGITS],
    inout uint before[OWN_DIGITS], out uint ranks[RANK_WORDS]
) {
    uvec2 words[OWN_DIGITS];
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) words[turn] = uvec2(0);
    step_ahead(ring, tile, false, true, counts, words, next, before);
    if (UNORDERED == 0 || in_order) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            if (item > 0 && item % AHEAD_IN_ORDER == 0) step_ahead(ring, tile, true, true, counts, words, next, before);
            uint rank = rank_in_order(bin_of(keys[item], digit), one);
            SET_RANK(ranks, item, rank);
        }
    } else {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            if (item > 0 && item % AHEAD_UNORDERED == 0) step_ahead(ring, tile, true, true, counts, words, next, before);
            uint rank = atomicAdd(pool[counter_of(bin_of(keys[item], digit))], 1);
            SET_RANK(ranks, item, rank);
        }
    }
    step_ahead(ring, tile, true, false, counts, words, next, before);
    barrier(); // the counters have been read
}
