// Ranking: how many earlier elements of this subgroup's share of the block have the same digit. Each method keeps one
// counter per digit and subgroup in the pool, reached by `rank_counter`, and may pack it in its own way.

uint rank_counter(uint subgroup, uint digit) { return subgroup * RADIX + digit; }

uint counted(uint word) { return RANK_METHOD == RANK_MATCH ? word >> 16 : word; }

// One ballot per digit bit finds the lanes with an equal digit; their first lane advances the counter for all.
uint rank_by_ballot(uint digit) {
    uvec4 peers = uvec4(~0u);
    for (uint bit = 0; bit < RADIX_BITS; bit++) {
        bool set = (digit >> bit & 1) != 0;
        uvec4 voted = subgroup_ballot(set);
        peers &= set ? voted : ~voted;
    }
    if (SUBGROUP_SIZE < 32) peers.x &= (1u << (SUBGROUP_SIZE & 31)) - 1;
    if (SUBGROUP_SIZE < 128) peers.zw = uvec2(0);
    if (SUBGROUP_SIZE < 64) peers.y = 0;

    uint leader = lowest_lane(peers);
    uint start = 0;
    if (subgroup_lane() == leader) {
        start = atomicAdd(pool[rank_counter(subgroup_index(), digit)], count_lanes(peers));
    }
    uint rank = subgroup_shuffle(start, leader) + count_lanes(peers & lanes_below(subgroup_lane()));
    subgroup_sync(); // the next element's leader may be another lane
    return rank;
}

// For subgroups of up to 16 lanes: the counter's low half collects a bit from each lane with this digit, its high half
// holds the count so far; the last of those lanes adds them to the count and clears the bits. Loads and stores are atomic
// because race detectors do not take subgroup barriers into account.
uint rank_by_match(uint digit) {
    uint counter = rank_counter(subgroup_index(), digit);
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

uint rank_element(uint digit) {
    return RANK_METHOD == RANK_MATCH ? rank_by_match(digit) : rank_by_ballot(digit);
}
