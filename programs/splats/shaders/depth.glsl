// The key of a splat that is seen: its depth, as the cull has left it.

layout(std430, set = 1, binding = 5) readonly buffer VisitedDepths { float visited_depths[]; };
layout(std430, set = 1, binding = 9) readonly buffer VisitedOrder { uint visited_order[]; };

KEY visit_key(uint index) {
    return floatBitsToUint(visited_depths[visited_order[index]]);
}
