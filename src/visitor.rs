//! Visitors: the caller's code computes the keys and values that a sort would read, or receives the result that it would write.

mod code;
#[cfg(feature = "compile-visitors")]
mod compiling;
mod depth;
mod interface;
mod packed;
#[cfg(feature = "compile-visitors")]
mod source;

pub use code::Visitor;
pub use depth::{DepthKeys, DepthPush};
pub use interface::Visits;
#[cfg(feature = "compile-visitors")]
pub use source::VisitorSource;
