// A block is what a workgroup sorts by one digit at a time: ITEMS elements per invocation. They are loaded in stripes
// (coalesced, and in input order within a subgroup's share), ranked, and reordered through the shared pool, so that
// neighbours write runs of neighbouring elements.
//
// In modules for software drivers (PRIVATE) an invocation ranks neighbouring elements by counters of its own. Only a block
// that a workgroup sorts by several digits is staged there: CPUs lose time over it.

#if PRIVATE && !defined(SHORT_BLOCKS)
#define STAGED 0
#else
#define STAGED 1
#endif

const uint BLOCK = WORKGROUP_SIZE * ITEMS;
const KEY NO_ELEMENT = KEY(~0u); // of the lanes past the end; `ranks` keeps them behind every element

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

#if PRIVATE
#define EACH_ITEM for (uint item = 0; item < block_items(); item++)
#else
// The number of turns is constant, which lets compilers keep arrays of items in registers.
#define EACH_ITEM [[unroll]] for (uint item = 0; item < ITEMS; item++) if (item < block_items())
#endif

// Index in the block of this invocation's `item`.
uint block_index(uint item) {
#if PRIVATE
    return thread_index() * block_items() + item;
#else
    return subgroup_index() * (SUBGROUP_SIZE * block_items()) + item * SUBGROUP_SIZE + subgroup_lane();
#endif
}

KEY key_in_place(uint item) { return load_key(input_place(), block_start + block_index(item)); }

// Digit by which lanes past the end are ranked: the last one, so that they end up behind every element.
uint item_digit(uint item, uint elements, uint pass) {
#if !STAGED
    // An invocation has more keys than registers: they are loaded again, one trip to memory less than a loop before.
    keys[item] = block_index(item) < elements ? key_in_place(item) : NO_ELEMENT;
#endif
    return block_index(item) < elements ? input_digit(keys[item], pass) : RADIX - 1;
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

// Puts one word of each element into the pool at the element's rank; `word` is an expression in `item`.
#define STAGE(word) \
    barrier(); /* whatever was staged before has been read */ \
    EACH_ITEM pool[ranks[item]] = word; \
    barrier()
