//! Internals for the tests of this crate, without any promise of stability.

pub use crate::checksum::of as checksum;
pub use crate::modules::words as module_words;
pub use crate::profile::{Quirks, driver, vendor};
pub use crate::spirv::Rewrite;
pub use crate::tuning::{common_values, row_names};

use crate::kernels::Module;
use crate::{Error, SortRequest, Visitor};

/// The SPIR-V of modules with a visitor in them.
///
/// # Errors
///
/// As for a sorter with the visitor.
pub fn visitor_words(visitor: &Visitor, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
    visitor.words(modules, request)
}

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
