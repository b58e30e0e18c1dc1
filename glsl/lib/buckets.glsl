// Ranking a segment by buckets: one shared atomic per key finds its bucket and a slot there; within a bucket, which
// mostly holds one key, keys are compared. After the local sort of Stehle and Jacobsen, "A Memory Bandwidth-Efficient
// Hybrid Radix Sort on GPUs" (2017). What a key is compared by is its code: the digits that are not the same in all keys.

const uint BUCKET_WORDS = 1u << (BUCKET_BITS - 2); // four buckets a word
const uint CHUNK_WORDS = BUCKET_WORDS > RADIX ? BUCKET_WORDS / RADIX : 1;
const uint CROWD = 15; // most keys of a bucket

uvec2 active_digits; // a bit for each digit that is not the same in all keys
uint code_bits;
uint run_bits;       // bits of the code below those that a run has in common

shared uint crowded; // not 0 when a bucket has more keys than a comparison with each is worth

bool is_active(uint pass) { return ((pass < 32 ? active_digits.x : active_digits.y) >> (pass & 31) & 1) != 0; }

// Takes note of the digits; `low` is the lowest of those that runs have in common.
void take_digits(uint low) {
    active_digits = uvec2(counters[COUNTERS_ACTIVE], counters[COUNTERS_ACTIVE + 1]);
    code_bits = 0;
    run_bits = 0;
    for (uint pass = 0; pass < PASSES; pass++) {
        uint bits = is_active(pass) ? digit_bits(pass) : 0;
        code_bits += bits;
        if (pass < low) run_bits += bits;
    }
}

// Wide keys have too many digits to have the loop over them unrolled wherever a code is taken.
#if KEY_WORDS == 1
#define CODE_UNROLL [[unroll]]
#else
#define CODE_UNROLL
#endif

uint code_of(KEY key) {
    uint code = 0;
    uint shift = 0;
    CODE_UNROLL for (uint pass = 0; pass < PASSES; pass++) {
        if (is_active(pass)) {
            code |= digit_of(key, pass) << (shift & 31);
            shift += digit_bits(pass);
        }
    }
    return code;
}

// Words of the pool are dealt to chunks in turns, so that neighbours who each add up a chunk read neighbouring words.
uint bucket_word(uint bucket) {
    uint word = bucket / 4;
    return word % CHUNK_WORDS * RADIX + word / CHUNK_WORDS;
}

// Which elements of the segment an invocation has: as many as its neighbours, whatever the segment's size.
bool has_item(uint item, uint elements) { return staged_place(item) < elements; }

// Turns the four counts of each word into the place of the word's first key, with the counts below it in four bits each.
void scan_buckets() {
    for (uint chunk = thread_index(); chunk < RADIX; chunk += WORKGROUP_SIZE) {
        uint sum = 0;
        for (uint word = 0; word < CHUNK_WORDS; word++) sum += pool[word * RADIX + chunk] * 0x01010101u >> 24;
        digit_scan[chunk] = sum;
    }
    scan_digits();
    for (uint chunk = thread_index(); chunk < RADIX; chunk += WORKGROUP_SIZE) {
        uint before = digit_scan[chunk];
        for (uint word = 0; word < CHUNK_WORDS; word++) {
            uint at = word * RADIX + chunk;
            uint counts = pool[at];
            pool[at] = before << 16 | (counts >> 12 & 0xF000) | (counts >> 8 & 0xF00) | (counts >> 4 & 0xF0) | (counts & 0xF);
            before += counts * 0x01010101u >> 24;
        }
    }
    barrier();
}

// Fills `places` with the rank of each of this invocation's keys in the segment; false when that is not to be had.
bool rank_by_buckets(uint elements) {
    for (uint i = thread_index(); i < CHUNK_WORDS * RADIX; i += WORKGROUP_SIZE) pool[i] = 0;
    if (thread_index() == 0) crowded = code_bits > 32 ? 1 : 0;
    barrier();
    // Codes of the segment are between these two, as their upper bits are sorted.
    uint below = (1u << (run_bits & 31)) - 1;
    uint least = code_of(load_key(input_place(), block_start)) & ~below;
    uint most = code_of(load_key(input_place(), block_start + elements - 1)) | below;
    uint shift = uint(max(findMSB(most - least) + 1 - int(BUCKET_BITS), 0));
    if (code_bits <= 32) {
        EACH_ITEM {
            if (has_item(item, elements)) {
                uint bucket = (code_of(keys[item]) - least) >> shift;
                uint at = 8 * (bucket & 3);
                places[item] = atomicAdd(pool[bucket_word(bucket)], 1u << at) >> at & 0xFF;
                // Counts that overflow into their neighbours have been too large before.
                if (places[item] >= CROWD) atomicOr(crowded, 1);
            }
        }
    }
    barrier();
    bool fits = crowded == 0;
    if (fits) {
        scan_buckets();
        EACH_ITEM {
            if (has_item(item, elements)) {
                uint bucket = (code_of(keys[item]) - least) >> shift;
                uint word = pool[bucket_word(bucket)];
                uint before = word & ((1u << 4 * (bucket & 3)) - 1);
                uint start = (word >> 16) + (before & 0xF) + (before >> 4 & 0xF) + (before >> 8);
                uint size = word >> 4 * (bucket & 3) & 0xF;
                places[item] = start | places[item] << 16 | size << 20;
            }
        }
        barrier(); // the counts have been read
        EACH_ITEM {
            if (has_item(item, elements)) {
                pool[(places[item] & 0xFFFF) + (places[item] >> 16 & 0xF)] = code_of(keys[item]);
            }
        }
        barrier();
        EACH_ITEM {
            if (has_item(item, elements)) {
                uint code = code_of(keys[item]);
                uint start = places[item] & 0xFFFF;
                uint slot = places[item] >> 16 & 0xF;
                uint size = places[item] >> 20;
                uint rank = start;
                for (uint at = 0; at < size; at++) {
                    uint other = pool[start + at];
                    if (other < code || other == code && at < slot) rank++;
                }
                places[item] = rank;
            }
        }
    }
    return fits;
}
