//! Key types: their width, how their bits map to unsigned order, and the same mapping on the CPU as a reference.

use std::fmt;
use std::str::FromStr;

use bytemuck::Pod;

use crate::error::{Error, by_name};

/// Direction of the sort; equal keys keep their input order in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest key first.
    #[default]
    Ascending,
    /// Largest key first.
    Descending,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Order::Ascending => "ascending",
            Order::Descending => "descending",
        })
    }
}

/// How the bits of a key encode a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unsigned,
    /// Two's complement.
    Signed,
    /// Sign and magnitude.
    Float,
}

macro_rules! key_types {
    ($($(#[$doc:meta])* $key:ident $name:literal $bits:literal $kind:ident;)*) => {
        /// Type of the keys in a buffer. Words of wide keys are stored least significant first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum KeyType { $($(#[$doc])* $key),* }

        impl KeyType {
            /// Every key type.
            pub const ALL: &'static [KeyType] = &[$(KeyType::$key),*];

            /// The type's name, width in bits and kind.
            fn row(self) -> (&'static str, u32, Kind) {
                match self { $(KeyType::$key => ($name, $bits, Kind::$kind)),* }
            }
        }
    };
}

key_types! {
    /// 8-bit unsigned integers.
    U8 "u8" 8 Unsigned;
    /// 8-bit signed integers.
    I8 "i8" 8 Signed;
    /// 16-bit unsigned integers.
    U16 "u16" 16 Unsigned;
    /// 16-bit signed integers.
    I16 "i16" 16 Signed;
    /// 16-bit IEEE floats (half precision), in total order.
    F16 "f16" 16 Float;
    /// 16-bit brain floats: the upper half of an `f32`, in total order.
    Bf16 "bf16" 16 Float;
    /// 32-bit unsigned integers.
    U32 "u32" 32 Unsigned;
    /// 32-bit signed integers.
    I32 "i32" 32 Signed;
    /// 32-bit IEEE floats in the total order of [`f32::total_cmp`].
    F32 "f32" 32 Float;
    /// 64-bit unsigned integers.
    U64 "u64" 64 Unsigned;
    /// 64-bit signed integers.
    I64 "i64" 64 Signed;
    /// 64-bit IEEE floats in the total order of [`f64::total_cmp`].
    F64 "f64" 64 Float;
    /// 128-bit unsigned integers, as two 64-bit ones with the lower first.
    U128 "u128" 128 Unsigned;
    /// 128-bit signed integers.
    I128 "i128" 128 Signed;
}

/// Bits to flip in a key, so that unsigned order of the results is the order of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyCode {
    /// Flipped in every key.
    pub flip: u128,
    /// Flipped also in keys whose sign bit is set.
    pub flip_negative: u128,
}

impl KeyType {
    /// The type's name, such as `u32` or `bf16`.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Width of a key in bits.
    pub fn bits(self) -> u32 {
        self.row().1
    }

    /// Size of a key in bytes.
    pub fn size_bytes(self) -> u64 {
        u64::from(self.bits() / 8)
    }

    /// 32-bit words of a key; a narrower key takes one.
    pub(crate) fn words(self) -> u32 {
        self.bits().div_ceil(32)
    }

    /// Whether the key is a floating-point number, sorted in total order.
    pub fn is_float(self) -> bool {
        self.row().2 == Kind::Float
    }

    /// Whether negative keys come before zero.
    pub fn is_signed(self) -> bool {
        self.row().2 != Kind::Unsigned
    }

    /// The order-preserving code. For floats it is that of Herf ("Radix Tricks", 2001): all bits of negative numbers are
    /// flipped, and the sign bit of the others. Descending order flips every bit once more, which keeps the sort stable.
    pub(crate) fn code(self, order: Order) -> KeyCode {
        let ones = u128::MAX >> (128 - self.bits());
        let sign = 1 << (self.bits() - 1);
        let (flip, flip_negative) = match self.row().2 {
            Kind::Unsigned => (0, 0),
            Kind::Signed => (sign, 0),
            Kind::Float => (sign, ones ^ sign),
        };
        match order {
            Order::Ascending => KeyCode { flip, flip_negative },
            Order::Descending => KeyCode { flip: ones ^ flip, flip_negative },
        }
    }

    /// Bits to flip, by word: in the top word of a key, and in each of its lower words, which are flipped alike.
    pub(crate) fn top_and_low(self, flips: u128) -> (u32, u32) {
        ((flips >> (32 * (self.words() - 1))) as u32, flips as u32)
    }

    /// The unsigned number of a key with these bits: keys in the order of the request have ascending numbers.
    ///
    /// It computes on the CPU the order that the kernels sort by. A window of bits is a part of this number.
    ///
    /// ```
    /// use vksort::{KeyType, Order};
    /// let code = |x: f32| KeyType::F32.sortable(x.to_bits().into(), Order::Ascending);
    /// assert!(code(-1.0) < code(-0.0) && code(-0.0) < code(0.0) && code(f32::INFINITY) < code(f32::NAN));
    /// ```
    pub fn sortable(self, bits: u128, order: Order) -> u128 {
        let code = self.code(order);
        let negative = bits >> (self.bits() - 1) & 1 == 1;
        bits ^ code.flip ^ if negative { code.flip_negative } else { 0 }
    }
}

/// The [`name`](KeyType::name).
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for KeyType {
    type Err = Error;

    /// The type of a [`name`](KeyType::name).
    fn from_str(text: &str) -> Result<Self, Error> {
        by_name("key type", text, KeyType::ALL, KeyType::to_string)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that can be sorted as a key.
///
/// With the feature `half` also `half::f16` and `half::bf16`.
pub trait Key: Pod + sealed::Sealed {
    /// The key's type on the device.
    const TYPE: KeyType;
}

macro_rules! keys {
    ($($rust:ty => $key:ident),* $(,)?) => {
        $(
            impl sealed::Sealed for $rust {}
            impl Key for $rust {
                const TYPE: KeyType = KeyType::$key;
            }
        )*
    };
}

keys! {
    u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, f32 => F32,
    u64 => U64, i64 => I64, f64 => F64, u128 => U128, i128 => I128,
}
#[cfg(feature = "half")]
keys! { half::f16 => F16, half::bf16 => Bf16 }
