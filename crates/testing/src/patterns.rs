//! Patterns of keys, made from a seed that every failure prints.

use fastrand::Rng;
use vksort::{KeyType, Order};

/// What keys look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// All bits random.
    Uniform,
    /// One key, again and again.
    AllEqual,
    /// Uniform and already in ascending order.
    Sorted,
    /// Uniform and in descending order.
    Reversed,
    /// One of two keys.
    TwoValues,
    /// One of seven keys.
    FewDistinct,
    /// Numbers near a handful of centres, with both zeros among them where there are two.
    Clustered,
    /// NaNs of both signs and several payloads, infinities, zeros and the integers at the ends of their ranges.
    Special,
    /// Bitwise and of several uniform words, which lowers the entropy per bit (Thearling and Smith 1992).
    Entropy(u32),
    /// One byte is the same in all keys: the lowest, or that so many bytes above it, as far as the key has them.
    ConstantDigit(u32),
    /// Only one byte is not the same in all keys.
    OneDigit(u32),
    /// Groups share an upper half, whose digits each seem to tell keys apart, above uniform lower halves.
    Groups,
    /// All equal but one.
    OneStray,
}

/// Every pattern.
pub const ALL: &[Pattern] = &[
    Pattern::Uniform,
    Pattern::AllEqual,
    Pattern::Sorted,
    Pattern::Reversed,
    Pattern::TwoValues,
    Pattern::FewDistinct,
    Pattern::Clustered,
    Pattern::Special,
    Pattern::Entropy(2),
    Pattern::Entropy(3),
    Pattern::Entropy(4),
    Pattern::Entropy(5),
    Pattern::ConstantDigit(0),
    Pattern::ConstantDigit(3),
    Pattern::OneDigit(1),
    Pattern::Groups,
    Pattern::OneStray,
];

/// 2^128 by the golden ratio: multiples are far apart, and of all bits.
const SPREAD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;

/// Bits of the exponent of a float, or a third of an integer's.
fn exponent_bits(key: KeyType) -> u32 {
    match key {
        KeyType::F16 => 5,
        KeyType::F64 => 11,
        KeyType::F32 | KeyType::Bf16 => 8,
        _ => key.bits() / 3,
    }
}

/// The bytes of `count` keys.
pub fn generate(pattern: Pattern, key: KeyType, count: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed ^ (count as u64) << 20);
    let bits = key.bits();
    let ones = u128::MAX >> (128 - bits);
    let byte = |index: u32| 0xFF << (8 * index.min(bits / 8 - 1));
    let repeated = 0x5A5A_5A5A_5A5A_5A5A_5A5A_5A5A_5A5A_5A5Au128;
    let sign = 1u128 << (bits - 1);
    let exponent = (sign - 1) & !((sign >> exponent_bits(key)) - 1);
    let special = [
        0,
        sign,
        exponent,
        exponent | sign,
        exponent | exponent >> 1,
        sign | exponent | exponent >> 1,
        exponent | 1,
        ones,
        ones >> 1,
        1,
        sign | 1,
        sign - 1,
    ];
    let mut fill =
        |next: &mut dyn FnMut(&mut Rng) -> u128| -> Vec<u128> { (0..count).map(|_| next(&mut rng) & ones).collect() };
    let keys = match pattern {
        Pattern::Uniform => fill(&mut |rng| rng.u128(..)),
        Pattern::AllEqual => vec![(0x80 << (bits - 8) | 0xFF) & ones; count],
        Pattern::Sorted | Pattern::Reversed => {
            let mut keys = fill(&mut |rng| rng.u128(..));
            keys.sort_by_key(|&bits| key.sortable(bits, Order::Ascending));
            if pattern == Pattern::Reversed {
                keys.reverse();
            }
            keys
        }
        Pattern::TwoValues => fill(&mut |rng| if rng.bool() { repeated >> 3 } else { !repeated }),
        Pattern::FewDistinct => fill(&mut |rng| rng.u128(0..7).wrapping_mul(SPREAD) >> (128 - bits)),
        Pattern::Clustered => fill(&mut |rng| {
            let centre = [0, sign, sign >> 1, sign >> 1 | sign, exponent >> 1, sign | exponent >> 1][rng.usize(0..6)];
            if rng.bool() { centre } else { centre ^ rng.u128(0..64) }
        }),
        Pattern::Special => {
            fill(&mut |rng| if rng.u32(0..4) == 0 { rng.u128(..) } else { special[rng.usize(0..special.len())] })
        }
        Pattern::Entropy(words) => fill(&mut |rng| (0..words).fold(u128::MAX, |bits, _| bits & rng.u128(..))),
        Pattern::ConstantDigit(index) => fill(&mut |rng| (rng.u128(..) & !byte(index)) | (repeated & byte(index))),
        Pattern::OneDigit(index) => fill(&mut |rng| (rng.u128(..) & byte(index)) | (repeated & !byte(index))),
        Pattern::Groups => fill(&mut |rng| {
            let upper = rng.u128(0..32).wrapping_mul(SPREAD) >> (128 - bits) << (bits / 2);
            upper | rng.u128(..) & ones >> (bits / 2)
        }),
        Pattern::OneStray => {
            let mut keys = vec![sign >> 1; count];
            if count > 0 {
                keys[rng.usize(0..count)] -= 1;
            }
            keys
        }
    };
    let bytes = key.size_bytes() as usize;
    let mut all = Vec::with_capacity(count * bytes);
    for key in keys {
        all.extend_from_slice(&key.to_le_bytes()[..bytes]);
    }
    all
}
