// The keys and values of a pass. A visitor, the caller's code, may take the place of memory: VISITED_KEYS and VISITED_VALUES
// replace the source, VISITED_OUTPUT replaces the result. docs/VISITORS.md lists its duties. Its names begin with `visit`, so
// they differ from the names of a kernel.

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
uint visit_value(uint index, uint word);
#endif
#if VISITED
#include "caller/visitor.glsl"
#endif

// A key of the caller's elements.
KEY given_key(uint index) {
#if VISITED_KEYS
    KEY key = visit_key(index);
    // Further bits would be stored over neighbouring keys.
    if (KEY_BITS < 32) key &= (1u << (KEY_BITS & 31)) - 1;
    return key;
#else
    return read_key(index);
#endif
}

// One word of their values.
uint given_value(uint index, uint word) {
#if VISITED_VALUES
    uint value = visit_value(index, word);
    if (VALUES_PER_WORD > 1) value &= (1u << (VALUE_BITS & 31)) - 1;
    return value;
#else
    return read_value(index, word);
#endif
}

// Whether the caller's code makes the keys. Loops over keys decide once.
bool visits_keys(Pass pass) { return VISITED_KEYS != 0 && pass.given; }

// A key as it is in memory.
KEY load_bits(Pass pass, uint index) {
    KEY key;
    if (visits_keys(pass)) key = given_key(index);
    else key = read_key(index);
    return key;
}

KEY load_key(Pass pass, uint index) { return flip_by_sign(load_bits(pass, index)); }

// Whether a pass needs the keys of elements that it copies. Behind a pass that discards keys there are none.
bool loads_copied_keys(Pass pass) { return DISCARD_KEYS == 0 || pass.moves != MOVES_VALUES; }

// Whether values are indices that this pass makes.
bool makes_indices(Pass pass) { return INDEX_VALUES != 0 && pass.given; }

uint made_index(Pass pass, uint index) { return INDEX_VALUES == INDEX_OF_SEGMENT ? index - pass.first : index; }

uint load_value(Pass pass, uint index, uint word) {
    uint value = made_index(pass, index);
    if (!makes_indices(pass)) {
#if VISITED_VALUES
        if (pass.given) value = given_value(index, word);
        else
#endif
        value = read_value(index, word);
    }
    return value;
}

// Gives an element to the caller's code.
void visit_sorted(uint position, KEY key, uvec4 words) {
#if VISITED_OUTPUT && VISITED_VALUE_WORDS == 0
    visit_output(position, key);
#elif VISITED_OUTPUT && VISITED_DISCARDS
    visit_output(position, VALUE(words));
#elif VISITED_OUTPUT
    visit_output(position, key, VALUE(words));
#endif
}

#ifndef ELEMENTS_READ_ONLY
void store_key(uint index, KEY key) { write_key(index, flip_by_sign(key)); }

// Gives the element from `index` to the caller's code.
void visit_element(Pass pass, uint target, uint index, KEY key) {
    uvec4 words;
    for (uint word = 0; word < VALUE_WORDS; word++) words[word] = load_value(pass, index, word);
    visit_sorted(target, flip_by_sign(key), words);
}

// Stores the parts of the element from `index` that the pass moves.
void move_element(Pass pass, uint target, uint index, KEY key) {
    if (moves_all(pass)) store_key(target, key);
    for (uint word = 0; word < VALUE_WORDS; word++) write_value(target, word, load_value(pass, index, word));
}
#endif
