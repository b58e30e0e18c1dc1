//! What to sort: keys, values, window, direction, placement and algorithm.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::key::{KeyType, Order};

/// What travels with each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Nothing: only the keys are sorted.
    #[default]
    None,
    /// A value of so many bytes: 1, 2, or a multiple of 4.
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
        parsed.map(|(low, high)| BitRange { low, high }).ok_or_else(|| Error::Unsupported {
            what: "bit window".into(),
            given: format!("{text:?}"),
            allowed: "LO..HI with two numbers, as in 8..24".into(),
        })
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

/// Bits of keys of which all digits are sorted by, unless leading ones are asked for.
const USUAL_KEY_BITS: u32 = 32;

/// How the keys are sorted. All algorithms give the same result, bit for bit, but for the order of equal keys where
/// [`SortRequest::stable`] leaves it open.
///
/// As text (`--algorithm` of the examples): `onesweep`, `leading`, `hybrid`, `reduce-then-scan`, `reduce-then-scan-4`,
/// `reduce-then-scan-2`, `single-workgroup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One histogram of all digits, then one chained-scan pass per 8-bit digit (Adinets and Merrill 2022).
    OneSweep,
    /// OneSweep passes over as many leading digits as tell most keys apart, then an insertion sort of each run of those that
    /// they do not: the sublinear-time sort of Sedgewick, "Algorithms in C" (1998), section 10.7.
    ///
    /// It is for wide keys: of 2^20 uniform `u64`, 24 to 32 bits say where nearly all belong. Where digits are too few to
    /// save two passes, or the histogram tells that runs would be long, it comes to the passes of OneSweep; so does a sort of
    /// 2^30 elements or more. Where runs turn out long all the same, because digits depend on each other, those passes come
    /// on top.
    Leading,
    /// OneSweep passes over the one or two top digits, then one pass in which each workgroup sorts whole runs of equal top
    /// digits in shared memory: the local finish of Stehle and Jacobsen (2017).
    ///
    /// It does not keep the order of equal keys, so it serves keys alone by all their bits, and requests that are not
    /// [`stable`](SortRequest::stable). Where runs are too long, or digits too few to save a pass, it comes to the passes
    /// of OneSweep; so does a sort of 2^30 elements or more.
    Hybrid,
    /// Count, scan and scatter per digit; no workgroup ever waits for another.
    ReduceThenScan {
        /// Bits of a digit: 8, 4 or 2.
        digit_bits: u32,
    },
    /// All digits in the shared memory of one workgroup, for up to one block of elements.
    SingleWorkgroup,
}

impl Algorithm {
    /// Every algorithm, with every digit width it runs at.
    pub const ALL: &'static [Algorithm] = &[
        Algorithm::OneSweep,
        Algorithm::Leading,
        Algorithm::Hybrid,
        Algorithm::ReduceThenScan { digit_bits: 8 },
        Algorithm::ReduceThenScan { digit_bits: 4 },
        Algorithm::ReduceThenScan { digit_bits: 2 },
        Algorithm::SingleWorkgroup,
    ];

    /// Bits of a digit.
    pub fn digit_bits(self) -> u32 {
        match self {
            Algorithm::ReduceThenScan { digit_bits } => digit_bits,
            Algorithm::OneSweep | Algorithm::Leading | Algorithm::Hybrid | Algorithm::SingleWorkgroup => 8,
        }
    }

    /// Whether the algorithm can sort as asked, whatever algorithm the request names: all can, but for
    /// [`Hybrid`](Algorithm::Hybrid) where the order of equal keys shows.
    ///
    /// ```
    /// use vksort::{Algorithm, KeyType, SortRequest, ValueType};
    /// let keys = SortRequest::new(KeyType::U32);
    /// let pairs = SortRequest { value: ValueType::U32, ..keys };
    /// assert!(Algorithm::Hybrid.serves(&keys) && !Algorithm::Hybrid.serves(&pairs));
    /// assert!(Algorithm::Hybrid.serves(&SortRequest { stable: false, ..pairs }));
    /// ```
    pub fn serves(self, request: &SortRequest) -> bool {
        self != Algorithm::Hybrid || !request.shows_ties()
    }

    /// Whether a window has so many digits that the automatic choice may be leading ones.
    pub(crate) fn suits(self, bits: BitRange) -> bool {
        self != Algorithm::Leading || bits.len() > USUAL_KEY_BITS
    }

    /// Whether tiles find their place by look-back.
    pub(crate) fn looks_back(self) -> bool {
        matches!(self, Algorithm::OneSweep) || self.has_phases()
    }

    /// Whether what runs is decided on the device, between a first phase with what completes it and a second.
    pub(crate) fn has_phases(self) -> bool {
        matches!(self, Algorithm::Leading | Algorithm::Hybrid)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Algorithm::OneSweep => f.write_str("onesweep"),
            Algorithm::Leading => f.write_str("leading"),
            Algorithm::Hybrid => f.write_str("hybrid"),
            Algorithm::ReduceThenScan { digit_bits: 8 } => f.write_str("reduce-then-scan"),
            Algorithm::ReduceThenScan { digit_bits } => write!(f, "reduce-then-scan-{digit_bits}"),
            Algorithm::SingleWorkgroup => f.write_str("single-workgroup"),
        }
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Algorithm::ALL.iter().copied().find(|algorithm| algorithm.to_string() == text).ok_or_else(|| {
            let names: Vec<String> = Algorithm::ALL.iter().map(Algorithm::to_string).collect();
            Error::Unsupported {
                what: "algorithm".into(),
                given: text.into(),
                allowed: format!("one of {}", names.join(", ")),
            }
        })
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
    /// Whether equal keys keep their order. Without it they, and their values, may come in any order among themselves,
    /// also in another one each time, which some devices sort faster. Keys alone by all their bits are always free to.
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
    /// Errors: [`Error::Unsupported`] for a window beyond the key, a value of another size than 1, 2 or a multiple of 4
    /// bytes, discarded keys without values, a digit width that reduce-then-scan does not have, or a hybrid sort that is
    /// to keep the order of equal keys where it shows; [`Error::MissingFeature`] for keys of more than 32 bits without the
    /// feature `wide-keys`.
    pub fn check(&self) -> Result<(), Error> {
        crate::modules::check(self.key)?;
        let unsupported =
            |what: &str, given: String, allowed: String| Err(Error::Unsupported { what: what.into(), given, allowed });
        if let Some(Algorithm::ReduceThenScan { digit_bits }) = self.algorithm
            && ![2, 4, 8].contains(&digit_bits)
        {
            return unsupported(
                "digit width of reduce-then-scan",
                format!("{digit_bits} bits"),
                "2, 4 or 8 bits".into(),
            );
        }
        if let ValueType::Bytes(bytes) = self.value
            && (bytes == 0 || !bytes.is_multiple_of(4) && ![1, 2].contains(&bytes))
        {
            return unsupported("value size", format!("{bytes} bytes"), "1, 2, or a multiple of 4 bytes".into());
        }
        let width = self.key.bits();
        if self.bits.low > self.bits.high || self.bits.high > width {
            let allowed = format!("low <= high <= {width}, the width of {}", self.key.name());
            return unsupported("bit window", self.bits.to_string(), allowed);
        }
        if self.discards_keys() && self.value == ValueType::None {
            let allowed = "sorted, or discarded with values".into();
            return unsupported("key output", "discarded without values".into(), allowed);
        }
        if let Some(algorithm) = self.algorithm
            && !algorithm.serves(self)
        {
            let given = format!("{algorithm}, with values or a bit window and stable");
            return unsupported("algorithm", given, "not stable, or keys alone by all their bits".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithm_names_parse_back() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse::<Algorithm>().unwrap(), algorithm);
        }
        let message = "quicksort".parse::<Algorithm>().unwrap_err().to_string();
        assert!(message.contains("quicksort") && message.contains("onesweep"), "{message}");
    }

    #[test]
    fn requests_out_of_range_are_refused_by_name() {
        let message = |request: SortRequest| request.check().unwrap_err().to_string();
        let u16s = SortRequest::new(KeyType::U16);
        assert!(u16s.check().is_ok());
        for (bits, given) in [(3..17, "3..17"), (BitRange { low: 9, high: 8 }.low..8, "9..8")] {
            let text = message(SortRequest { bits: bits.into(), ..u16s });
            assert!(text.contains("bit window") && text.contains(given) && text.contains("16"), "{text}");
        }
        for bytes in [0, 3, 5, 6, 18] {
            let text = message(SortRequest { value: ValueType::Bytes(bytes), ..u16s });
            assert!(text.contains("value size") && text.contains(&format!("{bytes} bytes")), "{text}");
        }
        let text = message(SortRequest { key_output: KeyOutput::Discarded, ..u16s });
        assert!(text.contains("discarded"), "{text}");
        let digits = Some(Algorithm::ReduceThenScan { digit_bits: 3 });
        assert!(message(SortRequest { algorithm: digits, ..u16s }).contains("3 bits"));
        let hybrid = SortRequest { algorithm: Some(Algorithm::Hybrid), ..u16s };
        assert!(hybrid.check().is_ok());
        let value = SortRequest { value: ValueType::U32, ..hybrid };
        for tied in [value, SortRequest { bits: (0..15).into(), ..hybrid }] {
            let text = message(tied);
            assert!(text.contains("hybrid") && text.contains("stable"), "{text}");
            assert!(SortRequest { stable: false, ..tied }.check().is_ok());
        }
    }

    #[test]
    fn windows_parse_back() {
        assert_eq!("8..24".parse::<BitRange>().unwrap(), BitRange::from(8..24));
        for text in ["", "8", "8..", "..8", "a..b", "-1..3", "8...9"] {
            assert!(text.parse::<BitRange>().unwrap_err().to_string().contains("LO..HI"), "{text}");
        }
    }
}
