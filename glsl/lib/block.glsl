// A block: the elements that a workgroup ranks at a time, ITEMS per invocation. They are loaded in stripes (coalesced, and
// in input order within a subgroup's share), ranked, and reordered in the shared pool, so that neighbouring lanes write
// neighbouring elements.
//
// In modules for software drivers (PRIVATE) an invocation ranks neighbouring elements by private counters. Only the block of
// a single workgroup is staged there, as staging costs CPUs time.

#include "lib/subgroup.glsl"

#if PRIVATE && !defined(SHORT_BLOCKS)
#define STAGED 0
#else
#define STAGED 1
#endif

const uint BLOCK = WORKGROUP_SIZE * ITEMS;

#if STAGED
shared uint pool[POOL_WORDS]; // ranking counters, then staged elements
#endif

// LLVM takes an array of up to 1024 elements apart, into a store of zero for each, and then takes seconds to order the stores. So
// software drivers get a longer one.
#if PRIVATE
#define HELD_ITEMS (ITEMS <= 1024 ? 1025 : ITEMS)
#else
#define HELD_ITEMS ITEMS
#endif

#if !PRIVATE || !STAGED
KEY keys[HELD_ITEMS];
#endif

const uint ITEMS_TOGETHER = 4; // a short block omits items in groups of four

// Of each kind of block: the items per invocation, which are ITEMS, or fewer for a short block; its places, including those of
// lanes past the end; and a loop over an invocation's items. Kernels with short blocks define SHORT_BLOCKS and call
// expect_elements.
#if PRIVATE
uint items_here;

void expect_elements(uint elements) { items_here = min(parts_of(elements, WORKGROUP_SIZE), ITEMS); }
uint block_ranks() { return WORKGROUP_SIZE * items_here; }
#define EACH_ITEM for (uint item = 0; item < items_here; item++)
#elif defined(SHORT_BLOCKS)
uint items_here;
uint busy_subgroups;    // those with elements, or all of them
uint items_of_subgroup; // none in the others
void expect_elements(uint elements) {
    uint each = parts_of(parts_of(elements, WORKGROUP_SIZE), ITEMS_TOGETHER) * ITEMS_TOGETHER;
    items_here = min(each, ITEMS);
    busy_subgroups = SUBGROUPS_REST != 0 ? parts_of(elements, SUBGROUP_SIZE * items_here) : SUBGROUPS;
    // A ballot is uniform to every compiler.
    bool rests = SUBGROUPS_REST != 0 && is_empty(subgroup_ballot(subgroup_index() < busy_subgroups));
    items_of_subgroup = rests ? 0 : items_here;
}
uint block_ranks() { return busy_subgroups * (SUBGROUP_SIZE * items_here); }
// Loops have constant numbers of turns, so that compilers keep arrays of items in registers, and few branches.
#define EACH_ITEM \
    [[unroll]] for (uint items = 0; items < ITEMS; items += ITEMS_TOGETHER) if (items < items_of_subgroup) \
        [[unroll]] for (uint at = 0, item = items; at < ITEMS_TOGETHER; at++, item++) if (item < ITEMS)
#else
const uint items_here = ITEMS;

uint block_ranks() { return BLOCK; }
#define EACH_ITEM [[unroll]] for (uint item = 0; item < ITEMS; item++)
#endif

#if !PRIVATE
// A number of up to 16 bits for each item; with FEW_REGISTERS two numbers share a word.
#define PER_ITEM(numbers) uint numbers[FEW_REGISTERS != 0 ? (ITEMS + 1) / 2 : ITEMS]
#define SET_NUMBER(numbers, item, number) \
    if (FEW_REGISTERS == 0) numbers[item] = number; \
    else if (item % 2 == 0) numbers[item / 2] = number; \
    else numbers[item / 2] |= (number) << 16
#define NUMBER_OF(numbers, item) \
    (FEW_REGISTERS == 0 ? numbers[item] : item % 2 == 0 ? numbers[item / 2] & 0xFFFFu : numbers[item / 2] >> 16)
#endif

// Index in the block of this invocation's `item`.
uint block_index(uint item) {
    return PRIVATE != 0 ? thread_index() * items_here + item
        : subgroup_index() * (SUBGROUP_SIZE * items_here) + subgroup_lane() + item * SUBGROUP_SIZE;
}

// The rank of the element that this invocation takes after staging.
uint staged_rank(uint item) { return thread_index() + item * WORKGROUP_SIZE; }

// Each invocation owns a few digits. Neighbouring invocations own neighbouring digits.
const uint DIGITS_EACH = (RADIX + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;

uint own_digit(uint turn) { return thread_index() + turn * WORKGROUP_SIZE; }

bool has_digit(uint turn) {
    bool has = own_digit(turn) < RADIX;
    // All lanes of a subgroup agree, for a uniform branch.
    if (RADIX % SUBGROUP_SIZE == 0) has = (subgroup_index() + turn * SUBGROUPS) * SUBGROUP_SIZE < RADIX;
    return has;
}

// The own digit as bits of a key.
uint own_bits(uint turn) { return own_digit(turn) ^ digit_flip; }

#define EACH_DIGIT [[unroll]] for (uint turn = 0; turn < DIGITS_EACH; turn++) if (has_digit(turn))

uint totals[DIGITS_EACH]; // elements of the block with each own digit; lanes past the end count as the last digit

// The kernel defines it; it is called for each own digit once its total is known.
void publish_count(uint turn);

#if PRIVATE
#include "lib/rank_private.glsl"
#else
#include "lib/rank_shared.glsl"
#endif
