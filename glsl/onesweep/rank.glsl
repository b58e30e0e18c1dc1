// Ranking: the place of each key in the sorted tile, in three steps over counters in the pool, one for each subgroup and bin.
//
//   count_keys   the subgroups count their keys
//   scan_counts  each count becomes the rank of the first key that the subgroup has of that bin
//   rank_keys    the rank of a key is the counter plus the number of lower lanes with the bin; then the counter moves on
//
// docs/ALGORITHMS.md has an example ("How a tile is ranked"). Loads and stores that only subgroup barriers order are atomic,
// because race detectors ignore subgroup barriers. A subgroup holds `items` of ITEMS keys for each invocation.

const uint SHARE_SMALL = 0; // no digit has more than an eighth of the tile's keys
const uint SHARE_LARGE = 1;
const uint SHARE_ALL = 2; // all keys have the same digit

// Items are left out in groups, for few branches.
const uint ITEMS_TOGETHER = 4;
#define EACH_HELD(items) \
    [[unroll]] for (uint first = 0; first < ITEMS; first += ITEMS_TOGETHER) if (first < (items)) \
        [[unroll]] for (uint at = 0, item = first; at < ITEMS_TOGETHER; at++, item++) if (item < ITEMS)

// The sum takes fewer instructions, and with match masks the OR takes fewer registers if the masks' places are sums.
uint counter_of(uint bin) {
    uint first = subgroup_index() * RADIX;
    return RANK_METHOD == RANK_MATCH ? first | bin : first + bin;
}

uint load_counter(uint at) {
    return atomicLoad(pool[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void store_counter(uint at, uint rank) {
    atomicStore(pool[at], rank, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

#include "onesweep/peers.glsl"

// The keys of the workgroup with each own digit.
void count_keys(KEY keys[ITEMS], uint items, Digit digit, out uint counts[OWN_DIGITS]) {
    // Until the barrier, a subgroup accesses only its own counters.
    [[unroll]] for (uint first = 0; first < RADIX; first += SUBGROUP_SIZE) {
        uint bin = first + lane();
        if (RADIX % SUBGROUP_SIZE == 0 || bin < RADIX) {
            store_counter(counter_of(bin), 0);
            clear_masks(bin);
        }
    }
    if (thread() == 0) largest_share = SHARE_SMALL;
    subgroup_sync();
    EACH_HELD(items) {
        atomicAdd(pool[counter_of(bin_of(keys[item], digit))], 1);
    }
    barrier();
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        counts[turn] = 0;
        if (owns_digit(turn)) {
            [[unroll]] for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
                counts[turn] += pool[subgroup * RADIX + bin_at(own_digit(turn), digit)];
            }
        }
    }
}

// The sum of `sums` of the subgroups' sums, from `first` on.
uint sum_before(uint first, uint sums) {
    uint sum = 0;
#if EMULATED
    for (uint at = 0; at < sums; at++) sum += subgroup_sums[first + at];
#else
    [[unroll]] for (uint at = 0; at < SUBGROUPS; at += SUBGROUP_SIZE) {
        sum += subgroupAdd(at + lane() < sums ? subgroup_sums[first + at + lane()] : 0);
    }
#endif
    return sum;
}

// The rank of the first key with each own digit; `size` is the number of keys.
void scan_counts(uint counts[OWN_DIGITS], uint size, Digit digit, out uint starts[OWN_DIGITS]) {
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        // Emulated subgroup operations need all invocations.
        if (EMULATED != 0 || owns_digit(turn)) {
            uint sum = subgroup_inclusive_add(counts[turn]);
            starts[turn] = sum - counts[turn];
            if (counts[turn] == size) largest_share = SHARE_ALL;
            else if (UNORDERED != 0 && counts[turn] > size / 8) atomicMax(largest_share, SHARE_LARGE);
            if (lane() == SUBGROUP_SIZE - 1) subgroup_sums[turn * SUBGROUPS + subgroup_index()] = sum;
        }
    }
    barrier();
    uint earlier = 0; // keys with digits of earlier turns
    [[unroll]] for (uint turn = 0; turn < OWN_DIGITS; turn++) {
        if (owns_digit(turn)) {
            starts[turn] += earlier + sum_before(turn * SUBGROUPS, subgroup_index());
            if (turn + 1 < OWN_DIGITS) earlier += sum_before(turn * SUBGROUPS, SUBGROUPS);
            uint start = starts[turn];
            [[unroll]] for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
                uint at = subgroup * RADIX + bin_at(own_digit(turn), digit), counted = pool[at];
                pool[at] = start;
                start += counted;
            }
        }
    }
    barrier();
}

// Whether all lanes with a bin store the same counter, without a branch for the last of them: fewer instructions by Mesa's
// compilers, in a tenth less time. NVIDIA's compiler, for which ballots are by mask, needs no branch for one lane. Match masks
// have such a branch anyway, and wide keys leave no register.
const bool ALL_STORE = BALLOT != BALLOT_BY_MASK && RANK_METHOD != RANK_MATCH && KEY_WORDS == 1;

// The rank of this lane's key, behind equal bins of lower lanes. The counter moves on by all lanes with the bin.
uint rank_in_order(uint bin, uint one) {
    uint at = counter_of(bin);
    uint start = load_counter(at);
    uvec4 peers = peers_of(bin, one);
    uint rank = start + count_lanes(peers & lanes_below()), behind = rank + 1;
    if (RANK_METHOD != RANK_MATCH) subgroup_sync(); // all have read the counter; match masks have synchronized since
    // Comparisons set no bits beyond the subgroup.
    if (ALL_STORE) behind = start + count_lanes(RANK_METHOD == RANK_COMPARE ? peers : existing_lanes(peers));
    if (ALL_STORE || is_last(peers)) store_counter(at, behind);
    subgroup_sync(); // another lane may move the counter next
    return rank;
}

// A number of up to 16 bits for each item; with FEW_REGISTERS two share a word. Where a loop is not unrolled, an array as a
// parameter is a copy, so neither of these takes the array.
const uint RANK_WORDS = FEW_REGISTERS != 0 ? (ITEMS + 1) / 2 : ITEMS;
#define SET_RANK(ranks, item, rank) \
    if (FEW_REGISTERS == 0) ranks[item] = rank; \
    else if (item % 2 == 0) ranks[item / 2] = rank; \
    else ranks[item / 2] |= (rank) << 16

uint word_of(uint item) { return FEW_REGISTERS != 0 ? item / 2 : item; }
uint rank_in(uint word, uint item) {
    return FEW_REGISTERS == 0 ? word : item % 2 == 0 ? word & 0xFFFFu : word >> 16;
}

// The rank of each key. Equal digits keep their order if `in_order` is set. `one` is 1, as a sum with opaque_zero.
void rank_keys(KEY keys[ITEMS], uint items, Digit digit, bool in_order, uint one, out uint ranks[RANK_WORDS]) {
    if (UNORDERED == 0 || in_order) {
        EACH_HELD(items) {
            uint rank = rank_in_order(bin_of(keys[item], digit), one);
            SET_RANK(ranks, item, rank);
        }
    } else {
        EACH_HELD(items) {
            uint rank = atomicAdd(pool[counter_of(bin_of(keys[item], digit))], 1);
            SET_RANK(ranks, item, rank);
        }
    }
    barrier(); // the counters have been read
}
