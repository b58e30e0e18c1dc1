// Keys and values in memory. A step moves elements from one place to another, which the host binds for the step: `from` and `to`.
//
// Places are descriptors, or addresses where a range is longer than a descriptor may be (ADDRESSED). Elements of 8 and
// 16 bits have types of their own where the device offers them (SMALL); else they are parts of words, and a word that
// two invocations may write at a time is changed by atomics, which leaves its other elements alone.
//
// Kernels that only load elements define ELEMENTS_READ_ONLY to declare the buffers readonly; the validation layers check it.
// Kernels that also move elements the other way define MOVES_BACK for functions whose names end with `_back`.
// ELEMENTS may say more of the buffers: that they are coherent.
// KEY_VECTORS asks for a view of keys of a word or less in vectors of four words, where there is one.

#ifdef ELEMENTS_READ_ONLY
#define ELEMENTS readonly buffer
#elif !defined(ELEMENTS)
#define ELEMENTS buffer
#endif

const uint VALUE_WORDS = (VALUE_BITS + 31) / 32;
const uint VALUE_STRIDE = VALUE_WORDS == 0 ? 1 : VALUE_WORDS;
const uint KEYS_PER_WORD = KEY_BITS < 32 ? 32 / KEY_BITS : 1;
const uint VALUES_PER_WORD = VALUE_BITS == 8 ? 4 : VALUE_BITS == 16 ? 2 : 1;

#if SMALL
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#endif

#if ADDRESSED
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference, std430, buffer_reference_align = 4 * KEY_WORDS) ELEMENTS KeyAt { KEY cell; };
layout(buffer_reference, std430, buffer_reference_align = 4) ELEMENTS WordAt { uint cell; };
#if SMALL
layout(buffer_reference, std430, buffer_reference_align = 1) ELEMENTS ByteAt { uint8_t cell; };
layout(buffer_reference, std430, buffer_reference_align = 2) ELEMENTS HalfAt { uint16_t cell; };
#endif

// The address `index * stride + offset` bytes behind `base`, in 64 bits.
uvec2 address(uvec2 base, uint index, uint stride, uint offset) {
    uint high, low, carry;
    umulExtended(index, stride, high, low);
    low = uaddCarry(low, offset, carry);
    high += carry;
    low = uaddCarry(base.x, low, carry);
    return uvec2(low, base.y + high + carry);
}

#define KEY_CELL(place, index) KeyAt(address(push.keys_##place, index, 4 * KEY_WORDS, 0)).cell
#define VALUE_CELL(place, index, word) WordAt(address(push.values_##place, index, 4 * VALUE_STRIDE, 4 * (word))).cell
#define BYTE_CELL(which, place, index) ByteAt(address(push.which##_##place, index, 1, 0)).cell
#define HALF_CELL(which, place, index) HalfAt(address(push.which##_##place, index, 2, 0)).cell
#else
#if defined(KEY_VECTORS) && KEY_WORDS == 1 && !VISITED_KEYS
// The only view of the keys, because some layered drivers cannot have two at one binding.
layout(set = 0, binding = BINDING_KEYS_FROM) ELEMENTS KeysFrom { uvec4 cells[]; } keys_from;
#define HAS_KEY_VECTORS 1
const uint KEYS_PER_VECTOR = 4 * KEYS_PER_WORD;
#define KEY_CELL(place, index) keys_##place.cells[(index) / 4][(index) % 4]
#else
layout(set = 0, binding = BINDING_KEYS_FROM) ELEMENTS KeysFrom { KEY cells[]; } keys_from;
layout(set = 0, binding = BINDING_KEYS_TO) ELEMENTS KeysTo { KEY cells[]; } keys_to;
#define KEY_CELL(place, index) keys_##place.cells[index]
#endif
layout(set = 0, binding = BINDING_VALUES_FROM) ELEMENTS ValuesFrom { uint cells[]; } values_from;
layout(set = 0, binding = BINDING_VALUES_TO) ELEMENTS ValuesTo { uint cells[]; } values_to;
#if SMALL
layout(set = 0, binding = BINDING_KEYS_FROM) ELEMENTS KeyBytesFrom { uint8_t cells[]; } keys_bytes_from;
layout(set = 0, binding = BINDING_KEYS_TO) ELEMENTS KeyBytesTo { uint8_t cells[]; } keys_bytes_to;
layout(set = 0, binding = BINDING_KEYS_FROM) ELEMENTS KeyHalvesFrom { uint16_t cells[]; } keys_halves_from;
layout(set = 0, binding = BINDING_KEYS_TO) ELEMENTS KeyHalvesTo { uint16_t cells[]; } keys_halves_to;
layout(set = 0, binding = BINDING_VALUES_FROM) ELEMENTS ValueBytesFrom { uint8_t cells[]; } values_bytes_from;
layout(set = 0, binding = BINDING_VALUES_TO) ELEMENTS ValueBytesTo { uint8_t cells[]; } values_bytes_to;
layout(set = 0, binding = BINDING_VALUES_FROM) ELEMENTS ValueHalvesFrom { uint16_t cells[]; } values_halves_from;
layout(set = 0, binding = BINDING_VALUES_TO) ELEMENTS ValueHalvesTo { uint16_t cells[]; } values_halves_to;
#endif

#define VALUE_CELL(place, index, word) values_##place.cells[(index) * VALUE_STRIDE + (word)]
#define BYTE_CELL(which, place, index) which##_bytes_##place.cells[index]
#define HALF_CELL(which, place, index) which##_halves_##place.cells[index]
#endif

// A word of several elements, of which other workgroups may write some meanwhile: with NEIGHBOURS_WRITE.
#define SHARED_WORD(cell) atomicLoad(cell, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed)

// Replaces element `part` of `bits` bits in a word.
#define STORE_PART(word, part, bits, element) \
    atomicAnd(word, ~(((1u << (bits)) - 1) << ((part) * (bits)))); \
    atomicOr(word, (element) << ((part) * (bits)))

// Orders what the workgroup has read and written, in buffers and in shared memory.
void elements_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
}

// Functions have one exit: inlined, an early return becomes a loop, which software drivers pay for.

// Key number `part` of those in a word.
uint key_in_word(uint word, uint part) {
    uint key = word;
    if (KEY_BITS < 32) key = word >> (part * KEY_BITS) & ((1u << (KEY_BITS & 31)) - 1);
    return key;
}

// The same of a place that is a macro.
#define KEY_CELL_AT(place, index) KEY_CELL(place, index)
#define VALUE_CELL_AT(place, index, word) VALUE_CELL(place, index, word)
#define BYTE_CELL_AT(which, place, index) BYTE_CELL(which, place, index)
#define HALF_CELL_AT(which, place, index) HALF_CELL(which, place, index)

#define FROM from
#define TO to
#define WAY(name) name
#include "shared/access.glsl"
#undef FROM
#undef TO
#undef WAY

#ifdef MOVES_BACK
#define FROM to
#define TO from
#define WAY(name) name##_back
#include "shared/access.glsl"
#endif
