#version 460

// Draws a tile: each pixel goes through the tile's splats from front to back, until no light is left behind them.

layout(local_size_x = 16, local_size_y = 16) in;

layout(push_constant) uniform View {
    layout(offset = 60) uint capacity;
    vec2 size;
};

struct Footprint { vec2 center; float depth; float opacity; vec3 conic; uint from; vec3 color; uint to; };

layout(std430, binding = 1) readonly buffer Footprints { Footprint footprints[]; };
layout(std430, binding = 3) readonly buffer Busy { uint segments; uint one; uint another; uint busy[]; };
layout(std430, binding = 4) readonly buffer Offsets { uint offsets[]; };
layout(std430, binding = 5) readonly buffer Entries { uvec2 entries[]; };
layout(std430, binding = 6) writeonly buffer Pixels { uint pixels[]; };

const vec3 BACKGROUND = vec3(23, 26, 31) / 255.0;

void main() {
    uint segment = gl_WorkGroupID.x;
    uint across = uint(ceil(size.x / 16.0));
    uvec2 pixel = 16 * uvec2(busy[segment] % across, busy[segment] / across) + gl_LocalInvocationID.xy;
    vec3 color = vec3(0);
    float light = 1.0;
    uint end = min(offsets[segment + 1], capacity);
    for (uint place = offsets[segment]; place < end && light > 1e-4; place++) {
        Footprint splat = footprints[entries[place].x];
        vec2 away = vec2(pixel) + 0.5 - splat.center;
        float distance = dot(splat.conic, vec3(away.x * away.x, 2.0 * away.x * away.y, away.y * away.y));
        float alpha = min(splat.opacity * exp(-0.5 * distance), 0.99);
        if (alpha >= 1.0 / 255.0) {
            color += light * alpha * splat.color;
            light *= 1.0 - alpha;
        }
    }
    if (all(lessThan(pixel, uvec2(size)))) {
        pixels[pixel.y * uint(size.x) + pixel.x] = packUnorm4x8(vec4(color + light * BACKGROUND, 1.0));
    }
}
