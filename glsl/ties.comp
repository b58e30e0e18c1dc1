#version 460
// Lists the runs of ties that are not in order after passes over leading digits. The last workgroup decides: if runs are few
// and short, `mend` sorts them, else a second phase of passes follows.

#define COUNTERS_WRITTEN

#include "abi.glsl"
#include "lib/control.glsl"
#include "lib/memory.glsl"
#include "lib/last_workgroup.glsl"
#include "lib/ties.glsl"

shared uint found;      // runs of the workgroup
shared uint inversions; // ties that are less than the element before them
shared uint too_long;   // runs that are too long for `mend`
shared uint listed;     // position of the workgroup's runs in the list

uint keys_place;
uint count;
uint low; // the lowest bit of the leading digits

// A bit for each element of this invocation: whether the first inversion of a run begins with it.
uint firsts[(ITEMS + 31) / 32];

// A run up to an element: its begin, at most MAX_TIES elements back, and whether it is in order so far.
struct Run {
    uint begin;
    bool in_order;
};

Run run_up_to(uint index) {
    Run run = Run(index, true);
    KEY key = load_key(keys_place, index);
    while (run.begin > 0 && index - run.begin < MAX_TIES) {
        KEY before = load_key(keys_place, run.begin - 1);
        if (!is_tied(before, key, low)) break;
        if (precedes(key, before)) run.in_order = false;
        run.begin--;
        key = before;
    }
    return run;
}

// Searches this invocation's elements, `items` from `first` on; returns the number of runs whose first inversion is there.
uint find_runs(uint first, uint items) {
    uint begun = 0, inverted = 0, misfits = 0;
    KEY key = load_key(keys_place, first);
    Run run = run_up_to(first);
    for (uint item = 0; item < items; item++) {
        if (item % 32 == 0) firsts[item / 32] = 0;
        uint index = first + item;
        KEY next = load_key(keys_place, min(index + 1, count - 1));
        if (index + 1 == count || !is_tied(key, next, low)) {
            run = Run(index + 1, true);
        } else if (precedes(next, key)) {
            inverted++;
            if (run.in_order) {
                begun++;
                firsts[item / 32] |= 1u << (item % 32);
                // The elements in between are tied too.
                uint beyond = run.begin + MAX_TIES;
                if (beyond <= index || beyond < count && is_tied(load_key(keys_place, beyond), key, low)) misfits++;
            }
            run.in_order = false;
        }
        key = next;
    }
    if (inverted > 0) atomicAdd(inversions, inverted);
    if (misfits > 0) atomicAdd(too_long, misfits);
    return begun;
}

// Lists the run whose first inversion is between an element and the next one. The run's end is found here, where no key is
// written: `mend` may not read the first key of the run behind, which another invocation may be moving.
void list_run(uint place, uint at, uint index) {
    uint begin = run_up_to(index).begin, end = index + 2;
    KEY tie = load_key(keys_place, index);
    while (end < count && end - begin < MAX_TIES && is_tied(load_key(keys_place, end), tie, low)) end++;
    LISTED_RUN(place, at, 0) = begin;
    LISTED_RUN(place, at, 1) = min(end - begin, MAX_TIES);
}

void main() {
    uint route = counters[COUNTERS_TIES_ROUTE];
    keys_place = route_keys_from(route);
    low = digit_shift(counters[COUNTERS_LEADING_LOW]);
    count = sort_count();
    uint workgroups = parts_of(count, WORKGROUP_SIZE * ITEMS);
    if (workgroup_index() >= workgroups) return;
    bool is_first = gl_LocalInvocationIndex == 0;
    if (is_first) {
        found = 0;
        inversions = 0;
        too_long = 0;
    }
    barrier();
    uint start = workgroup_index() * WORKGROUP_SIZE * ITEMS;
    uint before = gl_LocalInvocationIndex * ITEMS;
    // The end of the workgroup's share may be beyond 2^32.
    uint items = before < count - start ? min(ITEMS, count - start - before) : 0;
    uint first = start + before, begun = 0, at = 0;
    if (items > 0) begun = find_runs(first, items);
    if (begun > 0) at = atomicAdd(found, begun);
    barrier();
    if (is_first) {
        listed = atomicAdd(counters[COUNTERS_RUNS], found);
        atomicAdd(counters[COUNTERS_INVERSIONS], inversions);
        atomicAdd(counters[COUNTERS_LONG_TIES], too_long);
    }
    barrier();
    if (begun > 0) {
        at += listed;
        for (uint item = 0; item < items; item++) {
            if ((firsts[item / 32] >> (item % 32) & 1) != 0) {
                list_run(route_keys_to(route), at, first + item);
                at++;
            }
        }
    }
    if (!finishes_last(COUNTERS_TIES_FINISHED, workgroups) || !is_first) return;

    bool few = atomicAdd(counters[COUNTERS_INVERSIONS], 0) <= count / ELEMENTS_PER_INVERSION;
    if (few && atomicAdd(counters[COUNTERS_LONG_TIES], 0) == 0) {
        write_arguments(ARGUMENTS_MEND, parts_of(atomicAdd(counters[COUNTERS_RUNS], 0), WORKGROUP_SIZE));
    } else {
        write_arguments(ARGUMENTS_FALLBACK, parts_of(count, push.part));
        counters[COUNTERS_ROUTES + PASSES] = counters[COUNTERS_ROUTES + PHASE_ROUTES + PASSES];
    }
}
