//! Every algorithm x {keys, pairs} x key type, over all sizes and patterns, with guard bytes around every range.
//!
//! At the reduced level one key type goes through every algorithm; of the others a pairwise design.

use vksort::{Algorithm, KeyType, SortRequest, SorterOptions, ValueType};
use vksort_testing::suite::{self, SOME_KEYS, Sizes};
use vksort_testing::{Level, Trial, design, level, seed};

const VALUES: [ValueType; 2] = [ValueType::None, ValueType::U32];

/// Every key type with the main algorithm, and some with each other one.
fn all() -> Vec<SortRequest> {
    let mut requests = Vec::new();
    for &algorithm in Algorithm::ALL {
        let keys = if algorithm == Algorithm::OneSweep { KeyType::ALL } else { &SOME_KEYS };
        requests.extend(keys.iter().flat_map(|&key| VALUES.map(|value| suite::usual(algorithm, key, value))));
    }
    requests
}

/// A part of them in which any two of algorithm, key type and value meet, and one key type meets everything.
fn some() -> Vec<SortRequest> {
    let levels = [Algorithm::ALL.len(), SOME_KEYS.len(), VALUES.len()];
    let whole = SOME_KEYS.iter().position(|&key| key == KeyType::U32).expect("it is one of some");
    let mut targets = design::pairs(&levels);
    for algorithm in 0..levels[0] {
        targets.extend((0..levels[2]).map(|value| vec![(0, algorithm), (1, whole), (2, value)]));
    }
    let mut rows = Vec::new();
    design::cover(&levels, targets, |_| true, &mut rows, &mut fastrand::Rng::with_seed(seed()));
    rows.into_iter().map(|row| suite::usual(Algorithm::ALL[row[0]], SOME_KEYS[row[1]], VALUES[row[2]])).collect()
}

pub fn trials() -> Vec<Trial> {
    let requests = if level() == Level::Full { all() } else { some() };
    suite::trials("", requests, SorterOptions::default, Sizes::of_level())
}
