// Keys of type u32, of which 24 bits count: the depth between near and far.

#include "vksort/depth.glsl"

uint visit_key(uint index) { return visit_quantized(index, 16777215.0); }
