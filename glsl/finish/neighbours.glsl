// Ordering the keys of a window within their buckets.

const uint LOOKS_EVERY = 16; // rounds

void order(inout Element first, inout Element second) {
    if (precedes(second.key, second.origin, first.key, first.origin)) {
        Element held = first;
        first = second;
        second = held;
    }
}

// Whether all elements are in order, if each last one of an invocation is not behind the first one of the next.
bool are_in_order(Element elements[ITEMS]) {
    if (gl_LocalInvocationIndex == 0) out_of_order = 0;
    barrier();
    bool ordered = true;
    [[unroll]] for (uint item = 1; item < ITEMS; item++) {
        if (precedes(elements[item].key, elements[item].origin, elements[item - 1].key, elements[item - 1].origin)) ordered = false;
    }
    if (!ordered) atomicOr(out_of_order, 1);
    barrier();
    return out_of_order == 0;
}

// Orders elements that are not farther from their places than a bucket is long, by comparing neighbours again and again (odd-even
// transposition): an invocation has neighbouring ones. With an even number of them, each round is two steps. If there are many rounds,
// as with many equal keys, most are not needed.
void order_neighbours(uint longest) {
    uint thread = gl_LocalInvocationIndex;
    Element elements[ITEMS], other;
    [[unroll]] for (uint item = 0; item < ITEMS; item++) elements[item] = pooled(thread * ITEMS + item);
    barrier(); // the first and last of each invocation take their place
    uint rounds = ITEMS % 2 == 0 ? (longest + 1) / 2 : longest - 1;
    [[dont_unroll]] for (uint round = 0; round < rounds; round++) {
        [[unroll]] for (uint item = 0; item + 1 < ITEMS; item += 2) order(elements[item], elements[item + 1]);
        [[unroll]] for (uint item = 1; item + 1 < ITEMS; item += 2) order(elements[item], elements[item + 1]);
        put(thread, elements[0]);
        put(WORKGROUP_SIZE + thread, elements[ITEMS - 1]);
        barrier();
        if (thread + 1 < WORKGROUP_SIZE) {
            other = pooled(thread + 1);
            order(elements[ITEMS - 1], other);
        }
        if (thread > 0) {
            other = pooled(WORKGROUP_SIZE + thread - 1);
            order(other, elements[0]);
        }
        barrier();
        if (round % LOOKS_EVERY == LOOKS_EVERY - 1 && are_in_order(elements)) break;
    }
    [[unroll]] for (uint item = 0; item < ITEMS; item++) put(thread * ITEMS + item, elements[item]);
    barrier();
}
