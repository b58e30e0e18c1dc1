// Ranking a block by counters in shared memory, one for each digit and subgroup.

#include "lib/rank.glsl"

// Of each element in the sorted block when it is staged; else its rank within its subgroup's share, with the digit above.
uint places[ITEMS];
const uint PLACE_BITS = 21;

// Ranks items by their digit; no turn of the loop unless it `runs`, as software drivers walk through a branch that no lane
// takes, but not through such a loop.
void rank_items(bool ordered, uint elements, uint pass, bool runs) {
    uint items = runs ? block_items() : 0;
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        if (item >= items || ends_before(item, elements)) break;
        uint digit = item_digit(item, elements, pass);
        uint rank = 0;
        if (ordered) rank = rank_element(digit);
        else if (block_index(item) < elements) rank = rank_unordered(digit);
        places[item] = rank | (STAGED != 0 ? 0 : digit << PLACE_BITS);
    }
}

// Ranks the block's `elements` by their digit, those with an equal digit in any order unless they are to be `ordered`.
// Fills `places` and `digit_count`, and `digit_start` when elements are staged; else leaves in the pool how many elements
// of each digit come before each subgroup's share.
void rank_block(uint elements, uint pass, bool ordered) {
    for (uint i = thread_index(); i < RANK_WORDS; i += WORKGROUP_SIZE) pool[i] = 0;
    barrier();
    rank_items(true, elements, pass, ordered);
    if (UNORDERED != 0) rank_items(false, elements, pass, !ordered);
    barrier();
    for (uint column = thread_index(); column < COUNTER_WORDS; column += WORKGROUP_SIZE) {
        uint sum = 0;
        for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
            uint counter = subgroup * COUNTER_WORDS + column;
            uint count = counted(pool[counter]);
            pool[counter] = sum;
            sum += count;
        }
        for (uint part = 0; part <= PACKED; part++) {
            uint digit = (column << PACKED) + part;
            digit_count[digit] = sum >> 16 * part & COUNTER_MASK;
            digit_scan[digit] = digit_count[digit];
        }
    }
    if (STAGED == 0) return;
    scan_digits();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) digit_start[digit] = digit_scan[digit];
    EACH_ITEM {
        uint digit = item_digit(item, elements, pass);
        places[item] += digit_scan[digit] + counted_before(digit);
        // Out of order, lanes past the end could come between elements of the last digit.
        if (UNORDERED != 0 && !ordered && block_index(item) >= elements) places[item] = block_index(item);
    }
    barrier(); // the pool is free, and digit_start complete
}

// Makes ready to ask for targets, once digit_base is complete. Uses up what ranking has left in the pool.
void base_ranks() {
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
            pool[counter_word(subgroup, digit)] += digit_base[digit];
        }
    }
    barrier();
}

// Where a ranked item of a block that is not staged goes.
uint item_target(uint item) {
    return counted_before(places[item] >> PLACE_BITS) + (places[item] & ((1u << PLACE_BITS) - 1));
}
