//! [`Visitor`]: code that replaces buffers, compiled or yet to compile.

use std::fmt;
use std::sync::Arc;

use super::interface::Visits;
use super::packed::Packed;
use crate::error::Error;
use crate::kernels::Module;
use crate::request::SortRequest;
use crate::spirv;

/// The SPIR-V of modules with a visitor in them, for a request.
pub type Words = dyn Fn(&[Module], &SortRequest) -> Result<Vec<Vec<u32>>, Error> + Send + Sync;

/// The caller's GLSL in place of a sort's input or output buffers.
///
/// With a visitor, the histogram and the first pass call a function for each key instead of loading it. The last pass that runs
/// calls a function for each sorted element instead of storing it. So keys need not be written to a buffer before they are sorted.
///
/// The crate `vksort-visitors` compiles the GLSL, in the program or in its build script. A program that has only the compiled bytes
/// needs no compiler ([`Visitor::from_bytes`]). [`SorterOptions::visitor`](crate::SorterOptions::visitor) gives the visitor to a
/// sorter. `docs/VISITORS.md` lists the functions that the code defines, and its duties.
#[derive(Clone)]
pub struct Visitor {
    name: String,
    visits: Visits,
    push_bytes: u32,
    dynamic_indexing: bool,
    words: Arc<Words>,
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Visitor { name, visits, push_bytes, .. } = self;
        let mut visitor = f.debug_struct("Visitor");
        visitor.field("name", name).field("visits", visits).field("push_bytes", push_bytes).finish_non_exhaustive()
    }
}

impl Visitor {
    /// The visitor from the bytes that `VisitorSource::compile` made for a request, for instance in a build script.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] for other bytes, and for those compiled for the kernels of another minor version of vksort.
    pub fn from_bytes(bytes: &[u8]) -> Result<Visitor, Error> {
        let packed = Packed::from_bytes(bytes)?;
        let (name, visits, push_bytes) = (packed.name.clone(), packed.interface.visits, packed.interface.push_bytes);
        Ok(Visitor::new(name, visits, push_bytes, Arc::new(move |modules, request| packed.words(modules, request))))
    }

    pub(crate) fn new(name: String, visits: Visits, push_bytes: u32, words: Arc<Words>) -> Visitor {
        Visitor { name, visits, push_bytes, dynamic_indexing: false, words }
    }

    /// The same for devices whose feature `shaderStorageBufferArrayDynamicIndexing` the caller has enabled.
    ///
    /// Code that indexes an array of storage buffers by a number that varies needs the feature.
    /// [`Sorter::new`](crate::Sorter::new) refuses it otherwise, because validation layers do not notice.
    pub fn with_dynamic_indexing(self) -> Visitor {
        Visitor { dynamic_indexing: true, ..self }
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The buffers that it replaces.
    pub fn visits(&self) -> Visits {
        self.visits
    }

    /// Bytes of its push constants.
    pub fn push_bytes(&self) -> u32 {
        self.push_bytes
    }

    /// The SPIR-V of modules with the visitor in them, for a request.
    pub(crate) fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        let words = (self.words)(modules, request)?;
        if !self.dynamic_indexing && words.iter().any(|words| spirv::varies_in_buffers(words)) {
            let reason = "it indexes an array of storage buffers by a number that varies: enable \
                          shaderStorageBufferArrayDynamicIndexing, and say so by Visitor::with_dynamic_indexing";
            return Err(Error::Visitor { name: self.name.clone(), reason: reason.into() });
        }
        Ok(words)
    }
}
