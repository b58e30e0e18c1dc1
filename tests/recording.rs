//! The recording API at its edges: repeated and out-of-place sorts, smaller counts, bad buffers, timestamps, faults.

mod common;

use std::process::ExitCode;

use common::arena::Arena;
use common::patterns::{Pattern, generate};
use common::suite::{self, Case};
use common::{assert_valid, gpu, oracle, seed, validating};
use libtest_mimic::{Failed, Trial};
use vksort::standalone::{Gpu, GpuOptions, SortRanges};
use vksort::{Algorithm, Error, Faults, KeyType, Order, SortRequest, SorterOptions, SubgroupChoice, Tuning, ValueType};

fn pairs(algorithm: Option<Algorithm>) -> SortRequest {
    SortRequest { value: ValueType::U32, algorithm, ..SortRequest::new(KeyType::F32) }
}

fn expect<T>(result: Result<T, Error>, words: &[&str]) -> Result<(), Failed> {
    let message = match result {
        Ok(_) => return Err("this should have been refused".into()),
        Err(error) => error.to_string(),
    };
    for word in words {
        if !message.contains(word) {
            return Err(format!("{message:?} does not name {word:?}").into());
        }
    }
    Ok(())
}

/// A sort recorded several times into one command buffer sorts what is sorted already, and stays stable.
fn repeated() -> Result<(), Failed> {
    for algorithm in Algorithm::ALL.iter().copied() {
        let sorter = gpu().sorter(&pairs(Some(algorithm)), &SorterOptions::default())?;
        let count = 20_000.min(sorter.max_count());
        let arena = Arena::new(gpu(), &sorter, count, true);
        let keys = generate(Pattern::FewDistinct, KeyType::F32, count as usize, seed());
        let indices = oracle::argsort(KeyType::F32, Order::Ascending, &keys);
        let sorted = arena.sort(&keys, 4)?;
        if let Some(difference) = oracle::difference("values", &sorted.values.unwrap(), &indices) {
            return Err(format!("{algorithm}: {difference}").into());
        }
    }
    assert_valid(gpu());
    Ok(())
}

/// The source stays untouched when there is a target, which the arena checks.
fn out_of_place() -> Result<(), Failed> {
    for algorithm in Algorithm::ALL.iter().copied().map(Some).chain([None]) {
        for value in [ValueType::None, ValueType::U32] {
            let request = SortRequest { value, order: Order::Descending, ..pairs(algorithm) };
            let sorter = gpu().sorter(&request, &SorterOptions::default())?;
            let most = sorter.max_count();
            for count in [1, 100, sorter.shape().block(), 30_000] {
                if count <= most {
                    let arena = Arena::new(gpu(), &sorter, count, false);
                    let pattern = Pattern::SpecialFloats;
                    suite::run_case(&request, &arena, Case { capacity: count, count, pattern, in_place: false })?;
                }
            }
        }
    }
    assert_valid(gpu());
    Ok(())
}

/// One bound sort serves every count up to its capacity, whatever algorithm the count leads to.
fn counts_below_capacity() -> Result<(), Failed> {
    for algorithm in [None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan { digit_bits: 8 })] {
        let request = pairs(algorithm);
        let sorter = gpu().sorter(&request, &SorterOptions::default())?;
        let capacity = 70_000;
        let arena = Arena::new(gpu(), &sorter, capacity, true);
        let block = sorter.shape().block();
        for count in [0, 1, block, block + 1, 3 * block - 1, 69_999, 70_000] {
            suite::run_case(&request, &arena, Case { capacity, count, pattern: Pattern::Entropy(3), in_place: true })?;
        }
    }
    assert_valid(gpu());
    Ok(())
}

/// Automatic choice: one workgroup up to a block, the device's algorithm beyond.
fn automatic_choice() -> Result<(), Failed> {
    let sorter = gpu().sorter(&pairs(None), &SorterOptions::default())?;
    let block = sorter.shape().block();
    let sort = sorter.prepare(10 * block)?;
    assert_eq!(sort.algorithm(block), Algorithm::SingleWorkgroup);
    assert_eq!(sort.algorithm(block + 1), gpu().algorithm());
    // Without trust in look-back, no workgroup waits for another.
    let tuning = Tuning { look_back: false, ..Tuning::for_device(gpu().profile()) };
    let options = SorterOptions { tuning: Some(tuning), ..SorterOptions::default() };
    let sort = gpu().sorter(&pairs(None), &options)?.prepare(10 * block)?;
    assert_eq!(sort.algorithm(block + 1), Algorithm::ReduceThenScan { digit_bits: 8 });
    assert_eq!(sort.algorithm(block), Algorithm::SingleWorkgroup);
    Ok(())
}

fn bad_buffers() -> Result<(), Failed> {
    let sorter = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?;
    let capacity = 10_000;
    let bytes = 4 * u64::from(capacity);
    let alignment = gpu().profile().storage_alignment_bytes;
    let room = bytes.next_multiple_of(256);
    let buffer = gpu().buffer(4 * room)?;
    let scratch_bytes = sorter.scratch_size(capacity)?;
    let scratch = gpu().buffer(scratch_bytes)?;
    let good = SortRanges {
        keys: buffer.range(0, bytes),
        values: Some(buffer.range(room, bytes)),
        keys_out: None,
        values_out: None,
        scratch: Some(scratch.range(0, scratch_bytes)),
        capacity,
    };
    sorter.prepare_on(good.clone())?;
    let short = SortRanges { keys: buffer.range(0, bytes - 4), ..good.clone() };
    expect(sorter.prepare_on(short), &["keys", "39996", "40000"])?;
    let short = SortRanges { scratch: Some(scratch.range(0, scratch_bytes - 1)), ..good.clone() };
    expect(sorter.prepare_on(short), &["scratch", &(scratch_bytes - 1).to_string(), &scratch_bytes.to_string()])?;
    let past_the_end = SortRanges { values: Some(buffer.range(4 * room - 256, bytes)), ..good.clone() };
    expect(sorter.prepare_on(past_the_end), &["values", "40000"])?;
    let crooked = SortRanges { values: Some(buffer.range(room + 2, bytes)), ..good.clone() };
    expect(sorter.prepare_on(crooked), &["values", &(room + 2).to_string(), &alignment.to_string()])?;
    let overlapping = SortRanges { values: Some(buffer.range(256, bytes)), ..good.clone() };
    expect(sorter.prepare_on(overlapping), &["keys", "values", "0..40000", "256..40256"])?;
    expect(sorter.prepare_on(SortRanges { values: None, ..good.clone() }), &["values", "absent", "present"])?;
    expect(sorter.prepare_on(SortRanges { scratch: None, ..good.clone() }), &["scratch", "absent", "present"])?;
    let half = SortRanges { keys_out: Some(buffer.range(2 * room, bytes)), ..good.clone() };
    expect(sorter.prepare_on(half), &["values_out", "absent", "present"])?;
    let whole = SortRanges {
        keys_out: Some(buffer.range(2 * room, bytes)),
        values_out: Some(buffer.range(3 * room, bytes)),
        ..good
    };
    sorter.prepare_on(whole)?;
    assert_valid(gpu());
    Ok(())
}

fn bad_counts() -> Result<(), Failed> {
    let sorter = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?;
    let most = sorter.max_count();
    expect(sorter.prepare(1000)?.run(1001), &["1001", "1000", "bound"])?;
    if most < u32::MAX {
        expect(sorter.scratch_size(most + 1), &[&(most + 1).to_string(), &most.to_string()])?;
    }
    sorter.scratch_size(most)?;
    let single = gpu().sorter(&pairs(Some(Algorithm::SingleWorkgroup)), &SorterOptions::default())?;
    let block = single.shape().block();
    expect(single.prepare(block + 1).map(|_| ()), &[&(block + 1).to_string(), &block.to_string(), "block"])?;
    expect(gpu().sort_pairs(&mut [1u32, 2], &mut [1], Order::Ascending), &["1 values", "2"])
}

fn bad_requests() -> Result<(), Failed> {
    let odd = pairs(Some(Algorithm::ReduceThenScan { digit_bits: 3 }));
    expect(gpu().sorter(&odd, &SorterOptions::default()).map(|_| ()), &["3 bits", "2, 4 or 8"])?;
    let options = SorterOptions { subgroup: SubgroupChoice::Emulated(24), ..SorterOptions::default() };
    expect(gpu().sorter(&pairs(None), &options).map(|_| ()), &["24", "4 to 128"])?;
    let nowhere = GpuOptions { device: Some("no such device".parse().unwrap()), ..GpuOptions::default() };
    expect(Gpu::new(&nowhere).map(|_| ()), &["no such device", &gpu().profile().name])
}

/// Every step has a time, named as planned, and they add up to about the whole.
fn timestamps() -> Result<(), Failed> {
    if gpu().profile().timestamp_period_ns == 0.0 {
        return Ok(());
    }
    let count = 50_000;
    let sort = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?.prepare(count)?;
    let keys = generate(Pattern::Uniform, KeyType::F32, count as usize, seed());
    sort.write_keys(bytemuck::cast_slice(&keys))?;
    sort.run(count)?;
    let started = std::time::Instant::now();
    let times = sort.run(count)?;
    let wall = started.elapsed().as_nanos() as f64;
    let names: Vec<String> = times.iter().map(|time| time.name.to_string()).collect();
    assert_eq!(names, ["clear", "histogram", "onesweep 0", "onesweep 1", "onesweep 2", "onesweep 3"]);
    let total: f64 = times.iter().map(|time| time.nanoseconds).sum();
    assert!(times.iter().all(|time| time.nanoseconds >= 0.0), "{times:?}");
    assert!(total > 0.0 && total <= wall, "steps took {total} ns of {wall} ns");
    Ok(())
}

/// The slice functions on their own device, which is then taken down: nothing may be left behind.
fn slices() -> Result<(), Failed> {
    let gpu = common::open();
    for count in [0usize, 1, 2, 1000, 40_000] {
        let bits = generate(Pattern::SpecialFloats, KeyType::F32, count, seed());
        let mut floats: Vec<f32> = bits.iter().copied().map(f32::from_bits).collect();
        let mut expected = floats.clone();
        expected.sort_by(f32::total_cmp);
        let indices = gpu.argsort(&floats, Order::Descending)?;
        assert_eq!(indices, oracle::argsort(KeyType::F32, Order::Descending, &bits));
        gpu.sort(&mut floats, Order::Ascending)?;
        let as_bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<u32>>();
        assert_eq!(as_bits(&floats), as_bits(&expected));

        let mut keys: Vec<i32> = bits.iter().map(|&bits| bits as i32).collect();
        let mut values: Vec<u32> = (0..count as u32).rev().collect();
        let mut both: Vec<(i32, u32)> = keys.iter().copied().zip(values.iter().copied()).collect();
        both.sort_by_key(|pair| pair.0);
        gpu.sort_pairs(&mut keys, &mut values, Order::Ascending)?;
        assert_eq!(keys.into_iter().zip(values).collect::<Vec<_>>(), both);
    }
    assert_valid(&gpu);
    Ok(())
}

/// Two threads share a device; their sorts do not disturb each other.
fn threads() -> Result<(), Failed> {
    let gpu = gpu();
    std::thread::scope(|scope| {
        let sorts: Vec<_> = (0..4u64)
            .map(|thread| {
                scope.spawn(move || {
                    for round in 0..5 {
                        let mut keys = generate(Pattern::Uniform, KeyType::U32, 5_000, seed() + 10 * thread + round);
                        let mut expected = keys.clone();
                        expected.sort_unstable();
                        gpu.sort(&mut keys, Order::Ascending).unwrap();
                        assert_eq!(keys, expected);
                    }
                })
            })
            .collect();
        sorts.into_iter().try_for_each(|sort| sort.join()).map_err(|_| Failed::from("a thread's sort was wrong"))
    })
}

/// The control of all runs under validation: with a barrier left out, the layer must find it. Before the first pass it
/// does not, as it takes the histogram's atomics for reads.
fn missing_barrier_is_found() -> Result<(), Failed> {
    for step in [1, 3, 4, 5] {
        // A new instance each time: layers stop reporting what they have reported often enough.
        let gpu = Gpu::new(&GpuOptions { device: None, validation: true })?;
        let faults = Faults { skip_barrier: Some(step), ..Faults::default() };
        let options = SorterOptions { faults, ..SorterOptions::default() };
        gpu.sorter(&pairs(Some(Algorithm::OneSweep)), &options)?.prepare(10_000)?.run(10_000)?;
        let errors = gpu.validation_errors();
        if !errors.iter().any(|error| error.contains("HAZARD") || error.contains("hazard")) {
            return Err(format!("the barrier before step {step} was left out, reported was {errors:?}").into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut trials = vec![
        Trial::test("repeated", repeated),
        Trial::test("out-of-place", out_of_place),
        Trial::test("counts-below-capacity", counts_below_capacity),
        Trial::test("automatic-choice", automatic_choice),
        Trial::test("bad-buffers", bad_buffers),
        Trial::test("bad-counts", bad_counts),
        Trial::test("bad-requests", bad_requests),
        Trial::test("timestamps", timestamps),
        Trial::test("slices", slices),
        Trial::test("threads", threads),
    ];
    if validating() {
        trials.push(Trial::test("missing-barrier-is-found", missing_barrier_is_found));
    }
    common::run(trials)
}
