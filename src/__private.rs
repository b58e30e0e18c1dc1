//! What the crates of this repository use beyond the API. `vksort-capi`, `vksort-profiles` and `vksort-visitors` depend on exactly this
//! version. There is no promise of stability for anyone else.

/// What `vksort-wgpu` uses, whose versions are its own: nothing here changes within a minor version. `tests/api/seams.txt` has the list.
pub mod seams {
    pub use crate::record::{Remedies, VersionFeatures};
}
/// The functions of an instance, through a function that may need no handle of it.
pub use crate::record::load_instance;
/// The functions that vksort calls, separated by spaces, for a test that hides each of them from it.
pub use crate::record::{DEVICE_FUNCTIONS, INSTANCE_FUNCTIONS};
/// Reads and writes features in chains of Vulkan's structures, which a program in C or wgpu has made. The chain must be valid, and
/// may be written to where `meet` writes.
pub use crate::record::{Place, feature_in};
/// Sorts whose buffers come with each recording, for `vksort_vrdx.h`. The device must have pushed descriptors enabled, and each
/// checked sort is recorded once, with buffers that live until its commands have completed.
pub use crate::record::{PushedSort, PushedSorter};

/// What `vksort-visitors` compiles with.
#[cfg(feature = "__compile")]
pub mod compile {
    use std::sync::Arc;

    pub use crate::abi::{Push, VisitorPush, glsl};
    pub use crate::compile::*;
    pub use crate::kernels::{Module, Sorts, modules};
    pub use crate::visitor::made::*;
    use crate::{Error, SortRequest, Visitor, Visits};

    // `SOURCES`: the files of `glsl/` by name.
    include!(concat!(env!("OUT_DIR"), "/sources.rs"));

    /// Refuses a request that has no meaning, and one that does not fit a visitor.
    pub fn check(visits: Visits, request: &SortRequest) -> Result<(), Error> {
        request.check()?;
        visits.check(request)
    }

    /// A visitor that is compiled when a sorter is made with it.
    pub fn visitor(name: String, visits: Visits, push_bytes: u32, words: Arc<Words>) -> Visitor {
        Visitor::new(name, visits, push_bytes, words)
    }
}

/// A name for the kernels of this build, which tells profiles of other kernels apart.
pub use crate::modules::digest as kernels_digest;

/// Files that are written whole or not at all, also by the programs of this repository.
pub mod files {
    pub use crate::files::*;
}

/// The launch configuration of kernels, for what studies it without a device.
pub use crate::records::Fields;
pub use crate::shape::{Block, Histogram, Ranking, Shape, ShapeDesc, Subgroup, Windows, finish_bytes, histogram_bytes};

/// What the tests of this crate look into.
#[cfg(feature = "__testing")]
pub use crate::internals::*;
#[cfg(feature = "__testing")]
pub use crate::record::Faults;
