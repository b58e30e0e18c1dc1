// Chained scan with decoupled look-back (Merrill and Garland 2016) over one word per tile and digit, with a fallback
// that recounts a tile whose word does not come (after the idea of Smith, Levien and Owens, "Decoupled Fallback").
//
// A word is its state in the top two bits and a count below. The two states that mean something in a pass are the two
// that mean nothing in the next one that runs, so the table is cleared once per sort. Every tile but the last is touched
// in every pass that runs: by itself, or by a successor that needs it.
//
// Counts beyond what a word holds are sorted in portions, one after the other with a table cleared for each. Tiles are
// counted from the portion's first, and so are the sums in the words; the last tile leaves where the next portion starts.

layout(set = 0, binding = BINDING_TABLE) coherent buffer Table { uint table[]; };

const uint COUNT_MASK = (1u << STATUS_COUNT_BITS) - 1;

uint round() { return push.portion_tiles == 0 ? route_round(active_route) : 0; }

uint state_partial() { return ((2 * round() + 1) & 3) << STATUS_COUNT_BITS; }   // count of this tile
uint state_inclusive() { return ((2 * round() + 2) & 3) << STATUS_COUNT_BITS; } // of this and all before

uint table_load(uint tile, uint digit) {
    return atomicLoad(table[tile * RADIX + digit], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void table_store(uint tile, uint digit, uint word) {
    atomicStore(table[tile * RADIX + digit], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

bool is_published(uint word) {
    uint state = word & ~COUNT_MASK;
    return state == state_partial() || state == state_inclusive();
}

// Fault injection for tests.
bool publishes(uint tile) { return WITHHOLD == 0 || tile % WITHHOLD != 0; }

// Index of the tile in the whole sort.
uint whole_tile(uint tile) { return push.portion * push.portion_tiles + tile; }

// Where the counters hold the starts of this portion's digits, or of the next one's.
uint starts_of(uint portion) {
    return COUNTERS_HISTOGRAM + ((portion & 1) == 0 ? push.pass : PASSES) * RADIX;
}

shared uint tile_count[RADIX]; // elements of the tile per digit

// Publishes this tile's own counts. Tile 0 starts the chain, so its words are inclusive at once.
void publish_counts(uint tile) {
    uint state = tile == 0 ? state_inclusive() : state_partial();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        if (publishes(tile)) table_store(tile, digit, state | tile_count[digit]);
    }
}

#define RECOUNT(at) atomicAdd(digit_scan[digit_at(start + i + at * WORKGROUP_SIZE)], 1);

// Counts the digits of the blocking `tile` from the input and publishes them in its stead. What the tile's own
// workgroup may publish at the same time is the same number, or the inclusive one, which is left in place.
void recount(uint tile) {
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) digit_scan[digit] = 0;
    barrier();
    uint start = whole_tile(tile) * push.part;
    uint elements = elements_from(start, push.part);
    uint i = thread_index();
    // RECOUNTED_AT_ONCE a turn, as some drivers let an invocation's loops have so many turns only: src/turns.rs counts on it.
    for (; i + (RECOUNTED_AT_ONCE - 1) * WORKGROUP_SIZE < elements; i += RECOUNTED_AT_ONCE * WORKGROUP_SIZE) {
        RECOUNT(0) RECOUNT(1) RECOUNT(2) RECOUNT(3) RECOUNT(4) RECOUNT(5) RECOUNT(6) RECOUNT(7)
    }
    for (; i < elements; i += WORKGROUP_SIZE) RECOUNT(0)
    barrier();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        uint seen = table_load(tile, digit);
        if (!is_published(seen)) {
            uint word = (tile == 0 ? state_inclusive() : state_partial()) | digit_scan[digit];
            atomicCompSwap(table[tile * RADIX + digit], seen, word);
        }
    }
    barrier();
}

// MAX_LOOK_BACK_WORDS times, without a loop, of which each turn would count: see src/turns.rs.
#define EACH_WORD(DO) DO(0u) DO(1u) DO(2u) DO(3u) DO(4u) DO(5u) DO(6u) DO(7u)
#define LOAD_WORD(at) if (at < LOOK_BACK_WORDS) words[at] = at < from ? table_load(from - 1 - at, digit) : 0;
#define TAKE_WORD(at) \
    if (at < LOOK_BACK_WORDS && next[i] == from - at && at < from && is_published(words[at])) { \
        before[i] += words[at] & COUNT_MASK; \
        next[i] = (words[at] & ~COUNT_MASK) == state_inclusive() ? 0 : next[i] - 1; \
    }

shared uint blocking_tile; // one more than its index, 0 for none

// Fills digit_base with the elements of each digit in the tiles before `tile`. Needs digit_scan.
void look_back(uint tile) {
    const uint share = (RADIX + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;
    uint before[share]; // elements of the digit seen so far
    uint next[share];   // one more than the tile to read next, 0 when the chain's start is reached
    for (uint i = 0; i < share; i++) {
        before[i] = 0;
        next[i] = tile;
    }
    // Each round but the last publishes a tile that had blocked this one, so tile + 1 rounds suffice.
    for (uint round = 0; round <= tile; round++) {
        if (thread_index() == 0) blocking_tile = 0;
        barrier();
        for (uint i = 0; i < share; i++) {
            uint digit = thread_index() + i * WORKGROUP_SIZE;
            uint polls = 0;
            while (digit < RADIX && next[i] != 0 && polls < POLLS) {
                // Several words are on their way at once; what lies behind one that is not there yet does not count.
                uint from = next[i];
                uint words[MAX_LOOK_BACK_WORDS];
                EACH_WORD(LOAD_WORD)
                EACH_WORD(TAKE_WORD)
                polls = next[i] == from ? polls + 1 : 0;
            }
            if (digit < RADIX && next[i] != 0) atomicMax(blocking_tile, next[i]);
        }
        barrier();
        uint blocking = blocking_tile;
        barrier();
        if (blocking == 0) break;
        recount(blocking - 1);
    }
    for (uint i = 0; i < share; i++) {
        uint digit = thread_index() + i * WORKGROUP_SIZE;
        if (digit < RADIX) digit_base[digit] = before[i];
    }
}

// Publishes how far the digits have come, and moves digit_base from the portion's to the whole sort's places.
void publish_sums(uint tile, bool last) {
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        uint before = tile == 0 ? 0 : digit_base[digit];
        uint sum = before + tile_count[digit];
        if (tile > 0 && publishes(tile)) table_store(tile, digit, state_inclusive() | sum);
        uint start = counters[starts_of(push.portion) + digit];
        if (last && push.portion_tiles != 0) counters[starts_of(push.portion + 1) + digit] = start + sum;
        digit_base[digit] = start + before;
    }
}
