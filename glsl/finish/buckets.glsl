// Putting the keys of a window in the order of their buckets.

// The place of a word of counters: a word of padding behind every 32 of them, against bank conflicts.
uint padded(uint at) { return at + (at >> 5); }

// Turns the counts of buckets into the places of their first elements.
void add_up_buckets() {
    uint thread = gl_LocalInvocationIndex, sum = 0; // two, one in each half
    [[unroll]] for (uint word = 0; word < ITEMS; word++) sum += pool[padded(thread * ITEMS + word)];
    sums[thread] = (sum & 0xFFFF) + (sum >> 16);
    barrier();
    if (thread * GROUPED < WORKGROUP_SIZE) {
        uint grouped = 0;
        for (uint at = thread * GROUPED; at < min((thread + 1) * GROUPED, WORKGROUP_SIZE); at++) grouped += sums[at];
        group_sums[thread] = grouped;
    }
    barrier();
    uint before = 0;
    for (uint group = 0; group < thread / GROUPED; group++) before += group_sums[group];
    for (uint at = thread / GROUPED * GROUPED; at < thread; at++) before += sums[at];
    before *= 0x10001;
    [[unroll]] for (uint word = 0; word < ITEMS; word++) {
        uint at = padded(thread * ITEMS + word), counted = pool[at];
        pool[at] = before + (counted << 16);
        before += counted + (counted << 16 | counted >> 16);
    }
    barrier();
}

KEY pooled(uint place) {
    KEY key;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) set_key_word(key, word, pool[word * STRIDE + padded(place)]);
    return key;
}

// The origin of the key at a place, if there are values: equal keys alone are the same in any order.
uint origin_at(uint place) { return VALUE_BITS > 0 ? origins[padded(place)] : 0; }

void put(uint place, KEY key, uint origin) {
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) pool[word * STRIDE + padded(place)] = key_word(key, word);
    if (VALUE_BITS > 0) origins[padded(place)] = origin;
}

// Puts the keys of the runs to the places of their buckets, and keys behind all others to the rest.
void put_by_buckets(uint start, uint begin, uint elements, uint tops[ITEMS], uint low) {
    uint thread = gl_LocalInvocationIndex, places[ITEMS], skipped = begin - start;
    [[unroll]] for (uint word = 0; word < STRIDE; word += WORKGROUP_SIZE) {
        if (word + thread < STRIDE) pool[word + thread] = 0;
    }
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint at = item * WORKGROUP_SIZE + thread - skipped;
        if (at == 0) low_top = tops[item] >> low << low;
        if (at == elements - 1) high_top = tops[item] | (1u << low) - 1;
    }
    if (thread == 0) fullest = 1;
    barrier();
    uint lowest = low_top, shift = uint(max(findMSB(high_top - lowest) + 1 - findMSB(BUCKETS), 0)), most = 0;
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        places[item] = 0;
        if (item * WORKGROUP_SIZE + thread - skipped < elements) {
            uint bucket = min(tops[item] - lowest >> shift, BUCKETS - 1), half_shift = bucket << 4 & 16;
            places[item] = bitfieldExtract(atomicAdd(pool[padded(bucket >> 1)], 1u << half_shift), int(half_shift), 16);
            most = max(most, places[item] + 1);
        }
    }
    if (most > 1) atomicMax(fullest, most);
    barrier();
    add_up_buckets();
    KEY keys[ITEMS];
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint origin = item * WORKGROUP_SIZE + thread, bucket = min(tops[item] - lowest >> shift, BUCKETS - 1);
        places[item] += bitfieldExtract(pool[padded(bucket >> 1)], int(bucket << 4 & 16), 16);
        keys[item] = KEY(0);
        if (KEY_WORDS > 1 && origin - skipped < elements) keys[item] = ascending_key(read_key_back(start + origin));
        set_key_word(keys[item], TOP_WORD, tops[item]);
    }
    barrier(); // the counters have been read
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint origin = item * WORKGROUP_SIZE + thread;
        if (origin - skipped < elements) put(places[item], keys[item], origin);
        if (origin >= elements) put(origin, KEY(~0u), ~0u);
    }
    barrier();
}
