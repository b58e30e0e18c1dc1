//! The order of numpy, where the library sorts keys into another one.

use vksort::KeyType;

use super::npy::Array;

/// What to sort in place of these keys, so that its permutation is numpy's; `None` where the keys themselves will do.
///
/// numpy takes all NaNs for equal, and both zeros, and puts NaT last.
pub fn as_numpy_sorts(keys: &Array, key: KeyType) -> Option<Array> {
    match key {
        KeyType::F16 => floats::<2>(keys, 0x7C00),
        KeyType::Bf16 => floats::<2>(keys, 0x7F80),
        KeyType::F32 => floats::<4>(keys, 0x7F80_0000),
        KeyType::F64 => floats::<8>(keys, 0x7FF0_0000_0000_0000),
        // NaT is the least number, and one less than that is the greatest.
        KeyType::I64 if keys.are_times() => replaced::<8>(keys, |time| time == 1 << 63, |time| time.wrapping_sub(1)),
        _ => None,
    }
}

/// Floats of so many bytes with one NaN for all and one zero for both, from the bits of their infinity.
fn floats<const BYTES: usize>(keys: &Array, infinity: u64) -> Option<Array> {
    let magnitude = u64::MAX >> (65 - 8 * BYTES);
    // The highest bit below the exponent is set, as in numpy.nan.
    let nan = infinity | (infinity & infinity.wrapping_neg()) >> 1;
    let equal = |bits: u64| match bits & magnitude {
        0 => 0,
        above if above > infinity => nan,
        _ => bits,
    };
    replaced::<BYTES>(keys, |bits| equal(bits) != bits, equal)
}

/// The keys with others in their places, if one of them asks for that.
fn replaced<const BYTES: usize>(keys: &Array, asks: impl Fn(u64) -> bool, other: impl Fn(u64) -> u64) -> Option<Array> {
    let bits = |row: &[u8; BYTES]| {
        let mut bytes = [0; 8];
        bytes[..BYTES].copy_from_slice(row);
        u64::from_le_bytes(bytes)
    };
    let (rows, _) = keys.rows().as_chunks();
    rows.iter().map(bits).find(|bits| asks(*bits))?;
    let mut others = keys.blank();
    let (changed, _) = others.rows_mut().as_chunks_mut::<BYTES>();
    for (changed, row) in changed.iter_mut().zip(rows) {
        changed.copy_from_slice(&other(bits(row)).to_le_bytes()[..BYTES]);
    }
    Some(others)
}
