// What says where segments are.

layout(set = 0, binding = BINDING_SEGMENTS) readonly buffer Segments { uint segment_words[]; };

// Elements from the begin of a row to the begin of the next, or of the whole array.
uint row_length() { return PUSH_ROW_LENGTH; }
