//! The conformance matrix at virtual subgroup sizes, on the emulated subgroup layer, and with every ranking method.

mod common;

use common::suite::{self, Sizes};
use vksort::{Algorithm, RankMethod, SorterOptions, SubgroupChoice, Tuning};

fn main() -> std::process::ExitCode {
    let full = common::level() == common::Level::Full;
    let sizes = Sizes { most: 30_000, patterns: if full { 5 } else { 1 }, patterns_beyond: 1, large: None };
    let mut trials = Vec::new();
    for size in [4, 8, 16, 32, 64, 128] {
        // The small sizes exist on software drivers natively, so one request of each algorithm will do here.
        let requests = Algorithm::ALL.iter().flat_map(|&algorithm| match size {
            4..32 => suite::some_requests(algorithm).split_off(7),
            _ if full => suite::requests(Some(algorithm), &suite::SOME_KEYS),
            _ => suite::some_requests(algorithm),
        });
        let options = move || SorterOptions {
            subgroup: SubgroupChoice::Emulated(size),
            tuning: Some(suite::small_blocks()),
            ..SorterOptions::default()
        };
        trials.extend(suite::trials(&format!("virtual-{size}/"), requests, options, sizes));
    }
    // The device's own subgroups with the ranking method that its tuning does not choose.
    for rank in [RankMethod::Ballot, RankMethod::Match] {
        let requests = Algorithm::ALL.iter().flat_map(|&algorithm| suite::some_requests(algorithm));
        let options = move || SorterOptions {
            tuning: Some(Tuning { rank, ..suite::small_blocks() }),
            ..SorterOptions::default()
        };
        trials.extend(suite::trials(&format!("{rank:?}/").to_lowercase(), requests, options, sizes));
    }
    common::run(trials)
}
