// Subgroups of 4 to 128 lanes, in two implementations with the same functions: the device's own, and an emulation by shared
// memory and barriers for any virtual size. Because of the barriers, the whole workgroup must call every operation of the
// emulation. Some drivers need as much of `subgroup_sync` (see SUBGROUPS_REST).
//
// Lane masks are uvec4: word i holds lanes 32 i to 32 i + 31. Compilers drop words beyond the subgroup's lanes.

const uint SUBGROUPS = WORKGROUP_SIZE / SUBGROUP_SIZE;

// A mask without the lanes beyond the subgroup.
uvec4 existing_lanes(uvec4 mask) {
    if (SUBGROUP_SIZE < 32) mask.x &= (1u << (SUBGROUP_SIZE & 31)) - 1;
    if (SUBGROUP_SIZE < 64) mask.y = 0;
    if (SUBGROUP_SIZE < 128) mask.zw = uvec2(0);
    return mask;
}

#if EMULATED

shared uint emulated_ballots[4 * SUBGROUPS];
shared uint emulated_lanes[WORKGROUP_SIZE];

uint subgroup_index() { return gl_LocalInvocationIndex / SUBGROUP_SIZE; }
uint lane() { return gl_LocalInvocationIndex % SUBGROUP_SIZE; }

void subgroup_sync() { barrier(); }

uvec4 subgroup_ballot(bool vote) {
    uint words = 4 * subgroup_index();
    barrier(); // the previous ballot has been read
    if (lane() < 4) emulated_ballots[words + lane()] = 0;
    barrier();
    if (vote) atomicOr(emulated_ballots[words + lane() / 32], 1u << (lane() % 32));
    barrier();
    return uvec4(emulated_ballots[words], emulated_ballots[words + 1],
                 emulated_ballots[words + 2], emulated_ballots[words + 3]);
}

uint subgroup_shuffle(uint value, uint from) {
    barrier(); // the previous shuffle has been read
    emulated_lanes[gl_LocalInvocationIndex] = value;
    barrier();
    return emulated_lanes[gl_LocalInvocationIndex - lane() + from];
}

uint subgroup_shuffle_xor(uint value, uint lane_mask) { return subgroup_shuffle(value, lane() ^ lane_mask); }

uint subgroup_inclusive_add(uint value) {
    for (uint step = 1; step < SUBGROUP_SIZE; step <<= 1) {
        uint other = subgroup_shuffle(value, (lane() - step) & (SUBGROUP_SIZE - 1));
        if (lane() >= step) value += other;
    }
    return value;
}

// Where it would take barriers, each invocation keeps its own, and all of them act on it.
uint subgroup_max(uint value) { return value; }
bool is_for_subgroup() { return true; }

uint uniform_in_subgroup(uint value) { return value; }

uvec4 first_lanes(uint lanes) {
    ivec4 low = clamp(ivec4(lanes) - ivec4(0, 32, 64, 96), 0, 32);
    return uvec4(bitfieldExtract(~0u, 0, low.x), bitfieldExtract(~0u, 0, low.y),
                 bitfieldExtract(~0u, 0, low.z), bitfieldExtract(~0u, 0, low.w));
}

uvec4 lanes_below() { return first_lanes(lane()); }
uvec4 lanes_above() { return existing_lanes(~first_lanes(lane() + 1)); }

#else

#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

uint subgroup_index() { return gl_SubgroupID; }
uint lane() { return gl_SubgroupInvocationID; }

// Orders shared memory alone, because subgroupBarrier() makes some compilers wait for buffers too.
void subgroup_sync() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

uvec4 subgroup_ballot(bool vote) { return subgroupBallot(vote); }

uint subgroup_shuffle(uint value, uint from) { return subgroupShuffle(value, from); }

uint subgroup_shuffle_xor(uint value, uint lane_mask) { return subgroupShuffleXor(value, lane_mask); }

uint subgroup_inclusive_add(uint value) { return subgroupInclusiveAdd(value); }

// The largest value of the lanes, for the lane that acts on it: atomics of all lanes on one word take turns.
uint subgroup_max(uint value) { return subgroupMax(value); }
bool is_for_subgroup() { return lane() == 0; }

// A value that is the same in all lanes, in a form that lets compilers branch uniformly.
uint uniform_in_subgroup(uint value) { return subgroupBroadcastFirst(value); }

uvec4 lanes_below() { return gl_SubgroupLtMask; }
uvec4 lanes_above() { return existing_lanes(gl_SubgroupGtMask); }

#endif

// Position in the workgroup, counted subgroup by subgroup. It need not be gl_LocalInvocationIndex.
uint thread() { return subgroup_index() * SUBGROUP_SIZE + lane(); }

uint count_lanes(uvec4 mask) {
    uint lanes = bitCount(mask.x);
    if (SUBGROUP_SIZE > 32) lanes += bitCount(mask.y);
    if (SUBGROUP_SIZE > 64) lanes += bitCount(mask.z) + bitCount(mask.w);
    return lanes;
}

bool is_empty(uvec4 mask) {
    uint lanes = mask.x;
    if (SUBGROUP_SIZE > 32) lanes |= mask.y;
    if (SUBGROUP_SIZE > 64) lanes |= mask.z | mask.w;
    return lanes == 0;
}

// An invocation owns a few digits, whose counts it adds up. Neighbouring invocations own neighbouring digits.
const uint OWN_DIGITS = (RADIX + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;

uint own_digit(uint turn) { return thread() + turn * WORKGROUP_SIZE; }

// All lanes of a subgroup agree, for a uniform branch, if they can.
bool owns_digit(uint turn) {
    uint first = (subgroup_index() + turn * SUBGROUPS) * SUBGROUP_SIZE;
    return (RADIX % SUBGROUP_SIZE == 0 ? first : own_digit(turn)) < RADIX;
}
