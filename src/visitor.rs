//! Visitors: the caller's code makes the keys and values that a sort reads, or takes the result that it would write.

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

/// The buffers that a visitor replaces.
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
    /// Refuses a request that the visitor cannot serve.
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

/// The properties of a request that the code of a visitor depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    pub visits: Visits,
    pub push_bytes: u32,
    /// Words of a key.
    pub key_words: u32,
    /// Words of the value that the output function receives; 0 for none.
    pub value_words: u32,
    /// Whether the output function receives no key.
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

    /// The macros with which a kernel includes the visitor.
    #[cfg(feature = "runtime-shaders")]
    pub fn macros(&self) -> Vec<(&'static str, u32)> {
        let Visits { keys, values, output } = self.visits;
        let flags = [("VISITED", true), ("VISITED_KEYS", keys), ("VISITED_VALUES", values), ("VISITED_OUTPUT", output)];
        let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| (name, 1));
        // Kernels that move no keys compile the visitor's function for keys all the same.
        let sizes = [("KEY_WORDS", self.key_words), ("VISITED_VALUE_WORDS", self.value_words)];
        flags.chain(sizes).chain([("VISITED_DISCARDS", self.discards.into())]).collect()
    }
}

/// The caller's GLSL in the place of a sort's input or output buffers.
///
/// With a visitor, the histogram and the first pass call a function for each key and do not load it. The last pass that runs
/// calls a function for each sorted element and does not store it. So no buffer of keys is written before the first scatter.
///
/// The feature `runtime-shaders` compiles the GLSL (`VisitorSource`), in the program or in its build script. A program that has
/// only the compiled bytes needs no compiler ([`Visitor::from_bytes`]). [`Sorter::new_visited`] makes a sorter with a visitor.
/// `docs/VISITORS.md` lists the functions that the code defines, and its duties.
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
    /// The visitor from the bytes that `VisitorSource::compile` made for a request, for instance in a build script.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] for other bytes, and for bytes from another version of vksort.
    pub fn from_bytes(bytes: &[u8]) -> Result<Visitor, Error> {
        Packed::from_bytes(bytes).map(|packed| Visitor { code: Code::Packed(packed) })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        match &self.code {
            #[cfg(feature = "runtime-shaders")]
            Code::Source(source) => &source.name,
            Code::Packed(packed) => &packed.name,
        }
    }

    /// The buffers that it replaces.
    pub fn visits(&self) -> Visits {
        match &self.code {
            #[cfg(feature = "runtime-shaders")]
            Code::Source(source) => source.visits,
            Code::Packed(packed) => packed.interface.visits,
        }
    }

    /// Bytes of its push constants.
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
