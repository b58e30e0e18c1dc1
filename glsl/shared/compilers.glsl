// Work-arounds for compilers: for each the compiler, its version, and what goes wrong without it.

// 0, but unknown to compilers; `small` is below 2^31. NVIDIA's compiler (CUDA 13, 2026-11) makes a shift of the test of a bit whose
// place it knows: a pass over pairs then takes 98 instead of 85 instructions a key on sm_90.
uint opaque_zero(uint small) { return small >> 31; }

// The same digit, but unknown to compilers. NVK of Mesa 26.1 and NVIDIA's compiler (2026-11) otherwise keep the digits of all keys in
// registers from counting to ranking, and fewer workgroups fit.
Digit opaque_digit(Digit digit, uint small) {
    digit.word += opaque_zero(small);
    digit.low += opaque_zero(small);
    return digit;
}

// The bin of a key: bits_at in other instructions. Of a shift and a mask with a known width, anv of Mesa 26.1 extracts bytes, which
// takes an instruction more for each bin than the extraction of bits. For that, NVIDIA's compiler (CUDA 13, sm_90) takes two more (2026-11).
uint bin_of(KEY key, Digit digit) {
    uint bin = bits_at(key, digit);
    if (BALLOT != BALLOT_BY_MASK && !CROSSES_WORDS) {
        bin = bitfieldExtract(key_word(key, digit.word), int(digit.low), int(digit.width));
    }
    return bin;
}
