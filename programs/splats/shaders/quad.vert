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
layout(location = 1) flat out vec3 conic;
layout(location = 2) flat out vec4 color;

void main() {
    uint rank = (mode & 1) != 0 ? instances - 1 - gl_InstanceIndex : gl_InstanceIndex;
    uint splat = (mode & 4) != 0 ? sorted[rank] : order[rank];
    uvec4 place = places[splat];
    vec4 shape = shapes[splat];
    center = uintBitsToFloat(place.xy);
    color = vec4(unpackHalf2x16(place.z), unpackHalf2x16(place.w).x, shape.w);
    // Bounded as in cull.comp, where the difference cancels.
    float determinant = max(shape.x * shape.z - shape.y * shape.y, 0.3 * (shape.x + shape.z) - 0.09);
    conic = vec3(shape.z, -shape.y, shape.x) / determinant;

    // The axes of the ellipse are the eigenvectors of the covariance, their lengths the roots of its eigenvalues.
    float middle = 0.5 * (shape.x + shape.z);
    float apart = length(vec2(0.5 * (shape.x - shape.z), shape.y));
    vec2 major = shape.x >= shape.z ? vec2(middle + apart - shape.z, shape.y) : vec2(shape.y, middle + apart - shape.x);
    // A circle has no longest axis.
    major = apart > 1e-6 * middle ? normalize(major) : vec2(1.0, 0.0);
    vec2 lengths = sqrt(2.0 * log(255.0 * shape.w) * vec2(middle + apart, max(middle - apart, 0.3)));
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    // What is rounded off stays within a pixel.
    vec2 reach = corner * (lengths + 0.5);
    vec2 pixel = center + reach.x * major + reach.y * vec2(-major.y, major.x);
    gl_Position = vec4(2.0 * pixel / size - 1.0, 0.0, 1.0);
}
