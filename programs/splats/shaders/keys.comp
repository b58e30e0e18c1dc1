#version 460

// Writes the depths of the splats that are seen, the keys of the sort, and their indices, its values. They are in the order
// of the scene, so a stable sort leaves splats of equal depth in it.

layout(local_size_x = 256) in;

layout(push_constant) uniform Frame {
    layout(offset = 12) uint splats;
    layout(offset = 60) uint mode;
};

layout(std430, binding = 5) readonly buffer Depths { float depths[]; };
layout(std430, binding = 6) readonly buffer Bits { uint bits[]; };
layout(std430, binding = 7) readonly buffer Counts { uint places[]; };
layout(std430, binding = 8) writeonly buffer Keys { float keys[]; };
layout(std430, binding = 9) writeonly buffer Order { uint order[]; };

void main() {
    uint splat = gl_GlobalInvocationID.x;
    uint own = splat / 32;
    if (splat >= splats || (bits[own] >> splat % 32 & 1) == 0) {
        return;
    }
    uint place = places[splat / 256] + bitCount(bits[own] & ((1u << splat % 32) - 1));
    for (uint word = own & ~7u; word < own; word++) {
        place += bitCount(bits[word]);
    }
    // A visitor makes the keys within the sort.
    if ((mode & 2) == 0) {
        keys[place] = depths[splat];
    }
    order[place] = splat;
}
