//! What a visitor replaces, and what its code depends on.

use crate::error::Error;
use crate::request::{SortRequest, ValueType};

/// The buffers that a visitor replaces.
///
/// ```
/// use vksort::Visits;
///
/// const KEYS_AND_OUTPUT: Visits = Visits::NONE.keys(true).output(true);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Visits {
    /// It computes the keys: `KEY visit_key(uint index)`.
    pub keys: bool,
    /// It computes the values: `uint visit_value(uint index, uint word)`.
    pub values: bool,
    /// It receives the sorted elements: `void visit_output(uint position, KEY key, VALUE value)`.
    pub output: bool,
}

/// Each setter returns the same with another value for one buffer.
impl Visits {
    /// No buffer.
    pub const NONE: Visits = Visits { keys: false, values: false, output: false };

    /// Whether it computes the keys.
    pub const fn keys(self, keys: bool) -> Self {
        Visits { keys, ..self }
    }

    /// Whether it computes the values.
    pub const fn values(self, values: bool) -> Self {
        Visits { values, ..self }
    }

    /// Whether it receives the sorted elements.
    pub const fn output(self, output: bool) -> Self {
        Visits { output, ..self }
    }

    /// Refuses a request that does not fit the visitor.
    pub(crate) fn check(self, request: &SortRequest) -> Result<(), Error> {
        let Visits { keys, values, output } = self;
        if request.records.is_some() || request.segments.is_some() {
            let given = if request.records.is_some() { "of records" } else { "of segments" };
            return Err(Error::unsupported("the sort of a visitor", given, "one of keys, as one array"));
        }
        if (keys || values || output) && request.in_place() {
            return Err(Error::unsupported("placement", "in place", "out of place with a visitor"));
        }
        if values && !request.value.is_read() {
            let allowed = "a value of some bytes, because the visitor makes values";
            return Err(Error::unsupported("value", format!("{:?}", request.value), allowed));
        }
        if output && request.value.is_gathered() {
            let allowed = format!("at most {} bytes with a visitor's output", ValueType::INLINE_BYTES);
            return Err(Error::unsupported("value size", format!("{} bytes", request.value.size_bytes()), allowed));
        }
        Ok(())
    }
}

/// The properties of a request that the code of a visitor depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The buffers that it replaces.
    pub visits: Visits,
    /// Bytes of its push constants.
    pub push_bytes: u32,
    /// Words of a key.
    pub key_words: u32,
    /// Words of the value that the output function receives; 0 for none.
    pub value_words: u32,
    /// Whether the output function receives no key.
    pub discards: bool,
}

impl Interface {
    /// The interface of a visitor to the sort by a request.
    pub fn new(visits: Visits, push_bytes: u32, request: &SortRequest) -> Interface {
        Interface {
            visits,
            push_bytes,
            key_words: request.key.words(),
            value_words: if visits.output { request.value.size_bytes().div_ceil(4) as u32 } else { 0 },
            discards: visits.output && request.discards_keys(),
        }
    }
}
