// The caller's code in the place of memory: VISITED_KEYS and VISITED_VALUES replace the source, VISITED_OUTPUT replaces the
// result. docs/VISITORS.md lists its duties. Its names begin with `visit`, so they differ from the names of a kernel.

#if VISITED_VALUE_WORDS == 1
#define VALUE uint
#define VALUE_OF(words) words[0]
#elif VISITED_VALUE_WORDS == 2
#define VALUE uvec2
#define VALUE_OF(words) uvec2(words[0], words[1])
#elif VISITED_VALUE_WORDS == 3
#define VALUE uvec3
#define VALUE_OF(words) uvec3(words[0], words[1], words[2])
#elif VISITED_VALUE_WORDS == 4
#define VALUE uvec4
#define VALUE_OF(words) uvec4(words[0], words[1], words[2], words[3])
#endif
#define MAX_VALUE_WORDS 4

#ifdef VISITED_KEYS
KEY visit_key(uint index);
#endif
#ifdef VISITED_VALUES
uint visit_value(uint index, uint plane);
#endif

#include "caller/visitor.glsl"

#ifdef VISITED_KEYS
KEY load_key(uint place, uint index) {
    KEY key;
    if (place == PLACE_SOURCE) {
        key = visit_key(index);
        // Further bits would be stored over neighbouring keys.
        if (KEY_BITS < 32) key &= (1u << (KEY_BITS & 31)) - 1;
    } else {
        key = stored_key(place, index);
    }
    return key;
}
#endif

#ifdef VISITED_VALUES
uint load_value(uint place, uint index, uint plane) {
    uint value;
    if (place == PLACE_SOURCE) {
        value = visit_value(index, plane);
        if (VALUES_PER_WORD > 1) value &= (1u << (VALUE_BITS & 31)) - 1;
    } else {
        value = stored_value(place, index, plane);
    }
    return value;
}
#endif

#ifdef VISITED_OUTPUT
// Gives the element of `position` to the caller's code.
void visit_sorted(uint position, KEY key, uint words[MAX_VALUE_WORDS]) {
#if VISITED_VALUE_WORDS == 0
    visit_output(position, key);
#elif VISITED_DISCARDS
    visit_output(position, VALUE_OF(words));
#else
    visit_output(position, key, VALUE_OF(words));
#endif
}
#endif
