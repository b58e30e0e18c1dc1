//! The recording API at its edges: repeated sorts, counts below, above and far above what is usual, timestamps,
//! faults, and what is refused.

mod examples;
mod refused;
mod warm;

use vksort::__private::Faults;
use vksort::standalone::{Gpu, GpuOptions, PreparedSort, SortRanges};
use vksort::{
    Access, Algorithm, Error, KeyType, Order, Placement, Segments, SortRequest, SorterOptions, Tuning, ValueType,
};
use vksort_testing::arena::{Arena, Count};
use vksort_testing::patterns::{Pattern, generate};
use vksort_testing::suite::{self, Case};
use vksort_testing::{Failed, Trial};
use vksort_testing::{Level, assert_valid, expect, gpu, level, oracle, seed, validating};

fn pairs(algorithm: Option<Algorithm>) -> SortRequest {
    SortRequest::new(KeyType::F32).value(ValueType::U32).algorithm(algorithm)
}

/// A sort recorded several times into one command buffer sorts what is sorted already, and stays stable.
fn repeated() -> Result<(), Failed> {
    // Without the promise of stability there would be nothing to see.
    for algorithm in Algorithm::ALL.iter().copied() {
        let request = pairs(Some(algorithm));
        let sorter = gpu().sorter(&request, &SorterOptions::default())?;
        let count = 20_000.min(sorter.max_count());
        let arena = Arena::new(&gpu(), &sorter, count);
        let keys = generate(Pattern::FewDistinct, KeyType::F32, count as usize, seed());
        let indices = oracle::argsort(&request, &keys);
        let sorted = arena.sort(&keys, Count::Host, 4)?;
        let values = sorted.values.ok_or("the sort has values")?;
        if let Some(difference) = oracle::difference("values", 4, &values, bytemuck::cast_slice(&indices)) {
            return Err(format!("{algorithm}: {difference}").into());
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// One bound sort serves every count up to its capacity, whatever algorithm the count leads to, and whether the count
/// comes from the host or from the device.
fn counts_below_capacity() -> Result<(), Failed> {
    for algorithm in [None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan)] {
        let request = suite::asking(algorithm, pairs(None));
        let options = SorterOptions::default().tuning(suite::small_blocks());
        let sorter = gpu().sorter(&request, &options)?;
        let capacity = 70_000;
        let arena = Arena::new(&gpu(), &sorter, capacity);
        let block = sorter.shape().tile.elements();
        for count in [0, 1, block, block + 1, 3 * block - 1, 69_999, 70_000] {
            // One of the two, in turns that the seed begins, or both.
            let turn = (u64::from(count) ^ seed()).is_multiple_of(2);
            for counted in [false, true].into_iter().filter(|counted| level() == Level::Full || *counted == turn) {
                suite::run_case(&request, &arena, Case { capacity, count, pattern: Pattern::Entropy(3), counted })?;
            }
        }
        // Above the capacity, it is the capacity.
        for count in [70_001, 1 << 30, u32::MAX] {
            let case = Case { capacity, count, pattern: Pattern::Uniform, counted: true };
            suite::run_case(&request, &arena, case)?;
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Values far larger than keys, in tiles of the usual size: loops over all words of a tile would be longer than some
/// drivers let loops be.
fn large_values() -> Result<(), Failed> {
    for placement in [Placement::InPlace, Placement::OutOfPlace] {
        for bits in [0..32, 7..7] {
            let value = ValueType::Bytes(2052);
            let request = SortRequest::new(KeyType::U32).value(value).placement(placement).bits(bits);
            let sorter = gpu().sorter(&request, &SorterOptions::default())?;
            let count = sorter.shape().tile.elements().min(40_000) + 100;
            let arena = Arena::new(&gpu(), &sorter, count);
            for counted in [false, true] {
                let case = Case { capacity: count, count, pattern: Pattern::Entropy(2), counted };
                suite::run_case(&request, &arena, case)?;
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// More than a descriptor reaches is sorted by address, where the device offers that.
fn beyond_descriptors() -> Result<(), Failed> {
    let gpu = gpu();
    let profile = gpu.profile();
    let request = SortRequest::new(KeyType::U32);
    let by_descriptor = gpu.sorter(&request, &SorterOptions::default())?;
    let most = by_descriptor.max_count();
    if most >= 1 << 27 || !profile.buffer_addresses {
        println!("skipped: descriptors reach {most} elements, buffer addresses {}", profile.buffer_addresses);
        return Ok(());
    }
    let refused = by_descriptor.scratch_size(most + 1);
    expect(refused, &["maxStorageBufferRange", &most.to_string()])?;
    // One pass shows as much as several: every descriptor's end is in all of them.
    let mut keys = vec![0u32; most as usize + 12_345];
    fastrand::Rng::with_seed(seed()).fill(bytemuck::cast_slice_mut(&mut keys));
    let mut places = [0; 257];
    keys.iter().for_each(|key| places[(key >> 24) as usize + 1] += 1);
    (0..256).for_each(|digit| places[digit + 1] += places[digit]);
    let mut expected = vec![0; keys.len()];
    for key in &keys {
        let place = &mut places[(key >> 24) as usize];
        expected[*place] = *key;
        *place += 1;
    }
    let own = vksort_testing::open();
    own.sort(&mut keys, Order::Ascending.by_bits(24..32))?;
    assert!(keys == expected, "{} keys by address came out wrong", keys.len());
    vksort_testing::assert_valid(&own);
    Ok(())
}

/// A sort by address beyond what descriptors reach, with descriptors that it does not use: bound, and not run.
fn stand_ins() -> Result<(), Failed> {
    let gpu = gpu();
    let options = SorterOptions::default().access(Access::Addresses);
    let most = gpu.sorter(&SortRequest::new(KeyType::U8), &SorterOptions::default())?.max_count();
    if most > 1 << 30 || !gpu.profile().buffer_addresses {
        println!("skipped: descriptors reach {most} bytes, buffer addresses {}", gpu.profile().buffer_addresses);
        return Ok(());
    }
    let sorter = gpu.sorter(&SortRequest::new(KeyType::U8), &options)?;
    let whole = |size: u64| gpu.buffer(size).map(|buffer| buffer.range(0, size));
    let size = (u64::from(most) + 1).next_multiple_of(4);
    let capacity = most + 1;
    let scratch_size = sorter.scratch_size(capacity)?;
    let (keys, scratch) = match whole(size).and_then(|keys| Ok((keys, whole(scratch_size)?))) {
        Ok(ranges) => ranges,
        Err(error @ Error::Allocation { .. }) => {
            println!("skipped: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    sorter.prepare_on(SortRanges::new(capacity).keys(keys).scratch(scratch))?;
    vksort_testing::assert_valid(&gpu);
    Ok(())
}

/// More than 2^30 keys of one byte, for which the look-back ring goes round many times. It takes gigabytes and minutes.
fn a_thousand_million() -> Result<(), Failed> {
    let count = (1usize << 30) + 1_000_003;
    let mut rng = fastrand::Rng::with_seed(seed());
    let mut keys = vec![0u8; count];
    rng.fill(&mut keys);
    let mut counts = [0usize; 256];
    keys.iter().for_each(|key| counts[usize::from(*key)] += 1);
    vksort_testing::open().sort(&mut keys, Order::Descending)?;
    let mut rest = &keys[..];
    for value in (0..=255u8).rev() {
        let (run, behind) = rest.split_at(counts[usize::from(value)]);
        assert!(run.iter().all(|key| *key == value), "the run of {value} holds something else");
        rest = behind;
    }
    Ok(())
}

/// Automatic choice: one workgroup up to a block, the device's algorithm beyond.
fn automatic_choice() -> Result<(), Failed> {
    let sorter = gpu().sorter(&pairs(None), &SorterOptions::default())?;
    let block = sorter.shape().single.elements();
    let sort = sorter.prepare(10 * block)?;
    assert_eq!(sort.algorithm(block), Some(Algorithm::SingleWorkgroup));
    assert_eq!(sort.algorithm(block + 1), Some(gpu().algorithm()));
    // Without trust in look-back, no workgroup waits for another.
    let tuning = Tuning { look_back: false, ..Tuning::for_device(gpu().profile()) };
    let options = SorterOptions::default().tuning(tuning);
    let sort = gpu().sorter(&pairs(None), &options)?.prepare(10 * block)?;
    assert_eq!(sort.algorithm(block + 1), Some(Algorithm::ReduceThenScan));
    assert_eq!(sort.algorithm(block), Some(Algorithm::SingleWorkgroup));
    Ok(())
}

/// Segments and first elements have no passes over tiles, whose routes could be read.
fn no_passes_of_segments() -> Result<(), Failed> {
    let (gpu, count) = (vksort_testing::open(), 100_000);
    let request = SortRequest::new(KeyType::U32).placement(Placement::OutOfPlace);
    gpu.warm_up(&request.segments(Segments::Offsets), count)?;
    gpu.warm_up(&request.top(100), count)?;
    let mut keys: Vec<u32> = (0..count).map(|index| index.wrapping_mul(0x9E37_79B9)).collect();
    let sort = gpu.sorter(&request.top(100), &SorterOptions::default())?.prepare(count)?;
    assert_eq!(sort.algorithm(count), None);
    sort.write_keys(&keys)?;
    sort.run(count)?;
    assert_eq!(sort.passes()?, None);
    let mut first = [0u32; 100];
    sort.read_keys(&mut first)?;
    keys.sort_unstable();
    assert_eq!(first[..], keys[..100]);
    let sort = gpu.sorter(&request, &SorterOptions::default())?.prepare(count)?;
    sort.write_keys(&keys)?;
    sort.run(count)?;
    assert!(sort.passes()?.is_some(), "a sort of the whole has passes");
    assert_valid(&gpu);
    Ok(())
}

/// Another direction, or another window of the same width, makes no other pipelines.
fn pipelines_are_shared() -> Result<(), Failed> {
    let gpu = vksort_testing::open();
    let mut rng = fastrand::Rng::with_seed(seed());
    let count = 20_000;
    let mut sort = |order: Order, bits: std::ops::Range<u32>| -> Result<usize, Failed> {
        let mut keys: Vec<u32> = (0..count).map(|_| rng.u32(..)).collect();
        let mut expected = keys.clone();
        let window = |key: &u32| (u64::from(*key) & ((1 << bits.end) - 1)) >> bits.start;
        match order {
            Order::Ascending => expected.sort_by_key(window),
            Order::Descending => expected.sort_by_key(|key| std::cmp::Reverse(window(key))),
        }
        gpu.sort(&mut keys, order.by_bits(bits.clone()))?;
        assert!(keys == expected, "{order:?} by bits {bits:?}, VKSORT_SEED={}", seed());
        Ok(gpu.pipelines().len())
    };
    assert_eq!(gpu.pipelines().len(), 0);
    let made = sort(Order::Ascending, 0..24)?;
    assert!(made > 0);
    for low in [0, 3, 8] {
        for order in [Order::Ascending, Order::Descending] {
            assert_eq!(sort(order, low..low + 24)?, made, "{order:?} from bit {low}");
        }
    }
    assert!(sort(Order::Ascending, 0..16)? > made, "another width has other digits");
    gpu.clear_pipelines()?;
    assert_eq!(gpu.pipelines().len(), 0);
    assert_valid(&gpu);
    Ok(())
}

/// No repetition is no wait: there are no times, and what has not run has left the keys alone. More than a command buffer
/// should hold are refused before any is recorded.
fn repetitions() -> Result<(), Failed> {
    let sort = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?.prepare(1000)?;
    assert_eq!(sort.run_repeatedly(1000, 0)?, []);
    assert!(sort.run_repeatedly(1000, 1)?.len() > 1 || gpu().profile().timestamp_period_ns == 0.0);
    expect(sort.run_repeatedly(1001, 0), &["1001", "1000", "bound"])?;
    for times in [PreparedSort::MAX_REPETITIONS + 1, u32::MAX] {
        expect(sort.run_repeatedly(1000, times), &["number of runs", &times.to_string(), "at most 16384"])?;
    }
    Ok(())
}

/// Before a count is written the count is 0, whatever the memory held before.
fn unwritten_count() -> Result<(), Failed> {
    let gpu = vksort_testing::open();
    let sorter = gpu.sorter(&SortRequest::new(KeyType::U32), &SorterOptions::default())?;
    let keys: Vec<u32> = (0..1000).rev().collect();
    for _ in 0..2 {
        let sort = sorter.prepare(1000)?;
        sort.write_keys(&keys)?;
        sort.run(vksort::Count::Device)?;
        let mut found = vec![0u32; 1000];
        sort.read_keys(&mut found)?;
        assert!(found == keys, "keys were sorted by a count that was never written");
        // The next sort's buffers are likely to get this memory.
        sort.write_count(1000)?;
    }
    assert_valid(&gpu);
    Ok(())
}

/// Bytes copied between buffers come from where they should and leave the others alone.
fn copies() -> Result<(), Failed> {
    let (from, to) = (gpu().buffer(64)?, gpu().buffer(64)?);
    let bytes: Vec<u8> = (0..64).collect();
    from.write(0, &bytes)?;
    to.write(0, &[0xA7u8; 64])?;
    to.copy_from(8, &from, 20, 12)?;
    to.copy_from(64, &from, 0, 0)?;
    let mut copied = [0u8; 64];
    to.read(0, &mut copied)?;
    assert_eq!((&copied[..8], &copied[8..20], &copied[20..]), (&[0xA7; 8][..], &bytes[20..32], &[0xA7; 44][..]));
    expect(to.copy_from(56, &from, 0, 12), &["12 bytes", "byte 56 ", "64 bytes"])?;
    expect(to.copy_from(0, &from, 56, 12), &["12 bytes", "byte 56 ", "64 bytes"])?;
    expect(to.copy_from(0, &from, 2, 4), &["4 bytes from byte 2 to byte 0", "whole words"])?;
    expect(to.copy_from(0, &to, 32, 4), &["the buffer itself"])?;
    expect(to.copy_from(0, &vksort_testing::open().buffer(64)?, 0, 4), &["another device"])?;
    assert_valid(&gpu());
    Ok(())
}

/// Every step has a time, named as planned, and they add up to about the whole.
fn timestamps() -> Result<(), Failed> {
    let count = 50_000;
    let sort = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?.prepare(count)?;
    let keys = generate(Pattern::Uniform, KeyType::F32, count as usize, seed());
    sort.write_keys(&keys)?;
    let first = sort.run(count)?;
    if gpu().profile().timestamp_period_ns == 0.0 {
        assert!(first.is_empty(), "a device without timestamps gave times: {first:?}");
        assert_eq!(sort.time(count)?, None);
        return Ok(());
    }
    let started = std::time::Instant::now();
    let times = sort.run(count)?;
    let wall = started.elapsed().as_nanos() as f64;
    let names: Vec<String> = times.iter().map(|time| time.name.to_string()).collect();
    assert_eq!(names, ["clear", "histogram", "onesweep 0", "onesweep 1", "onesweep 2", "onesweep 3"]);
    let total: f64 = times.iter().map(|time| time.nanoseconds).sum();
    assert!(times.iter().all(|time| time.nanoseconds >= 0.0), "{times:?}");
    assert!(total > 0.0 && total <= wall, "steps took {total} ns of {wall} ns");
    let started = std::time::Instant::now();
    let whole = sort.time(count)?.expect("the device has timestamps");
    let wall = started.elapsed().as_nanos() as f64;
    assert!(whole > 0.0 && whole <= wall, "the sort took {whole} ns of {wall} ns");
    // An empty sort has no step to be timed.
    assert!(gpu().sorter(&pairs(None), &SorterOptions::default())?.prepare(0)?.time(0)?.is_some());
    expect(sort.time(count + 1), &["50001", "50000"])?;
    sort.write_count(count)?;
    assert_eq!(sort.run(vksort::Count::Device)?.len(), times.len() + 1, "sizing the dispatches is a step");
    Ok(())
}

/// The slice functions on their own device, which is then taken down: nothing may be left behind.
fn slices() -> Result<(), Failed> {
    let gpu = vksort_testing::open();
    for count in [0usize, 1, 2, 1000, 40_000] {
        let bits: Vec<u32> = bytemuck::pod_collect_to_vec(&generate(Pattern::Special, KeyType::F32, count, seed()));
        let mut floats: Vec<f32> = bits.iter().copied().map(f32::from_bits).collect();
        let mut expected = floats.clone();
        expected.sort_by(f32::total_cmp);
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by(|&a, &b| floats[b as usize].total_cmp(&floats[a as usize]));
        assert_eq!(gpu.argsort(&floats, Order::Descending)?, order);
        gpu.sort(&mut floats, Order::Ascending)?;
        let as_bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<u32>>();
        assert_eq!(as_bits(&floats), as_bits(&expected));

        // Wide keys by some of their bits, with values that are gathered.
        let mut keys: Vec<i64> = bits.iter().map(|&bits| i64::from(bits) << 20).collect();
        let mut values: Vec<[u32; 7]> = (0..count as u32).rev().map(|index| [index; 7]).collect();
        let mut both: Vec<(i64, [u32; 7])> = keys.iter().copied().zip(values.iter().copied()).collect();
        both.sort_by_key(|pair| std::cmp::Reverse(pair.0 >> 30 & 0x3FF));
        gpu.sort_pairs(&mut keys, &mut values, Order::Descending.by_bits(30..40))?;
        assert!(keys.into_iter().zip(values).eq(both));
    }
    assert_valid(&gpu);
    Ok(())
}

/// Pipelines are kept in a file, which is used again, and replaced when it is damaged.
fn pipelines_in_a_file() -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("vksort-pipelines-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("pipelines.bin");
    let options = GpuOptions::default().validation(validating()).pipeline_cache(file.clone());
    let sort = || -> Result<Vec<u8>, Failed> {
        let gpu = Gpu::new(&options)?;
        let mut keys = [5u16, 3, 4];
        gpu.sort(&mut keys, Order::Descending)?;
        assert_eq!(keys, [5, 4, 3]);
        assert_valid(&gpu);
        drop(gpu);
        Ok(std::fs::read(&file)?)
    };
    let first = sort()?;
    assert!(first.starts_with(b"vksortPC") && first.len() >= 48, "{} bytes", first.len());
    assert!(sort()?.starts_with(b"vksortPC"));
    for damaged in [&first[..first.len() / 2], b"", b"not a cache at all, but long enough to be taken for one"] {
        std::fs::write(&file, damaged)?;
        assert!(sort()?.len() >= 48);
    }
    let nowhere = options.clone().pipeline_cache(folder.join("no/such/folder"));
    expect(Gpu::new(&nowhere), &["pipeline_cache is", "no/such/folder", "allowed is a file in a folder that can be"])?;
    // What was in order when the device was opened, and is not any more, costs no sort.
    let gone = folder.join("gone");
    std::fs::create_dir(&gone)?;
    let gpu = Gpu::new(&options.clone().pipeline_cache(gone.join("file")))?;
    std::fs::remove_dir(&gone)?;
    gpu.warm_up(&SortRequest::new(KeyType::U8), 10)?;
    drop(gpu);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Elements are written and read as the types that they are, or as bytes.
fn typed_elements() -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::I64).value(ValueType::Bytes(12));
    let sort = gpu().sorter(&request, &SorterOptions::default())?.prepare(3)?;
    sort.write_keys(&[1i64, -1, 0])?;
    sort.write_values(&[[1.0f32, 1.5, 1.75], [2.0; 3], [3.0; 3]])?;
    sort.run(3)?;
    let (mut keys, mut bytes, mut values) = ([0i64; 3], [0u8; 8], [[0.0f32; 3]; 3]);
    sort.read_keys(&mut keys)?;
    sort.read_keys(&mut bytes)?;
    sort.read_values(&mut values)?;
    assert_eq!((keys, bytes), ([-1, 0, 1], [0xFF; 8]));
    assert_eq!(values, [[2.0; 3], [3.0; 3], [1.0, 1.5, 1.75]]);
    expect(sort.write_keys(&[0i64; 4]), &["keys", "24 bytes", "32 bytes"])
}

/// Two threads share a device; their sorts do not disturb each other.
fn threads() -> Result<(), Failed> {
    let gpu = &gpu();
    std::thread::scope(|scope| {
        let sorts: Vec<_> = (0..4u64)
            .map(|thread| {
                scope.spawn(move || {
                    for round in 0..5 {
                        let mut rng = fastrand::Rng::with_seed(seed() + 10 * thread + round);
                        let mut keys: Vec<u32> = (0..5_000).map(|_| rng.u32(..)).collect();
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

/// The control of all runs under validation: with a barrier left out, the layer must find it. Every layer finds the one
/// after the clear; those between passes are found by layers that look at what shaders access
/// (`VKSORT_EXPECT_HAZARDS=1`), and none finds the one before the first pass, as the histogram's atomics are taken for reads.
fn missing_barrier_is_found() -> Result<(), Failed> {
    let all = std::env::var("VKSORT_EXPECT_HAZARDS").is_ok_and(|value| value == "1");
    let steps: &[u32] = if all { &[1, 3, 4, 5] } else { &[1] };
    for &step in steps {
        // A new instance each time: layers stop reporting what they have reported often enough.
        let gpu = Gpu::new(&GpuOptions::default().validation(true))?;
        let faults = Faults { skip_barrier: Some(step), ..Faults::default() };
        let options = SorterOptions::default().faults(faults);
        gpu.sorter(&pairs(Some(Algorithm::OneSweep)), &options)?.prepare(10_000)?.run(10_000)?;
        let errors = gpu.validation_errors();
        if !errors.iter().any(|error| error.contains("HAZARD") || error.contains("hazard")) {
            return Err(format!("the barrier before step {step} was left out, reported was {errors:?}").into());
        }
    }
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("repeated", repeated),
        Trial::test("counts-below-capacity", counts_below_capacity),
        Trial::test("large-values", large_values),
        Trial::test("automatic-choice", automatic_choice),
        Trial::test("no-passes-of-segments", no_passes_of_segments),
        Trial::test("bad-buffers", refused::bad_buffers),
        Trial::test("foreign-buffers", refused::foreign_buffers),
        Trial::test("repetitions", repetitions),
        Trial::test("unwritten-count", unwritten_count),
        Trial::test("ranges-out-of-bounds", refused::ranges_out_of_bounds),
        Trial::test("copies", copies),
        Trial::test("bad-counts", refused::bad_counts),
        Trial::test("too-few-queries", refused::too_few_queries),
        Trial::test("bad-requests", refused::bad_requests),
        Trial::test("timestamps", timestamps),
        Trial::test("slices", slices),
        Trial::test("pipelines-are-shared", pipelines_are_shared),
        Trial::test("pipelines-in-a-file", pipelines_in_a_file),
        Trial::test("typed-elements", typed_elements),
        Trial::test("examples", examples::examples),
        Trial::test("shader-of-frames", examples::shader_of_frames),
        Trial::test("warm-ups-change-nothing", warm::warm_ups_change_nothing),
        Trial::test("the-first-sort-is-as-fast-as-others", warm::the_first_sort_is_as_fast_as_others),
        Trial::test("threads", threads),
        Trial::test("stand-ins", stand_ins),
    ];
    if level() == Level::Full {
        trials.push(Trial::test("beyond-descriptors", beyond_descriptors));
    }
    if std::env::var("VKSORT_HUGE").is_ok_and(|value| value == "1") {
        trials.push(Trial::test("a-thousand-million", a_thousand_million));
    }
    if validating() {
        trials.push(Trial::test("missing-barrier-is-found", missing_barrier_is_found));
    }
    trials
}
