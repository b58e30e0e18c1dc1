#version 460
// Sorts segments of up to a block, each by itself, in one dispatch. A workgroup takes a window of neighbouring segments. It
//   1. finds the segments of its window, and marks the small ones in shared memory,
//   2. loads the small ones together, each key with its slot and with the number of its segment above it,
//   3. sorts the block by the digits of the keys, and then by the numbers,
//   4. loads each value from where its key was, and stores both.
// If all small ones are short, each is sorted in a few lanes instead, as in segments/short.comp. Then it does the same with each longer
// segment, without numbers. Those that are longer than a block are listed: for rounds of splits, after which the same kernel sorts
// their children, or to be narrowed to their first elements, which it then sorts.

#define SEGMENTS
#define NEIGHBOURS_WRITE // workgroups share the words at the ends of their windows
#define MOVES_BACK       // children are read from where they are
#define MOVES_ORIGINS true
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };
layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/subgroup.glsl"

const uint MARK_WORDS = (WORKGROUP_SIZE * ITEMS + 31) / 32; // a bit for each slot
const uint MOST_MEDIUM = 3; // medium segments begin more than a quarter of the block apart, and a window has three quarters

shared uint pool[POOL_WORDS];                      // numbers of segments; then as in a single workgroup
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share;                         // one of the SHARE_* constants
shared uint varying_bits[KEY_WORDS];               // bits that are not the same in all keys
shared uint child_begins[SEGMENT_LAYOUT == LAYOUT_CHILDREN ? SPLIT_CHILDREN + 1 : 1];
shared uint begins[MARK_WORDS];  // a bit for the first slot of each small segment
shared uint ends[MARK_WORDS];    // a bit for the slot after its last one
shared uint before[MARK_WORDS];  // mark_at of the slot before each word
shared uint bounds[2];           // first owned segment, and the one after the last
shared uint span;                // slots up to the end of the last small segment
shared uint longest;             // elements of the longest small segment
shared uint medium[MOST_MEDIUM]; // medium segments
shared uint medium_count;        // of all that the window owns; more than there is room for if offsets are not in order

#include "onesweep/rank.glsl"
#include "single_workgroup/varying.glsl"
#include "single_workgroup/block.glsl"
#include "segments/layouts.glsl"
#include "segments/lists.glsl"
#include "segments/windows.glsl"
#if KEY_WORDS == 1 // wider ones would take more registers than the passes by digits
#include "segments/network.glsl"
#endif
#include "segments/elements.glsl"
#include "segments/part.glsl"

#if KEY_WORDS == 1
// The slots of a small segment as a power of two, or 0 if they are sorted by digits: because one is longer, or most of the slots would be
// empty.
uint slot_bits_of(Window window, Part part) {
    uint most = uniform_in_subgroup(longest), bits = most > HELD_SLOTS ? findMSB(most - 1) + 1 : 2;
    bool serves = bits <= NETWORK_BITS && part.small && window.owned << bits <= SPARSEST * part.slots;
    return SURVIVORS || OF_CHILDREN || !serves ? 0 : bits;
}

void sort_each(Window window, uint bits) {
    uint place = thread() / lanes_of(bits);
    [[dont_unroll]] for (uint done = 0; done < window.owned; done += segments_at_a_time(bits)) {
        bool exists = place < window.owned - done;
        sort_segment(segment_of(window.first + done + place, exists, uniform_in_subgroup(longest)), bits);
    }
}
#endif

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
