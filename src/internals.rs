//! What the tests of this crate look at behind its API. Nothing here is kept stable.

pub use crate::modules::words as module_words;
pub use crate::spirv::Rewrite;

/// The contract between host and kernels.
pub mod abi {
    pub use crate::abi::*;
}

/// What each kernel is.
pub mod kernels {
    pub use crate::kernels::*;
}

/// The steps of a sort, for tools that run its kernels without a device.
pub mod steps;

/// The search for a tuning, for whatever measures, and what it measures on a device.
#[cfg(all(feature = "profiles", feature = "standalone"))]
pub mod search {
    pub use crate::standalone::tune::{Input, Recorded, compare, failure, inputs_of, request};
    pub use crate::tuning::dimensions::{ALL as DIMENSIONS, Dimension};
    pub use crate::tuning::search::*;
}

/// The file of a pipeline cache.
#[cfg(feature = "standalone")]
pub mod cache {
    pub use crate::vk::owned::cache::*;
}
