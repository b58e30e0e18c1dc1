//! The request of a sort: keys, values, window, direction, placement and algorithm.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, by_name};
use crate::key::{KeyType, Order};

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

/// Bits of a key from `low` up to but not including `high`, counted in its [`sortable`](KeyType::sortable) number.
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

/// How many elements a sort is recorded for.
///
/// ```
/// assert_eq!(vksort::Count::from(1_000), vksort::Count::Host(1_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// This many elements, from the first on.
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
pub enum Placement {
    /// The result overwrites the input.
    #[default]
    InPlace,
    /// The result goes to other buffers; the input is not written.
    OutOfPlace,
}

/// Whether sorted keys are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyOutput {
    /// Sorted keys are written.
    #[default]
    Sorted,
    /// Only sorted values or indices are written, which saves the last write of the keys. In place, the keys' buffer has
    /// unspecified content afterwards; out of place, it is untouched.
    Discarded,
}

/// The buffers of elements that a sort needs, with their minimum sizes in bytes: [`SortRequest::buffers`].
///
/// A buffer that is `None` must not be given. A sort also needs scratch
/// ([`Sorter::scratch_size`](crate::Sorter::scratch_size)), and for [`Count::Device`] a count buffer of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BufferSizes {
    /// The keys. A request in place sorts them here.
    pub keys: u64,
    /// The values, if the request reads any. A request in place writes sorted values or indices here.
    pub values: Option<u64>,
    /// The sorted keys of a request out of place that does not discard them.
    pub keys_out: Option<u64>,
    /// The sorted values or indices of a request out of place.
    pub values_out: Option<u64>,
}

/// The algorithm of a sort. All algorithms give the same result, bit for bit, except for the order of equal keys if
/// [`SortRequest::stable`] is false.
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

/// One kind of sort: everything except the element count and the buffers.
///
/// ```
/// use vksort::{KeyType, Order, SortRequest, ValueType};
/// // Splats from the farthest to the nearest: depths with the splat's index.
/// let request = SortRequest { value: ValueType::U32, order: Order::Descending, ..SortRequest::new(KeyType::F32) };
/// assert!(request.algorithm.is_none(), "chosen by device and element count");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortRequest {
    /// Type of the keys.
    pub key: KeyType,
    /// The value of each key.
    pub value: ValueType,
    /// Direction.
    pub order: Order,
    /// The bits to sort by. Keys that differ only in other bits are equal.
    pub bits: BitRange,
    /// Whether the result overwrites the input.
    pub placement: Placement,
    /// Whether sorted keys are written.
    pub key_output: KeyOutput,
    /// Whether equal keys keep their order. Set it to false to let equal keys and their values come in any order, which may
    /// differ between runs and is faster on some devices. It has no effect on keys alone that are sorted by all bits.
    pub stable: bool,
    /// The algorithm; `None` to choose by device and element count.
    pub algorithm: Option<Algorithm>,
}

impl SortRequest {
    /// Keys only, by all their bits, ascending, stable and in place, with the algorithm chosen automatically.
    pub fn new(key: KeyType) -> Self {
        SortRequest {
            key,
            value: ValueType::None,
            order: Order::Ascending,
            bits: BitRange { low: 0, high: key.bits() },
            placement: Placement::InPlace,
            key_output: KeyOutput::Sorted,
            stable: true,
            algorithm: None,
        }
    }

    /// The buffers of elements that a sort of up to `capacity` elements needs, and their sizes in bytes, rounded up to whole
    /// words of 4 bytes.
    ///
    /// ```
    /// use vksort::{KeyType, Placement, SortRequest, ValueType};
    /// let pairs = SortRequest { value: ValueType::Bytes(12), ..SortRequest::new(KeyType::U16) };
    /// let sizes = pairs.buffers(1001);
    /// assert_eq!((sizes.keys, sizes.values, sizes.values_out), (2004, Some(12_012), None));
    /// let sizes = SortRequest { placement: Placement::OutOfPlace, ..pairs }.buffers(1001);
    /// assert_eq!((sizes.keys_out, sizes.values_out), (Some(2004), Some(12_012)));
    /// ```
    pub fn buffers(&self, capacity: u32) -> BufferSizes {
        self.buffers_of(capacity, capacity.into())
    }

    /// The same, where out of place so many elements are the result.
    pub(crate) fn buffers_of(&self, capacity: u32, results: u64) -> BufferSizes {
        let (key, value) = (self.key.size_bytes(), self.value.size_bytes());
        let bytes = |elements: u64, element: u64| elements.saturating_mul(element).div_ceil(4).saturating_mul(4);
        let (out, has_values) = (!self.in_place(), self.value != ValueType::None);
        BufferSizes {
            keys: bytes(capacity.into(), key),
            values: (self.value.is_read() || has_values && !out).then(|| bytes(capacity.into(), value)),
            keys_out: (out && !self.discards_keys()).then(|| bytes(results, key)),
            values_out: (out && has_values).then(|| bytes(results, value)),
        }
    }

    pub(crate) fn discards_keys(&self) -> bool {
        self.key_output == KeyOutput::Discarded
    }

    /// Whether the result shows the order of equal keys, and that order matters.
    pub(crate) fn shows_ties(&self) -> bool {
        self.stable && (self.value != ValueType::None || self.bits.len() < self.key.bits())
    }

    pub(crate) fn in_place(&self) -> bool {
        self.placement == Placement::InPlace
    }

    /// Checks the request for every device. [`Sorter::new`](crate::Sorter::new) does so too.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`]: a window beyond the key, a value of another size than 1, 2 or a multiple of 4 up to
    ///   [`ValueType::MAX_BYTES`] bytes, or discarded keys without values.
    /// * [`Error::MissingFeature`]: keys of 64 bits without the feature `wide-keys`, of 128 bits without
    ///   `keys-128`.
    pub fn check(&self) -> Result<(), Error> {
        crate::modules::check(self.key)?;
        if let ValueType::Bytes(bytes) = self.value
            && !([1, 2].contains(&bytes) || bytes.is_multiple_of(4) && (1..=ValueType::MAX_BYTES).contains(&bytes))
        {
            let allowed = format!("1, 2, or a multiple of 4 up to {} bytes", ValueType::MAX_BYTES);
            return Err(Error::unsupported("value size", format!("{bytes} bytes"), allowed));
        }
        let width = self.key.bits();
        if self.bits.low > self.bits.high || self.bits.high > width {
            let allowed = format!("low <= high <= {width}, the width of {}", self.key);
            return Err(Error::unsupported("bit window", self.bits, allowed));
        }
        if self.discards_keys() && self.value == ValueType::None {
            let allowed = "sorted, or discarded with values";
            return Err(Error::unsupported("key output", "discarded without values", allowed));
        }
        Ok(())
    }
}

/// For example `f32 keys with values of 4 bytes, descending, by bits 8..32`. Defaults are not named.
impl fmt::Display for SortRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.key)?;
        match self.value {
            ValueType::None => {}
            ValueType::Bytes(1) => f.write_str(" with values of 1 byte")?,
            ValueType::Bytes(bytes) => write!(f, " with values of {bytes} bytes")?,
            ValueType::Index => f.write_str(" with their indices")?,
        }
        write!(f, ", {}", self.order)?;
        if self.bits.len() < self.key.bits() {
            write!(f, ", by bits {}", self.bits)?;
        }
        if !self.in_place() {
            f.write_str(", out of place")?;
        }
        if self.discards_keys() {
            f.write_str(", keys discarded")?;
        }
        f.write_str(if self.stable { "" } else { ", not stable" })
    }
}
