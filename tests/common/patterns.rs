//! Patterns of keys, made from a seed that every failure prints.

use fastrand::Rng;
use vksort::{KeyType, Order};

/// What keys look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    Uniform,
    AllEqual,
    Sorted,
    Reversed,
    TwoValues,
    FewDistinct,
    /// Floats near a handful of centres, with both zeros among them.
    ClusteredFloats,
    /// NaNs of both signs and several payloads, infinities and zeros.
    SpecialFloats,
    /// Bitwise and of several uniform words, which lowers the entropy per bit (Thearling and Smith 1992).
    Entropy(u32),
    /// One byte is the same in all keys.
    ConstantDigit(u32),
    /// All equal but one.
    OneStray,
}

pub const ALL: &[Pattern] = &[
    Pattern::Uniform,
    Pattern::AllEqual,
    Pattern::Sorted,
    Pattern::Reversed,
    Pattern::TwoValues,
    Pattern::FewDistinct,
    Pattern::ClusteredFloats,
    Pattern::SpecialFloats,
    Pattern::Entropy(2),
    Pattern::Entropy(3),
    Pattern::Entropy(4),
    Pattern::Entropy(5),
    Pattern::ConstantDigit(0),
    Pattern::ConstantDigit(3),
    Pattern::OneStray,
];

/// Bits of `count` keys.
pub fn generate(pattern: Pattern, key: KeyType, count: usize, seed: u64) -> Vec<u32> {
    let mut rng = Rng::with_seed(seed ^ (count as u64) << 20);
    let mut fill = |next: &mut dyn FnMut(&mut Rng) -> u32| -> Vec<u32> { (0..count).map(|_| next(&mut rng)).collect() };
    match pattern {
        Pattern::Uniform => fill(&mut |rng| rng.u32(..)),
        Pattern::AllEqual => vec![0x8000_00FF; count],
        Pattern::Sorted | Pattern::Reversed => {
            let mut keys = fill(&mut |rng| rng.u32(..));
            keys.sort_by_key(|&bits| key.sortable(bits, Order::Ascending));
            if pattern == Pattern::Reversed {
                keys.reverse();
            }
            keys
        }
        Pattern::TwoValues => fill(&mut |rng| if rng.bool() { 0x0102_0304 } else { 0xF1F2_F3F4 }),
        Pattern::FewDistinct => fill(&mut |rng| rng.u32(0..7).wrapping_mul(0x9E37_79B9)),
        Pattern::ClusteredFloats => fill(&mut |rng| {
            let centre = [0.0, -0.0, 1.0, -1.0, 1.0e10, -1.0e-10][rng.usize(0..6)];
            let offset = if rng.bool() { 0.0 } else { (rng.f32() - 0.5) * 1e-3 };
            if offset == 0.0 { f32::to_bits(centre) } else { (centre + centre.abs().max(1e-30) * offset).to_bits() }
        }),
        Pattern::SpecialFloats => fill(&mut |rng| {
            let special = [
                0x0000_0000,
                0x8000_0000,
                0x7F80_0000,
                0xFF80_0000,
                0x7FC0_0000,
                0xFFC0_0000,
                0x7F80_0001,
                0xFFFF_FFFF,
                0x7FFF_FFFF,
                0x0000_0001,
                0x8000_0001,
            ];
            if rng.u32(0..4) == 0 { rng.u32(..) } else { special[rng.usize(0..special.len())] }
        }),
        Pattern::Entropy(words) => fill(&mut |rng| (0..words).fold(u32::MAX, |bits, _| bits & rng.u32(..))),
        Pattern::ConstantDigit(byte) => {
            let mask = 0xFFu32 << (8 * byte);
            fill(&mut |rng| (rng.u32(..) & !mask) | (0x5A5A_5A5A & mask))
        }
        Pattern::OneStray => {
            let mut keys = vec![0x4000_0000; count];
            if count > 0 {
                keys[rng.usize(0..count)] = 0x3FFF_FFFF;
            }
            keys
        }
    }
}
