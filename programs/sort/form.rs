//! What keys are in a file, and what they are while they are sorted: little endian, and in the order that numpy sorts them in.

use npyz::{Endianness, TypeChar, TypeStr};
use vksort::KeyType;

use super::npy::Array;

/// How a file has its keys. Decoded keys sort as numpy sorts them, and are encoded again where they are written.
#[derive(Clone, Copy, Default)]
pub struct Form {
    /// Bytes of an item, where the file has its highest byte first.
    pub big_endian: Option<usize>,
    /// Whether they are dates or times, whose least number is NaT, which numpy puts last.
    pub nat_last: bool,
}

impl Form {
    /// The form of keys of a dtype. Where only some bits of times count, they are those of the numbers that the file has.
    pub fn new(dtype: &TypeStr, key: KeyType, all_bits: bool) -> Form {
        let is_time = matches!(dtype.type_char(), TypeChar::DateTime | TypeChar::TimeDelta);
        let big_endian = (dtype.endianness() == Endianness::Big).then(|| dtype.size_field() as usize);
        Form { big_endian, nat_last: is_time && all_bits && key == KeyType::I64 }
    }

    /// Makes keys of what a file has.
    pub fn decode(self, rows: &mut [u8]) {
        self.swap(rows);
        self.shift(rows, -1);
    }

    /// Makes of keys what a file has.
    pub fn encode(self, rows: &mut [u8]) {
        self.shift(rows, 1);
        self.swap(rows);
    }

    fn swap(self, rows: &mut [u8]) {
        if let Some(bytes) = self.big_endian {
            rows.chunks_exact_mut(bytes).for_each(<[u8]>::reverse);
        }
    }

    /// One less than the least number is the greatest.
    fn shift(self, rows: &mut [u8], by: i64) {
        if self.nat_last {
            let (times, _) = rows.as_chunks_mut();
            times.iter_mut().for_each(|time| *time = i64::from_le_bytes(*time).wrapping_add(by).to_le_bytes());
        }
    }
}

/// These floats with one NaN for all and one zero for both, as numpy takes them for equal; `None` where none are others.
pub fn numpy_floats(keys: &Array, key: KeyType) -> Option<Array> {
    match key {
        KeyType::F16 => floats::<2>(keys, 0x7C00),
        KeyType::Bf16 => floats::<2>(keys, 0x7F80),
        KeyType::F32 => floats::<4>(keys, 0x7F80_0000),
        KeyType::F64 => floats::<8>(keys, 0x7FF0_0000_0000_0000),
        _ => None,
    }
}

/// The same of floats of so many bytes, with the bits of their infinity.
fn floats<const BYTES: usize>(keys: &Array, infinity: u64) -> Option<Array> {
    let bits = |row: &[u8; BYTES]| {
        let mut bytes = [0; 8];
        bytes[..BYTES].copy_from_slice(row);
        u64::from_le_bytes(bytes)
    };
    let magnitude = u64::MAX >> (65 - 8 * BYTES);
    // The highest bit below the exponent is set, as in numpy.nan.
    let nan = infinity | (infinity & infinity.wrapping_neg()) >> 1;
    let equal = |bits: u64| match bits & magnitude {
        0 => 0,
        above if above > infinity => nan,
        _ => bits,
    };
    let (rows, _) = keys.rows().as_chunks();
    rows.iter().map(bits).find(|bits| equal(*bits) != *bits)?;
    let mut floats = keys.blank();
    let (changed, _) = floats.rows_mut().as_chunks_mut::<BYTES>();
    for (changed, row) in changed.iter_mut().zip(rows) {
        changed.copy_from_slice(&equal(bits(row)).to_le_bytes()[..BYTES]);
    }
    Some(floats)
}
