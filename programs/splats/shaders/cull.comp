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
// Unit quaternion: x, y, z, w.
layout(std430, binding = 1) readonly buffer Rotations { vec4 rotations[]; };
// Standard deviations along the splat's own axes; blue as half, opacity as a fraction of 65535.
layout(std430, binding = 2) readonly buffer Scales { uvec4 scales[]; };
// Centre in pixels; red and green, blue as halves.
layout(std430, binding = 3) writeonly buffer Places { uvec4 places[]; };
// Standard deviations in pixels: the longer as a vector along its axis, the shorter across it; opacity.
layout(std430, binding = 4) writeonly buffer Shapes { vec4 shapes[]; };
layout(std430, binding = 5) writeonly buffer Depths { float depths[]; };
layout(std430, binding = 6) writeonly buffer Bits { uint bits[]; };
layout(std430, binding = 7) writeonly buffer Counts { uint counts[]; };

shared uint seen[8];

const float MIN_ALPHA = 1.0 / 255.0;
// Longest standard deviation in pixels of a splat that is drawn. Squares of longer ones leave the range of floats.
const float MAX_SIGMA = 1e15;

// The splat's own axes as columns.
mat3 turned(vec4 q) {
    vec3 twice = 2.0 * q.xyz;
    vec3 squares = twice * q.xyz;
    vec3 mixed = twice.xyx * q.yzz;
    vec3 by_w = twice * q.w;
    return mat3(1.0 - squares.y - squares.z, mixed.x + by_w.z, mixed.z - by_w.y,
                mixed.x - by_w.z, 1.0 - squares.x - squares.z, mixed.y + by_w.x,
                mixed.z + by_w.y, mixed.y - by_w.x, 1.0 - squares.x - squares.y);
}

// A standard deviation in pixels, made wider. A pixel is not a point: 0.3 square pixels keep splats from falling between two of
// them. The covariance and its sum with a multiple of the identity have the same axes, so it is added along each of them.
float widen(float sigma) {
    return sigma > 1e6 ? sigma : sqrt(sigma * sigma + 0.3);
}

// Whether the splat is seen; then it is projected.
bool project(uint splat) {
    uvec4 words = positions[splat];
    vec3 offset = uintBitsToFloat(words.xyz) - eye;
    vec3 view = vec3(dot(offset, right), dot(offset, down), dot(offset, forward));
    uvec4 second = scales[splat];
    float opacity = float(second.w >> 16) / 65535.0;
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
    // Where a standard deviation along each of the splat's own axes leads on the picture, across and down. They are divided by
    // the greatest of these lengths, because the squares of splats of all sizes do not fit into floats.
    mat3 axes = turned(rotations[splat]);
    vec3 pixels = focal / view.z * uintBitsToFloat(second.xyz);
    vec3 across = pixels * ((right - ray.x * forward) * axes);
    vec3 along = pixels * ((down - ray.y * forward) * axes);
    vec3 most = max(abs(across), abs(along));
    float unit = max(max(most.x, max(most.y, most.z)), 1e-30);
    across /= unit;
    along /= unit;

    // The covariance on the picture is that of these two rows. Its determinant and its smaller eigenvalue, as differences, would
    // cancel for splats that are thousands of pixels long. The double angle of its longer axis comes from a difference that is
    // factored, the longer length is a sum, and the product of both lengths is the area that the rows span (Cauchy and Binet).
    vec2 angle = vec2(dot(across - along, across + along), 2.0 * dot(across, along));
    float gap = length(angle);
    float sum = dot(across, across) + dot(along, along);
    // The vector of half the angle. A circle has no longer axis.
    vec2 major = angle.x >= 0.0 ? vec2(gap + angle.x, angle.y) : vec2(abs(angle.y), angle.y < 0.0 ? angle.x - gap : gap - angle.x);
    float norm = length(major);
    major = norm > 1e-6 * sum ? major / norm : vec2(1.0, 0.0);
    float longer = sqrt(0.5 * (sum + gap));
    float shorter = min(length(cross(across, along)) / max(longer, 1e-30), longer);
    vec2 thin = unit * vec2(longer, shorter);
    vec2 sigma = vec2(widen(thin.x), widen(thin.y));
    if ((mode & 8) != 0) {
        // Light is kept: what is made wider is made fainter.
        opacity *= thin.x / sigma.x * (thin.y / sigma.y);
        if (!(opacity > MIN_ALPHA)) {
            return false;
        }
    }

    // alpha = opacity * exp(-distance^2 / 2), with the distance in standard deviations. Half of the box around the ellipse:
    vec2 reach = sqrt(2.0 * log(opacity / MIN_ALPHA)) * vec2(length(major * sigma), length(major.yx * sigma));
    if (!(all(lessThanEqual(abs(center - middle), middle + reach)) && sigma.x < MAX_SIGMA)) {
        return false;
    }
    places[splat] = uvec4(floatBitsToUint(center), words.w, second.w & 0xFFFF);
    shapes[splat] = vec4(sigma.x * major, sigma.y, opacity);
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
