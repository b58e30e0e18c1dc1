// Keys of type u16: the depth between near and far.

#include "vksort/depth.glsl"

uint visit_key(uint index) { return visit_quantized(index, 65535.0); }
