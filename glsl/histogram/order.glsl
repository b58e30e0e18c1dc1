// Whether the keys are in order already, so that no digit is needed.
//
// An invocation looks at keys and their successors until a greater one comes first. A workgroup that starts once another one has met
// such a key does not look, so that keys in any other order cost little.

const uint COUNTERS_OUT_OF_ORDER = COUNTERS_ROUTES + MAX_PASSES + 1; // the word after the routes; not 0 once a key is out of order

// The bits of a key that the window selects.
KEY window_mask(uint window) {
    KEY mask = KEY(0);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        uint low = max(window, 32 * word) - 32 * word, end = min(window + WINDOW_BITS, 32 * word + 32);
        if (end > 32 * word + low) set_key_word(mask, word, ~0u >> (32 - (end - 32 * word - low)) << low);
    }
    return mask;
}

// A key as a number that ascends with the order of the request.
KEY ascending(KEY key, KEY flips, KEY mask) { return (flip_by_sign(key) ^ flips) & mask; }

// Looks at the keys of a part of a sort, each beside its successor. All invocations call it, and pass its barriers.
void look_for_order(Sort sort, uint start, uint elements) {
    uint known_at = sort.counters_at + COUNTERS_OUT_OF_ORDER;
    if (gl_LocalInvocationIndex == 0) {
        out_of_order = atomicLoad(counters[known_at], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    barrier();
    KEY flips = all_flips(), mask = window_mask(window_low());
    uint pairs = min(elements, sort.first + sort.count - 1 - start), at = gl_LocalInvocationIndex; // the last key has no successor
    bool met = false, known = atomicOr(out_of_order, 0) != 0;
#if HAS_KEY_VECTORS
    uint vectors = known || start % KEYS_PER_VECTOR != 0 ? 0 : pairs / KEYS_PER_VECTOR;
    for (uint vector = at; vector < vectors && !met; vector += WORKGROUP_SIZE) {
        uvec4 words = keys_from.cells[start / KEYS_PER_VECTOR + vector];
        KEY last = ascending(given_key(start + (vector + 1) * KEYS_PER_VECTOR), flips, mask);
        [[unroll]] for (uint key = KEYS_PER_VECTOR; key > 0; key--) {
            KEY before = ascending(key_in_word(words[(key - 1) / KEYS_PER_WORD], (key - 1) % KEYS_PER_WORD), flips, mask);
            met = met || precedes(last, 0, before, 0);
            last = before;
        }
    }
    at += vectors * KEYS_PER_VECTOR;
#endif
    for (; at < pairs && !met && !known; at += WORKGROUP_SIZE) {
        KEY key = given_key(start + at), next = given_key(start + at + 1);
        met = precedes(ascending(next, flips, mask), 0, ascending(key, flips, mask), 0);
    }
    if (met) atomicOr(out_of_order, 1);
    barrier();
    if (gl_LocalInvocationIndex == 0 && out_of_order != 0) atomicOr(counters[known_at], 1);
}
