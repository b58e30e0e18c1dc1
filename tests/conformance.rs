//! Every algorithm x {keys, pairs} x key type x order, over all sizes and patterns, with guard bytes around every range. At the
//! level `reduced`, keys are in ascending order alone, and pairs in descending.

mod common;

use common::suite::{self, SOME_KEYS, Sizes};
use vksort::{Algorithm, KeyType, Order, SorterOptions, ValueType};

fn main() -> std::process::ExitCode {
    let sizes = Sizes::of_level();
    let mut trials = Vec::new();
    for &algorithm in Algorithm::ALL {
        let all = algorithm == Algorithm::OneSweep && common::level() == common::Level::Full;
        let keys = if all { KeyType::ALL } else { &SOME_KEYS };
        let mut requests = suite::requests(Some(algorithm), keys);
        if common::level() == common::Level::Reduced {
            requests.retain(|request| (request.value == ValueType::None) == (request.order == Order::Ascending));
        }
        trials.extend(suite::trials("", requests, SorterOptions::default, sizes));
    }
    common::run(trials)
}
