// The block of a workgroup: its places, and sorting it by a digit. With few elements, invocations leave out items.

struct Block {
    uint items; // of an invocation
    uint held;  // of an invocation of this subgroup: none if it rests
    uint size;  // keys, including those of lanes past the end
};

Block block_of(uint count) {
    uint each = parts_of(parts_of(count, WORKGROUP_SIZE), ITEMS_TOGETHER) * ITEMS_TOGETHER;
    uint items = min(each, ITEMS), busy = SUBGROUPS;
    if (SUBGROUPS_REST != 0) busy = parts_of(count, SUBGROUP_SIZE * items);
    // A ballot is uniform to every compiler.
    bool rests = SUBGROUPS_REST != 0 && is_empty(subgroup_ballot(subgroup_index() < busy));
    return Block(items, rests ? 0 : items, busy * (SUBGROUP_SIZE * items));
}

// Place in the block of an invocation's item.
uint place_of(Block block, uint item) {
    return subgroup_index() * (SUBGROUP_SIZE * block.items) + lane() + item * SUBGROUP_SIZE;
}

// Whether origins move with the keys.
#ifndef MOVES_ORIGINS
#define MOVES_ORIGINS (VALUE_WORDS > 0)
#endif

// Sorts the block by a digit. Each word goes through the pool, and comes back in stripes, in sorted order.
void sort_block(Block block, Digit digit, bool in_order, inout KEY keys[ITEMS], inout uint origins[RANK_WORDS]) {
    uint counts[OWN_DIGITS], starts[OWN_DIGITS], ranks[RANK_WORDS];
    count_keys(keys, block.held, digit, counts);
    scan_counts(counts, block.size, digit, starts);
    rank_keys(keys, block.held, digit, in_order || uniform_in_subgroup(largest_share) != SHARE_SMALL, 1, ranks);
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) {
        EACH_HELD(block.held) {
            pool[rank_in(ranks[word_of(item)], item)] = key_word(keys[item], word);
        }
        barrier();
        EACH_HELD(block.held) {
            set_key_word(keys[item], word, pool[place_of(block, item)]);
        }
        barrier();
    }
    if (MOVES_ORIGINS) {
        EACH_HELD(block.held) {
            pool[rank_in(ranks[word_of(item)], item)] = rank_in(origins[word_of(item)], item);
        }
        barrier();
        EACH_HELD(block.held) {
            SET_RANK(origins, item, pool[place_of(block, item)]);
        }
        barrier();
    }
}
