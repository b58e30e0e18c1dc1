// A block is what a workgroup sorts by one digit at a time: ITEMS elements per invocation. They are loaded in stripes
// (coalesced, and in input order within a subgroup's share), ranked, and reordered through the shared pool. Where each
// invocation ranks elements of its own (PRIVATE), these are neighbours instead.

const uint BLOCK = WORKGROUP_SIZE * ITEMS;
const KEY NO_ELEMENT = KEY(~0u); // of the lanes past the end; `places` keeps them behind every element

shared uint pool[POOL_WORDS];     // ranking counters, then staged keys, then staged values
shared uint digit_count[RADIX];   // elements of the block per digit, lanes past the end counted as the last digit
shared uint digit_start[RADIX];   // where the digit's run starts in the sorted block
shared uint digit_base[RADIX];    // where the digit's run of this tile starts in the output
shared uint digit_scan[RADIX];    // scanned in place by scan_digits

KEY keys[ITEMS];
uint block_start; // index of the block's first key in the input

// Where the input is. It is decided on before main can return and never again: SwiftShader runs on without active lanes, and
// reads through whatever descriptor an index names that no lane has set.
uint input_place();

// The digit that a pass sorts by, of a key as it is in the input.
uint input_digit(KEY key, uint pass);

// Items that each invocation has of this block: ITEMS, or fewer where the block is known to be smaller. Kernels whose blocks
// may be so define SHORT_BLOCKS, and say of how many elements one is.
#if PRIVATE || defined(SHORT_BLOCKS)
uint items_here;

uint block_items() { return items_here; }
void expect_elements(uint elements) { items_here = min(parts_of(elements, WORKGROUP_SIZE), ITEMS); }
#else
uint block_items() { return ITEMS; }
void expect_elements(uint elements) {}
#endif

#define EACH_ITEM [[unroll]] for (uint item = 0; item < ITEMS && item < block_items(); item++)

// Index in the block of this invocation's `item`.
uint block_index(uint item) {
#if PRIVATE
    return thread_index() * block_items() + item;
#else
    return subgroup_index() * (SUBGROUP_SIZE * block_items()) + item * SUBGROUP_SIZE + subgroup_lane();
#endif
}

KEY key_in_place(uint item) { return load_key(input_place(), block_start + block_index(item)); }

// Digit by which lanes past the end are ranked: the last one, so that they end up behind every element. Where blocks are
// not staged, an invocation has more keys than registers, and this loads them: one trip to memory less than a loop before.
uint item_digit(uint item, uint elements, uint pass) {
    KEY key = NO_ELEMENT;
    if (block_index(item) < elements) key = STAGED == 0 ? key_in_place(item) : keys[item];
    if (STAGED == 0) keys[item] = key;
    return block_index(item) < elements ? input_digit(key, pass) : RADIX - 1;
}

// Whether a loop over items may end before `item`: this subgroup has no elements from there on. Not so where blocks are
// staged, as every place must be taken, and where subgroups are emulated by barriers, which all must reach.
bool ends_before(uint item, uint elements) {
#if EMULATED || PRIVATE
    return false;
#else
    return STAGED == 0 && subgroup_index() * (SUBGROUP_SIZE * ITEMS) + item * SUBGROUP_SIZE >= elements;
#endif
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

#if PRIVATE
#include "lib/rank_private.glsl"
#else
#include "lib/rank_shared.glsl"
#endif

// Which place of the sorted block this invocation takes up after staging.
uint staged_place(uint item) { return thread_index() + item * WORKGROUP_SIZE; }

// Puts one word of each element into the pool at the element's place; `word` is an expression in `item`.
#define STAGE(word) \
    barrier(); /* whatever was staged before has been read */ \
    EACH_ITEM pool[places[item]] = word; \
    barrier()
