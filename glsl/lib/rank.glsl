// Ranking: how many earlier elements of this subgroup's share of the block have the same digit. There is a counter per
// digit and subgroup at the start of the pool. Two of them share a word where shared memory is short (PACKED); no block
// has more elements than half a word counts then.

const uint COUNTER_WORDS = RADIX >> PACKED; // of a subgroup
const uint COUNTER_MASK = PACKED != 0 ? 0xFFFFu : ~0u;
// Match masks of a digit; the method for small subgroups has them in its counters.
const uint MASK_WORDS = RANK_METHOD == RANK_MATCH ? (SUBGROUP_SIZE + 31) / 32 : 0;
const uint RANK_WORDS = SUBGROUPS * (COUNTER_WORDS + RADIX * MASK_WORDS);

uint counter_word(uint subgroup, uint digit) { return subgroup * COUNTER_WORDS + (digit >> PACKED); }
uint counter_shift(uint digit) { return PACKED != 0 ? 16 * (digit & 1) : 0; }

uint mask_word(uint digit, uint word) {
    return SUBGROUPS * COUNTER_WORDS + (subgroup_index() * RADIX + digit) * MASK_WORDS + word;
}

// The count in a word of the counters when all elements are ranked: of one digit, or of two at once.
uint counted(uint word) { return RANK_METHOD == RANK_MATCH_SMALL ? word >> 16 : word; }

// Elements of the digit in the shares before this subgroup's; once rank_block has summed up the counters.
uint counted_before(uint digit) {
    return pool[counter_word(subgroup_index(), digit)] >> counter_shift(digit) & COUNTER_MASK;
}

// Lanes whose digit is equal: from one ballot per bit.
uvec4 peers_by_ballot(uint digit) {
    uvec4 peers = uvec4(~0u);
    for (uint bit = 0; bit < RADIX_BITS; bit++) {
        bool set = (digit >> bit & 1) != 0;
        uvec4 voted = subgroup_ballot(set);
        peers &= set ? voted : ~voted;
    }
    if (SUBGROUP_SIZE < 32) peers.x &= (1u << (SUBGROUP_SIZE & 31)) - 1;
    if (SUBGROUP_SIZE < 128) peers.zw = uvec2(0);
    if (SUBGROUP_SIZE < 64) peers.y = 0;
    return peers;
}

// The same from masks in shared memory, which the lanes set and the first of them clears. Loads and stores are atomic
// because race detectors do not take subgroup barriers into account.
uvec4 peers_by_match(uint digit) {
    uint lane = subgroup_lane();
    uvec4 peers = uvec4(0);
    atomicOr(pool[mask_word(digit, lane / 32)], 1u << (lane & 31));
    subgroup_sync();
    for (uint word = 0; word < MASK_WORDS; word++) {
        peers[word] = atomicLoad(pool[mask_word(digit, word)], gl_ScopeWorkgroup, gl_StorageSemanticsNone,
                                 gl_SemanticsRelaxed);
    }
    subgroup_sync();
    if (lane == lowest_lane(peers)) {
        for (uint word = 0; word < MASK_WORDS; word++) {
            atomicStore(pool[mask_word(digit, word)], 0u, gl_ScopeWorkgroup, gl_StorageSemanticsNone,
                        gl_SemanticsRelaxed);
        }
    }
    return peers;
}

// The first of the lanes with an equal digit advances the counter for all.
uint rank_among(uvec4 peers, uint digit) {
    uint leader = lowest_lane(peers);
    uint start = 0;
    if (subgroup_lane() == leader) {
        uint added = count_lanes(peers) << counter_shift(digit);
        start = atomicAdd(pool[counter_word(subgroup_index(), digit)], added) >> counter_shift(digit) & COUNTER_MASK;
    }
    uint rank = subgroup_shuffle(start, leader) + count_lanes(peers & lanes_below(subgroup_lane()));
    subgroup_sync(); // the next element's leader may be another lane
    return rank;
}

// For subgroups of up to 16 lanes: the counter's low half collects a bit from each lane with this digit, its high half
// holds the count so far; the last of those lanes adds them to the count and clears the bits.
uint rank_by_small_match(uint digit) {
    uint counter = counter_word(subgroup_index(), digit);
    uint lane = subgroup_lane();
    atomicOr(pool[counter], 1u << lane);
    subgroup_sync();
    uint word = atomicLoad(pool[counter], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    subgroup_sync();
    uint peers = word & 0xFFFFu;
    uint before = word >> 16;
    if (uint(findMSB(peers)) == lane) {
        uint counted_now = (before + uint(bitCount(peers))) << 16;
        atomicStore(pool[counter], counted_now, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    subgroup_sync();
    return before + uint(bitCount(peers & ((1u << lane) - 1)));
}

// One method has modules of its own, as it needs an extension.
uint rank_element(uint digit) {
    uint rank;
#if PARTITIONED
    rank = rank_among(subgroupPartitionNV(digit), digit);
#else
    if (RANK_METHOD == RANK_MATCH_SMALL) rank = rank_by_small_match(digit);
    else if (RANK_METHOD == RANK_MATCH) rank = rank_among(peers_by_match(digit), digit);
    else rank = rank_among(peers_by_ballot(digit), digit);
#endif
    return rank;
}

// A rank that does not keep the order of elements with an equal digit.
uint rank_unordered(uint digit) {
    uint shift = RANK_METHOD == RANK_MATCH_SMALL ? 16 : counter_shift(digit);
    return atomicAdd(pool[counter_word(subgroup_index(), digit)], 1u << shift) >> shift & COUNTER_MASK;
}
