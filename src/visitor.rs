//! Visitors: the caller's code computes the keys and values that a sort would read, or receives the result that it would write.

mod code;
mod depth;
mod interface;
mod packed;

pub use code::Visitor;
pub use depth::{DepthKeys, DepthPush};
pub use interface::Visits;

/// What the crate `vksort-visitors` makes visitors of.
#[cfg(feature = "__compile")]
pub mod made {
    pub use super::code::Words;
    pub use super::interface::Interface;
    pub use super::packed::to_bytes;
}
