//! The programs that measure and search, run as their users run them, and their parts that need no device.

mod awake;
mod bench;
mod ledger;
mod lost;
mod pipelines;
mod reports;
mod search;
mod tune;
#[cfg(feature = "visitors")]
mod visitors;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the lab is in a folder of the repository")
}
