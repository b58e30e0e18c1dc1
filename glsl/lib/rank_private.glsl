// Ranking a block by private counters of each invocation. A workgroup is one subgroup. An invocation's elements are
// neighbours and are ranked in turn, so they keep their order.

#define OWN_COUNTS RADIX
#include "lib/own.glsl"

// Counts the block's elements by digit: fills `totals`, and sets each private counter to the rank of its next element: in
// the sorted block if it is staged, else among the elements of its digit. Those of a tile are counted as it is taken.
void count_block() {
#if STAGED
    clear_own_counts();
    EACH_ITEM own_count[digit_bits_of(keys[item])]++;
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
uint ranks[ITEMS]; // in the sorted block

uint rank_of(uint item) { return ranks[item]; }

void rank_block(bool ordered) {
    EACH_ITEM ranks[item] = own_count[digit_bits_of(keys[item])]++;
}
#endif
