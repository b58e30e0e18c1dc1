// What the last workgroup of a row does at a level: it extends the prefix of the row by a digit, and lets the next level look at it if
// too many elements are left.

// Takes the counts of a row, and leaves zeros for the next level. Finds the digit of the last of the first elements.
void find_digit(Row row, uint wanted) {
    uint bins = bins_at(row.number);
    if (gl_LocalInvocationIndex == 0) {
        found_bin = 0;
        found_before = 0;
        found_count = 0;
    }
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < TOP_BINS; at += WORKGROUP_SIZE) {
        bin_count[at] = atomicAnd(counters[bins + at], 0);
    }
    barrier();
    [[dont_unroll]] for (uint chunk = gl_LocalInvocationIndex; chunk < CHUNKS; chunk += WORKGROUP_SIZE) {
        uint sum = 0;
        [[dont_unroll]] for (uint i = 0; i < HISTOGRAM_CHUNK; i++) sum += bin_count[chunk * HISTOGRAM_CHUNK + i];
        chunk_sum[chunk] = sum;
    }
    barrier();
    [[dont_unroll]] for (uint chunk = gl_LocalInvocationIndex; chunk < CHUNKS; chunk += WORKGROUP_SIZE) {
        uint before = 0;
        [[dont_unroll]] for (uint earlier = 0; earlier < chunk; earlier++) before += chunk_sum[earlier];
        // One chunk has it.
        if (before < wanted && wanted <= before + chunk_sum[chunk]) {
            uint bin = chunk * HISTOGRAM_CHUNK;
            while (before + bin_count[bin] < wanted) before += bin_count[bin++];
            found_bin = bin;
            found_before = before;
            found_count = bin_count[bin];
        }
    }
    barrier();
}

// A level that a row asks for covers the tiles of all rows, of which others leave.
void decide(Row row, uint number, Level level, uint tiles) {
    uint before = counters[found_at(row.number, number) + TOP_BEFORE], found = found_at(row.number, number + 1);
    find_digit(row, min(TOP, row.elements) - before);
    if (gl_LocalInvocationIndex != 0) return;
    Digit digit = level.digit;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        uint bits = key_word(row.prefix, word);
        if (!level.of_index && word == digit.word) bits |= found_bin << digit.low;
        // It may go on in the next word.
        if (!level.of_index && word == digit.word + 1 && digit.low + digit.width > 32) bits |= found_bin >> (32 - digit.low);
        counters[found + word] = bits;
    }
    counters[found + TOP_INDEX] = level.of_index ? row.prefix_index | found_bin << digit.low : 0;
    before += found_before;
    counters[found + TOP_BEFORE] = before;
    counters[state_at(row.number) + TOP_LEVEL] = number + 1;
    if (before + found_count > most_survivors()) {
        counters[found + TOP_NEXT] = number + 1;
        ask_for(number + 1, tiles);
    }
}
