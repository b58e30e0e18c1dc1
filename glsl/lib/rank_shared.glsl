// Ranking a block by counters in shared memory.
//
// The rank of an element is the number of earlier elements with the same digit: first within its subgroup's share of the
// block, then within the block. There is a counter per digit and subgroup at the start of the pool. Two of them share a word where shared memory is short (PACKED); no block
// has more elements than half a word counts then.

const uint COUNTER_WORDS = RADIX >> PACKED; // of a subgroup
const uint COUNTER_MASK = PACKED != 0 ? 0xFFFFu : ~0u;
// Match masks of a digit.
const uint MASK_WORDS = RANK_METHOD == RANK_MATCH ? (SUBGROUP_SIZE + 31) / 32 : 0;
const uint RANK_WORDS = SUBGROUPS * (COUNTER_WORDS + RADIX * MASK_WORDS);

uint counter_word(uint subgroup, uint digit) { return subgroup * COUNTER_WORDS + (digit >> PACKED); }
uint counter_shift(uint digit) { return PACKED != 0 ? 16 * (digit & 1) : 0; }

uint mask_word(uint digit, uint word) {
    return SUBGROUPS * COUNTER_WORDS + (subgroup_index() * RADIX + digit) * MASK_WORDS + word;
}

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

// One method has modules of its own, as it needs an extension.
uint rank_element(uint digit) {
    uint rank;
#if PARTITIONED
    rank = rank_among(subgroupPartitionNV(digit), digit);
#else
    if (RANK_METHOD == RANK_MATCH) rank = rank_among(peers_by_match(digit), digit);
    else rank = rank_among(peers_by_ballot(digit), digit);
#endif
    return rank;
}

// A rank that does not keep the order of elements with an equal digit.
uint rank_unordered(uint digit) {
    uint shift = counter_shift(digit);
    return atomicAdd(pool[counter_word(subgroup_index(), digit)], 1u << shift) >> shift & COUNTER_MASK;
}

uint ranks[ITEMS]; // of each element: its place in the sorted block

// Ranks the block's `elements` by their digit, those with an equal digit in any order unless they are to be `ordered`.
// Fills `ranks`, `digit_count` and `digit_start`.
void rank_block(uint elements, uint pass, bool ordered) {
    for (uint i = thread_index(); i < RANK_WORDS; i += WORKGROUP_SIZE) pool[i] = 0;
    barrier();
    EACH_ITEM {
        uint digit = item_digit(item, elements, pass);
        ranks[item] = 0;
        if (UNORDERED == 0 || ordered) ranks[item] = rank_element(digit);
        else if (block_index(item) < elements) ranks[item] = rank_unordered(digit);
    }
    barrier();
    for (uint column = thread_index(); column < COUNTER_WORDS; column += WORKGROUP_SIZE) {
        uint sum = 0;
        for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
            uint counter = subgroup * COUNTER_WORDS + column;
            uint count = pool[counter];
            pool[counter] = sum;
            sum += count;
        }
        for (uint part = 0; part <= PACKED; part++) {
            uint digit = (column << PACKED) + part;
            digit_count[digit] = sum >> 16 * part & COUNTER_MASK;
            digit_scan[digit] = digit_count[digit];
        }
    }
    scan_digits();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) digit_start[digit] = digit_scan[digit];
    EACH_ITEM {
        uint digit = item_digit(item, elements, pass);
        ranks[item] += digit_scan[digit] + counted_before(digit);
        // Out of order, lanes past the end could come between elements of the last digit.
        if (UNORDERED != 0 && !ordered && block_index(item) >= elements) ranks[item] = block_index(item);
    }
    barrier(); // the pool is free, and digit_start complete
}
