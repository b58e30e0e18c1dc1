//! Visitors in GLSL.

use super::Visits;
use super::compiling;
use super::packed::Packed;
use crate::error::Error;
use crate::kernels::Module;
use crate::request::SortRequest;

/// The GLSL of a [`Visitor`](crate::Visitor), and what a sort calls in it.
///
/// ```
/// use vksort::{KeyType, Placement, SortRequest, VisitorSource, Visits};
///
/// // Keys that are made from two arrays, without a pass that writes them to a third.
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
/// // In a build script these bytes go to a file; a program takes them by `include_bytes!` and `Visitor::from_bytes`.
/// let bytes = source.compile(&request)?;
/// # assert!(vksort::Visitor::from_bytes(&bytes)?.visits().keys);
/// # Ok::<(), vksort::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct VisitorSource {
    /// What the compiler's messages call the text: the name of its file.
    pub name: String,
    /// The GLSL. Names at its outermost level begin with `visit`.
    pub text: String,
    /// Files that the text includes: the name after `#include`, and what is in them. Those that come with vksort, such as
    /// `vksort/view_depth.glsl`, are there without being listed.
    pub includes: Vec<(String, String)>,
    /// Members of the push constants in GLSL, which the text finds in `push`: `vec4 visitor_row; uint visitor_stride;`.
    pub push_members: String,
    /// Their size in bytes: one more than the last byte of the last member.
    pub push_bytes: u32,
    /// What the text defines.
    pub visits: Visits,
}

impl VisitorSource {
    /// No text, under a name.
    pub fn new(name: impl Into<String>) -> VisitorSource {
        VisitorSource { name: name.into(), ..VisitorSource::default() }
    }

    /// Compiles the visitor into the kernels that sort by a request on any device: bytes for
    /// [`Visitor::from_bytes`](crate::Visitor::from_bytes). It takes a few seconds.
    ///
    /// They serve requests of another order, of other bits and of another key type of as many words, too.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] with the compiler's messages, each with file and line; [`Error::Unsupported`] for a request that does
    /// not go with the visitor; else as for [`SortRequest::check`].
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
