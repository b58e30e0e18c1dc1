//! Internals for the tests of this crate, without any promise of stability.

pub use crate::modules::words as module_words;
pub use crate::profile::{Quirks, driver, vendor};
pub use crate::spirv::Rewrite;
pub use crate::tuning::row_names;

/// The contract between host and kernels.
pub mod abi {
    pub use crate::abi::*;
}

/// The rows of the kernels.
pub mod kernels {
    pub use crate::kernels::*;
}

/// The steps of a sort, for tools that run its kernels without a device.
pub mod steps;

/// The file of a pipeline cache.
#[cfg(feature = "standalone")]
pub mod cache {
    pub use crate::standalone::cache::*;
}
