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
#define ELEMENTS coherent buffer // merged elements are loaded by other invocations

#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) readonly buffer Counters { uint counters[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"

const uint WINDOW = WORKGROUP_SIZE * ITEMS;
const uint BUCKETS = 2 * WINDOW;             // two in a word
const uint STRIDE = WINDOW + (WINDOW >> 5);  // places with padding
const uint GROUPED = 16;                     // invocations whose sums one adds up

// Counters of buckets, then keys in the order of their buckets, then the first and last keys of each invocation.
shared uint pool[KEY_WORDS * STRIDE];
shared uint origins[VALUE_BITS > 0 ? STRIDE : 1]; // their places in the window, by which equal keys are ordered
shared uint sums[WORKGROUP_SIZE + (WORKGROUP_SIZE >> 5)];
shared uint group_sums[(WORKGROUP_SIZE + GROUPED - 1) / GROUPED];
shared uint next_at[2];   // WINDOW less the places of the next runs
shared uint first_top, last_top; // of the window, whose range the buckets share: far keys at its ends make them wide
shared uint fullest;      // at least the elements of the fullest bucket, but one
shared uint out_of_order; // 1 if neighbours are

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

// A key as a number that ascends, and such a number as a key.
KEY ascending_key(KEY key) { return flip_by_sign(key) ^ all_flips(); }

KEY stored_key(KEY ascending) { return flip_by_sign(ascending ^ all_flips()); }

void store_ascending(uint index, KEY ascending) {
    KEY key = stored_key(ascending);
    atomicStore(TOP_CELL(index), key_word(key, TOP_WORD), gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    [[unroll]] for (uint word = 0; word < TOP_WORD; word++) write_key_word(index, word, key_word(key, word));
}

#include "finish/merge.glsl"
#include "finish/buckets.glsl"
#include "finish/neighbours.glsl"

// Sorts so many elements from `begin` on, which are in a window that begins at `start`: by the top words of all its elements.
void sort_window(uint start, uint begin, uint elements, uint tops[ITEMS], uint low, bool keeps_keys) {
    put_by_buckets(start, begin, elements, tops, low);
    order_neighbours(fullest + 1);
    uint thread = gl_LocalInvocationIndex, values[ITEMS];
    if (VALUE_BITS > 0) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            uint at = item * WORKGROUP_SIZE + thread;
            values[item] = 0;
            if (at < elements) values[item] = read_value_back(start + pooled(at).origin, 0);
        }
    }
    elements_barrier(); // all have been read
    [[unroll]] for (uint item = 0; item < ITEMS; item++) {
        uint at = item * WORKGROUP_SIZE + thread;
        if (at < elements) {
            if (keeps_keys) store_ascending(begin + at, pooled(at).key);
            if (VALUE_BITS > 0) write_value(begin + at, 0, values[item]);
        }
    }
}

// Loads a window, and finds the first places from its first one and from `own` on whose elements begin a run; those behind its last
// element if none does.
uvec2 take_window(uint start, uint own, uint elements, uint low, out uint tops[ITEMS]) {
    uint thread = gl_LocalInvocationIndex, last = start + elements - 1;
    // Keys are in order by their leading bits: those of later runs are higher than all of a run can be.
    uvec2 highest = uvec2(top_at(max(start, 1) - 1), top_at(min(start + own - 1, last))) | (1u << low) - 1, found = uvec2(ITEMS);
    if (thread < 2) next_at[thread] = WINDOW - elements;
    barrier();
    [[unroll]] for (uint item = 0; item < ITEMS; item++) tops[item] = top_at(min(start + item * WORKGROUP_SIZE + thread, last));
    [[unroll]] for (uint behind = ITEMS; behind > 0; behind--) {
        if (tops[behind - 1] > highest.x) found.x = behind - 1;
        if (tops[behind - 1] > highest.y) found.y = behind - 1;
    }
    [[unroll]] for (uint side = 0; side < 2; side++) {
        if (found[side] < ITEMS) atomicMax(next_at[side], WINDOW - found[side] * WORKGROUP_SIZE - thread);
    }
    if (thread == 0) first_top = tops[0];
    if (thread == WORKGROUP_SIZE - 1) last_top = tops[ITEMS - 1];
    barrier();
    return WINDOW - uvec2(next_at[0], next_at[1]);
}

void main() {
    uint count = sort_count(), finish = counters[COUNTERS_FINISH], low = leading_low(finish);
    uint reach = WINDOW / 8 << (finish >> FINISH_REACH & 3), own = WINDOW - reach, start = workgroup_index() * own;
    if (finish == 0 || start >= count) return;
    // A run begins anywhere in the own part, and the histogram met none of more than a share of all. What is longer, of keys that change
    // while they are sorted, stays as it is.
    uint most = min(start + WINDOW + count / FINISH_SHARE, count), begin = start, end = start, tops[ITEMS];
    bool goes_on = true;
    [[dont_unroll]] for (uint window = start; goes_on && window < most; window = end) {
        uvec2 next = take_window(window, own, min(WINDOW, count - window), low, tops);
        bool is_first = window == start;
        uint from = is_first && start > 0 ? next.x : 0, to = is_first ? next.y : next.x;
        // Both places are the same if no run begins in the own part, or if the run does not go on.
        if (from >= to) break;
        if (is_first) begin += from;
        else if (gl_LocalInvocationIndex == 0) last_top = first_top; // all are of one run
        goes_on = to == WINDOW;
        end = window + to;
        sort_window(window, window + from, to - from, tops, low, DISCARD_KEYS == 0 || goes_on || !is_first);
    }
    if (end - start > WINDOW) merge_windows(start, begin, end);
}
