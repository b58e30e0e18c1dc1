// The last workgroup of a dispatch to finish. It sees the writes of all others, and decides the next steps.

shared uint finished;

// Whether this workgroup is the last of `workgroups` to call it; `word` of the counters counts them. All invocations call
// it. The fences are in uniform control flow, as some layered drivers translate them to workgroup barriers.
bool finishes_last(uint word, uint workgroups) {
    // Orders the writes of all invocations before the fence of the invocation that counts.
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
    memoryBarrierBuffer();
    if (gl_LocalInvocationIndex == 0) finished = atomicAdd(counters[word], 1) + 1;
    // The fence belongs to the invocation that counts. The barrier hands on what it sees to the others.
    memoryBarrierBuffer();
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
    return finished == workgroups;
}
