//! The device's own subgroups where full ones are not required: those that are known to be full, and those that kernels check.

use std::time::Duration;

use vksort::standalone::{Gpu, GpuOptions, PreparedSort, StandaloneSorter, selftest};
use vksort::{
    Algorithm, FixedSubgroups, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest, SorterOptions,
    SubgroupChoice, Tuning, ValueType, Verifier,
};
use vksort_testing::arena::{Arena, Count};
use vksort_testing::suite::small_blocks;
use vksort_testing::{Failed, Trial, assert_valid, expect, gpu, logs, takes, validating};

/// A device without optional features sorts with its own subgroups where something promises full ones. Else it says once why not.
fn plain_devices_sort_with_their_own_subgroups() -> Result<(), Failed> {
    for unknown_driver in [false, true] {
        let options = GpuOptions { validation: validating(), least: true, unknown_driver, ..GpuOptions::default() };
        let gpu = Gpu::new(&options)?;
        let fixed = gpu.profile().fixed_subgroups;
        // Of GPUs, some need the features.
        let emulates = fixed == FixedSubgroups::No;
        assert!(if unknown_driver || gpu.profile().is_cpu { emulates == unknown_driver } else { true }, "{fixed:?}");
        let request = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::U32) };
        let (sorters, lines) = logs::of(|| [(); 2].map(|()| gpu.sorter(&request, &SorterOptions::default())));
        let warned = lines.iter().filter(|line| line.contains("subgroups are emulated")).count();
        // A device with the handle of an earlier one does not say the same again.
        assert!(warned <= usize::from(emulates), "{lines:?}");
        for sorter in sorters {
            assert_eq!(sorter?.shape().ranking.subgroup.emulated, emulates);
        }
        let (_, lines) = logs::of(|| {
            let emulated = SorterOptions { subgroup: SubgroupChoice::Emulated(8), ..SorterOptions::default() };
            gpu.sorter(&request, &emulated).map(drop)
        });
        assert!(!lines.iter().any(|line| line.contains("subgroups are emulated")), "what was asked for is no surprise");
        let mut keys: Vec<u32> = (0..20_000).map(|_| fastrand::u32(..)).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        gpu.sort(&mut keys, Order::Ascending)?;
        assert!(keys == expected);
        assert_valid(&gpu);
    }
    Ok(())
}

/// A device whose driver is taken to report subgroups of this size, and may run others.
fn device_that_reports(size: u32) -> Result<Gpu, Failed> {
    let reported_subgroup = Some(size);
    Ok(Gpu::new(&GpuOptions { validation: validating(), reported_subgroup, ..GpuOptions::default() })?)
}

/// Every way in which elements move: in place and out of it, by an odd number of passes, joined with indices, gathered. Each by the
/// kernels of software drivers where the device has them, or by those of GPUs.
fn sorts() -> Vec<(SortRequest, SorterOptions)> {
    let keys = SortRequest::new(KeyType::U32);
    let pairs = SortRequest { value: ValueType::U32, ..keys };
    let argsort = SortRequest { value: ValueType::Index, key_output: KeyOutput::Discarded, ..keys };
    let gathered = SortRequest { value: ValueType::Bytes(20), ..keys };
    let odd = SortRequest { bits: (0..24).into(), ..pairs };
    let wide = SortRequest { value: ValueType::Bytes(2), ..SortRequest::new(KeyType::U64) };
    let mut sorts = Vec::new();
    for (number, request) in [keys, pairs, argsort, gathered, odd, wide].into_iter().enumerate() {
        for (place, placement) in [Placement::InPlace, Placement::OutOfPlace].into_iter().enumerate() {
            if !takes(&[number, place]) {
                continue;
            }
            for algorithm in Algorithm::ALL {
                let own = small_blocks();
                let ballots = Tuning { rank: RankMethod::Ballot, ..own.clone() };
                let tuning = Some([ballots, own][sorts.len() / 2 % 2].clone());
                let request = SortRequest { algorithm: Some(*algorithm), placement, ..request };
                sorts.push((request, SorterOptions { tuning, ..SorterOptions::default() }));
            }
        }
    }
    sorts
}

/// Sorts random elements, in a run or a verified one.
fn run(gpu: &Gpu, sorter: &StandaloneSorter, verified: bool) -> Result<(), String> {
    let single = sorter.request().algorithm == Some(Algorithm::SingleWorkgroup);
    let count = if single { sorter.max_count().min(300) } else { 5_000 };
    let keys: Vec<u8> = (0..u64::from(count) * sorter.request().key.size_bytes()).map(|_| fastrand::u8(..)).collect();
    let run = &mut |sort: &PreparedSort, count| match verified {
        false => sort.run(count).map(drop),
        true => sort.run_verified(count).map(|answer| assert_eq!(answer, 0, "{}", Verifier::explain(answer))),
    };
    Arena::new(gpu, sorter, count).run(&keys, Count::Host, run).map(drop)
}

fn other_subgroups_than_reported_are_refused_and_nothing_changes() -> Result<(), Failed> {
    let real = gpu().profile().subgroup_size;
    for reported in [real / 2, real * 2].into_iter().filter(|size| (4..=128).contains(size)) {
        let gpu = device_that_reports(reported)?;
        let (given, needed) = (format!("is {real}, so nothing was sorted"), format!("needed is {reported}"));
        let words = [&gpu.profile().driver[..], &given, &needed, "computeFullSubgroups", "Emulated"];
        let mut refused = 0;
        for (request, options) in sorts() {
            let sorter = gpu.sorter(&request, &options)?;
            let (shape, single) = (sorter.shape(), request.algorithm == Some(Algorithm::SingleWorkgroup));
            // Fewer invocations than lanes are one subgroup of as many lanes as is reported.
            if (if single { shape.single } else { shape.tile }).invocations < real {
                continue;
            }
            expect(run(&gpu, &sorter, refused % 2 == 1), &words).map_err(|error| format!("{request}: {error:?}"))?;
            refused += 1;
        }
        assert!(refused >= sorts().len() / 2, "{refused} sorts are too few");
        // Whoever sorts by vksort's own device reads it. Private counters have workgroups of one subgroup.
        if reported > real {
            expect(gpu.sort(&mut [3u32, 1, 2].repeat(9_000), Order::Ascending), &words)?;
            let mut first = selftest::Options::default();
            first.limit = Duration::from_secs(1);
            let report = selftest::run(&gpu, &first, &mut |_, _| ());
            assert!(!report.is_right() && report.to_string().contains(&given), "{report}");
        }
        assert_valid(&gpu);
    }
    Ok(())
}

fn subgroups_as_reported_sort() -> Result<(), Failed> {
    let gpu = device_that_reports(gpu().profile().subgroup_size)?;
    for (request, options) in sorts() {
        let sorter = gpu.sorter(&request, &options)?;
        let shape = sorter.shape();
        assert!(!shape.ranking.subgroup.emulated && shape.fixed_subgroups == FixedSubgroups::Checked, "{shape:?}");
        run(&gpu, &sorter, true).map_err(|error| format!("{request}: {error}"))?;
    }
    assert_valid(&gpu);
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("plain_devices_sort_with_their_own_subgroups", plain_devices_sort_with_their_own_subgroups),
        Trial::test(
            "other_subgroups_than_reported_are_refused_and_nothing_changes",
            other_subgroups_than_reported_are_refused_and_nothing_changes,
        ),
        Trial::test("subgroups_as_reported_sort", subgroups_as_reported_sort),
    ]
}
