//! What requests say of elements: their values, windows of bits, placement, algorithm, counts and capacities.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, by_name};

/// The value of each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// None: only the keys are sorted.
    #[default]
    None,
    /// A value of this many bytes: 1, 2, or a multiple of 4 up to [`MAX_BYTES`](Self::MAX_BYTES).
    ///
    /// Values of up to [`INLINE_BYTES`](Self::INLINE_BYTES) move with their keys. Larger values are gathered once, by the
    /// sorted permutation.
    Bytes(u32),
    /// The index of the key in the input, a `u32`: the result is the sorting permutation. No values are read.
    Index,
}

impl ValueType {
    /// One 32-bit word.
    pub const U32: ValueType = ValueType::Bytes(4);
    /// Size in bytes of the largest value that moves with its key.
    pub const INLINE_BYTES: u32 = 16;
    /// Size in bytes of the largest value.
    pub const MAX_BYTES: u32 = 1 << 16;

    /// Size of a value in bytes.
    pub fn size_bytes(self) -> u64 {
        match self {
            ValueType::None => 0,
            ValueType::Bytes(bytes) => bytes.into(),
            ValueType::Index => 4,
        }
    }

    /// Whether there are values to read.
    pub fn is_read(self) -> bool {
        matches!(self, ValueType::Bytes(_))
    }

    /// Whether the values are gathered by the sorted permutation.
    pub fn is_gathered(self) -> bool {
        matches!(self, ValueType::Bytes(bytes) if bytes > Self::INLINE_BYTES)
    }

    /// Size in bytes of the value, or of the index, that moves with each key.
    pub(crate) fn sorted_bytes(self) -> u64 {
        if self.is_gathered() { 4 } else { self.size_bytes() }
    }

    /// Whether the index of each key moves with it.
    pub(crate) fn sorts_index(self) -> bool {
        self == ValueType::Index || self.is_gathered()
    }
}

/// Bits of a key from `low` up to but not including `high`, counted in its [`sortable`](crate::KeyType::sortable) number.
///
/// For unsigned keys in ascending order these are the bits of the key itself.
///
/// ```
/// assert_eq!(vksort::BitRange::from(8..24).len(), 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitRange {
    /// The lowest bit.
    pub low: u32,
    /// One more than the highest bit.
    pub high: u32,
}

impl BitRange {
    /// Number of bits.
    pub fn len(self) -> u32 {
        self.high.saturating_sub(self.low)
    }

    /// Whether there are no bits, so that all keys are equal.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl From<std::ops::Range<u32>> for BitRange {
    fn from(range: std::ops::Range<u32>) -> Self {
        BitRange { low: range.start, high: range.end }
    }
}

impl fmt::Display for BitRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

impl FromStr for BitRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parsed = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        let (low, high) = parsed.ok_or_else(|| {
            Error::unsupported("bit window", format!("{text:?}"), "LO..HI with two numbers, as in 8..24")
        })?;
        Ok(BitRange { low, high })
    }
}

/// How many elements a sort is recorded for, or how many segments.
///
/// It counts segments if the request has any, unless the whole array is the segment ([`SortRequest::top`](crate::SortRequest::top)).
///
/// ```
/// assert_eq!(vksort::Count::from(1_000), vksort::Count::Host(1_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Count {
    /// This many, from the first on.
    Host(u32),
    /// The number in the bound count buffer when the sort runs on the device, clamped to the capacity.
    Device,
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Count::Host(count)
    }
}

/// Whether the result overwrites the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// The result overwrites the input.
    #[default]
    InPlace,
    /// The result goes to other buffers; the input is not written.
    OutOfPlace,
}

/// Whether sorted keys are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyOutput {
    /// Sorted keys are written.
    #[default]
    Sorted,
    /// Only sorted values or indices are written, which saves the last write of the keys. In place, the keys' buffer has
    /// unspecified content afterwards; out of place, it is untouched.
    Discarded,
}

/// The most that a sort is bound for: elements, and where the request has segments, also segments.
///
/// ```
/// use vksort::Capacity;
/// assert_eq!(Capacity::from(1_000), Capacity::new(1_000));
/// assert_eq!(Capacity::new(1_000).segments(30).segments, 30);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Capacity {
    /// Elements, or records.
    pub elements: u32,
    /// Segments. It is not used if there are none, or if the whole array is the segment.
    pub segments: u32,
}

impl Capacity {
    /// So many elements, and no segments.
    pub const fn new(elements: u32) -> Self {
        Capacity { elements, segments: 0 }
    }

    /// The same for so many segments.
    pub const fn segments(self, segments: u32) -> Self {
        Capacity { segments, ..self }
    }
}

impl From<u32> for Capacity {
    fn from(elements: u32) -> Self {
        Capacity::new(elements)
    }
}

/// The buffers that a sort needs, with their minimum sizes in bytes: [`SortRequest::buffer_sizes`](crate::SortRequest::buffer_sizes).
///
/// A buffer that is `None` must not be given. A sort also needs scratch
/// ([`Sorter::scratch_size`](crate::Sorter::scratch_size)), and for [`Count::Device`] a count buffer of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BufferSizes {
    /// The keys, or the records. A request in place sorts them here. `None` if a visitor makes the keys.
    pub keys: Option<u64>,
    /// The values, if the request reads any. A request in place writes sorted values or indices here.
    pub values: Option<u64>,
    /// The sorted keys, or records, of a request out of place that does not discard them.
    pub keys_out: Option<u64>,
    /// The sorted values or indices of a request out of place.
    pub values_out: Option<u64>,
    /// The words that say where segments are, if the request has segments with words.
    pub segments: Option<u64>,
}

/// The algorithm of a sort. All algorithms give the same result, bit for bit, except for the order of equal keys if
/// [`SortRequest::stable`](crate::SortRequest::stable) is false.
///
/// As text (`--algorithm` of the programs): `onesweep`, `reduce-then-scan`, `single-workgroup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One histogram of all digits, then one pass with decoupled look-back per digit (Adinets and Merrill 2022).
    OneSweep,
    /// Count, scan and scatter per digit; no workgroup ever waits for another.
    ReduceThenScan,
    /// One workgroup sorts by all digits in its shared memory, for up to one block of elements.
    SingleWorkgroup,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: &'static [Algorithm] = &[Algorithm::OneSweep, Algorithm::ReduceThenScan, Algorithm::SingleWorkgroup];

    /// Whether tiles use look-back.
    pub(crate) fn looks_back(self) -> bool {
        self == Algorithm::OneSweep
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::OneSweep => "onesweep",
            Algorithm::ReduceThenScan => "reduce-then-scan",
            Algorithm::SingleWorkgroup => "single-workgroup",
        })
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        by_name("algorithm", text, Algorithm::ALL, Algorithm::to_string)
    }
}
