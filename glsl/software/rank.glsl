// Ranking a block: the elements that a workgroup holds at a time.

#define OWN_COUNTS RADIX
#include "software/counters.glsl"

const uint BLOCK = WORKGROUP_SIZE * ITEMS;

// Items of an invocation, for so many elements.
uint items_of(uint elements) { return min(parts_of(elements, WORKGROUP_SIZE), ITEMS); }

uint counts[OWN_DIGITS]; // elements of each own digit

// Adds up the private counters, in which each invocation has counted its elements: fills `counts`, and sets each counter to the
// rank of its next element among those of its digit, or with `in_block` in the sorted block.
void scan_own_counts(Digit digit, bool in_block) {
    uint start = 0;
    // Unrolled, this loop around a loop takes software drivers five times as long to compile.
    [[dont_unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        for (uint at = 0; at < WORKGROUP_SIZE; at++) {
            uint bin = (turn * WORKGROUP_SIZE + at) ^ digit.flip;
            if (bin < RADIX) {
                uint counted = own_count[bin];
                uint before = subgroupExclusiveAdd(counted);
                uint all = subgroupBroadcast(before + counted, SUBGROUP_SIZE - 1);
                own_count[bin] = before + (in_block ? start : 0);
                if (lane() == at) counts[turn] = all;
                start += all;
            }
        }
    }
}
