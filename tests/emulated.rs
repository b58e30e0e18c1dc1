//! The conformance matrix at virtual subgroup sizes, on the emulated subgroup layer, and with every ranking method, on kernels shaped
//! as on GPUs.

mod common;

use common::gpu;
use common::suite::{self, Sizes};
use vksort::{Algorithm, RankMethod, SorterOptions, SubgroupChoice, Tuning};

/// Kernels as GPUs have them, and ranking methods that the device's tuning does not choose.
fn methods() -> Vec<(String, SorterOptions)> {
    let row = suite::small_blocks();
    let staged = Tuning { staged: true, early_counts: true, merge_runs: true, look_back_words: 4, ..row.clone() };
    let options = |tuning: Tuning, subgroup: SubgroupChoice| SorterOptions {
        tuning: Some(tuning),
        subgroup,
        ..SorterOptions::default()
    };
    let mut methods = Vec::new();
    for &rank in RankMethod::ALL {
        // Where the device lacks a method, another takes its place, which runs already.
        if rank != RankMethod::Partition || gpu().profile().subgroup_partition {
            let name = format!("{rank:?}").to_lowercase();
            methods.push((name.clone(), options(Tuning { rank, ..row.clone() }, SubgroupChoice::Auto)));
            // So many subgroups that their counters have to share words.
            let many = Tuning { rank, workgroup_size: 256, ..staged.clone() };
            methods.push((format!("staged-{name}"), options(many, SubgroupChoice::Auto)));
        }
    }
    for size in [32, 64, 128] {
        let ballot = Tuning { rank: RankMethod::Ballot, look_back_words: 8, ..staged.clone() };
        methods.push((format!("staged-ballot-virtual-{size}"), options(ballot, SubgroupChoice::Emulated(size))));
    }
    for (name, tuning) in [("staged-resident", &staged), ("resident", &row)] {
        let resident = Tuning { resident_workgroups: 3, ..tuning.clone() };
        methods.push((name.into(), options(resident, SubgroupChoice::Auto)));
    }
    let kept = Tuning { unordered: false, merge_runs: false, unroll: true, ..staged };
    methods.push(("ordered-unrolled".into(), options(kept, SubgroupChoice::Auto)));
    methods
}

fn main() -> std::process::ExitCode {
    let full = common::level() == common::Level::Full;
    let sizes = Sizes { most: 30_000, patterns: if full { 5 } else { 1 }, patterns_beyond: 1, large: None };
    let mut trials = Vec::new();
    for size in [4, 8, 16, 32, 64, 128] {
        // The small sizes exist on software drivers natively, so one request of each algorithm will do here.
        let requests = Algorithm::ALL.iter().flat_map(|&algorithm| match size {
            4..32 => suite::some_requests(algorithm).split_off(7),
            _ => suite::some_requests(algorithm),
        });
        let options = move || SorterOptions {
            subgroup: SubgroupChoice::Emulated(size),
            tuning: Some(suite::small_blocks()),
            ..SorterOptions::default()
        };
        trials.extend(suite::trials(&format!("virtual-{size}/"), requests, options, sizes));
    }
    for (name, options) in methods() {
        let requests = Algorithm::ALL.iter().flat_map(|&algorithm| suite::some_requests(algorithm));
        trials.extend(suite::trials(&format!("{name}/"), requests, move || options.clone(), sizes));
    }
    common::run(trials)
}
