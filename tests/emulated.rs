//! The conformance matrix at virtual subgroup sizes, on the emulated subgroup layer, and with every ranking method, on kernels shaped
//! as on GPUs.

mod common;

use common::gpu;
use common::suite::{self, Sizes};
use vksort::{
    Algorithm, DeviceProfile, KeyType, RankMethod, SortRequest, SorterOptions, SubgroupChoice, Tuning, ValueType,
};

/// Kernels as GPUs have them, and ranking methods that the device's tuning does not choose.
fn methods() -> Vec<(String, SorterOptions)> {
    let row = suite::small_blocks();
    let staged =
        Tuning { rank: RankMethod::Ballot, early_counts: true, merge_runs: true, look_back_words: 4, ..row.clone() };
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
    let kept = Tuning { unordered: false, merge_runs: false, unroll: true, ..staged };
    methods.push(("ordered-unrolled".into(), options(kept, SubgroupChoice::Auto)));
    methods
}

/// The built-in rows of GPUs, at the subgroup sizes that these have, as far as this device's limits allow. Unrolled they would
/// take drivers of CPUs minutes to compile.
fn rows() -> Vec<(String, SorterOptions)> {
    let vendors = [(0x10DE, 32), (0x1002, 64), (0x8086, 16), (0x106B, 32), (0x5143, 64), (0, 32)];
    let row = |(vendor_id, size)| {
        let tuning = Tuning::for_device(&DeviceProfile { vendor_id, ..DeviceProfile::default() });
        let name = tuning.name.clone();
        let tuning = Some(Tuning { unroll: false, ..tuning });
        (name, SorterOptions { tuning, subgroup: SubgroupChoice::Emulated(size), ..SorterOptions::default() })
    };
    vendors.into_iter().map(row).collect()
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
    for (index, (name, options)) in methods().into_iter().enumerate() {
        // Every other request, in turns.
        let some = |&algorithm| suite::some_requests(algorithm).into_iter().skip(index % 2).step_by(2);
        let requests = Algorithm::ALL.iter().flat_map(some);
        trials.extend(suite::trials(&format!("{name}/"), requests, move || options.clone(), sizes));
    }
    for (name, options) in rows() {
        let usual = SortRequest { algorithm: None, ..SortRequest::new(KeyType::U32) };
        let requests = [usual, SortRequest { value: ValueType::U32, ..usual }];
        trials.extend(suite::trials(&format!("row-{name}/"), requests, move || options.clone(), sizes));
    }
    common::run(trials)
}
