//! Every algorithm x {keys, pairs} x key type x order, over all sizes and patterns, with guard bytes around every range.

mod common;

use common::suite::{self, Sizes};
use vksort::{Algorithm, SorterOptions};

fn main() -> std::process::ExitCode {
    let requests = Algorithm::ALL.iter().flat_map(|&algorithm| suite::requests(algorithm));
    common::run(suite::trials("", requests, SorterOptions::default, Sizes::of_level()))
}
