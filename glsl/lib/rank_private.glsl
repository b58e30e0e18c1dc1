// Ranking a block by private counters of each invocation. A workgroup is one subgroup. An invocation's elements are
// neighbours and are ranked in turn, so they keep their order.

#define OWN_COUNTS RADIX
#include "lib/own.glsl"

// Adds up the private counters, in which each invocation has counted its elements: fills `totals`, and sets each counter to the
// rank of its next element: in the sorted block if it is staged, else among the elements of its digit.
void count_block() {
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
