//! Look-back with tiles that never publish their counts: the sort completes, in bounded time, and is right.

mod common;

use std::time::Duration;

use common::suite::{self, Case};
use common::{arena::Arena, gpu, patterns};
use libtest_mimic::{Failed, Trial};
use vksort::{Algorithm, Faults, KeyType, Order, SortRequest, SorterOptions, SubgroupChoice, Tuning, ValueType};

/// Which tiles stay silent, by the divisor of their index.
const WITHHELD: [(&str, u32); 4] = [("all", 1), ("every-2nd", 2), ("every-50th", 50), ("the-first", u32::MAX)];

fn run(withhold: u32, subgroup: SubgroupChoice, blocks: u32, tiles: u32) -> Result<(), Failed> {
    // Narrow and wide keys, in portions and not: neither order nor values touch look-back.
    let usual = |key| SortRequest { algorithm: Some(Algorithm::OneSweep), ..SortRequest::new(key) };
    let wide = SortRequest { value: ValueType::U32, order: Order::Descending, ..usual(KeyType::F64) };
    for (request, portion_tiles) in [(usual(KeyType::U32), None), (wide, None), (usual(KeyType::U16), Some(7))] {
        // One block a tile makes many tiles of few elements; several blocks make the recount longer.
        let shape = Tuning { items_keys: 4, items_pairs: 4, ..Tuning::for_device(gpu().profile()) };
        let early_counts = blocks > 1;
        let tuning = Tuning { min_tiles: 1, max_blocks: blocks, early_counts, look_back_words: blocks, ..shape };
        let with = |portion| {
            let faults = Faults { withhold, portion, ..Faults::default() };
            let options = SorterOptions { faults, subgroup, tuning: Some(tuning.clone()), ..SorterOptions::default() };
            gpu().sorter(&request, &options)
        };
        let tile = with(None)?.shape().block() * blocks;
        let sorter = with(portion_tiles.map(|portion_tiles: u32| portion_tiles * tile))?;
        let count = tile * tiles + 3;
        let arena = Arena::new(&gpu(), &sorter, count);
        for &pattern in &[patterns::Pattern::Uniform, patterns::Pattern::TwoValues, patterns::Pattern::OneStray] {
            let case = Case { capacity: count, count, pattern, counted: false };
            suite::within(Duration::from_secs(120), "a sort with silent tiles", || {
                suite::run_case(&request, &arena, case)
            })?;
        }
    }
    common::assert_valid(&gpu());
    Ok(())
}

fn main() -> std::process::ExitCode {
    let mut trials = Vec::new();
    let native = SubgroupChoice::Auto;
    for (name, withhold) in WITHHELD {
        for (shape, subgroup, blocks, tiles) in [
            ("one-block-tiles", native, 1, 60),
            ("four-block-tiles", native, 4, 12),
            // Few tiles: drivers of CPUs end loops after a while, and these wait for every tile before them.
            ("virtual-32", SubgroupChoice::Emulated(32), 1, 5),
        ] {
            // Named by the algorithm first, as in other suites, so that one filter takes all that looks back.
            let name = format!("{}/silent-{name}/{shape}", Algorithm::OneSweep);
            trials.push(Trial::test(name, move || run(withhold, subgroup, blocks, tiles)));
        }
    }
    common::run(trials)
}
