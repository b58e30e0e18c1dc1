//! Look-back with tiles that never publish their counts: the sort completes, in bounded time, and is right.

use std::time::Duration;

use vksort::__private::abi::{LOW_BITS, SLOT_WORDS};
use vksort::__private::steps;
use vksort::__private::{Faults, ShapeDesc};
use vksort::{
    Algorithm, Count, KeyType, Order, RankMethod, SortRequest, SorterOptions, SubgroupChoice, Tuning, ValueType,
};
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
    let usual = |key| SortRequest::new(key).algorithm(Algorithm::OneSweep);
    let wide = usual(KeyType::F64).value(ValueType::U32).order(Order::Descending);
    for (request, ring_bits) in [(usual(KeyType::U32), None), (wide, Some(0)), (usual(KeyType::U16), Some(3))] {
        // Few items make many tiles of few elements; more of them make the recount longer.
        let tuning =
            Tuning { items_keys: items, items_pairs: items, min_tiles: 1, ..Tuning::for_device(gpu().profile()) };
        let faults = Faults { withhold, ring_bits, ..Faults::default() };
        let options = SorterOptions::default().faults(faults).subgroup(subgroup).tuning(tuning);
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
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let faults = Faults { withhold: 1, ring_bits: Some(0), ..Faults::default() };
    let sorter = gpu().sorter(&request, &SorterOptions::default().faults(faults))?;
    let count = sorter.shape().tile.elements() * RECOUNTED;
    let arena = Arena::new(&gpu(), &sorter, count);
    let case = Case { capacity: count, count, pattern: patterns::Pattern::Uniform, counted: false };
    suite::within(Duration::from_secs(120), "a sort with silent tiles", || suite::run_case(&request, &arena, case))?;
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

/// The device's row with so many tiles that threads which are suspended fall far behind, above all in rows with more threads than
/// cores. With a small ring the tiles before theirs were lost, and lavapipe ended their recounts too early.
fn many_tiles() -> Result<(), Failed> {
    // Digits of 10 bits make the smallest tiles.
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep).bits(0..30);
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let count = sorter.max_count().min(1 << 22);
    let arena = Arena::new(&gpu(), &sorter, count);
    let case = Case { capacity: count, count, pattern: patterns::Pattern::Uniform, counted: false };
    suite::within(Duration::from_secs(120), "a sort of many tiles", || suite::run_case(&request, &arena, case))?;
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

/// How often the ring had wrapped, in all passes so far, when a tile wrote to it: the twin of `ring_of` and `slot_of` in
/// `glsl/onesweep/lookback.glsl`.
fn epoch(pass: u32, tile: u32, tiles: u32, ring_bits: u32) -> u32 {
    pass * (((tiles - 1) >> ring_bits) + 1) + (tile >> ring_bits)
}

/// In two passes after each other no two words of a slot have the same epoch, with as many tiles as the bits of an epoch allow:
/// half as many rounds as there are epochs.
fn epochs_differ() -> Result<(), Failed> {
    for (epoch_bits, ring_bits) in [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (5, 3)] {
        for tiles in 1..=1 << (ring_bits + epoch_bits - 1) {
            for pass in 0..3 {
                let of_slot_0 = (0..tiles).step_by(1 << ring_bits);
                let words = (pass..pass + 2).flat_map(|pass| of_slot_0.clone().map(move |tile| (pass, tile)));
                let mut seen = Vec::new();
                for (pass, tile) in words {
                    let epoch = epoch(pass, tile, tiles, ring_bits) % (1 << epoch_bits);
                    assert!(
                        !seen.contains(&epoch),
                        "epoch {epoch} of {epoch_bits} bits twice: {tiles} tiles, pass {pass}"
                    );
                    seen.push(epoch);
                }
            }
        }
    }
    Ok(())
}

/// The words that a sort leaves in the ring have the twin's epochs, by each kernel that looks back.
fn epochs_are_the_twins(rank: RankMethod) -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let tuning = Tuning { rank, digit_bits: 8, ..suite::small_blocks() };
    for (ring_bits, tiles) in [(0, 3), (1, 4), (1, 5), (2, 8), (2, 11)] {
        let faults = Faults { ring_bits: Some(ring_bits), ..Faults::default() };
        let options = SorterOptions::default().faults(faults).tuning(tuning.clone());
        let sorter = gpu().sorter(&request, &options)?;
        let count = sorter.shape().tile.elements() * tiles;
        let arena = Arena::new(&gpu(), &sorter, count);
        let case = Case { capacity: count, count, pattern: patterns::Pattern::Uniform, counted: false };
        suite::run_case(&request, &arena, case)?;
        let profile = gpu().profile().clone();
        let desc = ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep);
        let sort = steps::of(&ShapeDesc { ring_bits: Some(ring_bits), ..desc }, count, Count::Host(count))?;
        assert_eq!((sort.tile * tiles, sort.shape.passes), (count, 4));
        let radix = sort.shape.ranking.radix();
        let table =
            arena.scratch(sort.table.offset - sort.counters.offset, ((radix * SLOT_WORDS) << ring_bits) as usize);
        for slot in 0..1 << ring_bits {
            // A workgroup that was late stores over the word of a later tile.
            let of_slot = (0..tiles).filter(|tile| tile % (1 << ring_bits) == slot);
            let expected: Vec<u32> = of_slot.map(|tile| epoch(3, tile, tiles, ring_bits)).collect();
            let found = table[(slot * SLOT_WORDS * radix) as usize] >> (LOW_BITS + 2);
            let what =
                format!("slot {slot}, {ring_bits} bits of slots, {tiles} tiles: {found} is none of {expected:?}");
            assert!(expected.contains(&found), "{what}");
        }
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test(format!("{}/chain", Algorithm::OneSweep), chain)];
    // Without a slash, so that every run has it.
    trials.push(Trial::test(format!("{}-with-many-tiles", Algorithm::OneSweep), many_tiles));
    trials.push(Trial::test(format!("{}/epochs-differ", Algorithm::OneSweep), epochs_differ));
    for (name, rank) in [("staged", RankMethod::Ballot), ("row", gpu().tuning().rank)] {
        let name = format!("{}/epochs/{name}", Algorithm::OneSweep);
        trials.push(Trial::test(name, move || epochs_are_the_twins(rank)));
    }
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
