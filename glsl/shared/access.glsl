// Access to keys and values: reading those at FROM and writing those at TO, by functions with these names or others (WAY).

KEY WAY(read_key)(uint index) {
    KEY key;
#if KEY_WORDS > 1
    key = KEY_CELL_AT(FROM, index);
#elif SMALL
    if (KEY_BITS == 8) key = uint(BYTE_CELL_AT(keys, FROM, index));
    else if (KEY_BITS == 16) key = uint(HALF_CELL_AT(keys, FROM, index));
    else key = KEY_CELL_AT(FROM, index);
#else
#ifdef NEIGHBOURS_WRITE
    if (KEY_BITS < 32) key = key_in_word(SHARED_WORD(KEY_CELL_AT(FROM, index / KEYS_PER_WORD)), index % KEYS_PER_WORD);
    else
#endif
    key = key_in_word(KEY_CELL_AT(FROM, index / KEYS_PER_WORD), index % KEYS_PER_WORD);
#endif
    return key;
}

// One word of a value, or all of a value of 8 or 16 bits.
uint WAY(read_value)(uint index, uint word) {
    uint value;
#if SMALL
    if (VALUE_BITS == 8) value = uint(BYTE_CELL_AT(values, FROM, index));
    else if (VALUE_BITS == 16) value = uint(HALF_CELL_AT(values, FROM, index));
    else value = VALUE_CELL_AT(FROM, index, word);
#else
#ifdef NEIGHBOURS_WRITE
    if (VALUES_PER_WORD > 1) value = SHARED_WORD(VALUE_CELL_AT(FROM, index / VALUES_PER_WORD, word));
    else
#endif
    value = VALUE_CELL_AT(FROM, index / VALUES_PER_WORD, word);
    if (VALUES_PER_WORD > 1) {
        value = value >> (index % VALUES_PER_WORD * VALUE_BITS) & ((1u << (VALUE_BITS & 31)) - 1);
    }
#endif
    return value;
}

#ifndef ELEMENTS_READ_ONLY
void WAY(write_key)(uint index, KEY key) {
#if KEY_WORDS > 1
    KEY_CELL_AT(TO, index) = key;
#elif SMALL
    if (KEY_BITS == 8) BYTE_CELL_AT(keys, TO, index) = uint8_t(key);
    else if (KEY_BITS == 16) HALF_CELL_AT(keys, TO, index) = uint16_t(key);
    else KEY_CELL_AT(TO, index) = key;
#else
    if (KEY_BITS < 32) {
        STORE_PART(KEY_CELL_AT(TO, index / KEYS_PER_WORD), index % KEYS_PER_WORD, KEY_BITS & 31, key);
    } else {
        KEY_CELL_AT(TO, index) = key;
    }
#endif
}

// One word of a key, if no other invocation writes to it.
void WAY(write_key_word)(uint index, uint word, uint bits) {
#if KEY_WORDS == 1
    WAY(write_key)(index, bits);
#else
    KEY_CELL_AT(TO, index)[word] = bits;
#endif
}

void WAY(write_value)(uint index, uint word, uint value) {
#if SMALL
    if (VALUE_BITS == 8) BYTE_CELL_AT(values, TO, index) = uint8_t(value);
    else if (VALUE_BITS == 16) HALF_CELL_AT(values, TO, index) = uint16_t(value);
    else VALUE_CELL_AT(TO, index, word) = value;
#else
    if (VALUES_PER_WORD > 1) {
        STORE_PART(VALUE_CELL_AT(TO, index / VALUES_PER_WORD, 0), index % VALUES_PER_WORD, VALUE_BITS & 31, value);
    } else {
        VALUE_CELL_AT(TO, index, word) = value;
    }
#endif
}
#endif
