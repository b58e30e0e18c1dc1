//! Visitors in GLSL.

use super::Visits;
use super::compiling;
use super::packed::Packed;
use crate::error::Error;
use crate::kernels::Module;
use crate::request::SortRequest;

/// The GLSL of a [`Visitor`](crate::Visitor), with its push constants and the functions that it defines.
///
/// ```
/// use vksort::{KeyType, Placement, SortRequest, VisitorSource, Visits};
///
/// // Each key is made from two arrays, and no third array holds the keys.
/// let source = VisitorSource {
///     text: "
///         layout(set = 1, binding = 0) readonly buffer VisitedA { uint visited_a[]; };
///         layout(set = 1, binding = 1) readonly buffer VisitedB { uint visited_b[]; };
///         KEY visit_key(uint index) { return visited_a[index] ^ (visited_b[index] >> push.visitor_shift); }
///     "
///     .into(),
///     push_members: "uint visitor_shift;".into(),
///     push_bytes: 4,
///     visits: Visits { keys: true, ..Visits::default() },
///     ..VisitorSource::new("two_arrays.glsl")
/// };
/// let request = SortRequest { placement: Placement::OutOfPlace, ..SortRequest::new(KeyType::U32) };
/// // A build script writes these bytes to a file. The program has `include_bytes!` and `Visitor::from_bytes`.
/// let bytes = source.compile(&request)?;
/// # assert!(vksort::Visitor::from_bytes(&bytes)?.visits().keys);
/// # Ok::<(), vksort::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct VisitorSource {
    /// The name of the text in the compiler's messages: its file.
    pub name: String,
    /// The GLSL. Names at its outermost level begin with `visit`.
    pub text: String,
    /// Files that the text includes: the name after `#include`, and the content. The files that come with vksort, such as
    /// `vksort/view_depth.glsl`, need not be listed.
    pub includes: Vec<(String, String)>,
    /// Members of the push constants in GLSL, such as `vec4 visitor_row; uint visitor_stride;`. The text reads them as members
    /// of `push`.
    pub push_members: String,
    /// Their size in bytes: one more than the last byte of the last member.
    pub push_bytes: u32,
    /// The functions that the text defines.
    pub visits: Visits,
}

impl VisitorSource {
    /// A source with a name and without text.
    pub fn new(name: impl Into<String>) -> VisitorSource {
        VisitorSource { name: name.into(), ..VisitorSource::default() }
    }

    /// Compiles the visitor into the kernels that sort by a request on any device, in a few seconds. The result is for
    /// [`Visitor::from_bytes`](crate::Visitor::from_bytes).
    ///
    /// The bytes also serve requests with another order, other bits, or another key type of as many words.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] with the compiler's messages, each with file and line; [`Error::Unsupported`] for a request that
    /// the visitor cannot serve; otherwise as for [`SortRequest::check`].
    pub fn compile(&self, request: &SortRequest) -> Result<Vec<u8>, Error> {
        request.check()?;
        self.visits.check(request)?;
        let modules = compiling::modules_of(request);
        let words = self.words(&modules, request)?;
        Ok(Packed::new(&self.name, compiling::interface(self, request), modules, &words).to_bytes())
    }

    pub(super) fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        compiling::compile(self, modules, request)
    }
}
