// Ranking a block by counters in shared memory, one for each digit and subgroup, at the start of the pool: see
// docs/ALGORITHMS.md, "How a tile is ranked".
//
// First the subgroups count their shares of the block. Then each count becomes the rank in the sorted block at which the
// subgroup's elements of the digit start. The rank of an element is its counter plus the number of lower lanes with its
// digit.
//
// Loads and stores that only subgroup barriers order are atomic, as race detectors ignore subgroup barriers.

const uint COUNTERS = SUBGROUPS * RADIX;

shared uint subgroup_sums[DIGITS_EACH * SUBGROUPS];
shared uint skew; // one of the constants below

const uint SKEW_NONE = 0;
const uint SKEW_SOME = 1;   // more than an eighth of the block's elements have the same digit
const uint SKEW_SINGLE = 2; // all elements have the same digit

uint first_counter; // of the subgroup

// The sum takes fewer instructions, and with match masks the OR takes fewer registers.
uint counter_of(uint bits) { return RANK_METHOD == RANK_MATCH ? first_counter | bits : first_counter + bits; }

#include "lib/peers.glsl"

// Whether all lanes with a digit store the same counter, without a branch for the last of them: fewer instructions by Mesa's
// compilers, in a tenth less time. NVIDIA's compiler, for which ballots are by mask, needs no branch for one lane. Match masks
// have such a branch anyway, and wide keys leave no register.
const bool ALL_STORE = BALLOT != BALLOT_BY_MASK && RANK_METHOD != RANK_MATCH && KEY_WORDS == 1;

// The rank of this lane's key, behind equal digits of lower lanes. The counter moves on by all lanes with the digit.
uint rank_in_order(KEY key) {
    uint bits = digit_bits_of(key), at = counter_of(bits);
    uint start = atomicLoad(pool[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    uvec4 peers = peers_of(bits);
    uint rank = start + count_lanes(peers & lanes_below());
    uint rank_behind = rank + 1;
    // All have read the counter; match masks have synchronized since.
    if (RANK_METHOD != RANK_MATCH) subgroup_sync();
    if (ALL_STORE) {
        // Comparisons set no bits beyond the subgroup.
        rank_behind = start + count_lanes(RANK_METHOD == RANK_COMPARE ? peers : existing_lanes(peers));
    }
    if (ALL_STORE || is_empty(peers & lanes_above())) {
        atomicStore(pool[at], rank_behind, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    subgroup_sync(); // another lane may update the counter next
    return rank;
}

uint digit_starts[DIGITS_EACH]; // starts of the own digits in the sorted block

// The sum of `sums` of the subgroups' sums, from `first` on.
uint sum_before(uint first, uint sums) {
    uint sum = 0;
#if EMULATED
    for (uint at = 0; at < sums; at++) sum += subgroup_sums[first + at];
#else
    [[unroll]] for (uint at = 0; at < SUBGROUPS; at += SUBGROUP_SIZE) {
        sum += subgroupAdd(at + subgroup_lane() < sums ? subgroup_sums[first + at + subgroup_lane()] : 0);
    }
#endif
    return sum;
}

// Counts the block's elements by digit, and replaces counts by starts; fills `totals`, `digit_starts` and `skew`.
void count_block() {
    first_counter = subgroup_index() * RADIX;
    // Until the barrier, a subgroup accesses only its own counters.
    [[unroll]] for (uint at = 0; at < RADIX; at += SUBGROUP_SIZE) {
        uint bits = at + subgroup_lane();
        if (RADIX % SUBGROUP_SIZE == 0 || bits < RADIX) {
            atomicStore(pool[counter_of(bits)], 0u, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
            [[unroll]] for (uint word = 0; word < MASK_WORDS; word++) pool[mask_of(bits, word)] = 0;
        }
    }
    if (thread_index() == 0) skew = SKEW_NONE;
    subgroup_sync();
    EACH_ITEM atomicAdd(pool[counter_of(digit_bits_of(keys[item]))], 1);
    barrier();
    [[unroll]] for (uint turn = 0; turn < DIGITS_EACH; turn++) {
        // Emulated subgroup operations need all invocations.
        if (EMULATED != 0 || has_digit(turn)) {
            uint total = 0;
            if (EMULATED == 0 || has_digit(turn)) {
                [[unroll]] for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
                    total += pool[subgroup * RADIX + own_bits(turn)];
                }
                totals[turn] = total;
                publish_count(turn);
            }
            uint sum = subgroup_inclusive_add(total);
            digit_starts[turn] = sum - total;
            if (total == block_ranks()) skew = SKEW_SINGLE;
            else if (UNORDERED != 0 && total > block_ranks() / 8) atomicMax(skew, SKEW_SOME); // perhaps several
            if (subgroup_lane() == SUBGROUP_SIZE - 1) subgroup_sums[turn * SUBGROUPS + subgroup_index()] = sum;
        }
    }
    barrier();
    uint earlier = 0; // elements of the digits of earlier turns
    EACH_DIGIT {
        digit_starts[turn] += earlier + sum_before(turn * SUBGROUPS, subgroup_index());
        if (turn + 1 < DIGITS_EACH) earlier += sum_before(turn * SUBGROUPS, SUBGROUPS);
        uint start = digit_starts[turn];
        [[unroll]] for (uint subgroup = 0; subgroup < SUBGROUPS; subgroup++) {
            uint counted = pool[subgroup * RADIX + own_bits(turn)];
            pool[subgroup * RADIX + own_bits(turn)] = start;
            start += counted;
        }
    }
    barrier();
}

PER_ITEM(ranks); // in the sorted block

uint rank_of(uint item) { return NUMBER_OF(ranks, item); }

// Finds the ranks of a counted block. Equal digits keep their order if `ordered` is set.
void rank_block(bool ordered) {
    if (UNORDERED == 0 || ordered || uniform_in_subgroup(skew) != SKEW_NONE) {
        EACH_ITEM { SET_NUMBER(ranks, item, rank_in_order(keys[item])); }
    } else {
        // Atomics on one counter are serialized, so only even distributions come here.
        EACH_ITEM { SET_NUMBER(ranks, item, atomicAdd(pool[counter_of(digit_bits_of(keys[item]))], 1)); }
    }
    barrier(); // the pool is free
}
