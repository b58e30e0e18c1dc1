// Putting the keys of a window in the order of their buckets.

// The place of a word of counters: a word of padding behind every 32 of them, against bank conflicts.
uint padded(uint at) { return at + (at >> 5); }

// The bucket of a key with this top word.
uint bucket_of(uint top, uint lowest, uint shift) { return min(top - lowest >> shift, BUCKETS - 1); }

// Turns the counts of buckets into the places of their first elements.
void add_up_buckets() {
    uint thread = gl_LocalInvocationIndex, first = thread * GROUPED, end = min(first + GROUPED, WORKGROUP_SIZE);
    uint sum = 0, before = 0; // two, one in each half
    [[unroll]] for (uint word = 0; word < ITEMS; word++) sum += pool[padded(thread * ITEMS + word)];
    sums[padded(thread)] = (sum & 0xFFFF) + (sum >> 16);
    barrier();
    sum = 0;
    for (uint at = first; at < end; at++) sum += sums[padded(at)];
    if (first < end) group_sums[thread] = sum;
    barrier();
    if (first < end) {
        for (uint group = 0; group < thread; group++) before += group_sums[group];
    }
    for (uint at = first; at < end; at++) {
        sum = sums[padded(at)];
        sums[padded(at)] = before;
        before += sum;
    }
    barrier();
    before = sums[padded(thread)] * 0x10001;
    [[unroll]] for (uint word = 0; word < ITEMS; word++) {
        uint at = padded(thread * ITEMS + word), counted = pool[at];
        pool[at] = before + (counted << 16);
        before += counted + (counted << 16 | counted >> 16);
    }
    barrier();
}

// An element of a window: its key, as a number that ascends, and its place there before, by which equal keys are ordered. Without values
// there is no such place, as equal keys are the same in any order.
struct Element {
    KEY key;
    uint origin;
};

Element pooled(uint place) {
    Element element;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) set_key_word(element.key, word, pool[word * STRIDE + padded(place)]);
    element.origin = VALUE_BITS > 0 ? origins[padded(place)] : 0;
    return element;
}

void put(uint place, Element element) {
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) pool[word * STRIDE + padded(place)] = key_word(element.key, word);
    if (VALUE_BITS > 0) origins[padded(place)] = element.origin;
}

// Puts the keys of the runs to the places of their buckets, and keys behind all others to the rest. Other elements of the window count
// 0, which takes no branch, and their places are not used.
void put_by_buckets(uint start, uint begin, uint elements, uint tops[ITEMS], uint low) {
    uint thread = gl_LocalInvocationIndex, places[ITEMS], skipped = begin - start, most = 0;
    [[unroll]] for (uint item = 0; item < ITEMS; item++) pool[item * WORKGROUP_SIZE + thread] = 0;
    for (uint word = WINDOW + thread; word < STRIDE; word += WORKGROUP_SIZE) pool[word] = 0;
    if (thread == 0) fullest = 0;
    barrier();
    uint lowest = first_top >> low << low, highest = last_top | (1u << low) - 1;
    uint shift = uint(max(findMSB(highest - lowest) + 1 - findMSB(BUCKETS), 0));
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint bucket = bucket_of(tops[item], lowest, shift), half_shift = bucket << 4 & 16;
        uint counts = item * WORKGROUP_SIZE + thread - skipped < elements ? 1 << half_shift : 0;
        places[item] = atomicAdd(pool[padded(bucket >> 1)], counts) >> half_shift & 0xFFFF;
        most = max(most, places[item]);
    }
    if (most > 0) atomicMax(fullest, most);
    barrier();
    add_up_buckets();
    KEY keys[ITEMS];
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint origin = item * WORKGROUP_SIZE + thread, bucket = bucket_of(tops[item], lowest, shift);
        places[item] += pool[padded(bucket >> 1)] >> (bucket << 4 & 16) & 0xFFFF;
        keys[item] = KEY(0);
        if (KEY_WORDS > 1 && origin - skipped < elements) keys[item] = ascending_key(read_key_back(start + origin));
        set_key_word(keys[item], TOP_WORD, tops[item]);
    }
    barrier(); // the counters have been read
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint origin = item * WORKGROUP_SIZE + thread;
        if (origin - skipped < elements) put(places[item], Element(keys[item], origin));
        if (origin >= elements) put(origin, Element(KEY(~0u), ~0u));
    }
    barrier();
}
