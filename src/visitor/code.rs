//! [`Visitor`]: code that replaces buffers, from GLSL or from bytes.

use std::fmt;
#[cfg(feature = "compile-visitors")]
use std::sync::Arc;

use super::interface::Visits;
use super::packed::Packed;
#[cfg(feature = "compile-visitors")]
use super::source::VisitorSource;
use crate::error::Error;
use crate::kernels::Module;
use crate::request::SortRequest;
use crate::spirv;

/// The caller's GLSL in place of a sort's input or output buffers.
///
/// With a visitor, the histogram and the first pass call a function for each key instead of loading it. The last pass that runs
/// calls a function for each sorted element instead of storing it. So keys need not be written to a buffer before they are sorted.
///
/// The feature `compile-visitors` compiles the GLSL (`VisitorSource`), in the program or in its build script. A program that has
/// only the compiled bytes needs no compiler ([`Visitor::from_bytes`]).
/// [`SorterOptions::visitor`](crate::SorterOptions::visitor) gives the visitor to a sorter. `docs/VISITORS.md` lists the functions
/// that the code defines, and its duties.
#[derive(Clone)]
pub struct Visitor {
    code: Code,
    dynamic_indexing: bool,
}

#[derive(Clone)]
enum Code {
    #[cfg(feature = "compile-visitors")]
    Source(Arc<VisitorSource>),
    Packed(Packed),
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, visits, push_bytes) = self.parts();
        let mut visitor = f.debug_struct("Visitor");
        visitor.field("name", &name).field("visits", &visits).field("push_bytes", &push_bytes).finish()
    }
}

#[cfg(feature = "compile-visitors")]
impl From<VisitorSource> for Visitor {
    /// A visitor that is compiled when a sorter is made with it, for that sorter's request and device.
    fn from(source: VisitorSource) -> Visitor {
        Visitor::of(Code::Source(Arc::new(source)))
    }
}

impl Visitor {
    /// The visitor from the bytes that `VisitorSource::compile` made for a request, for instance in a build script.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] for other bytes, and for bytes from another version of vksort.
    pub fn from_bytes(bytes: &[u8]) -> Result<Visitor, Error> {
        Packed::from_bytes(bytes).map(|packed| Visitor::of(Code::Packed(packed)))
    }

    fn of(code: Code) -> Visitor {
        Visitor { code, dynamic_indexing: false }
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
        self.parts().0
    }

    /// The buffers that it replaces.
    pub fn visits(&self) -> Visits {
        self.parts().1
    }

    /// Bytes of its push constants.
    pub fn push_bytes(&self) -> u32 {
        self.parts().2
    }

    fn parts(&self) -> (&str, Visits, u32) {
        match &self.code {
            #[cfg(feature = "compile-visitors")]
            Code::Source(source) => (&source.name, source.visits, source.push_bytes),
            Code::Packed(packed) => (&packed.name, packed.interface.visits, packed.interface.push_bytes),
        }
    }

    /// The SPIR-V of modules with the visitor in them, for a request.
    pub(crate) fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        let words = match &self.code {
            #[cfg(feature = "compile-visitors")]
            Code::Source(source) => source.words(modules, request)?,
            Code::Packed(packed) => packed.words(modules, request)?,
        };
        if !self.dynamic_indexing && words.iter().any(|words| spirv::varies_in_buffers(words)) {
            let reason = "it indexes an array of storage buffers by a number that varies: enable \
                          shaderStorageBufferArrayDynamicIndexing, and say so (Visitor::with_dynamic_indexing, in C \
                          VKSORT_VISITOR_DYNAMIC_INDEXING)";
            return Err(Error::Visitor { name: self.name().into(), reason: reason.into() });
        }
        Ok(words)
    }
}

#[cfg(feature = "compile-visitors")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use crate::key::KeyType;
    use crate::request::Placement;

    fn indexing(index: &str) -> VisitorSource {
        let text = format!(
            "layout(set = 1, binding = 0) readonly buffer Visited {{ uint visited[]; }} visited_parts[2];
             KEY visit_key(uint index) {{ return visited_parts[{index}].visited[index]; }}"
        );
        VisitorSource::new("parts.glsl").text(text).visits(Visits::NONE.keys(true))
    }

    #[test]
    fn arrays_of_buffers_that_are_indexed_by_data_are_refused_unless_the_feature_is_said_to_be_there() {
        let request = SortRequest::new(KeyType::U32).placement(Placement::OutOfPlace);
        let histogram = kernels::modules().into_iter().find(|module| module.name() == "histogram_32").unwrap();
        let check = |visitor: Visitor| visitor.words(&[histogram], &request).map(|_| ());
        for index in ["1", "PASSES > 3 ? 1 : 0"] {
            check(indexing(index).into()).unwrap();
        }
        for index in ["index & 1", "push.count & 1"] {
            let bytes = indexing(index).compile(&request).unwrap();
            for visitor in [Visitor::from(indexing(index)), Visitor::from_bytes(&bytes).unwrap()] {
                let refused = check(visitor.clone()).unwrap_err().to_string();
                assert!(refused.contains("parts.glsl"), "{refused}");
                assert!(refused.contains("shaderStorageBufferArrayDynamicIndexing"), "{refused}");
                check(visitor.with_dynamic_indexing()).unwrap();
            }
        }
    }
}
