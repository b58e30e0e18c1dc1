#version 460

// Turns the counts of workgroups into the places where their splats begin, and writes the arguments of the draw. It runs as
// one workgroup.

layout(local_size_x = 256) in;

layout(push_constant) uniform Frame { layout(offset = 12) uint splats; };

layout(std430, binding = 7) buffer Counts { uint counts[]; };
layout(std430, binding = 10) writeonly buffer Draw {
    uint vertices;
    uint instances;
    uint first_vertex;
    uint first_instance;
};

shared uint sums[256];

void main() {
    uint local = gl_LocalInvocationID.x;
    uint groups = (splats + 255) / 256;
    uint share = (groups + 255) / 256;
    uint from = min(local * share, groups);
    uint to = min(from + share, groups);
    uint sum = 0;
    for (uint group = from; group < to; group++) {
        sum += counts[group];
    }
    sums[local] = sum;
    barrier();
    for (uint step = 1; step < 256; step *= 2) {
        uint earlier = local >= step ? sums[local - step] : 0;
        barrier();
        sums[local] += earlier;
        barrier();
    }
    uint place = sums[local] - sum;
    for (uint group = from; group < to; group++) {
        uint count = counts[group];
        counts[group] = place;
        place += count;
    }
    if (local == 255) {
        vertices = 4;
        instances = sums[255];
        first_vertex = 0;
        first_instance = 0;
    }
}
