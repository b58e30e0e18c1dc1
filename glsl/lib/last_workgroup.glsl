// The last workgroup of a dispatch to finish sees what all the others have written, and decides what comes next.

shared uint finished;

// Whether this workgroup is the last of `workgroups` to come here; `word` of the counters counts them. All invocations call
// it. The fences are in uniform control flow: some layered drivers make workgroup barriers of them.
bool finishes_last(uint word, uint workgroups) {
    // What any invocation has written to buffers is before the fence of the one that signals.
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
    memoryBarrierBuffer();
    if (gl_LocalInvocationIndex == 0) finished = atomicAdd(counters[word], 1) + 1;
    barrier();
    memoryBarrierBuffer();
    return finished == workgroups;
}
