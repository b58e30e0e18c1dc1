//! Visitors: the caller's code makes keys and values or takes the result. Drawn sorts have them too.

mod checked;
mod kept;
#[cfg(feature = "runtime-shaders")]
mod properties;
#[cfg(feature = "runtime-shaders")]
mod sorts;

use std::process::ExitCode;

#[cfg(feature = "runtime-shaders")]
use vksort::{VisitorSource, Visits};
use vksort_testing::Suite;

/// The visitor of the tests.
#[cfg(feature = "runtime-shaders")]
fn source(visits: Visits) -> VisitorSource {
    vksort_testing::visitor_source!(visits)
}

fn main() -> ExitCode {
    vksort_testing::run(&[
        Suite { name: "kept-visitors", trials: kept::trials, parts: false },
        #[cfg(feature = "runtime-shaders")]
        Suite { name: "visitors", trials: sorts::trials, parts: true },
        #[cfg(feature = "runtime-shaders")]
        Suite { name: "properties", trials: properties::trials, parts: false },
    ])
}
