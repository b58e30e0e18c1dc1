// Subgroup operations for subgroups of 4 to 128 lanes, in two implementations with one signature: the device's own,
// and one on shared memory and barriers that serves any virtual size. The second holds barriers, so every operation
// here must be reached by the whole workgroup.

#if EMULATED

const uint SUBGROUPS = WORKGROUP_SIZE / SUBGROUP_SIZE;
shared uint emulated_ballots[4 * SUBGROUPS];
shared uint emulated_lanes[WORKGROUP_SIZE];

uint subgroup_index() { return gl_LocalInvocationIndex / SUBGROUP_SIZE; }
uint subgroup_lane() { return gl_LocalInvocationIndex % SUBGROUP_SIZE; }

void subgroup_sync() { barrier(); }

uvec4 subgroup_ballot(bool vote) {
    uint words = 4 * subgroup_index();
    uint lane = subgroup_lane();
    barrier(); // the previous ballot has been read
    if (lane < 4) emulated_ballots[words + lane] = 0;
    barrier();
    if (vote) atomicOr(emulated_ballots[words + lane / 32], 1u << (lane % 32));
    barrier();
    return uvec4(emulated_ballots[words], emulated_ballots[words + 1],
                 emulated_ballots[words + 2], emulated_ballots[words + 3]);
}

uint subgroup_shuffle(uint value, uint lane) {
    barrier(); // the previous shuffle has been read
    emulated_lanes[gl_LocalInvocationIndex] = value;
    barrier();
    return emulated_lanes[gl_LocalInvocationIndex - subgroup_lane() + lane];
}

#else

#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if PARTITIONED
#extension GL_NV_shader_subgroup_partitioned : require
#endif

const uint SUBGROUPS = WORKGROUP_SIZE / SUBGROUP_SIZE;

uint subgroup_index() { return gl_SubgroupID; }
uint subgroup_lane() { return gl_SubgroupInvocationID; }

// Orders shared memory alone: subgroupBarrier() would have some compilers wait for buffers too.
void subgroup_sync() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

uvec4 subgroup_ballot(bool vote) { return subgroupBallot(vote); }

uint subgroup_shuffle(uint value, uint lane) { return subgroupShuffle(value, lane); }

#endif

// Position in the workgroup, counted subgroup by subgroup. It need not be gl_LocalInvocationIndex.
uint thread_index() { return subgroup_index() * SUBGROUP_SIZE + subgroup_lane(); }

// Sum of `value` over the lanes before this one.
uint subgroup_exclusive_add(uint value) {
    uint lane = subgroup_lane();
    uint sum = value;
    for (uint step = 1; step < SUBGROUP_SIZE; step <<= 1) {
        uint other = subgroup_shuffle(sum, (lane - step) & (SUBGROUP_SIZE - 1));
        if (lane >= step) sum += other;
    }
    return sum - value;
}

// Lane masks are uvec4: word i holds lanes 32 i to 32 i + 31.

uvec4 lanes_below(uint lane) {
    ivec4 low = clamp(ivec4(lane) - ivec4(0, 32, 64, 96), 0, 32);
    return uvec4(bitfieldExtract(~0u, 0, low.x), bitfieldExtract(~0u, 0, low.y),
                 bitfieldExtract(~0u, 0, low.z), bitfieldExtract(~0u, 0, low.w));
}

uint count_lanes(uvec4 mask) {
    ivec4 bits = bitCount(mask);
    return SUBGROUP_SIZE <= 32 ? uint(bits.x) : uint(bits.x + bits.y + bits.z + bits.w);
}

uint lowest_lane(uvec4 mask) {
    if (SUBGROUP_SIZE <= 32 || mask.x != 0) return uint(findLSB(mask.x));
    if (mask.y != 0) return 32 + uint(findLSB(mask.y));
    if (mask.z != 0) return 64 + uint(findLSB(mask.z));
    return 96 + uint(findLSB(mask.w));
}
