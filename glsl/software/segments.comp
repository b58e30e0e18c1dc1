#version 460
// Segments on software drivers: segments/main.comp with private counters. An invocation holds the slots of its keys, and loads a key
// again where it is needed, as the elements stay as they are until the end: each further array takes these drivers seconds to compile.

#define SEGMENTS
#define NEIGHBOURS_WRITE // workgroups share the words at the ends of their windows
#define MOVES_BACK       // children are read from where they are
#include "abi.glsl"

layout(set = 0, binding = BINDING_COUNTERS) buffer Counters { uint counters[]; };
layout(set = 0, binding = BINDING_TABLE) buffer Table { uint table[]; };
layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/subgroup.glsl"

const uint MARK_WORDS = (WORKGROUP_SIZE * ITEMS + 31) / 32; // a bit for each slot
const uint MOST_MEDIUM = 3; // medium segments begin more than a quarter of the block apart, and a window has three quarters

shared uint pool[POOL_WORDS]; // numbers of segments; then one word of each slot
shared uint varying_bits[KEY_WORDS]; // bits that are not the same in all keys
shared uint child_begins[SEGMENT_LAYOUT == LAYOUT_CHILDREN ? SPLIT_CHILDREN + 1 : 1];
shared uint begins[MARK_WORDS];  // a bit for the first slot of each small segment
shared uint ends[MARK_WORDS];    // a bit for the slot after its last one
shared uint before[MARK_WORDS];  // mark_at of the slot before each word
shared uint bounds[2];           // first owned segment, and the one after the last
shared uint span;                // slots up to the end of the last small segment
shared uint longest;             // elements of the longest small segment
shared uint medium[MOST_MEDIUM]; // medium segments
shared uint medium_count;        // of all that the window owns; more than there is room for if offsets are not in order

#include "software/rank.glsl"
#include "single_workgroup/varying.glsl"
#include "segments/layouts.glsl"
#include "segments/lists.glsl"
#include "segments/windows.glsl"
#include "segments/elements.glsl"

// Runs a statement for each item of a part, with the place of its elements known to the compiler: one of two loops runs zero iterations.
// Software drivers execute a branch that no lane takes, but not the body of such a loop.
#define EACH_ITEM_OF(part_at, source, items, statement) { \
    Part source = part_at; \
    source.back = false; \
    for (uint item = 0; item < (part_at.back ? 0 : items); item++) { statement } \
    source.back = true; \
    if (OF_CHILDREN) for (uint item = 0; item < (part_at.back ? items : 0); item++) { statement } \
}

uint origins[HELD(ITEMS)]; // of each item, as in segments/elements.glsl
uint held[HELD(ITEMS)];    // its target

uint place_of(uint item, uint items) { return thread() * items + item; }

// The bin of an item. The last key of the order stands for slots outside of segments. Other workgroups write to segments that
// overlap, so keys may change in between.
uint bin_of_item(Part part, uint item, Digit digit, bool by_number) {
    uint origin = origins[item];
    KEY key = by_number ? KEY(origin) : ~all_flips();
    if (!by_number && !is_outside(origin)) key = part_key(part, offset_in(origin));
    return bits_at(key, digit);
}

// Of children all slots are loaded: the digits of longer ones keep their places among the small ones.
bool is_loaded(Part part, uint slot, uint mark) { return OF_CHILDREN ? slot < part.slots : is_inside(mark); }

void load_part(Part part, uint items) {
    KEY first = KEY(0), differing = KEY(0);
    uint last = part.slots - 1;
    clear_varying();
    if (LOOKS) first = part_key(part, offset_of(part, last));
    for (uint item = 0; item < items; item++) {
        uint slot = place_of(item, items), mark = part_mark(part, slot);
        bool is_in = is_loaded(part, slot, mark);
        uint offset = offset_of(part, is_in ? slot : last);
        origins[item] = OF_CHILDREN ? (is_in ? offset : offset | OUTSIDE) : origin_of(part, offset, mark);
        if (LOOKS) differing |= part_key(part, offset) ^ first;
    }
    find_varying(differing);
    if (!LOOKS) barrier(); // the numbers have been read from the pool
    // If keys change during the sort, a pass may leave out words of the pool, and store others twice.
    for (uint item = 0; item < items; item++) pool[place_of(item, items)] = 0;
    barrier();
}

// The target of an item that belongs in a slot.
uint target_in(Part part, uint item, uint slot) {
    uint target = NO_TARGET;
    if (is_inside(part_mark(part, slot))) {
        target = TOP == 0 ? part.start + slot : top_target(part, origins[item] >> NUMBER_LOW, slot);
    }
    return target;
}

void sort_part(Part part, uint items, uint owned) {
    uint numbers = number_passes(part, owned), of_key = key_passes(part), first = SURVIVORS ? 0 : of_key;
    [[dont_unroll]] for (uint pass = 0; pass < of_key + numbers; pass++) {
        uint of_numbers = pass - first, of_keys = SURVIVORS ? pass - numbers : pass;
        bool by_number = of_numbers < numbers;
        if (!by_number && !key_varies(part, of_keys)) continue;
        Digit digit;
        if (by_number) digit = number_digit(of_numbers);
        else digit = key_digit(part, of_keys);
        clear_own_counts();
        EACH_ITEM_OF(part, source, items, own_count[bin_of_item(source, item, digit, by_number)]++;)
        scan_own_counts(digit, true);
        // After the last pass elements need not come back from the pool in order.
        bool is_last = pass + 1 == of_key + numbers;
        EACH_ITEM_OF(part, source, is_last ? items : 0,
            held[item] = target_in(part, item, min(own_count[bin_of_item(source, item, digit, by_number)]++, BLOCK - 1));)
        if (is_last) return;
        EACH_ITEM_OF(part, source, items,
            pool[min(own_count[bin_of_item(source, item, digit, by_number)]++, BLOCK - 1)] = origins[item];)
        barrier();
        for (uint item = 0; item < items; item++) origins[item] = pool[place_of(item, items)];
        barrier();
    }
    for (uint item = 0; item < items; item++) held[item] = target_in(part, item, place_of(item, items));
}

// In place, the other words of a key may have been written already.
uint part_key_word(Part part, uint offset, uint word) {
#if KEY_WORDS == 1
    return part_bits(part, offset);
#else
    uint index = part.start + offset;
    return OF_CHILDREN && part.back ? KEY_CELL(to, index)[word] : KEY_CELL(from, index)[word];
#endif
}

// Keys and values are stored word by word. An invocation has slots of its own in the pool.

void store_keys(Part part, uint items) {
    for (uint word = 0; word < KEY_WORDS; word++) {
        EACH_ITEM_OF(part, source, items,
            if (held[item] != NO_TARGET) pool[place_of(item, items)] = part_key_word(source, offset_in(origins[item]), word);)
        memoryBarrierBuffer(); // in place, this word of all keys has been read
        barrier();
        for (uint item = 0; item < items; item++) {
            if (held[item] != NO_TARGET) write_key_word(held[item], word, pool[place_of(item, items)]);
        }
    }
}

void store_values(Part part, uint items) {
    for (uint word = 0; word < VALUE_WORDS; word++) {
        EACH_ITEM_OF(part, source, items,
            if (held[item] != NO_TARGET) pool[place_of(item, items)] = part_value(source, offset_in(origins[item]), word);)
        memoryBarrierBuffer(); // the same of values
        barrier();
        for (uint item = 0; item < items; item++) {
            if (held[item] != NO_TARGET) write_value(held[item], word, pool[place_of(item, items)]);
        }
    }
}

void main() {
    Source source = source_of(workgroup_index());
    if (source.window >= windows_of(source.segments)) return;
    Window window = find_window(source.window, source.segments);
    if (window.owned == 0) return;
    mark_segments(window);
    uint turns = min(medium_count, MOST_MEDIUM);
    [[dont_unroll]] for (uint turn = span > 0 ? 0 : 1; turn <= turns; turn++) {
        Part part = part_of(source, window, turn);
        if (LISTS && part.slots > LARGEST_PART) {
            if (TOP != 0) list_row(part.segment, part.start, part.slots);
            else list_parent(next_round(), part.start, part.slots, source.place);
            continue;
        }
        uint items = items_of(part.slots);
        load_part(part, items);
        sort_part(part, items, window.owned);
        if (DISCARD_KEYS == 0) store_keys(part, items);
        store_values(part, items);
    }
}
