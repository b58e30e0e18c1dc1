//! Visitors in GLSL.

use vksort::{DepthKeys, DepthPush, Visits};

/// The GLSL of a [`Visitor`](vksort::Visitor), with its push constants and the functions that it defines.
///
/// ```
/// use vksort::{KeyType, Placement, SortRequest, Visits};
/// use vksort_visitors::VisitorSource;
///
/// // Each key is made from two arrays, and no third array holds the keys.
/// let text = "
///     layout(set = 1, binding = 0) readonly buffer VisitedA { uint visited_a[]; };
///     layout(set = 1, binding = 1) readonly buffer VisitedB { uint visited_b[]; };
///     KEY visit_key(uint index) { return visited_a[index] ^ (visited_b[index] >> push.visitor_shift); }
/// ";
/// let source = VisitorSource::new("two_arrays.glsl")
///     .text(text)
///     .push_members("uint visitor_shift;")
///     .push_bytes(4)
///     .visits(Visits::NONE.keys(true));
/// let request = SortRequest::new(KeyType::U32).placement(Placement::OutOfPlace);
/// // A build script writes these bytes to a file. The program has `include_bytes!` and `Visitor::from_bytes`.
/// let bytes = source.compile(&request)?;
/// # assert!(vksort::Visitor::from_bytes(&bytes)?.visits().keys);
/// # Ok::<(), vksort::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
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
    /// Their size in bytes, up to the end of the last member.
    pub push_bytes: u32,
    /// The functions that the text defines.
    pub visits: Visits,
}

/// Each setter returns the same source with another value for one field.
impl VisitorSource {
    /// A source with a name and without text.
    pub fn new(name: impl Into<String>) -> VisitorSource {
        VisitorSource { name: name.into(), ..VisitorSource::default() }
    }

    /// Depths of positions as keys, for [`DepthKeys::request`] or another request with its key and bits.
    pub fn depth(keys: DepthKeys) -> VisitorSource {
        let file = match keys {
            DepthKeys::F32 => "vksort/view_depth.glsl",
            DepthKeys::Bits16 => "vksort/depth16.glsl",
            DepthKeys::Bits24 => "vksort/depth24.glsl",
            other => unreachable!("{other:?} is of another version of vksort"),
        };
        VisitorSource::new(file)
            .text(format!("#include \"{file}\"\n"))
            .push_members("vec4 visitor_row; uint visitor_stride; uint visitor_first;")
            .push_bytes(DepthPush::BYTES)
            .visits(Visits::NONE.keys(true))
    }

    /// The GLSL.
    pub fn text(self, text: impl Into<String>) -> Self {
        VisitorSource { text: text.into(), ..self }
    }

    /// One more file that the text includes.
    pub fn include(mut self, name: impl Into<String>, content: impl Into<String>) -> Self {
        self.includes.push((name.into(), content.into()));
        self
    }

    /// Members of the push constants.
    pub fn push_members(self, members: impl Into<String>) -> Self {
        VisitorSource { push_members: members.into(), ..self }
    }

    /// Their size in bytes.
    pub fn push_bytes(self, bytes: u32) -> Self {
        VisitorSource { push_bytes: bytes, ..self }
    }

    /// The functions that the text defines.
    pub fn visits(self, visits: Visits) -> Self {
        VisitorSource { visits, ..self }
    }
}
