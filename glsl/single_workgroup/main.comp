#version 460
// Sorts up to one block in the shared memory of one workgroup, digit by digit. With many digits, it skips those that are the
// same in all keys. At the end it loads each value by the index that has moved with its key.

#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"
#include "shared/elements.glsl"
#include "shared/subgroup.glsl"

shared uint pool[POOL_WORDS];                      // a counter for each subgroup and bin; then one word of each element
shared uint subgroup_sums[OWN_DIGITS * SUBGROUPS];
shared uint largest_share;                         // one of the SHARE_* constants
shared uint varying_bits[KEY_WORDS];               // bits that are not the same in all keys

#include "onesweep/rank.glsl"
#include "single_workgroup/varying.glsl"
#include "single_workgroup/block.glsl"
#include "single_workgroup/move.glsl"

void main() {
    uint count = sort_count();
    if (count == 0) return;

    Block block = block_of(count);
    KEY keys[ITEMS];
    uint origins[RANK_WORDS]; // index in the input of each key
    load_block(block, count, keys, origins);
    bool reorders = count == block.size; // lanes past the end would come between equal digits
    for (uint digit = 0; digit < PASSES; digit++) {
        if (!varies(digit)) continue;
        sort_block(block, digit_at(window_low(), digit), !reorders, keys, origins);
        reorders = false;
    }
#if VISITED_OUTPUT
    visit_block(block, count, keys, origins);
#else
    store_block(block, count, keys, origins);
#endif
}
