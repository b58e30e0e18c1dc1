// Keys of type f32: the depth.

#include "vksort/depth.glsl"

uint visit_key(uint index) { return floatBitsToUint(visit_depth(index)); }
