#version 460

// Writes each splat into the list of every tile that it touches: the sort's key, with the depth above the splat's number.
//
// Depths are positive, so their bits as a whole number ascend with them. The number makes all keys of a tile different: the sorted
// list is the same in every run, although atomics leave open in which order splats arrive.

layout(local_size_x = 64) in;

layout(push_constant) uniform View {
    layout(offset = 12) uint splats;
    layout(offset = 60) uint capacity;
    vec2 size;
};

struct Footprint { vec2 center; float depth; float opacity; vec3 conic; uint from; vec3 color; uint to; };

layout(std430, binding = 1) readonly buffer Footprints { Footprint footprints[]; };
// The next free place of each tile.
layout(std430, binding = 2) buffer Tiles { uint tiles[]; };
layout(std430, binding = 5) writeonly buffer Entries { uvec2 entries[]; };

void main() {
    uint splat = gl_GlobalInvocationID.x;
    if (splat >= splats) {
        return;
    }
    float depth = footprints[splat].depth;
    uint from = footprints[splat].from, to = footprints[splat].to;
    uint across = uint(ceil(size.x / 16.0));
    for (uint y = from >> 16; y < to >> 16; y++) {
        for (uint x = from & 0xFFFF; x < (to & 0xFFFF); x++) {
            uint place = atomicAdd(tiles[y * across + x], 1);
            if (place < capacity) {
                entries[place] = uvec2(splat, floatBitsToUint(depth));
            }
        }
    }
}
