// The depth of positions along a row of a view matrix, for visitors that make keys of depths. A position is three neighbouring
// floats, every `visitor_stride` floats. All kernels must get the same bits of a key, so the sum is precise.

layout(set = 1, binding = 0) readonly buffer VisitedPositions { float visited_positions[]; };

float visit_depth(uint index) {
    uint at = push.visitor_first + index * push.visitor_stride;
    precise float depth = visited_positions[at] * push.visitor_row.x;
    depth += visited_positions[at + 1] * push.visitor_row.y;
    depth += visited_positions[at + 2] * push.visitor_row.z;
    depth += push.visitor_row.w;
    return depth;
}

// The depth in `levels` steps, which are fewer than 2^32. The row maps near to 0 and far to 1. NaN counts as near.
uint visit_quantized(uint index, float levels) {
    float depth = visit_depth(index);
    precise float level = depth > 0.0 ? min(depth, 1.0) * levels : 0.0;
    return uint(level);
}
