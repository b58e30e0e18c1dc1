//! Visitors: the caller's code computes the keys and values that a sort would read, or receives the result that it would write.

mod code;
#[cfg(feature = "runtime-shaders")]
mod compiling;
mod depth;
mod interface;
mod packed;
#[cfg(feature = "runtime-shaders")]
mod source;

pub use code::Visitor;
pub use depth::{DepthKeys, DepthPush};
pub use interface::Visits;
#[cfg(feature = "runtime-shaders")]
pub use source::VisitorSource;
