//! Visitors: the caller's code makes keys and values or takes the result. Drawn sorts have them too.

mod checked;
mod kept;
#[cfg(feature = "compile-visitors")]
mod properties;
#[cfg(feature = "compile-visitors")]
mod sorts;

use std::process::ExitCode;

#[cfg(feature = "compile-visitors")]
use vksort::{VisitorSource, Visits};
use vksort_testing::Suite;

/// The visitor of the tests.
#[cfg(feature = "compile-visitors")]
fn source(visits: Visits) -> VisitorSource {
    vksort_testing::visitor_source!(visits)
}

fn main() -> ExitCode {
    vksort_testing::run(&[
        Suite { name: "kept-visitors", trials: kept::trials, parts: false },
        #[cfg(feature = "compile-visitors")]
        Suite { name: "visitors", trials: sorts::trials, parts: true },
        #[cfg(feature = "compile-visitors")]
        Suite { name: "properties", trials: properties::trials, parts: false },
    ])
}
