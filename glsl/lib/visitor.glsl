// The caller's code in the place of memory: VISITED_KEYS and VISITED_VALUES replace the source, VISITED_OUTPUT replaces the
// result. docs/VISITORS.md lists its duties. Its names begin with `visit`, so they differ from the names of a kernel.

#if VISITED_VALUE_WORDS == 1
#define VALUE uint
#elif VISITED_VALUE_WORDS == 2
#define VALUE uvec2
#elif VISITED_VALUE_WORDS == 3
#define VALUE uvec3
#elif VISITED_VALUE_WORDS == 4
#define VALUE uvec4
#endif

#if VISITED_KEYS
KEY visit_key(uint index);
#endif
#if VISITED_VALUES
uint visit_value(uint index, uint plane);
#endif
#if VISITED
#include "caller/visitor.glsl"
#endif

// Loads of the caller's elements say so by `given`.
KEY load_key(bool given, uint index) {
    KEY key;
#if VISITED_KEYS
    if (given) {
        key = visit_key(index);
        // Further bits would be stored over neighbouring keys.
        if (KEY_BITS < 32) key &= (1u << (KEY_BITS & 31)) - 1;
    } else
#endif
    key = stored_key(index);
    return key;
}

uint load_value(bool given, uint index, uint plane) {
    uint value;
#if VISITED_VALUES
    if (given) {
        value = visit_value(index, plane);
        if (VALUES_PER_WORD > 1) value &= (1u << (VALUE_BITS & 31)) - 1;
    } else
#endif
    value = stored_value(index, plane);
    return value;
}

// Gives the element of `position` to the caller's code; `words` are those of its value.
void visit_sorted(uint position, KEY key, uvec4 words) {
#if VISITED_OUTPUT && VISITED_VALUE_WORDS == 0
    visit_output(position, key);
#elif VISITED_OUTPUT && VISITED_DISCARDS
    visit_output(position, VALUE(words));
#elif VISITED_OUTPUT
    visit_output(position, key, VALUE(words));
#endif
}
