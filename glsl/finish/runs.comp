#version 460
// The finish of a sort by leading bits: elements are in order by these already, and each workgroup sorts whole runs of equal leading
// bits by all bits, in one read and one write, where they are.
//
// A workgroup takes a window of elements, and sorts the runs that begin in its own part of it. Keys of the runs go to buckets by their
// highest bits that differ, two for each element of a window. Their places are those of the buckets, and what is left is the order
// within each, for which neighbours are compared as often as the fullest bucket has keys. If the last run does not end within the
// window, what follows of it is sorted in the same way, and merged in memory with what was before.
//
// Windows overlap. Another workgroup may write keys of its runs while this one searches for the end of a run among them, but these have
// the same leading bits in any order. They are bits of the top word, which is therefore loaded and stored by atomics.

#define MAY_FINISH
#define MOVES_BACK
#define MOVED_ELEMENTS coherent buffer // merged elements are loaded by other invocations

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint WINDOW = WORKGROUP_SIZE * ITEMS;
const uint BUCKETS = 2 * WINDOW;             // two in a word
const uint STRIDE = WINDOW + (WINDOW >> 5);  // places with padding
const uint HALF = WORKGROUP_SIZE / 2;
const uint GROUPED = 16; // invocations whose sums are added up first

// Counters of buckets, then keys in the order of their buckets, then the first and last keys of each invocation.
const uint EDGE_WORDS = 2 * (KEY_WORDS + 1) * WORKGROUP_SIZE;
shared uint pool[KEY_WORDS * STRIDE > EDGE_WORDS ? KEY_WORDS * STRIDE : EDGE_WORDS];
shared uint origins[VALUE_BITS > 0 ? STRIDE : 1]; // their places in the window, by which equal keys are ordered
shared uint sums[WORKGROUP_SIZE];
shared uint group_sums[(WORKGROUP_SIZE + GROUPED - 1) / GROUPED];
shared uint found_at[2];
shared uint low_top, high_top;
shared uint fullest;     // elements of the fullest bucket
shared uint out_of_order; // 1 if neighbours are

// Orders what the workgroup has read and written, in shared memory and in the elements.
void elements_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
}

#if KEY_WORDS == 1
#define TOP_CELL(index) KEY_CELL(to, index)
#else
#define TOP_CELL(index) KEY_CELL(to, index)[TOP_WORD]
#endif

uint top_at(uint index) {
    uint top = atomicLoad(TOP_CELL(index), gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    KEY key = KEY(0);
    set_key_word(key, TOP_WORD, top);
    return ascending_top(flip_by_sign(key));
}

// A key as a number that ascends, and one that is stored in the order.
KEY ascending_key(KEY key) { return flip_by_sign(key) ^ all_flips(); }

void store_ascending(uint index, KEY key) {
    key = flip_by_sign(key ^ all_flips());
    atomicStore(TOP_CELL(index), key_word(key, TOP_WORD), gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    [[unroll]] for (uint word = 0; word < TOP_WORD; word++) write_key_word(index, word, key_word(key, word));
}

#include "finish/merge.glsl"
#include "finish/search.glsl"
#include "finish/buckets.glsl"
#include "finish/neighbours.glsl"

// Sorts so many elements from `begin` on, which are in a window that begins at `start`: by the top words of all its elements.
void sort_window(uint start, uint begin, uint elements, uint tops[ITEMS], uint low, bool keeps_keys) {
    put_by_buckets(start, begin, elements, tops, low);
    order_neighbours(fullest);
    uint thread = gl_LocalInvocationIndex, values[ITEMS];
    if (VALUE_BITS > 0) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint at = item * WORKGROUP_SIZE + thread;
            values[item] = 0;
            if (at < elements) values[item] = read_value_back(start + origin_at(at), 0);
        }
    }
    elements_barrier(); // all have been read
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint at = item * WORKGROUP_SIZE + thread;
        if (at < elements) {
            if (keeps_keys) store_ascending(begin + at, pooled(at));
            if (VALUE_BITS > 0) write_value(begin + at, 0, values[item]);
        }
    }
}

void load_tops(uint start, uint count, out uint tops[ITEMS]) {
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        tops[item] = top_at(min(start + item * WORKGROUP_SIZE + gl_LocalInvocationIndex, count - 1));
    }
}

// How many elements from the start of a window on are of the run that the element before it is of.
uint of_same_run(uint start, uint count, uint tops[ITEMS], uint low) {
    uint run = top_at(start - 1) >> low;
    if (gl_LocalInvocationIndex == 0) found_at[0] = WINDOW - min(WINDOW, count - start);
    barrier();
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        if (tops[item] >> low != run) atomicMax(found_at[0], WINDOW - item * WORKGROUP_SIZE - gl_LocalInvocationIndex);
    }
    barrier();
    return WINDOW - found_at[0];
}

void main() {
    uint count = sort_count(), finish = counters[COUNTERS_FINISH], low = leading_low(finish);
    uint reach = WINDOW / 8 << (finish >> FINISH_REACH & 3), own = WINDOW - reach, start = workgroup_index() * own;
    if (finish == 0 || start >= count) return;
    uint tops[ITEMS];
    load_tops(start, count, tops);
    // The first run begins at the first element. Behind the last one of the window another one may begin.
    uint own_end = start + min(own, count - start), window_end = start + min(WINDOW + 1, count - start);
    uvec2 bounds = next_runs(uvec2(start, own_end), uvec2(start == 0 ? 0 : own_end, window_end), low);
    uint begin = bounds.x, end = bounds.y;
    if (start > 0 && begin == own_end) return; // no run begins here
    // The histogram met no longer run than that. One of keys that change while they are sorted stays as it is.
    uint window = start, most = start + WINDOW + count / FINISH_SHARE;
    bool goes_on = end - start > WINDOW, keeps_keys = DISCARD_KEYS == 0 || goes_on;
    end = min(end, start + WINDOW);
    sort_window(window, begin, end - begin, tops, low, keeps_keys);
    [[dont_unroll]] while (goes_on && end < min(most, count)) {
        window = end;
        load_tops(window, count, tops);
        uint elements = of_same_run(window, count, tops, low);
        goes_on = elements == WINDOW;
        end += elements;
        if (elements > 0) sort_window(window, window, elements, tops, low, keeps_keys);
    }
    if (end - start > WINDOW) merge_windows(start, begin, end);
}
