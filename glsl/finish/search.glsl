// Searching for the places where runs begin.

// The first elements from two places on that begin a run, up to two ends; the ends if none does. Half of the workgroup searches each:
// it looks at elements at equal distances, and goes on between two of them.
uvec2 next_runs(uvec2 from, uvec2 end, uint low) {
    uint side = gl_LocalInvocationIndex / HALF, lane = gl_LocalInvocationIndex % HALF;
    bool searches = from[side] < end[side];
    uint at = from[side], size = searches ? end[side] - at : 0, run = searches ? top_at(at - 1) >> low : 0;
    [[dont_unroll]] for (uint most = max(end.x - from.x, end.y - from.y); most > 0; most = (most + HALF - 1) / HALF - 1) {
        if (gl_LocalInvocationIndex < 2) found_at[gl_LocalInvocationIndex] = 0;
        barrier();
        uint step = (size + HALF - 1) / HALF;
        // Whatever keys change meanwhile, no place behind the end is found.
        bool looks = lane * step < size;
        if (looks && top_at(at + min((lane + 1) * step, size) - 1) >> low != run) atomicMax(found_at[side], HALF - lane);
        barrier();
        uint first = HALF - found_at[side];
        bool found = first < HALF;
        at += found ? first * step : size;
        size = found ? min(step, size - first * step) - 1 : 0;
        barrier();
    }
    if (lane == 0) found_at[side] = at;
    barrier();
    return uvec2(found_at[0], found_at[1]);
}
