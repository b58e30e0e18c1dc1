// Ranking a block by private counters of each invocation. A workgroup is one subgroup. An invocation's elements are
// neighbours and are ranked in turn, so they keep their order.

#define OWN_COUNTS RADIX
#include "lib/own.glsl"

#if !STAGED
KEY key_in_place(uint item);
#ifdef VISITED_KEYS
bool takes_visited_keys();
KEY visited_in_place(uint item);
KEY stored_in_place(uint item);
#endif

// Each loop loads the keys again, as an invocation has more keys than registers.
#define LOAD_AGAIN keys[item] = key_in_place(item)
#else
#define LOAD_AGAIN

uint ranks[ITEMS]; // in the sorted block

uint rank_of(uint item) { return ranks[item]; }
#endif

// Counts the block's elements by digit: fills `totals`, and sets each private counter to the rank of its next element: in
// the sorted block if it is staged, else among the elements of its digit.
void count_block() {
    clear_own_counts();
#if defined(VISITED_KEYS) && !STAGED
    // One of the loops has no turns: software drivers execute a branch that no lane takes, but not the body of such a loop.
    bool visits = takes_visited_keys();
    for (uint item = 0; item < (visits ? block_items() : 0); item++) {
        keys[item] = visited_in_place(item);
        own_count[digit_bits_of(keys[item])]++;
    }
    for (uint item = 0; item < (visits ? 0 : block_items()); item++) {
        keys[item] = stored_in_place(item);
        own_count[digit_bits_of(keys[item])]++;
    }
#else
    EACH_ITEM {
        LOAD_AGAIN;
        own_count[digit_bits_of(keys[item])]++;
    }
#endif
    uint start = 0;
    // Unrolled, this loop around a loop takes software drivers five times as long to compile.
    [[dont_unroll]] for (uint turn = 0; turn < DIGITS_EACH; turn++) {
        for (uint lane = 0; lane < WORKGROUP_SIZE; lane++) {
            uint bits = (turn * WORKGROUP_SIZE + lane) ^ digit_flip;
            if (bits < RADIX) {
                uint counted = own_count[bits];
                uint before = subgroupExclusiveAdd(counted);
                uint all = subgroupBroadcast(before + counted, SUBGROUP_SIZE - 1);
                own_count[bits] = before + (STAGED != 0 ? start : 0);
                if (subgroup_lane() == lane) totals[turn] = all;
                start += all;
            }
        }
        if (has_digit(turn)) publish_count(turn);
    }
}

#if STAGED
void rank_block() {
    EACH_ITEM ranks[item] = own_count[digit_bits_of(keys[item])]++;
}
#endif
