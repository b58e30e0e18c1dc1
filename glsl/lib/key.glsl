// The order of keys: flipping bits turns each key type and direction into ascending unsigned order.

const uint RADIX = 1u << RADIX_BITS;

uint sortable(uint key) {
    uint sign = uint(int(key) >> 31);
    return key ^ KEY_FLIP ^ (sign & KEY_FLIP_NEGATIVE);
}

// The digit of `key` whose lowest bit is `shift`.
uint digit_of(uint key, uint shift) { return (sortable(key) >> shift) & (RADIX - 1); }
