//! The programs that measure and search, run as their users run them, and their parts that need no device.

mod bench;
mod order;
mod pipelines;
mod search;
mod tune;

use std::path::Path;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the programs are in a folder of the repository")
}
