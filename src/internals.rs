//! What the tests of this crate look at behind its API. Nothing here is kept stable.

pub use crate::modules::words as module_words;

/// The contract between host and kernels.
pub mod abi {
    pub use crate::abi::*;
}

/// What each kernel is.
pub mod kernels {
    pub use crate::kernels::*;
}

/// The table of what can be sorted.
pub mod table {
    pub use crate::table::*;
}
