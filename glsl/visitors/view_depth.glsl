// Keys of type f32: the depth. Compilers may give NaN other bits in each kernel, so every NaN has the same ones.

#include "vksort/depth.glsl"

uint visit_key(uint index) {
    uint bits = floatBitsToUint(visit_depth(index));
    return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : bits;
}
