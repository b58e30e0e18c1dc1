// The lanes of a subgroup whose keys have the same bin, by each ranking method. Bits beyond the subgroup are unknown.

const uint MASK_WORDS = RANK_METHOD == RANK_MATCH ? (SUBGROUP_SIZE + 31) / 32 : 0; // of a match mask, behind the counters

uint mask_of(uint bin, uint word) { return SUBGROUPS * RADIX + (subgroup_index() * RADIX + bin) * MASK_WORDS + word; }

void clear_masks(uint bin) {
    [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) pool[mask_of(bin, word)] = 0;
}

bool is_last(uvec4 peers) { return is_empty(peers & lanes_above()); }

// One ballot for each bit. A mask from the bit's sign replaces a select. `one` is unknown to compilers, which would turn the
// test of a bit into a shift.
uvec4 peers_by_ballot(uint bin, uint one) {
    uvec4 others = uvec4(0);
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; bit++) {
        if (BALLOT == BALLOT_BY_MASK) {
            bool set = (bin & (one << bit)) != 0;
            others |= subgroup_ballot(set) ^ uvec4(set ? ~0u : 0u);
        } else {
            int set = bitfieldExtract(int(bin), int(bit), 1);
            others |= subgroup_ballot(set != 0) ^ uvec4(set);
        }
    }
    return ~others;
}

// By masks in shared memory. The lanes set bits of a mask, and its last lane clears the mask.
uvec4 peers_by_match(uint bin) {
    uvec4 peers = uvec4(0);
    atomicOr(pool[mask_of(bin, lane() / 32)], 1u << (lane() & 31));
    subgroup_sync();
    [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) peers[word] = load_counter(mask_of(bin, word));
    subgroup_sync();
    if (is_last(peers)) {
        [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) store_counter(mask_of(bin, word), 0);
    }
    return peers;
}

// By comparing the bin with that of each lane, for small subgroups, whose lanes have one word.
uvec4 peers_by_comparison(uint bin) {
    uint peers = 0;
    [[unroll]] for (uint other = 0; other < SUBGROUP_SIZE; other++) {
        // Compilers select the bits by a mask, in one instruction.
        peers = bitfieldInsert(peers, subgroup_shuffle(bin, other) == bin ? ~0u : 0u, int(other), 1);
    }
    return uvec4(peers, 0, 0, 0);
}

uvec4 peers_of(uint bin, uint one) {
    return RANK_METHOD == RANK_MATCH ? peers_by_match(bin)
        : RANK_METHOD == RANK_COMPARE ? peers_by_comparison(bin) : peers_by_ballot(bin, one);
}
