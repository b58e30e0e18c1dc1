// Ordering the keys of a window within their buckets.

const uint LOOKS_EVERY = 16; // rounds

void order(inout KEY first, inout uint first_origin, inout KEY second, inout uint second_origin) {
    if (precedes(second, second_origin, first, first_origin)) {
        KEY key = first;
        uint origin = first_origin;
        first = second;
        first_origin = second_origin;
        second = key;
        second_origin = origin;
    }
}

// Where an invocation shows its first key, or its last, to its neighbours.
uint edge_at(uint thread, uint side, uint word) { return (2 * word + side) * WORKGROUP_SIZE + thread; }

void show_edge(uint side, KEY key, uint origin) {
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) pool[edge_at(gl_LocalInvocationIndex, side, word)] = key_word(key, word);
    if (VALUE_BITS > 0) pool[edge_at(gl_LocalInvocationIndex, side, KEY_WORDS)] = origin;
}

KEY edge_of(uint thread, uint side, out uint origin) {
    KEY key;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) set_key_word(key, word, pool[edge_at(thread, side, word)]);
    origin = VALUE_BITS > 0 ? pool[edge_at(thread, side, KEY_WORDS)] : 0;
    return key;
}

// Whether all keys are in order, those of all invocations.
bool are_in_order(KEY keys[ITEMS], uint origin[ITEMS]) {
    uint thread = gl_LocalInvocationIndex, other_origin;
    if (thread == 0) out_of_order = 0;
    show_edge(0, keys[0], origin[0]);
    barrier();
    bool ordered = true;
    [[unroll]] for (uint item = 0; item + 1 < ITEMS; item++) {
        if (precedes(keys[item + 1], origin[item + 1], keys[item], origin[item])) ordered = false;
    }
    if (thread + 1 < WORKGROUP_SIZE) {
        KEY other = edge_of(thread + 1, 0, other_origin);
        if (precedes(other, other_origin, keys[ITEMS - 1], origin[ITEMS - 1])) ordered = false;
    }
    if (!ordered) atomicOr(out_of_order, 1);
    barrier();
    return out_of_order == 0;
}

// Orders keys that are not farther from their places than a bucket is long, by comparing neighbours again and again (odd-even
// transposition): an invocation has neighbouring ones. With an even number of them, each round is two steps. If there are many rounds,
// as with many equal keys, most are not needed.
void order_neighbours(uint longest) {
    uint thread = gl_LocalInvocationIndex, origin[ITEMS], other_origin;
    KEY keys[ITEMS], other;
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        keys[item] = pooled(thread * ITEMS + item);
        origin[item] = origin_at(thread * ITEMS + item);
    }
    barrier(); // edges take their place
    uint rounds = ITEMS % 2 == 0 ? (longest + 1) / 2 : longest - 1;
    [[dont_unroll]] for (uint round = 0; round < rounds; round++) {
        [[unroll]] for (uint item = 0; item + 1 < ITEMS; item += 2) order(keys[item], origin[item], keys[item + 1], origin[item + 1]);
        [[unroll]] for (uint item = 1; item + 1 < ITEMS; item += 2) order(keys[item], origin[item], keys[item + 1], origin[item + 1]);
        show_edge(0, keys[0], origin[0]);
        show_edge(1, keys[ITEMS - 1], origin[ITEMS - 1]);
        barrier();
        if (thread + 1 < WORKGROUP_SIZE) {
            other = edge_of(thread + 1, 0, other_origin);
            order(keys[ITEMS - 1], origin[ITEMS - 1], other, other_origin);
        }
        if (thread > 0) {
            other = edge_of(thread - 1, 1, other_origin);
            order(other, other_origin, keys[0], origin[0]);
        }
        barrier();
        if (round % LOOKS_EVERY == LOOKS_EVERY - 1 && are_in_order(keys, origin)) break;
    }
    [[unroll]] for (uint item = 0; item < ITEMS; item++) put(thread * ITEMS + item, keys[item], origin[item]);
    barrier();
}
