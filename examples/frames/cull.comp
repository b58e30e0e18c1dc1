#version 460

// Keeps the splats in front of the camera: their depths become the keys of a sort, their indices its values, and how many
// they are its count, also of those without room. Compiled to cull.spv by
//     glslc -g --target-env=vulkan1.2 examples/frames/cull.comp -o examples/frames/cull.spv
// where -g keeps this text, which a test compares.

layout(local_size_x = 64) in;

layout(push_constant) uniform Camera {
    vec3 eye;
    uint splats;
    vec3 forward;
    float near;
};

layout(std430, binding = 0) readonly buffer Positions { float positions[]; };
layout(std430, binding = 1) writeonly buffer Keys { float depths[]; };
layout(std430, binding = 2) writeonly buffer Values { uint indices[]; };
layout(std430, binding = 3) buffer Count { uint count; };

void main() {
    uint splat = gl_GlobalInvocationID.x;
    if (splat >= splats) {
        return;
    }
    vec3 position = vec3(positions[3 * splat], positions[3 * splat + 1], positions[3 * splat + 2]);
    float depth = dot(position - eye, forward);
    if (depth <= near) {
        return;
    }
    uint place = atomicAdd(count, 1);
    if (place < depths.length()) {
        depths[place] = depth;
        indices[place] = splat;
    }
}
