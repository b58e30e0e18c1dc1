//! Visitors: the caller's code in place of the keys and values that a sort reads, or of the result that it writes.

#[cfg(feature = "runtime-shaders")]
mod compiling;
mod depth;
mod packed;
#[cfg(feature = "runtime-shaders")]
mod source;

use std::fmt;
#[cfg(feature = "runtime-shaders")]
use std::sync::Arc;

use crate::error::Error;
use crate::kernels::Module;
use crate::request::{SortRequest, ValueType};

pub use depth::{DepthKeys, DepthPush};
use packed::Packed;
#[cfg(feature = "runtime-shaders")]
pub use source::VisitorSource;

/// Which elements a visitor sees to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Visits {
    /// It makes the keys: `KEY visit_key(uint index)`.
    pub keys: bool,
    /// It makes the values: `uint visit_value(uint index, uint word)`.
    pub values: bool,
    /// It takes the sorted elements: `void visit_output(uint position, KEY key, VALUE value)`.
    pub output: bool,
}

impl Visits {
    /// Refuses a request that does not go with the visitor.
    pub(crate) fn check(self, request: &SortRequest) -> Result<(), Error> {
        let Visits { keys, values, output } = self;
        if (keys || values || output) && request.in_place() {
            return Err(Error::unsupported("placement", "in place", "out of place with a visitor"));
        }
        if values && !request.value.is_read() {
            let allowed = "a value of some bytes, as the visitor makes values";
            return Err(Error::unsupported("value", format!("{:?}", request.value), allowed));
        }
        if output && request.value.is_gathered() {
            let allowed = format!("at most {} bytes with a visitor's output", ValueType::INLINE_BYTES);
            return Err(Error::unsupported("value size", format!("{} bytes", request.value.size_bytes()), allowed));
        }
        Ok(())
    }
}

/// What the code of a visitor depends on in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    pub visits: Visits,
    pub push_bytes: u32,
    /// Words of a key.
    pub key_words: u32,
    /// Words of the value that the output is given; 0 for none.
    pub value_words: u32,
    /// Whether the output is given no key.
    pub discards: bool,
}

impl Interface {
    pub fn new(visits: Visits, push_bytes: u32, request: &SortRequest) -> Interface {
        Interface {
            visits,
            push_bytes,
            key_words: request.key.bits().div_ceil(32),
            value_words: if visits.output { request.value.size_bytes().div_ceil(4) as u32 } else { 0 },
            discards: visits.output && request.discards_keys(),
        }
    }

    /// The macros that bring the visitor into a kernel.
    #[cfg(feature = "runtime-shaders")]
    pub fn macros(&self) -> Vec<(&'static str, u32)> {
        let Visits { keys, values, output } = self.visits;
        let flags = [("VISITED", true), ("VISITED_KEYS", keys), ("VISITED_VALUES", values), ("VISITED_OUTPUT", output)];
        let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| (name, 1));
        flags.chain([("VISITED_VALUE_WORDS", self.value_words), ("VISITED_DISCARDS", self.discards.into())]).collect()
    }
}

/// Code of the caller's that takes the place of a sort's input, or of its output.
///
/// With a visitor, the histogram and the first pass call a function for each key instead of loading it, and the last pass that
/// runs calls one for each sorted element instead of storing it. No buffer of keys is written or read before the first scatter.
///
/// A visitor is GLSL. The feature `runtime-shaders` compiles it (`VisitorSource`), in the program or in its build script; a
/// program that has only the result needs no compiler ([`Visitor::from_bytes`]). [`Sorter::new_visited`] makes a sorter with it.
/// `docs/VISITORS.md` says what the code sees and what it may do.
///
/// [`Sorter::new_visited`]: crate::Sorter::new_visited
#[derive(Clone)]
pub struct Visitor {
    code: Code,
}

#[derive(Clone)]
enum Code {
    #[cfg(feature = "runtime-shaders")]
    Source(Arc<VisitorSource>),
    Packed(Packed),
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (visits, push_bytes) = (self.visits(), self.push_bytes());
        f.debug_struct("Visitor")
            .field("name", &self.name())
            .field("visits", &visits)
            .field("push_bytes", &push_bytes)
            .finish()
    }
}

#[cfg(feature = "runtime-shaders")]
impl From<VisitorSource> for Visitor {
    /// A visitor that is compiled when a sorter is made with it, for that sorter's request and device.
    fn from(source: VisitorSource) -> Visitor {
        Visitor { code: Code::Source(Arc::new(source)) }
    }
}

impl Visitor {
    /// The visitor that `VisitorSource::compile` has compiled for a request, in a build script for instance.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] for bytes that it has not made, or that another version of vksort has made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Visitor, Error> {
        Packed::from_bytes(bytes).map(|packed| Visitor { code: Code::Packed(packed) })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        match &self.code {
            #[cfg(feature = "runtime-shaders")]
            Code::Source(source) => &source.name,
            Code::Packed(packed) => &packed.name,
        }
    }

    /// Which elements it sees to.
    pub fn visits(&self) -> Visits {
        match &self.code {
            #[cfg(feature = "runtime-shaders")]
            Code::Source(source) => source.visits,
            Code::Packed(packed) => packed.interface.visits,
        }
    }

    /// Bytes of push constants that a recording gives it.
    pub fn push_bytes(&self) -> u32 {
        match &self.code {
            #[cfg(feature = "runtime-shaders")]
            Code::Source(source) => source.push_bytes,
            Code::Packed(packed) => packed.interface.push_bytes,
        }
    }

    /// The SPIR-V of modules with the visitor in them, for a request.
    pub(crate) fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        match &self.code {
            #[cfg(feature = "runtime-shaders")]
            Code::Source(source) => source.words(modules, request),
            Code::Packed(packed) => packed.words(modules, request),
        }
    }
}
