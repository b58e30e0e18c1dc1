#version 460
// Sorts segments of up to a block, each by itself, in one dispatch. A workgroup takes a window of neighbouring segments. It
//   1. finds the segments of its window, and marks the small ones in shared memory,
//   2. loads the small ones together, each key with its slot and with the number of its segment above it,
//   3. sorts the block by the digits of the keys, and then by the numbers,
//   4. loads each value from where its key was, and stores both.
// If all small ones are short, each is sorted in a few lanes instead, as in segments/short.comp. Then it does the same with each longer segment, without numbers. Those that are longer than a block are listed: for rounds of splits,
// after which the same kernel sorts their children, or to be narrowed to their first elements, which it then sorts.

#define SEGMENTS
#define NEIGHBOURS_WRITE // workgroups share the words at the ends of their windows
#define MOVES_BACK       // children are read from where they are
#define MOVES_ORIGINS true
#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS];                      // numbers of segments; then as in a single workgroup
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share;                         // one of the SHARE_* constants
shared uint child_begins[SEGMENT_LAYOUT == LAYOUT_CHILDREN ? SPLIT_CHILDREN + 1 : 1];

#include "onesweep/rank.glsl"
#include "single_workgroup/varying.glsl"
#include "single_workgroup/block.glsl"
#include "segments/layouts.glsl"
#include "segments/windows.glsl"
#if KEY_WORDS == 1 // wider ones would take more registers than the passes by digits
#include "segments/network.glsl"
#include "segments/lanes.glsl"
#include "segments/together.glsl"
#endif
#include "segments/elements.glsl"
#include "segments/targets.glsl"
#include "segments/load.glsl"
#include "segments/sort.glsl"
#include "segments/store.glsl"

void main() {
    Source source = source_of(workgroup_index());
    if (source.window >= windows_of(source.segments)) return;
    Window window = find_window(source.window, source.segments);
    if (window.owned == 0) return;
    mark_segments(window);
    uint turns = min(uniform_in_subgroup(medium_count), MOST_MEDIUM);
    [[dont_unroll]] for (uint turn = uniform_in_subgroup(span) > 0 ? 0 : 1; turn <= turns; turn++) {
        Part part = part_of(source, window, turn);
        if (LISTS && part.slots > LARGEST_PART) {
            if (TOP != 0) list_row(part.segment, part.start, part.slots);
            else list_parent(next_round(), part.start, part.slots, source.place);
            continue;
        }
#if KEY_WORDS == 1
        uint bits = slot_bits_of(window, part);
        if (bits > 0) {
            sort_each(window, bits);
            continue;
        }
#endif
        Block block = block_of(part.slots);
        KEY keys[ITEMS];
        uint origins[RANK_WORDS], targets[ITEMS], inside;
        if (OF_CHILDREN) inside = load_children(block, part, keys, origins);
        else inside = load_part(block, part, keys, origins);
        sort_part(block, part, window.owned, inside, keys, origins, targets);
        store_part(block, part, keys, origins, targets);
        barrier(); // the pool is free
    }
}
