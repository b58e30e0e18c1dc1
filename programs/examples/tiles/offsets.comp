#version 460

// Turns the tiles' counts into the places where their splats begin, and lists the tiles that have any: these are the segments of
// the sort, and how many they are is its count. It runs as one workgroup.

layout(local_size_x = 256) in;

layout(push_constant) uniform View { layout(offset = 64) vec2 size; };

layout(std430, binding = 2) buffer Tiles { uint tiles[]; };
// The arguments of the indirect dispatch that draws, a workgroup for each listed tile, and the list.
layout(std430, binding = 3) writeonly buffer Busy { uint segments; uint one; uint another; uint busy[]; };
layout(std430, binding = 4) writeonly buffer Offsets { uint offsets[]; };

// Splats, and tiles that have any.
shared uvec2 sums[256];

void main() {
    uint local = gl_LocalInvocationID.x;
    uvec2 sides = uvec2(ceil(size / 16.0));
    uint count = sides.x * sides.y;
    uint share = (count + 255) / 256;
    uint from = min(local * share, count);
    uint to = min(from + share, count);
    uvec2 sum = uvec2(0);
    for (uint tile = from; tile < to; tile++) {
        sum += uvec2(tiles[tile], min(tiles[tile], 1));
    }
    sums[local] = sum;
    barrier();
    for (uint step = 1; step < 256; step *= 2) {
        uvec2 earlier = local >= step ? sums[local - step] : uvec2(0);
        barrier();
        sums[local] += earlier;
        barrier();
    }

    uvec2 place = sums[local] - sum;
    for (uint tile = from; tile < to; tile++) {
        uint splats = tiles[tile];
        tiles[tile] = place.x;
        if (splats > 0) {
            busy[place.y] = tile;
            offsets[place.y] = place.x;
            place += uvec2(splats, 1);
        }
    }
    if (local == 255) {
        offsets[place.y] = place.x;
        segments = place.y;
        one = 1;
        another = 1;
    }
}
