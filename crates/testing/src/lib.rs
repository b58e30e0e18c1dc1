//! What the device suites share: the device, patterns, the oracle, guarded memory, and the runner over all of them.
#![allow(
    missing_debug_implementations,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "tests fail by them"
)]

pub mod arena;
pub mod batch;
pub mod design;
mod device;
pub mod drawn;
mod guarded;
pub mod inspected;
pub mod leading;
pub mod logs;
pub mod oracle;
mod patience;
pub mod patterns;
#[cfg(feature = "pictures")]
pub mod picture;
pub mod process;
pub mod records;
pub mod routes;
mod run;
pub mod segmented;
pub mod sets;
pub mod suite;
pub mod table;
pub mod visited;
pub mod visiting;

pub use device::{Level, assert_valid, close, expect, gpu, level, open, seed, takes, validating};
pub use libtest_mimic::Failed;
pub use run::{Suite, Trial, run};
