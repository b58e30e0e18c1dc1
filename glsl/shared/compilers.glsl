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
