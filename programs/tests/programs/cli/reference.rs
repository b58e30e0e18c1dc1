//! The order that keys have to come in: numpy's, or that of their codes where only some bits count.

use std::cmp::Ordering;

use half::{bf16, f16};

/// A key type, how a file holds it, and the order of its bits.
pub struct Type {
    pub name: &'static str,
    /// The dtype as a Python literal.
    pub descr: &'static str,
    /// Whether the dtype alone does not tell the type.
    pub asked: bool,
    /// Bytes of a key.
    pub bytes: usize,
    pub compare: fn(u128, u128) -> Ordering,
}

/// Every key type.
pub const TYPES: [Type; 14] = [
    Type { name: "u8", descr: "'|u1'", asked: false, bytes: 1, compare: |a, b| a.cmp(&b) },
    Type { name: "i8", descr: "'|i1'", asked: false, bytes: 1, compare: |a, b| (a as i8).cmp(&(b as i8)) },
    Type { name: "u16", descr: "'<u2'", asked: false, bytes: 2, compare: |a, b| a.cmp(&b) },
    Type { name: "i16", descr: "'<i2'", asked: false, bytes: 2, compare: |a, b| (a as i16).cmp(&(b as i16)) },
    Type {
        name: "f16",
        descr: "'<f2'",
        asked: false,
        bytes: 2,
        compare: |a, b| numpy_order(f16::from_bits(a as u16).into(), f16::from_bits(b as u16).into()),
    },
    Type {
        name: "bf16",
        descr: "'<V2'",
        asked: true,
        bytes: 2,
        compare: |a, b| numpy_order(bf16::from_bits(a as u16).into(), bf16::from_bits(b as u16).into()),
    },
    Type { name: "u32", descr: "'<u4'", asked: false, bytes: 4, compare: |a, b| a.cmp(&b) },
    Type { name: "i32", descr: "'<i4'", asked: false, bytes: 4, compare: |a, b| (a as i32).cmp(&(b as i32)) },
    Type {
        name: "f32",
        descr: "'<f4'",
        asked: false,
        bytes: 4,
        compare: |a, b| numpy_order(f32::from_bits(a as u32).into(), f32::from_bits(b as u32).into()),
    },
    Type { name: "u64", descr: "'<u8'", asked: false, bytes: 8, compare: |a, b| a.cmp(&b) },
    Type { name: "i64", descr: "'<i8'", asked: false, bytes: 8, compare: |a, b| (a as i64).cmp(&(b as i64)) },
    Type {
        name: "f64",
        descr: "'<f8'",
        asked: false,
        bytes: 8,
        compare: |a, b| numpy_order(f64::from_bits(a as u64), f64::from_bits(b as u64)),
    },
    Type { name: "u128", descr: "'<u8'", asked: true, bytes: 16, compare: |a, b| a.cmp(&b) },
    Type { name: "i128", descr: "'<u8'", asked: true, bytes: 16, compare: |a, b| (a as i128).cmp(&(b as i128)) },
];

/// Both zeros are equal, and so are all NaNs, which are last.
fn numpy_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl Type {
    pub fn named(name: &str) -> &'static Type {
        TYPES.iter().find(|known| known.name == name).expect("a key type")
    }

    /// Arguments that tell the type, where the dtype does not.
    pub fn arguments(&self) -> Vec<&'static str> {
        if self.asked { vec!["--key-type", self.name] } else { vec![] }
    }

    /// The shape of so many keys in a file: those of 128 bits are halves.
    pub fn shape(&self, count: usize) -> Vec<u64> {
        let halves = if self.bytes == 16 { vec![2] } else { vec![] };
        [vec![count as u64], halves].concat()
    }

    /// Keys that are special as one of the types, each often, among random ones.
    pub fn keys(&self, count: usize, seed: u64) -> Vec<u8> {
        let width = 8 * self.bytes as u32;
        let ones = u128::MAX >> (128 - width);
        let special = [0, 1, ones, ones - 1, ones >> 1, (ones >> 1) + 1];
        let mut random = fastrand::Rng::with_seed(seed);
        let mut key = |_| match random.u32(..4) {
            // Exponents of zeros and of ones, with either sign: infinities and NaNs are among them.
            0 => ones << random.u32(..width) & ones >> random.u32(..2),
            1 => special[random.usize(..special.len())],
            _ => random.u128(..),
        };
        (0..count).map(&mut key).flat_map(|key| key.to_le_bytes().into_iter().take(self.bytes)).collect()
    }

    /// The keys in their stable order, by these of their codes' bits if not by all.
    pub fn argsort(&self, keys: &[u8], descending: bool, bits: Option<(u32, u32)>) -> Vec<u32> {
        let keys: Vec<u128> = keys.chunks_exact(self.bytes).map(number).collect();
        let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
        indices.sort_by(|a, b| {
            let [a, b] = [a, b].map(|index| keys[*index as usize]);
            let order = match bits {
                None => (self.compare)(a, b),
                Some((low, high)) => {
                    let cut = |code: u128| (low..high).rev().map(|bit| code >> bit & 1).collect::<Vec<_>>();
                    cut(self.code(a)).cmp(&cut(self.code(b)))
                }
            };
            if descending { order.reverse() } else { order }
        });
        indices
    }

    /// The unsigned number that sorts like a key.
    fn code(&self, key: u128) -> u128 {
        let sign = 1u128 << (8 * self.bytes - 1);
        match self.name.as_bytes()[0] {
            b'u' => key,
            b'i' => key ^ sign,
            _ if key & sign == 0 => key | sign,
            _ => !key & (sign | (sign - 1)),
        }
    }
}

fn number(row: &[u8]) -> u128 {
    row.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// Rows of so many bytes at these indices.
pub fn gather(rows: &[u8], row_bytes: usize, indices: &[u32]) -> Vec<u8> {
    indices.iter().flat_map(|index| &rows[*index as usize * row_bytes..][..row_bytes]).copied().collect()
}
