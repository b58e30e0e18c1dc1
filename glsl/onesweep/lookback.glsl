// Decoupled look-back (Merrill and Garland 2016): the elements with each digit in all earlier tiles. It takes constant memory,
// and waits for no workgroup: a tile whose counts are late is recounted (after Smith, Levien and Owens, "Decoupled
// Fallback").
//
// Tiles use the slots of a ring in turn. Each word of a slot holds an epoch, which is how often the ring had wrapped, in all
// passes so far, when the word was written. So no reader takes the word of another tile for the one that it needs. If the word
// of a tile is overwritten or has not been written, a reader recounts the tile. This is rare, because a ring has more slots than
// a device runs workgroups. Anchors limit it: the sums of a few tiles, evenly spread, stay until the end of the pass.
//
// A slot has two words for each digit:
//   first   epoch, 13 bits | state, 2 bits | low bits of the count, 17 bits
//   second  epoch + 1, 17 bits | high bits of a sum, 15 bits
//
// A word may be of any earlier round of the pass, of any round of the pass before, or of a later round than that of its
// reader, because workgroups may be interrupted for any time. So the host allows a pass 2^12 rounds, and no epoch is ambiguous.

const uint SLOTS = 1u << RING_BITS;
const uint HIGH_BITS = 15;
const uint EPOCH_SHIFT = LOW_BITS + 2;

const uint COUNT_OF_TILE = 1; // states
const uint SUM_TO_TILE = 2;   // of the tile and all earlier ones

struct Ring {
    uint first_epoch;  // of the pass
    uint anchor_epoch; // the number of earlier passes
    uint table_at;     // its first word of the table
};

struct Slot {
    uint at;    // first word of digit 0 in the table; the second words are RADIX words behind
    uint epoch;
};

struct Entry {
    bool is_there;
    bool is_sum; // the count is of the tile and all earlier ones
    uint count;
};

// A pass has as many rounds as its last tile needs. With one more, a word of the pass before could be taken for one of today's at
// the most tiles that the host allows. tests/device/fallback.rs has the same in Rust.
Ring ring_of(uint tiles, uint table_at) { return Ring(push.pass * (((tiles - 1) >> RING_BITS) + 1), push.pass, table_at); }

Slot slot_of(Ring ring, uint tile) {
    return Slot(ring.table_at + (tile & (SLOTS - 1)) * (SLOT_WORDS * RADIX), ring.first_epoch + (tile >> RING_BITS));
}

// Every (1 << anchor_shift)-th tile except the first is an anchor. Anchors are behind the ring.
bool is_anchor(uint tile) { return tile > 0 && (tile & ((1u << PUSH_ANCHOR_SHIFT) - 1)) == 0; }
Slot anchor_of(Ring ring, uint tile) {
    return Slot(ring.table_at + (SLOTS - 1 + (tile >> PUSH_ANCHOR_SHIFT)) * (SLOT_WORDS * RADIX), ring.anchor_epoch);
}

uint table_load(uint at) {
    return atomicLoad(table[at], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void table_store(uint at, uint word) {
    atomicStore(table[at], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

uint first_word(Slot slot, uint state, uint count) { return slot.epoch << EPOCH_SHIFT | state << LOW_BITS | count; }

void store_sum(Slot slot, uint digit, uint sum) {
    table_store(slot.at + RADIX + digit, (slot.epoch + 1) << HIGH_BITS | sum >> LOW_BITS);
    table_store(slot.at + digit, first_word(slot, SUM_TO_TILE, sum & ((1u << LOW_BITS) - 1)));
}

// What the words of a slot say of a digit.
Entry entry_of(Slot slot, uvec2 words) {
    // Without the epoch, words are small.
    uint low = words.x ^ slot.epoch << EPOCH_SHIFT, high = words.y ^ (slot.epoch + 1) << HIGH_BITS;
    bool is_count = low >> LOW_BITS == COUNT_OF_TILE;
    bool is_sum = low >> LOW_BITS == SUM_TO_TILE && high >> HIGH_BITS == 0;
    return Entry(is_count || is_sum, is_sum, (low & ((1u << LOW_BITS) - 1)) + (is_sum ? high << LOW_BITS : 0));
}

uvec2 load_words(Slot slot, uint digit) {
    uint low = table_load(slot.at + digit);
    return uvec2(low, table_load(slot.at + RADIX + digit));
}

// Fault injection for tests.
bool publishes(uint tile) { return WITHHOLD == 0 || tile % WITHHOLD != 0; }

void publish_counts(Ring ring, uint tile, uint counts[OWN_DIGITS]) {
    if (publishes(tile)) {
        Slot slot = slot_of(ring, tile);
        [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
            if (owns_digit(turn)) table_store(slot.at + own_digit(turn), first_word(slot, COUNT_OF_TILE, counts[turn]));
        }
    }
}

void publish_sum(Ring ring, uint tile, uint digit, uint sum) {
    if (publishes(tile)) {
        store_sum(slot_of(ring, tile), digit, sum);
        if (is_anchor(tile)) store_sum(anchor_of(ring, tile), digit, sum);
    }
}

// How far a tile has come with each own digit: `next` is one more than the tile to read next, or 0 once `before` has the elements of all
// earlier tiles. With LOOKS_AHEAD a sum is published then; otherwise all wait for the slowest one, which takes fewer registers.
void begin_look_back(Ring ring, uint tile, uint counts[OWN_DIGITS], out uint next[OWN_DIGITS], out uint before[OWN_DIGITS]) {
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        before[turn] = 0;
        next[turn] = tile;
        if (LOOKS_AHEAD != 0 && tile == 0 && owns_digit(turn)) publish_sum(ring, tile, own_digit(turn), counts[turn]);
    }
}

// Adds the count of the next tile, or the sum up to it.
void take_entry(Ring ring, uint tile, uint digit, Entry entry, uint own, inout uint next, inout uint before) {
    before += entry.count;
    next = entry.is_sum ? 0 : next - 1;
    if (LOOKS_AHEAD != 0 && next == 0) publish_sum(ring, tile, digit, before + own);
}

// Counts a late tile from the input, and publishes the counts in its place. Its own workgroup may publish at the same time:
// either the same counts or already its sums. Sums, and words of later rounds of the ring, are larger numbers and stay. Where
// the 13 bits of the epoch begin anew, the word of another round may be lost instead, so that its readers recount that tile too.
void recount(Ring ring, Pass pass, uint late, out uint counts[OWN_DIGITS]) {
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) bin_target[own_digit(turn)] = 0;
    }
    barrier();
    count_again(pass, late);
    barrier();
    Slot slot = slot_of(ring, late);
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) {
            counts[turn] = bin_target[bin_at(own_digit(turn), pass.digit)];
            atomicMax(table[slot.at + own_digit(turn)], first_word(slot, COUNT_OF_TILE, counts[turn]));
        }
    }
}

// Goes on until `before` is complete for each own digit. It uses `bin_target`, which is still free.
void look_back(
    Ring ring, Pass pass, uint tile, uint counts[OWN_DIGITS], inout uint next[OWN_DIGITS], inout uint before[OWN_DIGITS]
) {
    uint anchored = 0; // one more than the tile that is read from its anchor
    // Each round handles one blocking tile, by its anchor or by a recount. A workgroup that was late while all others ended recounts at
    // most the tiles between two anchors. If no predecessor publishes anything, it recounts all `tile` of them, and loads the keys of
    // each once: tests/simulated/recount.rs counts both.
    [[dont_unroll]] for (uint rounds = 0; rounds <= 2 * tile; rounds++) {
        if (thread() == 0) blocking_tile = 0;
        barrier();
        [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
            if (owns_digit(turn)) {
                uint polls = 0;
                while (next[turn] != 0 && polls < POLLS) {
                    uint earlier = next[turn] - 1;
                    Slot slot = slot_of(ring, earlier);
                    if (next[turn] == anchored) slot = anchor_of(ring, earlier);
                    Entry entry = entry_of(slot, load_words(slot, own_digit(turn)));
                    polls++;
                    if (entry.is_there) {
                        take_entry(ring, tile, own_digit(turn), entry, counts[turn], next[turn], before[turn]);
                        polls = 0;
                    }
                }
                if (next[turn] != 0) atomicMax(blocking_tile, next[turn]);
            }
        }
        barrier();
        uint blocking = uniform_in_subgroup(blocking_tile);
        if (blocking == 0) break;
        if (is_anchor(blocking - 1) && anchored != blocking) {
            anchored = blocking;
        } else {
            uint counted[OWN_DIGITS];
            recount(ring, pass, blocking - 1, counted);
            [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
                if (owns_digit(turn) && next[turn] == blocking) {
                    take_entry(ring, tile, own_digit(turn), Entry(true, false, counted[turn]), counts[turn], next[turn], before[turn]);
                }
            }
        }
        barrier();
    }
}

// Publishes the sums that have not been yet.
void publish_sums(Ring ring, uint tile, uint counts[OWN_DIGITS], uint before[OWN_DIGITS]) {
    if (LOOKS_AHEAD == 0) {
        [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
            if (owns_digit(turn)) publish_sum(ring, tile, own_digit(turn), before[turn] + counts[turn]);
        }
    }
}
