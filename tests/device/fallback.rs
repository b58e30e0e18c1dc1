//! Look-back with tiles that never publish their counts: the sort completes, in bounded time, and is right.

use std::time::Duration;

use vksort::{Algorithm, Faults, KeyType, Order, SortRequest, SorterOptions, SubgroupChoice, Tuning, ValueType};
use vksort_testing::suite::{self, Case};
use vksort_testing::{Failed, Trial};
use vksort_testing::{arena::Arena, gpu, patterns};

/// Which tiles stay silent, by the divisor of their index.
const WITHHELD: [(&str, u32); 5] =
    [("none", 0), ("all", 1), ("every-2nd", 2), ("every-50th", 50), ("the-first", u32::MAX)];

/// As many tiles as there can be threads at other tiles.
const RECOUNTED: u32 = 32;

fn run(withhold: u32, subgroup: SubgroupChoice, items: u32, tiles: u32) -> Result<(), Failed> {
    // Narrow and wide keys, on rings that go round and not: neither order nor values touch look-back.
    let usual = |key| SortRequest { algorithm: Some(Algorithm::OneSweep), ..SortRequest::new(key) };
    let wide = SortRequest { value: ValueType::U32, order: Order::Descending, ..usual(KeyType::F64) };
    for (request, ring_bits) in [(usual(KeyType::U32), None), (wide, Some(0)), (usual(KeyType::U16), Some(3))] {
        // Few items make many tiles of few elements; more of them make the recount longer.
        let tuning =
            Tuning { items_keys: items, items_pairs: items, min_tiles: 1, ..Tuning::for_device(gpu().profile()) };
        let faults = Faults { withhold, ring_bits, ..Faults::default() };
        let options = SorterOptions { faults, subgroup, tuning: Some(tuning), ..SorterOptions::default() };
        let sorter = gpu().sorter(&request, &options)?;
        let count = sorter.shape().tile.elements() * tiles + 3;
        let arena = Arena::new(&gpu(), &sorter, count);
        for &pattern in &[patterns::Pattern::Uniform, patterns::Pattern::TwoValues, patterns::Pattern::OneStray] {
            let case = Case { capacity: count, count, pattern, counted: false };
            suite::within(Duration::from_secs(120), "a sort with silent tiles", || {
                suite::run_case(&request, &arena, case)
            })?;
        }
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

/// Every tile recounts all tiles before it, tiles as large as the device's row makes them: no tile publishes, and a ring of one
/// slot keeps nothing that was recounted. Drivers of CPUs end loops after a while; recounting must be done by then.
fn chain() -> Result<(), Failed> {
    let request = SortRequest { algorithm: Some(Algorithm::OneSweep), ..SortRequest::new(KeyType::U32) };
    let faults = Faults { withhold: 1, ring_bits: Some(0), ..Faults::default() };
    let sorter = gpu().sorter(&request, &SorterOptions { faults, ..SorterOptions::default() })?;
    let count = sorter.shape().tile.elements() * RECOUNTED;
    let arena = Arena::new(&gpu(), &sorter, count);
    let case = Case { capacity: count, count, pattern: patterns::Pattern::Uniform, counted: false };
    suite::within(Duration::from_secs(120), "a sort with silent tiles", || suite::run_case(&request, &arena, case))?;
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test(format!("{}/chain", Algorithm::OneSweep), chain)];
    let native = SubgroupChoice::Auto;
    for (name, withhold) in WITHHELD {
        for (shape, subgroup, items, tiles) in [
            ("small-tiles", native, 4, 60),
            ("large-tiles", native, 16, 12),
            // Few tiles: drivers of CPUs end loops after a while, and these wait for every tile before them.
            ("virtual-32", SubgroupChoice::Emulated(32), 4, 5),
        ] {
            // Named by the algorithm first, as in other suites, so that one filter takes all that looks back.
            let name = format!("{}/silent-{name}/{shape}", Algorithm::OneSweep);
            trials.push(Trial::test(name, move || run(withhold, subgroup, items, tiles)));
        }
    }
    trials
}
