//! Visitors that are compiled at run time, with every algorithm and option. Drawn sorts have them too.

mod properties;
mod sorts;

use std::process::ExitCode;

use vksort::Visits;
use vksort_testing::{Suite, visited};
use vksort_visitors::VisitorSource;

fn main() -> ExitCode {
    vksort_testing::run(&[
        Suite { name: "visitors", trials: sorts::trials, parts: true },
        Suite { name: "properties", trials: properties::trials, parts: false },
    ])
}

/// The visitor of the tests.
fn source(visits: Visits) -> VisitorSource {
    let source = VisitorSource::new(visited::NAME).text(visited::TEXT).visits(visits);
    source.push_members(visited::PUSH_MEMBERS).push_bytes(visited::PUSH_BYTES)
}
