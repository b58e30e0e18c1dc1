// Chained scan with decoupled look-back (Merrill and Garland 2016) in constant memory, with a fallback that recounts a tile
// whose count is late (after the idea of Smith, Levien and Owens, "Decoupled Fallback").
//
// Tiles use the slots of a ring in turn: tile t uses slot t modulo SLOTS. Each word holds an epoch, the number of rounds of
// the ring in all passes so far. So a later tile can overwrite a word, but no reader takes it for an earlier tile's. No
// workgroup waits for a slot: if a tile's words are late or lost, the workgroup that needs them recounts the tile. This is
// rare, as a ring has more slots than a device runs workgroups. Anchors limit it: the sums of a few tiles, evenly spread,
// stay until the end of the pass.
//
// A slot has two words for each digit. The first word holds the low bits of a count, the second word the high bits of a sum:
//
//   first   epoch, 13 bits | state, 2 bits | low bits of the count, 17 bits
//   second  epoch + 1, 17 bits | high bits of the count, 15 bits
//
// A word may be of any earlier round of the pass, of any round of the pass before, or of a later round than that of its
// reader, as workgroups may be interrupted for any time. So the host allows a pass 2^12 rounds, and no epoch is ambiguous.

layout(set = 0, binding = BINDING_TABLE) coherent buffer Table { uint table[]; };

const uint HIGH_BITS = 15;
const uint LOW_MASK = (1u << LOW_BITS) - 1;
const uint COUNT_OF_TILE = 1; // states
const uint COUNT_OF_ALL = 2;  // of the tile and all earlier tiles
const uint EPOCH_SHIFT = LOW_BITS + 2;

const uint SLOTS = 1u << RING_BITS;

uint tile;        // of this workgroup
uint first_epoch; // of the pass

// The first word of a digit in a slot, or of a tile. The second word is RADIX words behind it.
uint words_at(uint slot, uint digit) { return slot * (SLOT_WORDS * RADIX) + digit; }
uint slot_of(uint tile) { return tile & (SLOTS - 1); }
uint words_of(uint tile, uint digit) { return words_at(slot_of(tile), digit); }
uint epoch_of(uint tile) { return first_epoch + (tile >> RING_BITS); }

// Anchors: the sums of every (1 << anchor_shift)-th tile except the first, in slots behind the ring. Their epoch is the
// number of earlier passes.
bool is_anchor(uint tile) { return tile > 0 && (tile & ((1u << push.anchor_shift) - 1)) == 0; }
uint anchor_of(uint tile) { return SLOTS - 1 + (tile >> push.anchor_shift); }
uint anchor_epoch() { return push.pass; }

uint table_load(uint at) {
    return atomicLoad(table[at], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void table_store(uint at, uint word) {
    atomicStore(table[at], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Fault injection for tests.
bool publishes(uint tile) { return WITHHOLD == 0 || tile % WITHHOLD != 0; }

uint count_word(uint epoch, uint state, uint count) { return epoch << EPOCH_SHIFT | state << LOW_BITS | count; }

void store_sum(uint at, uint epoch, uint sum) {
    table_store(at + RADIX, (epoch + 1) << HIGH_BITS | sum >> LOW_BITS);
    table_store(at, count_word(epoch, COUNT_OF_ALL, sum & LOW_MASK));
}

// Publishes the tile's own count.
void publish_count(uint turn) {
    befores[turn] = 0;
    if (publishes(tile)) {
        table_store(words_of(tile, own_digit(turn)), count_word(epoch_of(tile), COUNT_OF_TILE, totals[turn]));
    }
}

// Keys that a recount counts in a turn of its loop. Some drivers limit the turns of an invocation's loops, and private
// blocks are large; src/shape/turns.rs relies on this number.
const uint RECOUNTED = PRIVATE != 0 ? RECOUNTED_AT_ONCE : 1;

uint next[DIGITS_EACH]; // for each own digit, one more than the tile to read next; 0 when the sum is complete

// Counts the digits of a late tile from the input, adds the counts that are next, and publishes all of them for that tile.
// The tile's own workgroup may publish at the same time: either the same counts or already its sums. Its sums, and words of
// later rounds of the ring, are larger numbers and stay. Where the 13 bits of the epoch begin anew, the word of another
// round may be lost instead, so that its readers recount that tile too.
void recount(uint late) {
    EACH_DIGIT digit_base[own_bits(turn)] = 0;
    barrier();
    uint start = late * tile_size(), elements = tile_size(); // a tile before this one is full
    [[dont_unroll]] for (uint first = thread_index(); first < elements; first += RECOUNTED * WORKGROUP_SIZE) {
        [[unroll]] for (uint at = 0; at < RECOUNTED; at++) {
            uint i = first + at * WORKGROUP_SIZE;
            if (i < elements) atomicAdd(digit_base[digit_bits_of(take_key(start + i))], 1);
        }
    }
    barrier();
    EACH_DIGIT {
        uint counted = digit_base[own_bits(turn)];
        atomicMax(table[words_of(late, own_digit(turn))], count_word(epoch_of(late), COUNT_OF_TILE, counted));
        if (next[turn] == late + 1) {
            befores[turn] += counted;
            next[turn] = late;
        }
    }
}

shared uint blocking_tile; // one more than its index, 0 for none

// Adds the elements of each own digit in all earlier tiles to `befores`. It uses digit_base, which is still free.
void look_back() {
    uint anchored = 0; // one more than the tile that is read from its anchor
    EACH_DIGIT next[turn] = tile;
    // Each turn handles one blocking tile, by its anchor or by a recount.
    [[dont_unroll]] for (uint turns = 0; turns <= 2 * tile; turns++) {
        if (thread_index() == 0) blocking_tile = 0;
        barrier();
        EACH_DIGIT {
            uint polls = 0;
            while (next[turn] != 0 && polls < POLLS) {
                uint before = next[turn] - 1;
                bool is_anchored = next[turn] == anchored;
                uint slot = is_anchored ? anchor_of(before) : slot_of(before);
                uint epoch = is_anchored ? anchor_epoch() : epoch_of(before), at = words_at(slot, own_digit(turn));
                // Without the epoch, words are small.
                uint low = table_load(at) ^ epoch << EPOCH_SHIFT, high = table_load(at + RADIX) ^ (epoch + 1) << HIGH_BITS;
                bool is_all = low >> LOW_BITS == COUNT_OF_ALL;
                polls++;
                if (low >> LOW_BITS == COUNT_OF_TILE || is_all && high >> HIGH_BITS == 0) {
                    befores[turn] += low & LOW_MASK;
                    if (is_all) befores[turn] += high << LOW_BITS;
                    next[turn] = is_all ? 0 : before;
                    polls = 0;
                }
            }
            if (next[turn] != 0) atomicMax(blocking_tile, next[turn]);
        }
        barrier();
        uint blocking = uniform_in_subgroup(blocking_tile);
        if (blocking == 0) break;
        if (is_anchor(blocking - 1) && anchored != blocking) anchored = blocking;
        else recount(blocking - 1);
        barrier();
    }
}

// Publishes the sums up to this tile, and sets the targets of its elements.
void publish_sums(uint elements) {
    EACH_DIGIT {
        uint digit = own_digit(turn), sum = befores[turn] + totals[turn];
        if (publishes(tile)) {
            store_sum(words_of(tile, digit), epoch_of(tile), sum);
            if (is_anchor(tile)) store_sum(words_at(anchor_of(tile), digit), anchor_epoch(), sum);
        }
        set_base(turn, counters[COUNTERS_HISTOGRAM + route_digit(active_route) * RADIX + digit] + befores[turn], elements);
    }
}
