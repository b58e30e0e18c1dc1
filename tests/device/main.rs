//! The suites that run on a device. `VKSORT_TEST_SUITES` chooses some of them (`vksort_testing::run`).

mod allocations;
mod blocks;
mod conformance;
mod cost;
mod emulated;
mod fallback;
mod faults;
mod finish;
mod frames;
mod halves;
mod inspected;
mod kept_visitors;
mod limits;
mod matrix;
mod modules;
mod recording;
mod records;
mod routes;
mod segments;
mod slices;
mod software;
mod splits;
mod subgroups;
mod top;
mod verified;

use std::process::ExitCode;

use vksort_testing::Suite;

fn main() -> ExitCode {
    if let Some(code) = faults::child() {
        return code;
    }
    let design = |name, trials| Suite { name, trials, parts: true };
    let whole = |name, trials| Suite { name, trials, parts: false };
    vksort_testing::run(&[
        whole("software", software::trials),
        whole("modules", modules::trials),
        design("blocks", blocks::trials),
        design("conformance", conformance::trials),
        design("matrix", matrix::trials),
        design("fallback", fallback::trials),
        design("finish", finish::trials),
        design("routes", routes::trials),
        design("emulated", emulated::trials),
        whole("verified", verified::trials),
        whole("inspected", inspected::trials),
        design("records", records::trials),
        whole("recording", recording::trials),
        whole("frames", frames::trials),
        design("segments", segments::trials),
        whole("segments-modules", segments::trials_of_modules),
        design("splits", splits::trials),
        whole("splits-modules", splits::trials_of_modules),
        design("top", top::trials),
        whole("top-modules", top::trials_of_modules),
        whole("kept-visitors", kept_visitors::trials),
        whole("limits", limits::trials),
        whole("faults", faults::trials),
        whole("subgroups", subgroups::trials),
        whole("halves", halves::trials),
        whole("slices", slices::trials),
        whole("allocations", allocations::trials),
        whole("cost", cost::trials),
    ])
}
