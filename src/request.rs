//! What to sort: keys, values, window, direction, placement and algorithm.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, by_name};
use crate::key::{KeyType, Order};

/// What travels with each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Nothing: only the keys are sorted.
    #[default]
    None,
    /// A value of so many bytes: 1, 2, or a multiple of 4 up to [`MAX_BYTES`](Self::MAX_BYTES).
    ///
    /// Up to [`INLINE_BYTES`](Self::INLINE_BYTES) they travel with the keys. Larger ones stay where they are until the
    /// permutation is known, and are gathered by it once.
    Bytes(u32),
    /// The key's own index in the input, a `u32`: the result is the sorting permutation, and nothing is read for it.
    Index,
}

impl ValueType {
    /// One 32-bit word.
    pub const U32: ValueType = ValueType::Bytes(4);
    /// Size in bytes of the largest value that travels with its key.
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

    /// Whether the values are gathered once the permutation is known.
    pub fn is_gathered(self) -> bool {
        matches!(self, ValueType::Bytes(bytes) if bytes > Self::INLINE_BYTES)
    }

    /// Size in bytes of what travels with each key.
    pub(crate) fn sorted_bytes(self) -> u64 {
        if self.is_gathered() { 4 } else { self.size_bytes() }
    }

    /// Whether what travels with each key is its index.
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
    /// The lowest bit that counts.
    pub low: u32,
    /// One more than the highest bit that counts.
    pub high: u32,
}

impl BitRange {
    /// Number of bits.
    pub fn len(self) -> u32 {
        self.high.saturating_sub(self.low)
    }

    /// Whether there are no bits, and all keys count as equal.
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
    /// As many elements as the bound count buffer holds when the sort runs on the device. A number above the capacity is
    /// taken for the capacity.
    Device,
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Count::Host(count)
    }
}

/// Where the result goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Where the input is.
    #[default]
    InPlace,
    /// Into other buffers; the input is not written to.
    OutOfPlace,
}

/// What becomes of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyOutput {
    /// They are sorted like the values.
    #[default]
    Sorted,
    /// Only values or indices are wanted, and the keys' last write is saved. In place, what is left in the keys' buffer
    /// is not specified; out of place, it is untouched.
    Discarded,
}

/// The buffers of elements that a sort takes, with their least sizes in bytes: [`SortRequest::buffers`].
///
/// A buffer that is `None` must not be given. Scratch comes on top
/// ([`Sorter::scratch_size`](crate::Sorter::scratch_size)), and 4 bytes of count for [`Count::Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferSizes {
    /// The keys; sorted here when the request is in place.
    pub keys: u64,
    /// The values, when the request reads any; in place also where indices go.
    pub values: Option<u64>,
    /// Where the sorted keys go when the request is out of place and does not discard them.
    pub keys_out: Option<u64>,
    /// Where the sorted values or indices go when the request is out of place.
    pub values_out: Option<u64>,
}

/// How the keys are sorted. All algorithms give the same result, bit for bit, but for the order of equal keys where
/// [`SortRequest::stable`] leaves it open.
///
/// As text (`--algorithm` of the examples): `onesweep`, `leading`, `reduce-then-scan`, `single-workgroup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One histogram of all digits, then one chained-scan pass per digit (Adinets and Merrill 2022).
    OneSweep,
    /// OneSweep passes over as many leading digits as distinguish most keys, then an insertion sort of each run of keys that
    /// they do not distinguish: the sublinear-time sort of Sedgewick, "Algorithms in C" (1998), section 10.7.
    ///
    /// It is for wide keys: of 2^20 uniform `u64`, 24 to 32 bits say where nearly all belong. It falls back to the passes of
    /// OneSweep where digits are too few to save two passes, where the histogram or samples of the keys predict long runs,
    /// and for 2^30 elements or more. If runs turn out long all the same, as digits depend on each other, those passes come
    /// on top, which takes up to 1.6 times as long as OneSweep. So it is used only where a request names it.
    Leading,
    /// Count, scan and scatter per digit; no workgroup ever waits for another.
    ReduceThenScan,
    /// All digits in the shared memory of one workgroup, for up to one block of elements.
    SingleWorkgroup,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: &'static [Algorithm] =
        &[Algorithm::OneSweep, Algorithm::Leading, Algorithm::ReduceThenScan, Algorithm::SingleWorkgroup];

    /// Whether tiles find their place by look-back.
    pub(crate) fn looks_back(self) -> bool {
        matches!(self, Algorithm::OneSweep | Algorithm::Leading)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::OneSweep => "onesweep",
            Algorithm::Leading => "leading",
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

/// One kind of sort. Everything but the element count and the buffers is decided here.
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
    /// What travels with each key.
    pub value: ValueType,
    /// Direction.
    pub order: Order,
    /// The bits that count. Keys that differ in others only are equal.
    pub bits: BitRange,
    /// Where the result goes.
    pub placement: Placement,
    /// What becomes of the keys.
    pub key_output: KeyOutput,
    /// Whether equal keys keep their order. If false, equal keys and their values may come out in any order, which may
    /// differ between runs; some devices sort faster then. It makes no difference to keys alone that are sorted by all their
    /// bits.
    pub stable: bool,
    /// The algorithm, or `None` to have it chosen by device and element count.
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

    /// The buffers of elements that a sort of up to `capacity` elements takes, and their sizes in bytes, rounded up to whole
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
        let bytes = |element: u64| (u64::from(capacity) * element).next_multiple_of(4);
        let (keys, values) = (bytes(self.key.size_bytes()), bytes(self.value.size_bytes()));
        let (out, has_values) = (!self.in_place(), self.value != ValueType::None);
        BufferSizes {
            keys,
            values: (self.value.is_read() || has_values && !out).then_some(values),
            keys_out: (out && !self.discards_keys()).then_some(keys),
            values_out: (out && has_values).then_some(values),
        }
    }

    pub(crate) fn discards_keys(&self) -> bool {
        self.key_output == KeyOutput::Discarded
    }

    /// Whether the order of keys that compare equal can be seen in the result, and matters.
    pub(crate) fn shows_ties(&self) -> bool {
        self.stable && (self.value != ValueType::None || self.bits.len() < self.key.bits())
    }

    pub(crate) fn in_place(&self) -> bool {
        self.placement == Placement::InPlace
    }

    /// Whether the request can be served at all, on whatever device. [`Sorter::new`](crate::Sorter::new) asks too.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`]: a window beyond the key, a value of another size than 1, 2 or a multiple of 4 up to
    ///   [`ValueType::MAX_BYTES`] bytes, or discarded keys without values.
    /// * [`Error::MissingFeature`]: keys of more than 32 bits without the feature `wide-keys`.
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
            let allowed = format!("low <= high <= {width}, the width of {}", self.key.name());
            return Err(Error::unsupported("bit window", self.bits, allowed));
        }
        if self.discards_keys() && self.value == ValueType::None {
            let allowed = "sorted, or discarded with values";
            return Err(Error::unsupported("key output", "discarded without values", allowed));
        }
        Ok(())
    }
}

/// As in `f32 keys with values of 4 bytes, descending, by bits 8..32`: what is not as usual is named.
impl fmt::Display for SortRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.key.name())?;
        match self.value {
            ValueType::None => {}
            ValueType::Bytes(1) => f.write_str(" with values of 1 byte")?,
            ValueType::Bytes(bytes) => write!(f, " with values of {bytes} bytes")?,
            ValueType::Index => f.write_str(" with their indices")?,
        }
        f.write_str(match self.order {
            Order::Ascending => ", ascending",
            Order::Descending => ", descending",
        })?;
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
