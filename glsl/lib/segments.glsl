// Segments of a hybrid's finish: as many elements each, but that every one starts where a run does. Where they start is
// kept behind the look-back words in the table, which the passes may go on to use.

// First word of the table with the start of a segment.
uint bounds_at(uint count) { return parts_of(count, push.part) * RADIX; }

// The digits that a run has in common, in their order.
uint top_digits(KEY key, uint top) {
    return digit_of(key, top >> 8) << RADIX_BITS | digit_of(key, top & 0xFF);
}
