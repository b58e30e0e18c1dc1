#version 460
// Composes the keys of records: the fields that they are sorted by, each turned into a number whose unsigned order is that of the
// field, with the first field on top. Records are the values of the sort, so its keys are all that this kernel writes.

#define COMPOSES

#include "abi.glsl"
#include "shared/pass.glsl"
#include "shared/memory.glsl"

// Up to 32 bits of a record from one of its bytes on. They may be in two words.
uint bits_from(uint record, uint byte, uint width) {
    uint word = byte / 4, low = byte % 4 * 8;
    uint bits = read_value(record, word) >> low;
    if (low + width > 32) bits |= read_value(record, word + 1) << (32 - low);
    return bitfieldExtract(bits, 0, int(width));
}

// Appends bits below those that a key has.
void append(inout KEY key, uint bits, uint width) {
    for (uint word = TOP_WORD; word > 0; word--) {
        uint above = key_word(key, word), below = key_word(key, word - 1);
        set_key_word(key, word, width < 32 ? above << width | below >> (32 - width) : below);
    }
    set_key_word(key, 0, width < 32 ? key_word(key, 0) << width | bits : bits);
}

// Appends a field, which is the same constant for all records.
void append_field(inout KEY key, uint record, uint field) {
    uint first = bitfieldExtract(field, 0, int(FIELD_BYTES)), bytes = bitfieldExtract(field, int(FIELD_BYTES), 5);
    uint flips = (field & FIELD_DESCENDING) != 0 ? ~0u : 0;
    // Words of a field from the most significant one on, or a field of less than a word.
    uint width = min(8 * bytes, 32), sign = 1u << (width - 1);
    for (uint end = bytes; end > 0; end -= width / 8) {
        uint bits = bits_from(record, first + end - width / 8, width);
        if (end == bytes && (field & FIELD_SIGNED) != 0) {
            bool inverted = (field & FIELD_FLOAT) != 0 && (bits & sign) != 0;
            if (inverted) flips = ~flips;
            else bits ^= sign;
        }
        append(key, bitfieldExtract(bits ^ flips, 0, int(width)), width);
    }
}

void main() {
    uint count = PUSH_COMPOSES_ALL == 0 ? sort_count() : push.count, part = workgroup_index();
    if (part >= parts_of(count, PUSH_PART)) return;
    uint start = part * PUSH_PART, records = min(count - start, PUSH_PART);
    for (uint i = gl_LocalInvocationIndex; i < records; i += WORKGROUP_SIZE) {
        KEY key = KEY(0);
        append_field(key, start + i, FIELD_0);
        if (FIELD_1 != 0) append_field(key, start + i, FIELD_1);
        if (FIELD_2 != 0) append_field(key, start + i, FIELD_2);
        if (FIELD_3 != 0) append_field(key, start + i, FIELD_3);
        KEY_CELL(to, start + i) = key;
    }
}
