//! Look-back with tiles that never publish their counts: the sort completes, in bounded time, and is right.

mod common;

use std::time::Duration;

use common::suite::{self, Case};
use common::{arena::Arena, gpu, patterns};
use libtest_mimic::{Failed, Trial};
use vksort::{Algorithm, Faults, SorterOptions, SubgroupChoice, Tuning};

/// Which tiles stay silent, by the divisor of their index.
const WITHHELD: [(&str, u32); 4] = [("all", 1), ("every-2nd", 2), ("every-50th", 50), ("the-first", u32::MAX)];

fn run(withhold: u32, subgroup: SubgroupChoice, blocks: u32, tiles: u32) -> Result<(), Failed> {
    let requests = suite::requests(Algorithm::OneSweep);
    // The keys' order does not touch look-back: keys and pairs, in one order each.
    for request in [requests[0], requests[11]] {
        // One block a tile makes many tiles of few elements; several blocks make the recount longer.
        let shape = Tuning { items_keys: 4, items_pairs: 4, ..Tuning::for_device(gpu().profile()) };
        let tuning = Tuning { min_tiles: 1, max_blocks: blocks, ..shape };
        let faults = Faults { withhold, ..Faults::default() };
        let options = SorterOptions { faults, subgroup, tuning: Some(tuning), ..SorterOptions::default() };
        let sorter = gpu().sorter(&request, &options)?;
        let count = sorter.shape().block() * blocks * tiles + 3;
        let arena = Arena::new(gpu(), &sorter, count, true);
        for &pattern in &[patterns::Pattern::Uniform, patterns::Pattern::TwoValues, patterns::Pattern::OneStray] {
            let case = Case { capacity: count, count, pattern, in_place: true };
            suite::within(Duration::from_secs(120), "a sort with silent tiles", || {
                suite::run_case(&request, &arena, case)
            })?;
        }
    }
    common::assert_valid(gpu());
    Ok(())
}

fn main() -> std::process::ExitCode {
    let mut trials = Vec::new();
    for (name, withhold) in WITHHELD {
        trials.push(Trial::test(format!("{name}/one-block-tiles"), move || run(withhold, SubgroupChoice::Auto, 1, 60)));
        trials
            .push(Trial::test(format!("{name}/four-block-tiles"), move || run(withhold, SubgroupChoice::Auto, 4, 12)));
        trials
            .push(Trial::test(format!("{name}/virtual-32"), move || run(withhold, SubgroupChoice::Emulated(32), 1, 5)));
    }
    common::run(trials)
}
