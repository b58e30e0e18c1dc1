#version 460

// Projects the splats that fall on the picture, and marks them: a bit each, and a count per workgroup.
// The projection is that of Zwicker et al., "EWA Splatting" (2002); reference.rs does the same on the CPU.

layout(local_size_x = 256) in;

layout(push_constant) uniform Frame {
    vec3 eye;
    uint splats;
    vec3 right;
    float focal;
    vec3 down;
    float near;
    vec3 forward;
    uint mode;
    vec2 size;
    vec2 border;
};

// Position; red and green as halves.
layout(std430, binding = 0) readonly buffer Positions { uvec4 positions[]; };
// Covariance xx, xy, xz; blue as half.
layout(std430, binding = 1) readonly buffer Upper { uvec4 upper[]; };
// Covariance yy, yz, zz; opacity.
layout(std430, binding = 2) readonly buffer Lower { vec4 lower[]; };
// Centre in pixels; red and green, blue as halves.
layout(std430, binding = 3) writeonly buffer Places { uvec4 places[]; };
// Covariance xx, xy, yy in square pixels; opacity.
layout(std430, binding = 4) writeonly buffer Shapes { vec4 shapes[]; };
layout(std430, binding = 5) writeonly buffer Depths { float depths[]; };
layout(std430, binding = 6) writeonly buffer Bits { uint bits[]; };
layout(std430, binding = 7) writeonly buffer Counts { uint counts[]; };

shared uint seen[8];

const float MIN_ALPHA = 1.0 / 255.0;

// Whether the splat is seen; then it is projected.
bool project(uint splat) {
    uvec4 words = positions[splat];
    vec3 offset = uintBitsToFloat(words.xyz) - eye;
    vec3 view = vec3(dot(offset, right), dot(offset, down), dot(offset, forward));
    vec4 second = lower[splat];
    float opacity = second.w;
    // A comparison with a number that is none is false.
    if (!(view.z >= near && opacity > MIN_ALPHA)) {
        return false;
    }
    vec2 middle = 0.5 * size;
    vec2 slope = view.xy / view.z;
    vec2 center = middle + focal * slope;

    // The perspective is taken as linear around the centre. Far outside the picture that would stretch splats beyond
    // measure, so the slope is clamped a little outside the border.
    vec2 ray = clamp(slope, -border, border);
    float scale = focal / view.z;
    vec3 across = scale * (right - ray.x * forward);
    vec3 along = scale * (down - ray.y * forward);
    uvec4 first = upper[splat];
    vec3 row = uintBitsToFloat(first.xyz);
    mat3 covariance = mat3(row, vec3(row.y, second.xy), vec3(row.z, second.yz));
    vec3 turned = covariance * across;
    // A pixel is not a point: 0.3 square pixels keep splats from falling between two of them.
    vec3 shape = vec3(dot(across, turned) + 0.3, dot(along, turned), dot(along, covariance * along) + 0.3);

    // alpha = opacity * exp(-distance^2 / 2), with the distance in standard deviations.
    float squared = 2.0 * log(opacity / MIN_ALPHA);
    vec2 reach = sqrt(squared * shape.xz);
    // The difference cancels for long splats. It is no less than this, as the shape without its 0.3 is positive semidefinite.
    float determinant = max(shape.x * shape.z - shape.y * shape.y, 0.3 * (shape.x + shape.z) - 0.09);
    if (!(all(lessThanEqual(abs(center - middle), middle + reach)) && determinant > 0.0 && determinant < 1e30)) {
        return false;
    }
    places[splat] = uvec4(floatBitsToUint(center), words.w, first.w);
    shapes[splat] = vec4(shape, opacity);
    depths[splat] = view.z;
    return true;
}

void main() {
    uint splat = gl_GlobalInvocationID.x;
    uint local = gl_LocalInvocationID.x;
    if (local < 8) {
        seen[local] = 0;
    }
    barrier();
    if (splat < splats && project(splat)) {
        atomicOr(seen[local / 32], 1u << local % 32);
    }
    barrier();
    if (local < 8) {
        bits[8 * gl_WorkGroupID.x + local] = seen[local];
    }
    if (local == 0) {
        uint count = 0;
        for (uint word = 0; word < 8; word++) {
            count += bitCount(seen[word]);
        }
        counts[gl_WorkGroupID.x] = count;
    }
}
