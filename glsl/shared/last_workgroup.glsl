// The last workgroup of a dispatch to finish goes on with what the others have written. The kernel declares the shared word `finished`.

// Whether this workgroup is the last of `workgroups` to call it. A word of the counters counts them, from 0. The last one sees the
// writes of all others. All invocations call it. The fences are in uniform control flow, because some layered drivers translate them
// to workgroup barriers.
bool finishes_last(uint counter, uint workgroups) {
    elements_barrier(); // writes of all invocations come before the fence of the one that counts
    memoryBarrierBuffer();
    if (gl_LocalInvocationIndex == 0) finished = atomicAdd(counters[counter], 1) + 1;
    // The fence belongs to the invocation that counts. The barrier hands on what it sees to the others.
    memoryBarrierBuffer();
    elements_barrier();
    return finished == workgroups;
}
