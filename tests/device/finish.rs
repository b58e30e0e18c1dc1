//! Sorts that end with a finish: two passes by leading bits, and runs of equal ones in windows. A sample decides whether there is one.

use vksort::__private::Faults;
use vksort::__private::abi;
use vksort::{RankMethod, SortRequest, SorterOptions, SubgroupChoice, Tuning};
use vksort_testing::arena::{Arena, Count};
use vksort_testing::leading::{self, KINDS};
use vksort_testing::patterns;
use vksort_testing::{Failed, Trial, assert_valid, gpu, seed, suite};

/// Small windows and tiles, so that few elements are many of both.
fn tuning() -> Tuning {
    Tuning {
        rank: RankMethod::Ballot,
        digit_bits: 8,
        workgroup_size: 32,
        segment_items: 8,
        single_workgroup_size: Some(16),
        look_back: true,
        finish_tiles: Some(2),
        ..suite::small_blocks()
    }
}

fn settings() -> Vec<(&'static str, SorterOptions)> {
    let with = |tuning: Tuning| SorterOptions::default().tuning(tuning);
    vec![
        ("small", with(tuning())),
        ("lean", with(Tuning { few_registers: true, looks_ahead: true, unordered: true, ..tuning() })),
        ("match", with(Tuning { rank: RankMethod::Match, segment_items: 5, merge_runs: false, ..tuning() })),
        ("odd", with(Tuning { workgroup_size: 48, segment_items: 7, ..tuning() })),
        ("emulated", with(tuning()).subgroup(SubgroupChoice::Emulated(32))),
        ("apart", with(tuning()).faults(Faults { decide_apart: true, ..Faults::default() })),
        ("withheld", with(tuning()).faults(Faults { withhold: 2, ..Faults::default() })),
    ]
}

fn check(request: &SortRequest, options: &SorterOptions) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    let finish = sorter.shape().finish.ok_or("the shape has no finish")?;
    let window = finish.window.elements();
    // Enough for a run of two windows that has no larger share than one may have.
    let count = (200 * window + 123).min(finish.most);
    let few = (finish.tiles - 1) * sorter.shape().tile.elements();
    let arena = Arena::new(&gpu(), &sorter, count);
    for (kind, expected) in KINDS {
        let keys = leading::keys(request, kind, count, seed());
        let text = |error| format!("VKSORT_SEED={}: {kind}, {request}, windows of {window}: {error}", seed());
        for given in [Count::Host, Count::Device(count / 3 * 2), Count::Device(count)] {
            suite::run_keys(request, &arena, &keys, given).map_err(text)?;
            let word = arena.counters()[abi::COUNTERS_FINISH as usize];
            if given != Count::Device(count / 3 * 2) && expected.is_some_and(|runs| runs != (word != 0)) {
                return Err(text(format!("the word of the finish is {word:#x}")).into());
            }
        }
        // The scratch of a sort with a finish serves one without.
        suite::run_keys(request, &arena, &keys[..few as usize * request.key.size_bytes() as usize], Count::Host)
            .map_err(text)?;
    }
    let samples = sorter.shape().single.invocations * abi::SAMPLED;
    let keys = leading::unseen_run(request, count, samples, seed());
    let text = |error| format!("VKSORT_SEED={}: an unseen run, {request}, windows of {window}: {error}", seed());
    suite::run_keys(request, &arena, &keys, Count::Host).map_err(text)?;
    if arena.counters()[abi::COUNTERS_FINISH as usize] != 0 {
        return Err(text("a workgroup merges half of the keys".into()).into());
    }
    for pattern in patterns::ALL {
        let keys = patterns::generate(*pattern, request.key, count as usize, seed());
        let text = |error| format!("VKSORT_SEED={}: {pattern:?}, {request}, windows of {window}: {error}", seed());
        suite::run_keys(request, &arena, &keys, Count::Host).map_err(text)?;
    }
    assert_valid(&gpu());
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let trial = |(setting, request, options): (&str, SortRequest, SorterOptions)| {
        Trial::test(format!("{setting}/{}", suite::name(&request)), move || check(&request, &options))
    };
    suite::by_turns(leading::requests(), settings()).map(trial).collect()
}
