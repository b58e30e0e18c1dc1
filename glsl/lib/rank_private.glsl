// Ranking a block by counters of each invocation's own. A workgroup is one subgroup, and an invocation's elements are
// neighbours: ranked in turn, they keep their order.

#define OWN_COUNTS RADIX
#include "lib/own.glsl"

#if STAGED
uint ranks[ITEMS]; // of each element: its place in the sorted block
#endif

// Ranks the block's `elements` by their digit. Fills `digit_count`, and `ranks` and `digit_start` when elements are staged.
void rank_block(uint elements, uint pass, bool ordered) {
    clear_own_counts();
    EACH_ITEM own_count[item_digit(item, elements, pass)]++;
    barrier(); // what was known of another block has been read
    uint start = 0;
    for (uint digit = 0; digit < RADIX; digit++) {
        uint counted = own_count[digit];
        uint before = subgroupExclusiveAdd(counted);
        uint all = subgroupBroadcast(before + counted, SUBGROUP_SIZE - 1);
        own_count[digit] = before + (STAGED != 0 ? start : 0);
        if (subgroup_lane() == 0) {
            digit_count[digit] = all;
            if (STAGED != 0) digit_start[digit] = start;
        }
        start += all;
    }
#if STAGED
    EACH_ITEM ranks[item] = own_count[item_digit(item, elements, pass)]++;
#endif
    barrier(); // the pool is free, and digit_start complete
}

// Makes ready to ask for targets, once digit_base is complete.
void base_ranks() {
    barrier();
    for (uint digit = 0; digit < RADIX; digit++) own_count[digit] += digit_base[digit];
}

// Where a ranked item of a block that is not staged goes. Items are asked for in turn, each once.
uint item_target(uint item) { return own_count[input_digit(keys[item], push.pass)]++; }
