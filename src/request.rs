//! What to sort: key and value type, direction and algorithm.

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
    /// One 32-bit word, typically an index.
    U32,
}

impl ValueType {
    /// Size of a value in 32-bit words.
    pub fn words(self) -> u32 {
        match self {
            ValueType::None => 0,
            ValueType::U32 => 1,
        }
    }

    /// Size of a value in bytes.
    pub fn size_bytes(self) -> u64 {
        4 * u64::from(self.words())
    }
}

/// How the keys are sorted. All algorithms give the same result, bit for bit.
///
/// As text (`--algorithm` of the examples): `onesweep`, `reduce-then-scan`, `reduce-then-scan-4`,
/// `reduce-then-scan-2`, `single-workgroup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One histogram of all digits, then one chained-scan pass per 8-bit digit (Adinets and Merrill 2022).
    OneSweep,
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
        Algorithm::ReduceThenScan { digit_bits: 8 },
        Algorithm::ReduceThenScan { digit_bits: 4 },
        Algorithm::ReduceThenScan { digit_bits: 2 },
        Algorithm::SingleWorkgroup,
    ];

    /// Bits of a digit.
    pub fn digit_bits(self) -> u32 {
        match self {
            Algorithm::ReduceThenScan { digit_bits } => digit_bits,
            Algorithm::OneSweep | Algorithm::SingleWorkgroup => 8,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Algorithm::OneSweep => f.write_str("onesweep"),
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
    /// The algorithm, or `None` to have it chosen by device and element count.
    pub algorithm: Option<Algorithm>,
}

impl SortRequest {
    /// Keys only, ascending, with the algorithm chosen automatically.
    pub fn new(key: KeyType) -> Self {
        SortRequest { key, value: ValueType::None, order: Order::Ascending, algorithm: None }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.algorithm {
            Some(Algorithm::ReduceThenScan { digit_bits }) if ![2, 4, 8].contains(&digit_bits) => {
                Err(Error::Unsupported {
                    what: "digit width of reduce-then-scan".into(),
                    given: format!("{digit_bits} bits"),
                    allowed: "2, 4 or 8 bits".into(),
                })
            }
            _ => Ok(()),
        }
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
}
