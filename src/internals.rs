//! What the tests of this crate look at behind its API. Nothing here is kept stable.

pub use crate::vk::MODULES;

/// The contract between host and kernels.
pub mod abi {
    pub use crate::abi::*;
}

/// The table of what can be sorted.
pub mod table {
    pub use crate::table::*;
}
