// From the counts of the digits of every pass to the start of each digit.

const uint CHUNK = RADIX < HISTOGRAM_CHUNK ? RADIX : HISTOGRAM_CHUNK;
const uint CHUNKS = COUNTS / CHUNK;

shared uint chunk_sum[CHUNKS];

// Writes the exclusive prefix sums of each pass's counts. An invocation adds up a chunk of counts, then the sums of earlier
// chunks.
void write_starts() {
    [[dont_unroll]] for (uint chunk = gl_LocalInvocationIndex; chunk < CHUNKS; chunk += WORKGROUP_SIZE) {
        uint sum = 0;
        [[dont_unroll]] for (uint i = 0; i < CHUNK; i++) sum += digit_count[chunk * CHUNK + i];
        chunk_sum[chunk] = sum;
    }
    barrier();
    [[dont_unroll]] for (uint chunk = gl_LocalInvocationIndex; chunk < CHUNKS; chunk += WORKGROUP_SIZE) {
        uint before = 0;
        for (uint earlier = chunk / (RADIX / CHUNK) * (RADIX / CHUNK); earlier < chunk; earlier++) {
            before += chunk_sum[earlier];
        }
        for (uint at = chunk * CHUNK; at < (chunk + 1) * CHUNK; at++) {
            counters[COUNTERS_HISTOGRAM + at] = before;
            before += digit_count[at];
        }
    }
}
