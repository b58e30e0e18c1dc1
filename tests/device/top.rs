//! The first elements of segments, each compared in full with the beginning of a stable sort, and with guards around it.

use vksort::__private::Faults;
use vksort::__private::kernels::Kernel;
use vksort::{
    Access, Capacity, IndexFrom, KeyType, Order, Placement, RankMethod, Segments, SortRequest, Sorter, SorterOptions,
    SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::patterns::{self, Pattern, generate};
use vksort_testing::segmented::{Case, run, run_all};
use vksort_testing::{Failed, Level, Trial, assert_valid, drawn, expect, gpu, level, seed, suite, takes};

use super::segments::{every_module, limits, of, sorter, with};

/// Blocks of few elements, so that few elements are long rows of several tiles.
fn small() -> Tuning {
    Tuning {
        single_items: 8,
        segment_items: 8,
        network_longest: 8,
        histogram_items: 32,
        min_tiles: 1 << 16,
        ..suite::small_blocks()
    }
}

/// f32 keys with their indices.
fn argsort(order: Order) -> SortRequest {
    SortRequest::new(KeyType::F32).order(order).value(ValueType::Index).placement(Placement::OutOfPlace)
}

/// Lengths of rows of up to `stride` elements.
fn lengths(rows: u32, stride: u32, block: u32, random: &mut fastrand::Rng) -> Vec<u32> {
    let some = |random: &mut fastrand::Rng| match random.u32(0..8) {
        0 => 0,
        1 => 1,
        2 => block.min(stride),
        3 => (block + 1).min(stride),
        4 => stride + random.u32(0..9),
        _ => random.u32(0..=stride),
    };
    (0..rows).map(|_| some(random)).collect()
}

/// The most elements of a request's first ones.
fn max_top(request: &SortRequest, options: &SorterOptions) -> Result<u32, Failed> {
    Ok(limits(&sorter(&request.top(1), options)?).max_top())
}

/// A request of the draw, and about how many elements its segments have.
fn drawn(random: &mut fastrand::Rng) -> (SortRequest, u32) {
    let elements = drawn::elements(random).placement(Placement::OutOfPlace);
    let stride = [random.u32(1..100), random.u32(100..3_000), random.u32(3_000..9_000)][random.usize(0..3)];
    let layouts =
        [Segments::Rows { stride }, Segments::RowsOf { stride }, Segments::Whole, Segments::Offsets, Segments::Ranges];
    let request = elements.segments(layouts[random.usize(0..5)]);
    (request.indices_from(drawn::indices(elements.value, random)), stride)
}

/// Finds first elements of segments of drawn lengths: one, and as many as is drawn, because each number compiles its own pipelines.
fn check(request: &SortRequest, stride: u32, options: &SorterOptions, seed: u64) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(seed);
    let of_one = sorter(&request.top(1), options)?;
    let most = limits(&of_one).max_top();
    let any = patterns::ALL[random.usize(0..patterns::ALL.len())];
    check_keys(&of_one, stride, &[any], &mut random)?;
    let tops = [random.u32(1..=most), random.u32(1..=most / 4), (most - 1).max(1), most];
    let of_many = sorter(&request.top(tops[random.usize(0..tops.len())]), options)?;
    check_keys(&of_many, stride, &[any, Pattern::FewDistinct, Pattern::Special], &mut random)
}

/// Finds first elements of keys of each pattern.
fn check_keys(sorter: &Sorter, stride: u32, patterns: &[Pattern], random: &mut fastrand::Rng) -> Result<(), Failed> {
    let (request, limits) = (sorter.request(), limits(sorter));
    let layout = of(request).layout;
    for pattern in patterns {
        let rows = random.u32(0..6);
        let lengths = lengths(rows, stride.min(limits.longest()), limits.max_top(), random);
        let (words, end) = drawn::words(layout, &lengths, random);
        let whole = layout == Segments::Whole;
        let capacity = if whole { stride + random.u32(0..30) } else { end };
        let count = if whole { random.u32(0..=capacity) } else { rows };
        let keys = generate(*pattern, request.key, capacity as usize, random.u64(..));
        let case = Case::new(*request, limits.longest(), words, count, keys);
        // Without elements, or without room for segments, there is no count on the device.
        let counted = [None, Some(random.u32(0..=count)), Some(u32::MAX)][random.usize(0..3)]
            .filter(|_| capacity > 0 && (whole || rows > 0));
        let text = |error| format!("VKSORT_SEED={}: {pattern:?}, counted {counted:?}: {error}", seed());
        run(&gpu(), sorter, &Case { counted, ..case }, 1 + random.u32(0..2), true).map_err(text)?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// Drawn requests for each kind of kernels.
const TURNS: u64 = 2;

fn draws() -> Vec<Trial> {
    let staged = Tuning { rank: RankMethod::Ballot, digit_bits: 8, ..small() };
    let faults = |faults| with(staged.clone()).faults(faults);
    let settings = [
        ("row", SorterOptions::default()),
        ("small", with(small())),
        ("staged", with(staged.clone())),
        ("match", with(Tuning { rank: RankMethod::Match, single_items: 7, ..staged.clone() })),
        ("merged-runs", with(Tuning { merge_runs: true, histogram_workgroup_size: 64, ..staged.clone() })),
        ("emulated", with(staged.clone()).subgroup(SubgroupChoice::Emulated(32))),
        ("whole-words", faults(Faults { no_small_storage: true, ..Faults::default() })),
        ("apart", faults(Faults { decide_apart: true, ..Faults::default() })),
    ];
    let trial = |(number, (name, options)): (usize, (&'static str, SorterOptions))| {
        (0..TURNS).map(move |turn| {
            let seed = seed() ^ (TURNS * number as u64 + turn) << 32;
            let mut random = fastrand::Rng::with_seed(seed);
            let (request, stride) = drawn(&mut random);
            let options = options.clone();
            Trial::test(format!("{name}/{turn}: {request}, up to {stride}"), move || {
                check(&request, stride, &options, seed)
            })
        })
    };
    settings.into_iter().enumerate().flat_map(trial).collect()
}

/// Inputs that other libraries have failed on, in one array.
fn known() -> Result<(), Failed> {
    let keys = |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
    for (order, options) in [(Order::Ascending, SorterOptions::default()), (Order::Descending, with(small()))] {
        let most = max_top(&argsort(Order::Ascending), &options)?;
        let n = 5 * most + 3;
        let ramp: Vec<f32> = (0..n).map(|index| (index * 7919 % n) as f32).collect();
        let logits: Vec<f32> =
            generate(Pattern::Clustered, KeyType::F32, n as usize, seed()).chunks_exact(4).map(float).collect();
        let nan = |bits: u32| f32::from_bits(bits);
        let special = [
            f32::NEG_INFINITY,
            f32::INFINITY,
            0.0,
            -0.0,
            nan(0x7FC0_0000),
            nan(0xFFC0_0000),
            nan(0x7F80_0001),
            nan(0xFFFF_FFFF),
            1.0,
            f32::MIN_POSITIVE / 2.0,
        ];
        let specials: Vec<f32> = (0..n as usize).map(|index| special[index % special.len()]).collect();
        // The boundary is within ties, whose indices begin late.
        let mut tied = vec![1.0; n as usize];
        (0..n as usize / 2).for_each(|index| tied[index] = 2.0);
        let cases = [
            ("two twos of three", keys(&[2.0, 2.0, 2.0, 3.0, 4.0])),
            ("one", keys(&[5.0])),
            ("none", keys(&[])),
            ("a ramp", keys(&ramp)),
            ("logits", keys(&logits)),
            ("all equal", keys(&vec![0.5; n as usize])),
            ("all minus infinity", keys(&vec![f32::NEG_INFINITY; n as usize])),
            ("nan, zeros, infinities", keys(&specials)),
            ("ties at the boundary", keys(&tied)),
        ];
        for top in [1, 3, most / 2 + 1, most] {
            let request = argsort(order).top(top);
            let sorter = sorter(&request, &options)?;
            for (name, keys) in &cases {
                let count = keys.len() as u32 / 4;
                let case = Case::new(request, u32::MAX, vec![], count, keys.clone());
                run(&gpu(), &sorter, &case, 2, true).map_err(|error| format!("{name}, {top}, {order}: {error}"))?;
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

fn float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Rows of logits, as samplers have them: values of a narrow range, so that many share their top digits.
fn rows_of_logits() -> Result<(), Failed> {
    let (rows, stride) = if level() == Level::Reduced { (3, 40_000) } else { (16, 262_144) };
    for top in [50, 2_048] {
        let rows_of_logits = argsort(Order::Descending).segments(Segments::Rows { stride });
        let request = rows_of_logits.indices_from(IndexFrom::Segment);
        let request = request.top(top.min(max_top(&request, &SorterOptions::default())?));
        let sorter = sorter(&request, &SorterOptions::default())?;
        let mut random = fastrand::Rng::with_seed(seed());
        let keys: Vec<u8> = (0..rows * stride)
            .flat_map(|at| match at / stride % 3 {
                0 => (8.0 + random.f32() / 64.0).to_le_bytes(),
                1 => (random.u32(0..40) as f32).to_le_bytes(),
                _ => (-1.5f32).to_le_bytes(),
            })
            .collect();
        run(&gpu(), &sorter, &Case::new(request, u32::MAX, vec![], rows, keys), 1, true)?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// One bound sort, recorded over and over with other counts and keys, in scratch that nothing clears.
fn replays() -> Result<(), Failed> {
    let apart = with(small()).faults(Faults { decide_apart: true, ..Faults::default() });
    for options in [SorterOptions::default(), apart] {
        for segments in [Segments::RowsOf { stride: 9_000 }, Segments::Whole, Segments::Offsets, Segments::Ranges] {
            let request = argsort(Order::Descending).segments(segments).top(100);
            let sorter = sorter(&request, &options)?;
            let mut random = fastrand::Rng::with_seed(seed());
            let rows = if segments == Segments::Whole { 1 } else { 7 };
            let capacity = rows * 9_000;
            let cases: Vec<Case> = (0..6)
                .map(|turn| {
                    let pattern = patterns::ALL[turn % 5];
                    let keys = generate(pattern, KeyType::F32, capacity as usize, seed() + turn as u64 / 2);
                    let lengths = lengths(rows, 9_000, limits(&sorter).max_top(), &mut random);
                    let (words, _) = drawn::words(segments, &lengths, &mut random);
                    let most = if segments == Segments::Whole { capacity } else { rows };
                    let counted = Some(random.u32(0..=most + 9));
                    Case { counted, ..Case::new(request, u32::MAX, words, most, keys) }
                })
                .collect();
            run_all(&gpu(), &sorter, &cases, 2, true)?;
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Segments of every length around that of a block and of a tile, and of many tiles, among short ones; counted by host and by device.
fn listed() -> Result<(), Failed> {
    let staged = Tuning { rank: RankMethod::Ballot, ..small() };
    let mut random = fastrand::Rng::with_seed(seed());
    let settings = [
        (with(small()), Order::Ascending, false),
        (with(small()), Order::Descending, true),
        (with(staged), Order::Descending, false),
        (SorterOptions::default(), Order::Descending, false),
    ];
    for (setting, (options, order, promises)) in settings.into_iter().enumerate() {
        for (layout, segments) in [Segments::Offsets, Segments::Ranges].into_iter().enumerate() {
            let request = argsort(order).segments(segments).indices_from(IndexFrom::Segment);
            let block = max_top(&request, &options)?;
            let around = |length: u32| [length - 1, length, length + 1, length + 2];
            let edges = [around(block), around(2 * block + 2), around(4 * block + 4)].concat();
            let kinds = [
                edges.clone(),
                vec![40 * block + 7],
                vec![block + 1; 9],
                (0..200).map(|at| if at == 77 { 20 * block + 1 } else { random.u32(0..9) }).collect(),
                (0..20).map(|at| if at % 3 == 1 { edges[at % 12] } else { 0 }).collect(),
            ];
            for (number, lengths) in kinds.iter().enumerate() {
                if !takes(&[setting, layout, number]) {
                    continue;
                }
                let request = if promises { request.up_to(50 * block) } else { request };
                let sorter = sorter(&request.top([1, 30, block / 2 + 1, block][number % 4]), &options)?;
                let ((words, capacity), count) = (drawn::words(segments, lengths, &mut random), lengths.len() as u32);
                let capacity = capacity as usize;
                let case = |pattern, counted| {
                    let keys = generate(pattern, KeyType::F32, capacity, seed());
                    let case = Case::new(*sorter.request(), u32::MAX, words.clone(), count, keys);
                    Case { counted, ..case }
                };
                let equal = Case { keys: vec![0x3F; 4 * capacity], ..case(Pattern::Uniform, None) };
                let host = [case(Pattern::Uniform, None), equal, case(Pattern::FewDistinct, None)];
                let device =
                    [Some(u32::MAX), Some(count / 2), Some(0)].map(|counted| case(Pattern::Clustered, counted));
                for cases in [host, device] {
                    let text = |error| format!("lengths {number}, {}: {error}", sorter.request());
                    run_all(&gpu(), &sorter, &cases, 2, true).map_err(text)?;
                }
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Words and counts beyond all bounds. By address nothing keeps a stray access from the guards between the buffers.
fn hostile(segments: Segments) -> Result<(), Failed> {
    let is_narrowed = matches!(segments, Segments::RowsOf { .. } | Segments::Whole);
    let sort = match is_narrowed {
        true => argsort(Order::Ascending),
        false => SortRequest::new(KeyType::U8).placement(Placement::OutOfPlace),
    };
    let request = sort.segments(segments).top(20);
    let staged = with(Tuning { rank: RankMethod::Ballot, ..small() });
    let access = if gpu().profile().buffer_addresses { Access::Addresses } else { Access::Descriptors };
    let mut random = fastrand::Rng::with_seed(seed());
    for options in [with(small()), staged.access(access)] {
        let sorter = sorter(&request, &options)?;
        let capacity = 30_007;
        let most = if segments == Segments::Whole { capacity } else { 5 };
        for kind in 0..9 {
            let mut draw = |at: u32| match kind {
                0 => u32::MAX,
                1 => capacity - at * 50,
                2 => random.u32(..),
                3 => random.u32(0..2 * capacity),
                4 => 6_000 + at % 2,
                5 => [u32::MAX, 0, 1 << 31, 17][at as usize % 4],
                6 => u32::MAX - at * 1_000,
                7 => at / 2 * 10 + at % 2 * 200, // ranges that overlap
                _ => at % 2 * capacity,
            };
            let words = (0..segments.words(most) as u32).map(&mut draw).collect();
            let keys = generate(Pattern::Clustered, sort.key, capacity as usize, seed());
            let case = Case::new(request, u32::MAX, words, most, keys);
            let counted = [None, Some(u32::MAX), Some(most - 2), Some(1 << 31), Some(0)][kind % 5];
            run(&gpu(), &sorter, &Case { counted, ..case }, 1, is_narrowed)
                .map_err(|error| format!("kind {kind}: {error}"))?;
        }
    }
    assert_valid(&gpu());
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let of = |request: SortRequest| sorter(&request, &SorterOptions::default());
    let whole = argsort(Order::Ascending);
    let most = max_top(&whole, &SorterOptions::default())?;
    assert!(of(whole.top(most)).is_ok());
    expect(of(whole.top(0)), &["the top of each segment is 0 elements", "at least 1"])?;
    expect(of(whole.top(most + 1)), &["the top of each segment", &most.to_string(), "a sort of whole segments"])?;
    expect(of(whole.segments(Segments::Whole)), &["the whole array, without a top", "another layout"])?;
    expect(of(whole.placement(Placement::InPlace).top(1)), &["in place", "out of place"])?;
    let offsets = of(whole.segments(Segments::Offsets).top(most))?;
    let allowed = limits(&offsets).max_segments(100)?;
    let size = |sorter: &Sorter, elements, segments| sorter.scratch_size(Capacity::new(elements).segments(segments));
    expect(size(&offsets, 100, 10_000_000), &[&format!("up to {allowed}, whose results")])?;
    assert!(size(&offsets, 100, allowed).is_ok());
    // The whole array is one segment, whatever number is given.
    let whole = of(whole.top(5))?;
    assert_eq!((size(&whole, 100, 2)?, limits(&whole).max_segments(100)?), (size(&whole, 100, 0)?, 1));
    let keys_out = |capacity| whole.buffer_sizes(capacity).keys_out;
    assert_eq!((keys_out(Capacity::new(1_000)), keys_out(Capacity::new(1_000).segments(3))), (Some(20), Some(20)));
    // Beside the most elements there is room in scratch for as many segments as can be longer than a block.
    let bytes = SortRequest::new(KeyType::U8).placement(Placement::OutOfPlace).segments(Segments::Ranges).top(1);
    let bytes = sorter(&bytes, &with(small()))?;
    let (most, block) = (bytes.max_count(), limits(&bytes).block());
    let [one, few, all] = [1, 9, most / (block + 1)].map(|segments| size(&bytes, most, segments));
    let (one, few, all) = (one?, few?, all?);
    assert!(one < few && few < all, "{one}, {few} and {all} bytes");
    assert_valid(&gpu());
    Ok(())
}

/// Every module that narrows rows.
fn every_module_of_tops() -> Result<(), Failed> {
    let rows = Segments::Rows { stride: 9_000 };
    let pairs = |key| SortRequest::new(key).value(ValueType::U32).placement(Placement::OutOfPlace);
    every_module(Kernel::Narrow, &small(), (|key| pairs(key).segments(rows).top(9), 9_000), |request, options| {
        let mut random = fastrand::Rng::with_seed(seed());
        check_keys(&sorter(request, options)?, 9_000, &[Pattern::Uniform], &mut random)
    })
}

pub fn trials() -> Vec<Trial> {
    let whole = [
        Trial::test("known", known),
        Trial::test("rows_of_logits", rows_of_logits),
        Trial::test("replays", replays),
        Trial::test("listed", listed),
        Trial::test("hostile/rows", || hostile(Segments::RowsOf { stride: 6_000 })),
        Trial::test("hostile/offsets", || hostile(Segments::Offsets)),
        Trial::test("hostile/ranges", || hostile(Segments::Ranges)),
        Trial::test("hostile/whole", || hostile(Segments::Whole)),
        Trial::test("refused", refused),
    ];
    draws().into_iter().chain(whole).collect()
}

/// What one row has, whatever part of the others it takes.
pub fn trials_of_modules() -> Vec<Trial> {
    vec![Trial::test("every_module", every_module_of_tops)]
}
