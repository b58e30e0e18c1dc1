#version 460

// A quad around each splat, as large as the ellipse outside which alpha is too little to be seen.

layout(push_constant) uniform Frame {
    layout(offset = 60) uint mode;
    vec2 size;
};

layout(std430, binding = 3) readonly buffer Places { uvec4 places[]; };
layout(std430, binding = 4) readonly buffer Shapes { vec4 shapes[]; };
layout(std430, binding = 9) readonly buffer Order { uint order[]; };
layout(std430, binding = 10) readonly buffer Draw { uint vertices; uint instances; };

// Where a sort with a visitor leaves the order.
layout(std430, binding = 11) readonly buffer Sorted { uint sorted[]; };

layout(location = 0) flat out vec2 center;
// The axes of the ellipse, divided by their standard deviations: they turn an offset in pixels into one in standard deviations.
layout(location = 1) flat out vec4 axes;
layout(location = 2) flat out vec4 color;

void main() {
    uint rank = (mode & 1) != 0 ? instances - 1 - gl_InstanceIndex : gl_InstanceIndex;
    uint splat = (mode & 4) != 0 ? sorted[rank] : order[rank];
    uvec4 place = places[splat];
    vec4 shape = shapes[splat];
    center = uintBitsToFloat(place.xy);
    color = vec4(unpackHalf2x16(place.z), unpackHalf2x16(place.w).x, shape.w);
    vec2 sigma = vec2(length(shape.xy), shape.z);
    vec2 major = shape.xy / sigma.x;
    vec2 minor = vec2(-major.y, major.x);
    axes = vec4(major / sigma.x, minor / sigma.y);

    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    // What is rounded off stays within a pixel.
    vec2 reach = corner * (sigma * sqrt(2.0 * log(255.0 * shape.w)) + 0.5);
    // The corners of long splats are brought near the picture, where rasterizers have more digits for edges.
    vec2 to_middle = 0.5 * size - center;
    vec2 nearest = vec2(dot(major, to_middle), dot(minor, to_middle));
    float diagonal = length(size);
    reach = clamp(reach, nearest - diagonal, nearest + diagonal);
    vec2 pixel = center + reach.x * major + reach.y * minor;
    gl_Position = vec4(2.0 * pixel / size - 1.0, 0.0, 1.0);
}
