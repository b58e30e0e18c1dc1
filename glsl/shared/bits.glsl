// Bits of a word of the key from bit `low` of the whole key up to but not including bit `end`.
uint bits_between(uint word, uint low, uint end) {
    int first = clamp(int(low) - 32 * int(word), 0, 32), last = clamp(int(end) - 32 * int(word), 0, 32);
    uint bits = 0;
    if (first < last) bits = ~0u >> (32 - (last - first)) << first;
    return bits;
}
