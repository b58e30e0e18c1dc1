// Loading, ranking and writing a tile, for the kernels that scatter by one digit.

#include "lib/pass.glsl"
#include "lib/element.glsl"
#include "lib/block.glsl"

shared uint digit_base[RADIX]; // target of a digit's elements, less their ranks; indexed by its bits

// Elements of a tile: a block, or on software drivers the part of a block that the plan sets.
uint tile_size() { return STAGED != 0 ? BLOCK : push.part; }

uint befores[DIGITS_EACH]; // elements of each own digit in earlier tiles

// Sets the target of an own digit, in a tile of `elements`. The caller may have changed the keys since they were counted, so
// the target is limited: no element goes past the end.
void set_base(uint turn, uint base, uint elements) {
    uint past = own_digit(turn) == (1u << digit_width) - 1 ? block_ranks() - elements : 0;
    uint most = count - (totals[turn] - past);
#if STAGED
    digit_base[own_bits(turn)] = min(base, most) - digit_starts[turn];
#else
    digit_base[own_bits(turn)] = min(base, most);
#endif
}

#if STAGED
#include "lib/tile_staged.glsl"
#else
#include "lib/tile_private.glsl"
#endif
