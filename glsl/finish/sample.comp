#version 460
// The first step of a sort that may end with a finish. The first workgroup looks at a few keys and decides by which bits they are to be
// sorted, or that they are to be sorted as usual. The others clear the counters and the table.
//
// A finish pays where runs of equal leading bits are short beside a window and keys are spread evenly enough within it. Both are
// estimated by the pairs of sampled keys that fall into the same bin: of a run with a share p of all keys, p^2 of all pairs do. The
// order is right whatever the sample misses.

#define ELEMENTS_READ_ONLY
#define MAY_FINISH

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) writeonly buffer Table { uint table[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint SAMPLES = WORKGROUP_SIZE * SAMPLED;
const uint BIN_BITS = 15; // each has two runs, or a hash
const uint BINS = 1u << BIN_BITS;
const uint BINS_PER_WORD = 8; // of four bits each
const uint FEW_HITS = 7;      // so many samples in a bin are no chance, where two of them seldom meet
const uint MOST_HITS = 12;    // the same in any case
const uint MOST_TOGETHER = 16; // keys that a key shares its bucket with, on average

shared uint hits[BINS / BINS_PER_WORD];
shared uint highest, lowest; // of the top words; the lowest is inverted
shared uint pairs[2], most_hits;

// The elements that an element shares its bin with, on average, in sixteenths: of all `count`, by the pairs of samples that do. A bin
// is chosen by the bits of the top word from `low` on, times a factor. `by_chance` of the samples that meet another one are in bins that
// only the factor made one.
uint together(uint look, uint tops[SAMPLED], uint count, uint low, uint factor, uint by_chance) {
    [[dont_unroll]] for (uint at = gl_LocalInvocationIndex; at < BINS / BINS_PER_WORD; at += WORKGROUP_SIZE) hits[at] = 0;
    barrier();
    uint met = 0, most = 0, high, share;
    [[unroll]] for (uint key = 0; key < SAMPLED; key++) {
        uint bin = (tops[key] >> low) * factor >> (32 - BIN_BITS), shift = bin % BINS_PER_WORD * 4;
        uint before = atomicAdd(hits[bin / BINS_PER_WORD], 1u << shift) >> shift & 15;
        met += before;
        most = max(most, before + 1); // beyond 15 a count runs over into the next one, but these are too many already
    }
    atomicAdd(pairs[look], met);
    if (most >= FEW_HITS) atomicMax(most_hits, most);
    barrier();
    uint meet = 2 * pairs[look] - min(by_chance, 2 * pairs[look]);
    umulExtended((meet << 8) / SAMPLES, (count << 4) / SAMPLES, high, share);
    return high != 0 ? ~0u : share >> 8;
}

// A place for a sample: a hash (finalizer of MurmurHash3, Appleby), as a fraction of the count.
uint sampled_at(uint sampled, uint count) {
    uint hash = sampled + 1, at, below;
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    umulExtended(hash ^ hash >> 16, count, at, below);
    return at;
}

// The bits for the finish of keys with such lowest and highest top words, and some beyond them; 0 if two digits have them all.
uint leading_of(uint low, uint high) {
    uint margin = (high - low) / 4;
    low -= min(low, margin);
    high += min(~high, margin);
    uint shift = uint(max(findMSB(high - low) + 1 - 2 * int(RADIX_BITS), 0));
    if ((high >> (shift + RADIX_BITS)) - (low >> (shift + RADIX_BITS)) >= RADIX) shift++;
    uint unit = low >> (shift + RADIX_BITS), units = (high >> (shift + RADIX_BITS)) - unit + 1;
    unit -= min(unit, (RADIX - units) / 2);
    return shift == 0 ? 0 : shift << FINISH_LOW | min(unit, (~0u >> (shift + RADIX_BITS)) + 1 - RADIX);
}

// The word for the counters; 0 to sort as usual.
uint decide(uint count) {
    uint tops[SAMPLED], inverted = 0, high = 0;
    if (gl_LocalInvocationIndex == 0) highest = lowest = most_hits = pairs[0] = pairs[1] = 0;
    barrier();
    [[unroll]] for (uint key = 0; key < SAMPLED; key++) {
        tops[key] = ascending_top(flip_by_sign(given_key(sampled_at(key * WORKGROUP_SIZE + gl_LocalInvocationIndex, count))));
        inverted = max(inverted, ~tops[key]);
        high = max(high, tops[key]);
    }
    atomicMax(lowest, inverted);
    atomicMax(highest, high);
    barrier();
    uint finish = leading_of(~lowest, highest), shift = leading_low(finish);
    // Two runs in a bin: the lowest bits take its place.
    uint run = together(0, tops, count, shift + 1, 1u << (32 - BIN_BITS), 0) / 2;
    // A bucket of the finish is as wide as a run is where it has two keys. Bins by a hash.
    uint bucket = uint(max(int(shift) - 1 - findMSB(run / 16 + 1), 0));
    uint shared_bucket = together(1, tops, count, bucket, 0x9E3779B1u, SAMPLES / 16 * SAMPLES / (BINS / 16));
    // Where keys of a word have the same top byte, there are at most three digits.
    bool pays = finish != 0 && (KEY_WORDS > 1 || (~lowest ^ highest) >> 24 != 0);
    // A run may be four times as long as they are on average, and half a window.
    // Of a bin whose runs have as many elements as they have on average, four times the samples.
    uint allowed_hits = min(FEW_HITS + run * (SAMPLES / 2) / count, MOST_HITS);
    if (!pays || most_hits >= allowed_hits || shared_bucket > 16 * MOST_TOGETHER || run > 2 * PUSH_PART) finish = 0;
    else finish |= (run > PUSH_PART ? 2 : run > PUSH_PART / 2 ? 1 : 0) << FINISH_REACH;
    return finish;
}

void main() {
    uint words = PUSH_COUNTER_WORDS + PUSH_TABLE_WORDS, start = (workgroup_index() - 1) * SAMPLES;
    if (workgroup_index() > 0) {
        for (uint at = start + gl_LocalInvocationIndex; at < min(start + SAMPLES, words); at += WORKGROUP_SIZE) {
            if (at >= PUSH_COUNTER_WORDS) table[at - PUSH_COUNTER_WORDS] = 0;
            else if (at != COUNTERS_FINISH) counters[at] = 0;
        }
    } else {
        uint count = sort_count(), finish = count > 0 ? decide(count) : 0;
        if (gl_LocalInvocationIndex == 0) counters[COUNTERS_FINISH] = finish;
    }
}
