#version 460
// A bitonic network over one block (Batcher 1968): what a workgroup that stays in shared memory can do without counting. Each
// turn compares elements that are `stride` apart. Equal keys come in any order. Kept as bitonic.spv by scripts/spirv.sh.

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ELEMENTS = 1024; // a power of two
layout(constant_id = 2) const uint PAIRS = 0;

const uint WORDS = ELEMENTS * (1 + PAIRS);

layout(std430, set = 0, binding = 0) buffer Keys { uint keys[]; };
layout(std430, set = 0, binding = 1) buffer Values { uint values[]; };

shared uint words[WORDS]; // values, if any, follow all keys

void main() {
    uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    for (uint i = thread; i < ELEMENTS; i += threads) {
        words[i] = keys[i];
        if (PAIRS != 0) words[ELEMENTS + i] = values[i];
    }
    for (uint size = 2; size <= ELEMENTS; size <<= 1) {
        for (uint stride = size >> 1; stride > 0; stride >>= 1) {
            barrier();
            for (uint pair = thread; pair < ELEMENTS / 2; pair += threads) {
                uint low = 2 * pair - (pair & (stride - 1)), high = low + stride;
                uint first = words[low], second = words[high];
                bool rises = (low & size) == 0;
                if (rises ? first > second : first < second) {
                    words[low] = second;
                    words[high] = first;
                    if (PAIRS != 0) {
                        uint moved = words[ELEMENTS + low];
                        words[ELEMENTS + low] = words[ELEMENTS + high];
                        words[ELEMENTS + high] = moved;
                    }
                }
            }
        }
    }
    barrier();
    for (uint i = thread; i < ELEMENTS; i += threads) {
        keys[i] = words[i];
        if (PAIRS != 0) values[i] = words[ELEMENTS + i];
    }
}
