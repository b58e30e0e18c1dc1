//! Every algorithm x {keys, pairs} x key type x order, over all sizes and patterns, with guard bytes around every range.

mod common;

use common::suite::{self, SOME_KEYS, Sizes};
use vksort::{Algorithm, KeyType, SorterOptions};

fn main() -> std::process::ExitCode {
    let sizes = Sizes::of_level();
    let mut trials = Vec::new();
    for &algorithm in Algorithm::ALL {
        let all = algorithm == Algorithm::OneSweep && common::level() == common::Level::Full;
        let keys = if all { KeyType::ALL } else { &SOME_KEYS };
        trials.extend(suite::trials("", suite::requests(Some(algorithm), keys), SorterOptions::default, sizes));
    }
    common::run(trials)
}
