//! Key types: their width, how their bits map to unsigned order, and the same mapping on the CPU as a reference.

use bytemuck::Pod;

/// Type of the keys in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyType {
    /// 32-bit unsigned integers.
    U32,
    /// 32-bit signed integers in two's complement.
    I32,
    /// 32-bit IEEE floats in the total order of [`f32::total_cmp`].
    F32,
}

/// Direction of the sort; equal keys keep their input order in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest key first.
    #[default]
    Ascending,
    /// Largest key first.
    Descending,
}

/// Bits to flip in a key so that comparing the results as unsigned numbers gives the wanted order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyCode {
    /// Flipped in every key.
    pub flip: u32,
    /// Flipped as well in keys whose sign bit is set.
    pub flip_negative: u32,
}

const SIGN: u32 = 1 << 31;

impl KeyType {
    /// Every key type.
    pub const ALL: &'static [KeyType] = &[KeyType::U32, KeyType::I32, KeyType::F32];

    /// Width of a key in bits.
    pub fn bits(self) -> u32 {
        match self {
            KeyType::U32 | KeyType::I32 | KeyType::F32 => 32,
        }
    }

    /// Size of a key in bytes.
    pub fn size_bytes(self) -> u64 {
        u64::from(self.bits() / 8)
    }

    /// The type's name as Rust spells it.
    pub fn name(self) -> &'static str {
        match self {
            KeyType::U32 => "u32",
            KeyType::I32 => "i32",
            KeyType::F32 => "f32",
        }
    }

    /// The order-preserving code. Floats are the trick of Herf ("Radix Tricks", 2001): negative ones are flipped
    /// entirely, the others in the sign alone. Descending order flips every bit of the code once more, which keeps
    /// the sort stable.
    pub(crate) fn code(self, order: Order) -> KeyCode {
        let (flip, flip_negative) = match self {
            KeyType::U32 => (0, 0),
            KeyType::I32 => (SIGN, 0),
            KeyType::F32 => (SIGN, !SIGN),
        };
        match order {
            Order::Ascending => KeyCode { flip, flip_negative },
            Order::Descending => KeyCode { flip: !flip, flip_negative },
        }
    }

    /// The unsigned number by whose ascending order a key with these bits is sorted.
    ///
    /// This is the reference order: what the kernels do, on the CPU.
    ///
    /// ```
    /// use vksort::{KeyType, Order};
    /// let code = |x: f32| KeyType::F32.sortable(x.to_bits(), Order::Ascending);
    /// assert!(code(-1.0) < code(-0.0) && code(-0.0) < code(0.0) && code(f32::INFINITY) < code(f32::NAN));
    /// ```
    pub fn sortable(self, bits: u32, order: Order) -> u32 {
        let code = self.code(order);
        let sign = ((bits as i32) >> 31) as u32;
        bits ^ code.flip ^ (sign & code.flip_negative)
    }

    /// The bits of the key whose [`sortable`](Self::sortable) number is given.
    pub fn from_sortable(self, sortable: u32, order: Order) -> u32 {
        let code = self.code(order);
        // Undoing the common flip shows whether the key was negative: its sign bit is not in `flip_negative`.
        let bits = sortable ^ code.flip;
        let sign = ((bits as i32) >> 31) as u32;
        bits ^ (sign & code.flip_negative)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for f32 {}
}

/// A Rust type that can be sorted as a key.
pub trait Key: Pod + sealed::Sealed {
    /// The key's type on the device.
    const TYPE: KeyType;
}

impl Key for u32 {
    const TYPE: KeyType = KeyType::U32;
}
impl Key for i32 {
    const TYPE: KeyType = KeyType::I32;
}
impl Key for f32 {
    const TYPE: KeyType = KeyType::F32;
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [u32; 14] = [
        0,
        1,
        2,
        0x7F7F_FFFF,
        0x7F80_0000,
        0x7FC0_0000,
        0x7FFF_FFFF,
        0x8000_0000,
        0x8000_0001,
        0xFF7F_FFFF,
        0xFF80_0000,
        0xFFC0_0000,
        0xFFFF_FFFE,
        0xFFFF_FFFF,
    ];

    #[test]
    fn codes_order_like_rust() {
        for a in SAMPLES {
            for b in SAMPLES {
                let code = |key: KeyType, bits| key.sortable(bits, Order::Ascending);
                assert_eq!(code(KeyType::U32, a).cmp(&code(KeyType::U32, b)), a.cmp(&b));
                assert_eq!(code(KeyType::I32, a).cmp(&code(KeyType::I32, b)), (a as i32).cmp(&(b as i32)));
                let (x, y) = (f32::from_bits(a), f32::from_bits(b));
                assert_eq!(code(KeyType::F32, a).cmp(&code(KeyType::F32, b)), x.total_cmp(&y), "{x} against {y}");
            }
        }
    }

    #[test]
    fn codes_have_an_inverse_and_reverse_when_descending() {
        for &key in KeyType::ALL {
            for bits in SAMPLES {
                let up = key.sortable(bits, Order::Ascending);
                let down = key.sortable(bits, Order::Descending);
                assert_eq!(down, !up);
                assert_eq!(key.from_sortable(up, Order::Ascending), bits);
                assert_eq!(key.from_sortable(down, Order::Descending), bits);
            }
        }
    }
}
