// Ranking a block by counters in shared memory, one for each digit and subgroup, at the start of the pool.
//
// First the subgroups count their shares of the block. The counts are turned into the places at which each subgroup's elements
// of each digit start in the sorted block. Then an element's place is its counter, and the number of lanes below with the same
// digit. The structure is that of the prototype of a lean pass: see docs/ALGORITHMS.md.
//
// Where only subgroup barriers order loads and stores, they are atomic: race detectors do not take these into account.

const uint COUNTERS = SUBGROUPS * RADIX;
// Match masks of a digit, for which there are words behind the counters.
const uint MASK_WORDS = RANK_METHOD == RANK_MATCH ? (SUBGROUP_SIZE + 31) / 32 : 0;

shared uint subgroup_sums[DIGITS_EACH * SUBGROUPS];
shared uint skew; // one of the constants below

const uint SKEW_NONE = 0;
const uint SKEW_SOME = 1;   // an eighth of the block's elements have the same digit
const uint SKEW_SINGLE = 2; // all of them have

uint first_counter; // of the subgroup

uint counter_of(uint bits) { return first_counter | bits; }

uint mask_of(uint bits, uint word) { return COUNTERS + (first_counter + bits) * MASK_WORDS + word; }

// Zero when the bits of a digit may as well be taken from the key: all digits have as many.
const uint ODD_DIGITS = KEY_WORDS - 1 + (WINDOW_BITS ^ (PASSES * RADIX_BITS));

// Lanes whose digit is equal: from one ballot per bit. What a select would do is done by a mask from the bit's sign.
uvec4 peers_by_ballot(KEY key, uint bits) {
    bool by_key = BALLOT == BALLOT_OF_KEYS && ODD_DIGITS == 0;
    uint source = by_key ? KEY_WORD(key, 0) : bits, low = by_key ? digit_low : 0;
    uvec4 others = uvec4(0);
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; bit++) {
        if (BALLOT == BALLOT_BY_MASK) {
            bool set = (bits & (one << bit)) != 0;
            others |= subgroup_ballot(set) ^ uvec4(set ? ~0u : 0u);
        } else {
            int set = bitfieldExtract(int(source), int(low + bit), 1);
            others |= subgroup_ballot(set != 0) ^ uvec4(set);
        }
    }
    return existing_lanes(~others);
}

// The same from masks in shared memory, which the lanes set and the last of them clears.
uvec4 peers_by_match(uint bits) {
    uint lane = subgroup_lane();
    uvec4 peers = uvec4(0);
    atomicOr(pool[mask_of(bits, lane / 32)], 1u << (lane & 31));
    subgroup_sync();
    [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) {
        peers[word] = atomicLoad(pool[mask_of(bits, word)], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    subgroup_sync();
    if (is_empty(peers & lanes_above())) {
        [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) {
            atomicStore(pool[mask_of(bits, word)], 0u, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        }
    }
    return peers;
}

// Lanes whose digit is equal. One method has modules of its own, as it needs an extension.
uvec4 peers_of(KEY key, uint bits) {
#if PARTITIONED
    return subgroupPartitionNV(bits);
#else
    return RANK_METHOD == RANK_MATCH ? peers_by_match(bits) : peers_by_ballot(key, bits);
#endif
}

// The next place of an element with this key's digit, behind those of the lanes below; the counter moves past all lanes.
uint place_in_order(KEY key) {
    uint bits = digit_bits_of(key), at = counter_of(bits);
    uint place;
    if (LEADER_ADDS != 0) {
        uvec4 peers = peers_of(key, bits);
        uint leader = highest_lane(peers);
        uint below = count_lanes(peers & lanes_below());
        uint start = 0;
        if (subgroup_lane() == leader) start = atomicAdd(pool[at], below + 1);
        place = subgroup_shuffle(start, leader) + below;
    } else {
        uint start = atomicLoad(pool[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        uvec4 peers = peers_of(key, bits);
        place = start + count_lanes(peers & lanes_below());
        subgroup_sync(); // all have read the counter
        if (is_empty(peers & lanes_above())) {
            atomicStore(pool[at], place + 1, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        }
    }
    subgroup_sync(); // the next element may be another lane's
    return place;
}

uint digit_starts[DIGITS_EACH];       // where the own digits start in the sorted block

// The sum of so many of the subgroups' sums from `first` on.
uint sum_before(uint first, uint sums) {
    uint sum = 0;
#if EMULATED
    for (uint at = 0; at < sums; at++) sum += subgroup_sums[first + at];
#else
    [[unroll]] for (uint at = 0; at < SUBGROUPS; at += SUBGROUP_SIZE) {
        sum += subgroupAdd(at + subgroup_lane() < sums ? subgroup_sums[first + at + subgroup_lane()] : 0);
    }
#endif
    return sum;
}

// Counts the block's elements by their digit, and turns the counts into starts: fills `totals`, `digit_starts` and `skew`.
void count_block() {
    first_counter = subgroup_index() * RADIX;
    // All that a subgroup touches from here to the barrier are counters of its own.
    [[unroll]] for (uint at = 0; at < RADIX; at += SUBGROUP_SIZE) {
        uint bits = at + subgroup_lane();
        if (RADIX % SUBGROUP_SIZE == 0 || bits < RADIX) {
            atomicStore(pool[counter_of(bits)], 0u, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
            [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) pool[mask_of(bits, word)] = 0;
        }
    }
    if (thread_index() == 0) skew = SKEW_NONE;
    subgroup_sync();
    EACH_ITEM atomicAdd(pool[counter_of(digit_bits_of(keys[item]))], 1);
    barrier();
    [[unroll]] for (uint turn = 0; turn < DIGITS_EACH; turn++) {
        // Emulated subgroups need all invocations.
        if (EMULATED != 0 || has_digit(turn)) {
            uint total = 0;
            if (EMULATED == 0 || has_digit(turn)) {
                [[unroll]] for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
                    total += pool[subgroup * RADIX + own_bits(turn)];
                }
                totals[turn] = total;
                publish_count(turn);
                if (total == block_places()) skew = SKEW_SINGLE;
                else if (UNORDERED != 0 && total > block_places() / 8) skew = SKEW_SOME;
            }
            uint sum = subgroup_inclusive_add(total);
            digit_starts[turn] = sum - total;
            if (subgroup_lane() == SUBGROUP_SIZE - 1) subgroup_sums[turn * SUBGROUPS + subgroup_index()] = sum;
        }
    }
    barrier();
    uint earlier = 0; // elements of the digits of earlier turns
    EACH_DIGIT {
        digit_starts[turn] += earlier + sum_before(turn * SUBGROUPS, subgroup_index());
        if (turn + 1 < DIGITS_EACH) earlier += sum_before(turn * SUBGROUPS, SUBGROUPS);
        uint start = digit_starts[turn];
        [[unroll]] for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
            uint counted = pool[subgroup * RADIX + own_bits(turn)];
            pool[subgroup * RADIX + own_bits(turn)] = start;
            start += counted;
        }
    }
    barrier();
}

PER_ITEM(places); // of the elements in the sorted block

uint place_of(uint item) { return NUMBER_OF(places, item); }

// Finds the places of a block that has been counted, of equal digits in any order unless they are to be `ordered`.
void rank_block(bool ordered) {
    if (UNORDERED == 0 || ordered || uniform_in_subgroup(skew) != SKEW_NONE) {
        EACH_ITEM { SET_NUMBER(places, item, place_in_order(keys[item])); }
    } else {
        // One counter per digit, on which equal digits wait for each other.
        EACH_ITEM { SET_NUMBER(places, item, atomicAdd(pool[counter_of(digit_bits_of(keys[item]))], 1)); }
    }
    barrier(); // the pool is free
}
