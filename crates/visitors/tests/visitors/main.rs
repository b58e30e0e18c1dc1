//! Visitors that are compiled at run time, with every algorithm and option. Drawn sorts have them too.

mod properties;
mod sorts;
mod source;

use std::process::ExitCode;

use vksort_testing::Suite;

fn main() -> ExitCode {
    vksort_testing::run(&[
        Suite { name: "visitors", trials: sorts::trials, parts: true },
        Suite { name: "properties", trials: properties::trials, parts: false },
    ])
}
