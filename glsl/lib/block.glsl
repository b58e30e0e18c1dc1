// A block is what a workgroup sorts by one digit at a time: ITEMS elements per invocation. They are loaded in stripes
// (coalesced, and in input order within a subgroup's share), ranked, and reordered through the shared pool.

const uint BLOCK = WORKGROUP_SIZE * ITEMS;
const uint NO_ELEMENT = ~0u; // key of the lanes past the end; `places` keeps them behind every element

shared uint pool[POOL_WORDS];     // ranking counters, then staged keys, then staged values
shared uint digit_count[RADIX];   // elements of the block per digit, lanes past the end counted as the last digit
shared uint digit_start[RADIX];   // where the digit's run starts in the sorted block
shared uint digit_base[RADIX];    // where the digit's run of this tile starts in the output
shared uint digit_scan[RADIX];    // scanned in place by scan_digits

#include "lib/rank.glsl"

uint keys[ITEMS];
uint places[ITEMS]; // of each element in the sorted block

// Index in the block of this invocation's `item`.
uint block_index(uint item) {
    return subgroup_index() * (SUBGROUP_SIZE * ITEMS) + item * SUBGROUP_SIZE + subgroup_lane();
}

// Digit by which lanes past the end are ranked: the last one, so that they end up behind every element.
uint item_digit(uint item, uint elements, uint shift) {
    return block_index(item) < elements ? digit_of(keys[item], shift) : RADIX - 1;
}

// Exclusive prefix sum of digit_scan, in place.
void scan_digits() {
    const uint share = (RADIX + SUBGROUP_SIZE - 1) / SUBGROUP_SIZE;
    uint first = subgroup_lane() * share;
    uint sum = 0;
    barrier();
    if (subgroup_index() == 0) {
        for (uint i = 0; i < share; i++) {
            if (first + i < RADIX) sum += digit_scan[first + i];
        }
    }
    uint before = subgroup_exclusive_add(sum);
    if (subgroup_index() == 0) {
        for (uint i = 0; i < share; i++) {
            if (first + i < RADIX) {
                uint count = digit_scan[first + i];
                digit_scan[first + i] = before;
                before += count;
            }
        }
    }
    barrier();
}

// Fills `places`, `digit_count` and `digit_start` for the block's `elements` in `keys`.
void rank_block(uint elements, uint shift) {
    for (uint i = thread_index(); i < SUBGROUPS * RADIX; i += WORKGROUP_SIZE) pool[i] = 0;
    barrier();
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        places[item] = rank_element(item_digit(item, elements, shift));
    }
    barrier();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) {
        uint sum = 0;
        for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
            uint counter = rank_counter(subgroup, digit);
            uint count = counted(pool[counter]);
            pool[counter] = sum;
            sum += count;
        }
        digit_count[digit] = sum;
        digit_scan[digit] = sum;
    }
    scan_digits();
    for (uint digit = thread_index(); digit < RADIX; digit += WORKGROUP_SIZE) digit_start[digit] = digit_scan[digit];
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint digit = item_digit(item, elements, shift);
        places[item] += digit_scan[digit] + pool[rank_counter(subgroup_index(), digit)];
    }
    barrier(); // the pool is free, and digit_start complete
}

// Puts one word of each element into the pool at the element's place.
void stage(uint words[ITEMS]) {
    barrier(); // whatever was staged before has been read
    [[unroll]] for (uint item = 0; item < ITEMS; item++) pool[places[item]] = words[item];
    barrier();
}
