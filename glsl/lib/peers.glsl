// The lanes of a subgroup whose keys have the same digit, by each of the ranking methods.

// Words of a digit's match mask. The masks are behind the counters.
const uint MASK_WORDS = RANK_METHOD == RANK_MATCH ? (SUBGROUP_SIZE + 31) / 32 : 0;

uint mask_of(uint bits, uint word) { return COUNTERS + (first_counter + bits) * MASK_WORDS + word; }

// Lanes with an equal digit, from one ballot per bit; bits beyond the subgroup are unknown. A mask from the bit's sign replaces
// a select.
uvec4 peers_by_ballot(uint bits) {
    uvec4 others = uvec4(0);
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; bit++) {
        if (BALLOT == BALLOT_BY_MASK) {
            bool set = (bits & (one << bit)) != 0;
            others |= subgroup_ballot(set) ^ uvec4(set ? ~0u : 0u);
        } else {
            int set = bitfieldExtract(int(bits), int(bit), 1);
            others |= subgroup_ballot(set != 0) ^ uvec4(set);
        }
    }
    return ~others;
}

// The same from masks in shared memory. The lanes set bits of a mask, and its last lane clears the mask.
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

// The same by comparing the digit with that of each lane, for small subgroups, whose lanes have one word.
uvec4 peers_by_comparison(uint bits) {
    uint peers = 0;
    [[unroll]] for (uint lane = 0; lane < SUBGROUP_SIZE; lane++) {
        // Compilers select the bits by a mask, in one instruction.
        peers = bitfieldInsert(peers, subgroup_shuffle(bits, lane) == bits ? ~0u : 0u, int(lane), 1);
    }
    return uvec4(peers, 0, 0, 0);
}

// Lanes with an equal digit; bits beyond the subgroup are unknown. The partition method has modules of its own, as it needs an
// extension.
uvec4 peers_of(uint bits) {
#if PARTITIONED
    return subgroupPartitionNV(bits);
#else
    return RANK_METHOD == RANK_MATCH ? peers_by_match(bits)
        : RANK_METHOD == RANK_COMPARE ? peers_by_comparison(bits) : peers_by_ballot(bits);
#endif
}
