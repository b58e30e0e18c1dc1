//! Sorts of segments beyond a block, each compared in full with a stable sort of every segment, and with guards around it.

use vksort::__private::Faults;
use vksort::__private::kernels::Kernel;
use vksort::{
    IndexFrom, KeyType, Placement, RankMethod, Segments, SortRequest, SorterOptions, SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::patterns::{self, Pattern, generate};
use vksort_testing::segmented::{Case, run, run_all};
use vksort_testing::{Failed, Trial, assert_valid, drawn, gpu, seed, suite, takes};

use super::segments::{every_module, limits, pairs, sorter, with};

/// Blocks of few elements, so that few elements are many parents.
fn small_windows() -> Tuning {
    Tuning { segment_items: 8, network_longest: 8, ..suite::small_blocks() }
}

/// Passes sort rows, each row by itself.
fn swept(tuning: Tuning) -> Tuning {
    Tuning { sweeps_rows: true, look_back: true, staged_items: None, ..tuning }
}

/// What the lengths of segments are like, for blocks of so many elements.
const LENGTHS: [&str; 9] =
    ["just-above", "full", "tiles", "one", "huge-among-tiny", "among-empty", "any", "zipf", "small-before-large"];

fn lengths(kind: &str, block: u32, random: &mut fastrand::Rng) -> Vec<u32> {
    let edges = [block - 1, block, block + 1, 4 * block, 4 * block + 1, 12 * block + 1];
    let edge = edges[random.usize(0..edges.len())];
    match kind {
        "just-above" => (0..10).map(|_| block + random.u32(0..block.min(200))).collect(),
        // As many parents, and as many rows, as there is room for.
        "full" if random.bool() => vec![block + 1; 20],
        "full" => vec![4 * block + 1; 7],
        "tiles" => vec![edge; 5],
        "one" => vec![40 * block + random.u32(0..block)],
        "huge-among-tiny" => {
            (0..500).map(|index| if index == 250 { 20 * block + 7 } else { random.u32(0..8) }).collect()
        }
        "among-empty" => (0..2 * block).map(|index| if index % block == 5 { edge } else { 0 }).collect(),
        "any" => (0..30).map(|_| random.u32(0..3 * block)).collect(),
        "zipf" => (0..200).map(|_| 20 * block / random.u32(1..=20 * block)).collect(),
        // Children of the first have windows before those of the second have all been read.
        _ => vec![block + 1, 20 * block],
    }
}

/// Elements of the draw with this number, which of the layouts they have, and what their indices count from. Rows are given in
/// blocks, which the device decides.
fn drawn(number: u64) -> (SortRequest, usize, IndexFrom) {
    let mut random = fastrand::Rng::with_seed(seed() ^ number << 32);
    let elements = drawn::elements(&mut random).stable(true);
    (elements, random.usize(0..5), drawn::indices(elements.value, &mut random))
}

/// Sorts segments of all kinds of lengths with all kinds of keys, in one bound sort for each kind of lengths.
fn check(number: u64, options: &SorterOptions) -> Result<(), Failed> {
    let (elements, layout, index_from) = drawn(number);
    // All rows may be swept, or none.
    let layout = if options.tuning.as_ref().is_some_and(|tuning| tuning.sweeps_rows) { 3 } else { layout };
    let mut random = fastrand::Rng::with_seed(seed() ^ number);
    let block = limits(&sorter(&elements.segments(Segments::Offsets), options)?).block();
    let stride = random.u32(block + 1..9 * block);
    let layout = [
        Segments::Offsets,
        Segments::Offsets,
        Segments::Ranges,
        Segments::Rows { stride },
        Segments::RowsOf { stride },
    ][layout];
    let request = elements.segments(layout).indices_from(index_from);
    let sorter = sorter(&request, options)?;
    for kind in LENGTHS {
        let mut lengths = lengths(kind, block, &mut random);
        if matches!(layout, Segments::Rows { .. } | Segments::RowsOf { .. }) {
            lengths.truncate(6);
        }
        let (words, capacity) = drawn::words(layout, &lengths, &mut random);
        if capacity > 1 << 20 {
            continue;
        }
        let count = lengths.len() as u32;
        let case = |counted: Option<u32>, pattern| {
            let keys = generate(pattern, request.key, capacity as usize, seed());
            Case { counted, ..Case::new(request, u32::MAX, words.clone(), count, keys) }
        };
        let mut draw = || patterns::ALL[random.usize(0..patterns::ALL.len())];
        // The words of a count are there in all of them or in none.
        let cases = match number % 2 {
            0 => vec![case(None, Pattern::Uniform), case(None, draw())],
            _ => vec![case(Some(u32::MAX), draw()), case(Some(count / 2), draw()), case(Some(count), draw())],
        };
        let text = |error| format!("VKSORT_SEED={}: {kind}, {request}, block {block}: {error}", seed());
        run_all(&gpu(), &sorter, &cases, 1, true).map_err(text)?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// Drawn requests for each kind of kernels.
const TURNS: u64 = 4;

fn draws() -> Vec<Trial> {
    let staged = Tuning { rank: RankMethod::Ballot, digit_bits: 8, ..small_windows() };
    let settings = [
        ("small", with(small_windows())),
        ("staged", with(staged.clone())),
        ("match", with(Tuning { rank: RankMethod::Match, segment_items: 7, ..staged.clone() })),
        ("digits", with(Tuning { network_longest: 1, digit_bits: 10, merge_runs: true, ..small_windows() })),
        ("emulated", with(staged.clone()).subgroup(SubgroupChoice::Emulated(32))),
        ("swept", with(swept(staged.clone()))),
        ("swept-match", with(Tuning { rank: RankMethod::Match, few_registers: true, ..swept(staged.clone()) })),
        ("swept-withheld", with(swept(staged.clone())).faults(Faults { withhold: 2, ..Faults::default() })),
        ("swept-emulated", with(swept(staged.clone())).subgroup(SubgroupChoice::Emulated(16))),
        ("whole-words", with(staged).faults(Faults { no_small_storage: true, ..Faults::default() })),
    ];
    let trial = |(number, (name, options)): (usize, (&'static str, SorterOptions))| {
        (0..TURNS).map(move |turn| {
            let (number, options) = (TURNS * number as u64 + turn, options.clone());
            Trial::test(format!("{name}/{turn}: {}", drawn(number).0), move || check(number, &options))
        })
    };
    settings.into_iter().enumerate().flat_map(trial).collect()
}

/// Keys of which some digits are constant, so that parents stay where they are in some rounds, and of the row's blocks.
fn constant_digits() -> Result<(), Failed> {
    let keys: [fn(u32) -> u32; 7] = [
        |hash| hash & 0xFF00_00FF | 0x0012_3400,
        |hash| hash & 0xFF | 0xABCD_EF00,
        |hash| hash >> 8 | 0x4200_0000,
        |hash| hash & 0xFF00_0000 | 0x77,
        |_| 5,
        |hash| if hash & 1 == 0 { 0x1234_5678 } else { hash },
        // Children of a little more than a block.
        |hash| hash >> 8 & 0xFFFF | (hash % 9) << 24,
    ];
    for (setting, options) in [SorterOptions::default(), with(small_windows())].into_iter().enumerate() {
        for (place, placement) in [Placement::InPlace, Placement::OutOfPlace].into_iter().enumerate() {
            for (number, value) in [ValueType::U32, ValueType::Index].into_iter().enumerate() {
                if !takes(&[setting, place, number]) {
                    continue;
                }
                let sort = pairs().placement(placement).value(value);
                let request = sort.segments(Segments::Offsets);
                let sorter = sorter(&request, &options)?;
                let block = limits(&sorter).block();
                let words = vec![3, 3 + 9 * block, 10 + 10 * block, 10 + 12 * block];
                let cases: Vec<Case> = keys
                    .iter()
                    .map(|key| {
                        let hash = |at: u32| {
                            (at ^ at >> 9).wrapping_mul(0x9E37_79B1).rotate_left(13).wrapping_mul(0x85EB_CA6B)
                        };
                        let keys: Vec<u32> = (0..15 + 12 * block).map(|at| key(hash(at))).collect();
                        Case::new(request, u32::MAX, words.clone(), 3, bytemuck::cast_slice(&keys).to_vec())
                    })
                    .collect();
                run_all(&gpu(), &sorter, &cases, 1, true)?;
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Whatever the words are, the sort ends, and what is in no range stays.
fn hostile() -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(seed());
    let sorts = [pairs(), SortRequest::new(KeyType::U8).placement(Placement::OutOfPlace)];
    let staged = with(Tuning { rank: RankMethod::Ballot, ..small_windows() });
    for (setting, options) in [with(small_windows()), staged].into_iter().enumerate() {
        for (number, sort) in sorts.into_iter().enumerate() {
            for (layout, segments) in [Segments::Offsets, Segments::Ranges].into_iter().enumerate() {
                if !takes(&[setting, number, layout]) {
                    continue;
                }
                let request = sort.segments(segments);
                let sorter = sorter(&request, &options)?;
                let block = limits(&sorter).block();
                let (capacity, count) = (20 * block + 77, 500u32);
                let mut cases = Vec::new();
                for kind in 0..9 {
                    let draw = |at: u32| match kind {
                        0 => capacity.saturating_sub(at * 31),
                        1 => random.u32(0..capacity),
                        2 => random.u32(..),
                        3 => at % 2 * capacity, // all of it, again and again
                        4 => at % 7 * (2 * block),
                        5 => at / 2 * 20 + at % 2 * 5 * block,
                        6 => {
                            if random.u32(0..10) == 0 {
                                random.u32(..)
                            } else {
                                at * 20
                            }
                        }
                        7 => u32::MAX,
                        // In order.
                        _ => at * 20,
                    };
                    let words: Vec<u32> = (0..segments.words(count) as u32).map(draw).collect();
                    let keys = generate(Pattern::Uniform, sort.key, capacity as usize, seed());
                    cases.push((kind, Case::new(request, u32::MAX, words, count, keys)));
                }
                for (kind, case) in &cases {
                    run(&gpu(), &sorter, case, 1, false).map_err(|error| format!("kind {kind}: {error}"))?;
                }
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Counts of rows that are swept, from the host and from the device, and elements behind the last row.
fn counts_of_swept_rows() -> Result<(), Failed> {
    let options = with(Tuning { rank: RankMethod::Ballot, ..swept(small_windows()) });
    for (number, sort) in [pairs(), SortRequest::new(KeyType::U8).placement(Placement::OutOfPlace)].iter().enumerate() {
        let stride = limits(&sorter(&sort.segments(Segments::Offsets), &options)?).block() * 3 + 5;
        let request = sort.segments(Segments::Rows { stride });
        let sorter = sorter(&request, &options)?;
        assert!(sorter.shape().windows.is_some_and(|windows| windows.sweeps), "{request}");
        for (rows, spare) in [(1, 0), (2, stride - 1), (9, 7)] {
            let keys = generate(Pattern::Uniform, request.key, (rows * stride + spare) as usize, seed());
            for counted in [None, Some(0), Some(1), Some(rows), Some(u32::MAX)] {
                let case = Case { counted, ..Case::new(request, u32::MAX, Vec::new(), rows, keys.clone()) };
                let text = |error| format!("sort {number}, {rows} rows, {spare} more, {counted:?}: {error}");
                run(&gpu(), &sorter, &case, 1, true).map_err(text)?;
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Every module of splits, and of windows of children.
fn every_module_of_splits() -> Result<(), Failed> {
    let request = |key| SortRequest::new(key).value(ValueType::U32).segments(Segments::Ranges);
    every_module(Kernel::Split, &small_windows(), (request, 1 << 20), |request, options| {
        let sorter = sorter(request, options)?;
        let block = limits(&sorter).block();
        let words = vec![1, 2 + block, 3 + block, 2 + 6 * block, 7 * block, 7 * block + 5];
        for pattern in [Pattern::Uniform, Pattern::FewDistinct] {
            let keys = generate(pattern, request.key, 8 * block as usize, seed());
            run(&gpu(), &sorter, &Case::new(*request, u32::MAX, words.clone(), 3, keys), 1, true)?;
        }
        Ok(())
    })
}

pub fn trials() -> Vec<Trial> {
    let whole = [
        Trial::test("constant_digits", constant_digits),
        Trial::test("hostile", hostile),
        Trial::test("counts_of_swept_rows", counts_of_swept_rows),
    ];
    draws().into_iter().chain(whole).collect()
}

/// What one row has, whatever part of the others it takes.
pub fn trials_of_modules() -> Vec<Trial> {
    vec![Trial::test("every_module", every_module_of_splits)]
}
