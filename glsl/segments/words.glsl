// What says where the caller's segments are; kernels declare the words. What the host cannot see is limited here: begins and ends by the capacity.

uint capacity() { return PUSH_CAPACITY; } // elements

// Elements from the begin of a row to the begin of the next, or of the whole array.
uint row_length() { return PUSH_ROW_LENGTH; }

uint given_begin(uint segment) {
    uint begin = segment * row_length();
    if (SEGMENT_LAYOUT == LAYOUT_OFFSETS) begin = segment_words[segment];
    if (SEGMENT_LAYOUT == LAYOUT_RANGES) begin = segment_words[2 * segment];
    return min(begin, capacity());
}

uint given_end(uint segment) {
    uint end = 0;
    if (SEGMENT_LAYOUT == LAYOUT_OFFSETS) end = segment_words[segment + 1];
    else if (SEGMENT_LAYOUT == LAYOUT_RANGES) end = segment_words[2 * segment + 1];
    else if (SEGMENT_LAYOUT == LAYOUT_ROWS) end = given_begin(segment) + row_length();
    else if (SEGMENT_LAYOUT == LAYOUT_ROWS_OF) end = given_begin(segment) + min(segment_words[segment], row_length());
    return min(end, capacity());
}
