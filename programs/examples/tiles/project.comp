#version 460

// Projects each splat (Zwicker et al., "EWA Splatting", 2002), and counts it in every screen tile that it touches.

layout(local_size_x = 64) in;

layout(push_constant) uniform View {
    vec3 eye;
    uint splats;
    vec3 right;
    float focal;
    vec3 down;
    float near;
    vec3 forward;
    uint capacity;
    vec2 size;
    vec2 border;
};

// The splat's own axes, each as long as a standard deviation, in xyz; its position in the three w. Colour and opacity.
struct Splat { vec4 axes[3]; vec4 color; };
// The inverse covariance in square pixels is (conic.x, conic.y; conic.y, conic.z). Tiles from one corner up to but not including
// the other, each with 16 bits for x and y.
struct Footprint { vec2 center; float depth; float opacity; vec3 conic; uint from; vec3 color; uint to; };

layout(std430, binding = 0) readonly buffer Splats { Splat scene[]; };
layout(std430, binding = 1) writeonly buffer Footprints { Footprint footprints[]; };
layout(std430, binding = 2) buffer Tiles { uint tiles[]; };

const float MIN_ALPHA = 1.0 / 255.0;
const float TILE = 16.0;

// The footprint of a splat; it touches no tile if it is not seen.
Footprint project(Splat splat) {
    Footprint seen;
    seen.from = seen.to = 0;
    vec3 offset = vec3(splat.axes[0].w, splat.axes[1].w, splat.axes[2].w) - eye;
    vec3 view = vec3(dot(offset, right), dot(offset, down), dot(offset, forward));
    seen.depth = view.z;
    seen.opacity = splat.color.a;
    seen.color = splat.color.rgb;
    if (view.z < near || seen.opacity <= MIN_ALPHA) {
        return seen;
    }
    vec2 slope = view.xy / view.z;
    seen.center = 0.5 * size + focal * slope;

    // Where the three axes lead on the picture, across and down. Far outside of it the slope is clamped, as a perspective that is
    // linear around the centre would stretch splats beyond measure.
    vec2 ray = clamp(slope, -border, border);
    mat3 axes = mat3(splat.axes[0].xyz, splat.axes[1].xyz, splat.axes[2].xyz);
    vec3 x = focal / view.z * ((right - ray.x * forward) * axes);
    vec3 y = focal / view.z * ((down - ray.y * forward) * axes);
    // The covariance, with 0.3 square pixels added so that no splat falls between pixels. Its determinant as a difference of
    // products would cancel for long splats.
    float xx = dot(x, x) + 0.3, xy = dot(x, y), yy = dot(y, y) + 0.3;
    vec3 area = cross(x, y);
    float determinant = dot(area, area) + 0.3 * (dot(x, x) + dot(y, y)) + 0.09;
    seen.conic = vec3(yy, -xy, xx) / determinant;

    // Beyond this box alpha is below what changes a pixel.
    vec2 reach = sqrt(2.0 * log(seen.opacity / MIN_ALPHA) * vec2(xx, yy));
    vec2 sides = ceil(size / TILE);
    uvec2 from = uvec2(clamp(floor((seen.center - reach) / TILE), vec2(0), sides));
    uvec2 to = uvec2(clamp(ceil((seen.center + reach) / TILE), vec2(0), sides));
    if (all(lessThan(from, to))) {
        seen.from = from.x | from.y << 16;
        seen.to = to.x | to.y << 16;
    }
    return seen;
}

void main() {
    uint splat = gl_GlobalInvocationID.x;
    if (splat >= splats) {
        return;
    }
    Footprint seen = project(scene[splat]);
    footprints[splat] = seen;
    uint across = uint(ceil(size.x / TILE));
    for (uint y = seen.from >> 16; y < seen.to >> 16; y++) {
        for (uint x = seen.from & 0xFFFF; x < (seen.to & 0xFFFF); x++) {
            atomicAdd(tiles[y * across + x], 1);
        }
    }
}
