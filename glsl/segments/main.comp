#version 460
// Sorts segments of up to a block, each by itself, in one dispatch. A workgroup takes a window of neighbouring segments. It
//   1. finds the segments of its window, and marks the small ones in shared memory,
//   2. loads the small ones together, each key with its slot and with the number of its segment above it,
//   3. sorts the block by the digits of the keys, and then by the numbers; or ranks short segments by comparisons,
//   4. loads each value from where its key was, and stores both.
// Then it does the same with each longer segment, without numbers.

#define SEGMENTS
#define NEIGHBOURS_WRITE // workgroups share the words at the ends of their windows
#define MOVES_ORIGINS true
#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS];                      // numbers of segments; then as in a single workgroup
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share;                         // one of the SHARE_* constants

#include "onesweep/rank.glsl"
#include "single_workgroup/varying.glsl"
#include "single_workgroup/block.glsl"
#include "segments/windows.glsl"

// Loads a part, and gives a bit for each item that is inside of a segment. Slots outside are not loaded, as they may be another
// workgroup's or hold nothing; instead of a branch, their lanes load the last slot.
uint load_part(Block block, Part part, out KEY keys[ITEMS], out uint origins[RANK_WORDS]) {
    KEY first = KEY(0), differing = KEY(0);
    uint inside = 0;
    clear_varying();
    if (LOOKS) first = flip_by_sign(given_key(part.start + part.slots - 1));
    EACH_HELD(block.held) {
        {
            uint slot = place_of(block, item), mark = part_mark(part, slot);
            bool is_in = is_inside(mark);
            KEY key = flip_by_sign(given_key(part.start + (is_in ? slot : part.slots - 1)));
            if (LOOKS) differing |= key ^ first;
            keys[item] = is_in ? key : last_of_order();
            origins[item] = numbered_slot(part, slot, mark);
            inside |= uint(is_in) << item;
        }
    }
    memoryBarrierBuffer(); // in place, all keys have been read
    find_varying(differing);
    if (!LOOKS) barrier(); // and the numbers from the pool
    return inside;
}

// Lets keys and origins change places, so that the passes over the numbers are those over keys.
void exchange(Block block, inout KEY keys[ITEMS], inout uint origins[RANK_WORDS]) {
    EACH_HELD(block.held) {
        uint origin = origins[item];
        origins[item] = key_word(keys[item], 0);
        set_key_word(keys[item], 0, origin);
    }
}

// After the sort an origin is the slot that an element comes from, and above it the slot where it belongs, or that it goes nowhere.
const uint NO_TARGET = ~0u;

uint moved(uint origin, uint target) { return slot_in(origin) | target << NUMBER_LOW; }

void sort_part(Block block, Part part, uint owned, uint inside, inout KEY keys[ITEMS],
               inout uint origins[RANK_WORDS]) {
    uint passes = PASSES + passes_of_numbers(part, owned);
    [[dont_unroll]] for (uint pass = 0; pass < passes; pass++) {
        bool of_keys = pass < PASSES;
        if (pass == PASSES) exchange(block, keys, origins);
        if (of_keys && !varies(pass)) continue;
        Digit digit;
        if (of_keys) digit = digit_at(window_low(), pass);
        else digit = number_digit(pass - PASSES);
        sort_block(block, digit, true, keys, origins);
    }
    if (passes > PASSES) exchange(block, keys, origins);
    EACH_HELD(block.held) {
        uint slot = place_of(block, item);
        origins[item] = (inside >> item & 1) != 0 ? moved(origins[item], slot) : NO_TARGET;
    }
}

// The target of a key is its segment's first slot, and one further for each key of the segment that comes before it. Keys are compared
// with those at one distance after the other, so that items are in registers.
void compare_part(Block block, Part part, KEY keys[ITEMS], inout uint origins[RANK_WORDS]) {
    uint nearby[ITEMS]; // elements of its segment before a slot, and above them those after it
    EACH_HELD(block.held) {
        uint slot = place_of(block, item), mark = mark_at(slot), others = 0, origin = NO_TARGET;
        if (is_inside(mark)) {
            uint first = first_slot(mark), earlier = slot - first;
            others = earlier | ((pool[first] >> LENGTH_LOW) - 1 - earlier) << 16;
            origin = moved(slot, first);
        }
        nearby[item] = others;
        origins[item] = origin;
    }
    barrier(); // the lengths have been read from the pool
    EACH_HELD(block.held) {
        pool[place_of(block, item)] = comparable(keys[item]);
    }
    barrier();
    uint most = uniform_in_subgroup(longest);
    [[dont_unroll]] for (uint distance = 1; distance < most; distance++) {
        EACH_HELD(block.held) {
            uint slot = place_of(block, item), key = comparable(keys[item]);
            bool earlier = distance <= (nearby[item] & 0xFFFFu), later = distance <= nearby[item] >> 16;
            // Equal keys come before it if they are before it now.
            bool low = pool[earlier ? slot - distance : slot] <= key, high = pool[later ? slot + distance : slot] < key;
            origins[item] += uint(earlier && low) + uint(later && high) << NUMBER_LOW;
        }
    }
}

void store_part(Block block, Part part, KEY keys[ITEMS], uint origins[RANK_WORDS]) {
    if (DISCARD_KEYS == 0) {
        EACH_HELD(block.held) {
            uint origin = origins[item];
            if (origin != NO_TARGET) write_key(part.start + (origin >> NUMBER_LOW), flip_by_sign(keys[item]));
        }
    }
    [[dont_unroll]] for (uint word = 0; word < VALUE_WORDS; word++) {
        uint values[ITEMS];
        EACH_HELD(block.held) {
            // Lanes without a target load the last slot, and so do those that would load beyond it, if segments are not in order.
            uint origin = min(slot_in(origins[item]), part.slots - 1);
            uint target = min(origins[item] >> NUMBER_LOW, part.slots - 1);
            values[item] = part_value(part, origin, target, word);
        }
        memoryBarrierBuffer(); // in place, this word of all values has been read
        barrier();
        EACH_HELD(block.held) {
            uint origin = origins[item];
            if (origin != NO_TARGET) write_value(part.start + (origin >> NUMBER_LOW), word, values[item]);
        }
    }
}

void main() {
    uint segments = sort_count();
    if (workgroup_index() >= windows_of(segments)) return;
    Window window = find_window(workgroup_index(), segments);
    if (window.owned == 0) return;
    mark_segments(window);
    uint turns = min(uniform_in_subgroup(medium_count), MOST_MEDIUM);
    [[dont_unroll]] for (uint turn = uniform_in_subgroup(span) > 0 ? 0 : 1; turn <= turns; turn++) {
        Part part = part_of(window, turn);
        Block block = block_of(part.slots);
        KEY keys[ITEMS];
        uint origins[RANK_WORDS];
        uint inside = load_part(block, part, keys, origins);
        if (compares(part)) compare_part(block, part, keys, origins);
        else sort_part(block, part, window.owned, inside, keys, origins);
        store_part(block, part, keys, origins);
        barrier(); // the pool is free
    }
}
