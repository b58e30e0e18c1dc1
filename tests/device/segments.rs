//! Sorts of segments, each compared in full with a stable sort of every segment, and with guards around it.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use vksort::__private::kernels::{self, Kernel, Module};
use vksort::__private::steps::{self, HostStep};
use vksort::__private::{Faults, ShapeDesc};
use vksort::{
    Access, Algorithm, BufferRange, Capacity, Count, DeviceProfile, Error, IndexFrom, KeyOutput, KeyType, Placement,
    RankMethod, SegmentLimits, SegmentOptions, Segments, SortBuffers, SortRequest, Sorter, SorterOptions,
    SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::patterns::{self, generate};
use vksort_testing::segmented::{Case, run};
use vksort_testing::{Failed, Level, Trial, assert_valid, drawn, expect, gpu, level, seed, suite, takes};

use super::modules::excuse;

/// A sorter on the shared device.
pub fn sorter(request: &SortRequest, options: &SorterOptions) -> Result<Sorter, Error> {
    let gpu = gpu();
    let device = gpu.device();
    // SAFETY: the device was created with its requirements, and is closed at the end of the tests.
    unsafe { Sorter::new(&device.raw, &device.requirements, request, options) }
}

/// What the device allows in a sort of segments.
pub fn limits(sorter: &Sorter) -> SegmentLimits<'_> {
    sorter.segments().expect("a sorter of segments")
}

/// How a request divides the elements.
pub fn of(request: &SortRequest) -> SegmentOptions {
    request.segments.expect("a request of segments")
}

pub fn pairs() -> SortRequest {
    SortRequest::new(KeyType::U32).value(ValueType::U32)
}

/// The request with the promise that a block of the device holds each segment.
fn within_block(request: &SortRequest, options: &SorterOptions) -> Result<SortRequest, Error> {
    Ok(match of(request) {
        // Rows say so by themselves.
        SegmentOptions { up_to: Some(_), .. } | SegmentOptions { layout: Segments::Rows { .. }, .. } => *request,
        _ => request.up_to(limits(&sorter(&request.up_to(1), options)?).block()),
    })
}

/// Windows of few elements, so that few elements make many.
fn small_windows() -> Tuning {
    Tuning { segment_items: 4, network_longest: 8, ..suite::small_blocks() }
}

pub fn with(tuning: Tuning) -> SorterOptions {
    SorterOptions::default().tuning(tuning)
}

/// What the lengths of segments are like, in windows whose block has so many elements.
const LENGTHS: [&str; 9] = ["none", "unit", "tiny", "short", "small", "any", "edges", "mostly-empty", "one-long"];

fn lengths(kind: &str, block: u32, random: &mut fastrand::Rng) -> Vec<u32> {
    let small = block / 4;
    let edges = [small.saturating_sub(1), small, (small + 1).min(block), block - 1, block, 0, 1];
    let some = |most: u32| (3 * block).div_ceil(most + 1).clamp(10, 3 * block.max(4)) as usize;
    let mut draw = |count: usize, most: u32| -> Vec<u32> { (0..count).map(|_| random.u32(0..=most)).collect() };
    match kind {
        "none" => vec![0; 3 * block as usize],
        "unit" => vec![1; 2 * block as usize],
        "tiny" => draw(some(4), 4),
        "short" => draw(some(40), 40.min(block)),
        "small" => draw(some(small), small),
        "any" => draw(some(block) + 5, block),
        "edges" => draw(30, edges.len() as u32 - 1).into_iter().map(|index| edges[index as usize]).collect(),
        "mostly-empty" => {
            draw(some(2) / 2, 60).into_iter().map(|length| length.saturating_sub(40).min(block)).collect()
        }
        _ => {
            let mut lengths = draw(some(3), 3);
            let at = lengths.len() / 3;
            lengths[at] = block;
            lengths
        }
    }
}

/// Sorts segments of all kinds of lengths, counted by the host and by the device.
fn check(request: &SortRequest, options: &SorterOptions) -> Result<(), Failed> {
    let request = &within_block(request, options)?;
    let SegmentOptions { layout, up_to: promised, .. } = of(request);
    let sorter = sorter(request, options)?;
    let longest = limits(&sorter).longest();
    let mut random = fastrand::Rng::with_seed(seed());
    for (turn, kind) in LENGTHS.iter().enumerate() {
        let block = longest.min(promised.unwrap_or(u32::MAX)).min(1 << 12);
        let most = match layout {
            Segments::Rows { stride } | Segments::RowsOf { stride } => stride,
            _ => block.max(16),
        };
        let mut lengths = lengths(kind, most, &mut random);
        if most < block {
            lengths.truncate((8 * block / most) as usize);
        }
        let (words, capacity) = drawn::words(layout, &lengths, &mut random);
        let pattern = patterns::ALL[random.usize(0..patterns::ALL.len())];
        let keys = generate(pattern, request.key, capacity as usize, seed());
        let count = lengths.len() as u32;
        let case = Case::new(*request, longest, words, count, keys);
        let counted = match turn % 3 {
            0 => None,
            1 => Some(random.u32(0..=count)),
            _ => Some([count, count + 1, u32::MAX][random.usize(0..3)]),
        };
        // Without room for segments there is no count on the device.
        let counted = counted.filter(|_| count > 0);
        let text = |error| format!("VKSORT_SEED={}: {kind}, {pattern:?}, counted {counted:?}: {error}", seed());
        // Only a sort of keys with their own values is the same if it is repeated.
        let repeats = request.value != ValueType::Index && request.key_output == KeyOutput::Sorted;
        let times = if repeats { 1 + turn as u32 % 2 } else { 1 };
        run(&gpu(), &sorter, &Case { counted, ..case }, times, true).map_err(text)?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// A request of the draw with this number.
fn drawn(number: u64) -> SortRequest {
    let mut random = fastrand::Rng::with_seed(seed() ^ number << 32);
    let elements = drawn::elements(&mut random);
    let stride = random.u32(1..64);
    let layouts = [Segments::Offsets, Segments::Ranges, Segments::Rows { stride }, Segments::RowsOf { stride }];
    let layout = layouts[random.usize(0..4)];
    let request = elements.segments(layout).indices_from(drawn::indices(elements.value, &mut random));
    let promises = random.u32(0..3) == 0 && !matches!(layout, Segments::Rows { .. });
    if promises { request.up_to(random.u32(1..40)) } else { request }
}

/// Drawn requests for each kind of kernels.
const TURNS: u64 = 5;

/// Kernels of every kind for drawn requests.
fn draws() -> Vec<Trial> {
    let staged = Tuning { rank: RankMethod::Ballot, digit_bits: 8, ..small_windows() };
    let settings = [
        ("row", SorterOptions::default()),
        ("small", with(small_windows())),
        ("staged", with(staged.clone())),
        ("match", with(Tuning { rank: RankMethod::Match, segment_items: 7, ..staged.clone() })),
        ("digits", with(Tuning { network_longest: 1, few_registers: true, ..staged.clone() })),
        ("emulated", with(staged.clone()).subgroup(SubgroupChoice::Emulated(32))),
        ("whole-words", with(staged).faults(Faults { no_small_storage: true, ..Faults::default() })),
    ];
    let trial = |(number, (name, options)): (usize, (&'static str, SorterOptions))| {
        (0..TURNS).map(move |turn| {
            let request = drawn(TURNS * number as u64 + turn);
            let options = options.clone();
            Trial::test(format!("{name}/{turn}: {request}"), move || check(&request, &options))
        })
    };
    settings.into_iter().enumerate().flat_map(trial).collect()
}

/// A case in which other libraries have failed: its name, the words of a layout, and elements.
fn known_cases(block: u32) -> Vec<(&'static str, Segments, Vec<u32>, u32)> {
    let offsets = |lengths: &[u32], first: u32| -> Vec<u32> {
        let sums = lengths.iter().scan(first, |at, length| {
            *at += length;
            Some(*at)
        });
        std::iter::once(first).chain(sums).collect()
    };
    let (small, units) = (block / 4, block - block / 4);
    let above_small: Vec<u32> =
        (0..200).map(|index| if index % 7 == 3 { small + 17 + index } else { small / 2 + index }).collect();
    let ends = offsets(&above_small, 0);
    let holes: Vec<u32> = (0..500).flat_map(|index| [index * 50, index * 50 + index % 37]).collect();
    let mut zero_last = holes.clone();
    zero_last.extend([0, 0]);
    // Every window owns as many segments as it has units.
    let empty_and_units: Vec<u32> = (0..3 * units).map(|index| index % 2).collect();
    let half = 20_000;
    vec![
        ("no segments", Segments::Offsets, vec![0], 10),
        ("no segments, no elements", Segments::Ranges, vec![], 0),
        ("only empty ones", Segments::Offsets, vec![5; 5_001], 10),
        ("an empty one in the middle", Segments::Offsets, vec![0, 3, 3, 7], 7),
        ("empty ones at both ends", Segments::Offsets, vec![2, 2, 2, 9, 9, 9], 9),
        ("the second half of an array", Segments::Offsets, offsets(&[100; 200], half), 2 * half),
        ("some above the bound of small ones", Segments::Offsets, ends.clone(), *ends.last().unwrap_or(&0)),
        ("longer than promised", Segments::Offsets, ends.clone(), *ends.last().unwrap_or(&0)),
        ("holes", Segments::Ranges, holes, 25_100),
        ("a pair of zeros last", Segments::Ranges, zero_last, 25_100),
        ("all units of windows", Segments::Offsets, offsets(&empty_and_units, 0), 3 * units),
        ("one element each", Segments::Offsets, (0..=2 * block).collect(), 2 * block),
        ("rows of a block", Segments::Rows { stride: block }, vec![], 5 * block),
        ("rows of one element", Segments::Rows { stride: 1 }, vec![], 2 * block + 3),
        (
            "the bound of small ones and its neighbours",
            Segments::Offsets,
            offsets(&[small, small + 1, small - 1, block, 1, 0, block - 1], 3),
            4 * block,
        ),
        (
            "two of one element around long ones",
            Segments::Offsets,
            offsets(&[1, small + 1, small + 2, 1, block], 0),
            4 * block,
        ),
        ("longer than a block", Segments::Offsets, offsets(&[9, block + 1, 30, 3 * block, 8], 0), 5 * block),
    ]
}

fn known() -> Result<(), Failed> {
    let settings =
        [SorterOptions::default(), with(small_windows()), with(Tuning { rank: RankMethod::Ballot, ..small_windows() })];
    for (setting, options) in settings.into_iter().enumerate() {
        for (place, placement) in [Placement::InPlace, Placement::OutOfPlace].into_iter().enumerate() {
            let sort = pairs().placement(placement);
            let block = limits(&sorter(&sort.segments(Segments::Offsets).up_to(1), &options)?).block();
            for (number, (name, segments, words, capacity)) in known_cases(block).into_iter().enumerate() {
                if !takes(&[number, setting, place]) {
                    continue;
                }
                let usual = sort.segments(segments).up_to(block);
                // Longer segments than were promised stay as they are.
                let request = if name == "longer than promised" { usual.up_to(block / 5) } else { usual };
                let sorter = sorter(&request, &options)?;
                // Rows are shorter if other constants make another block.
                let block = limits(&sorter).block();
                let count = match segments {
                    Segments::Offsets => words.len() as u32 - 1,
                    Segments::Ranges => words.len() as u32 / 2,
                    Segments::Rows { stride } => capacity / stride,
                    _ => words.len() as u32,
                };
                for pattern in [patterns::Pattern::Uniform, patterns::Pattern::FewDistinct] {
                    let keys = generate(pattern, KeyType::U32, capacity as usize, seed());
                    let case = Case::new(request, block, words.clone(), count, keys);
                    run(&gpu(), &sorter, &case, 2, true).map_err(|error| format!("{name}: {error}"))?;
                }
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Whatever the words are, the sort ends, and what is in no range stays.
fn hostile() -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(seed());
    let sorts = [pairs(), SortRequest::new(KeyType::U8), pairs().placement(Placement::OutOfPlace)];
    let staged = with(Tuning { rank: RankMethod::Ballot, ..small_windows() });
    // Without types of 8 bits, bits beyond a key would reach its neighbours.
    let faults = Faults { no_small_storage: true, ..Faults::default() };
    let whole_words = staged.clone().faults(faults);
    let settings = [SorterOptions::default(), with(small_windows()), staged, whole_words];
    for (setting, options) in settings.into_iter().enumerate() {
        for (number, sort) in sorts.into_iter().enumerate() {
            let layouts = [Segments::Offsets, Segments::Ranges, Segments::RowsOf { stride: 20 }];
            for (layout, segments) in layouts.into_iter().enumerate() {
                if !takes(&[setting, number, layout]) {
                    continue;
                }
                let request = within_block(&sort.segments(segments), &options)?;
                let sorter = sorter(&request, &options)?;
                let (capacity, count) = (20_000u32, 1_000u32);
                // Each layout has every kind with some of the sorts.
                let which = setting + 2 * number;
                for kind in (0..12).filter(|kind| level() == Level::Full || (which + kind) % 3 == 0) {
                    let mut draw = |at: u32| match kind {
                        0 => capacity.saturating_sub(at * 20),
                        1 => random.u32(0..capacity),
                        2 => random.u32(..),
                        3 => capacity + at,
                        4 => u32::MAX,
                        5 => 0,
                        6 => at % 2 * capacity,
                        7 => at / 2 * 10 + at % 2 * 200, // ranges that overlap
                        8 => at / 3 * 3 % 1_000 * 9,
                        9 => {
                            if at % 50 == 7 {
                                3
                            } else {
                                at * 9
                            }
                        }
                        10 => u32::MAX - at * 1_000,
                        _ => at * 30 % 7_000 + random.u32(0..50),
                    };
                    let words = (0..segments.words(count) as u32).map(&mut draw).collect();
                    let keys = generate(patterns::Pattern::Uniform, sort.key, capacity as usize, seed());
                    let case = Case::new(request, u32::MAX, words, count, keys);
                    let case = Case { counted: (kind % 2 == 1).then_some(u32::MAX), ..case };
                    run(&gpu(), &sorter, &case, 1, false).map_err(|error| format!("kind {kind}: {error}"))?;
                }
            }
        }
    }
    // A slot between segments is sorted to the end of the second one, beside a byte of none.
    let tuning = Tuning { network_longest: 1, rank: RankMethod::Ballot, ..small_windows() };
    let faults = Faults { no_small_storage: true, ..Faults::default() };
    let request = SortRequest::new(KeyType::U8).segments(Segments::Ranges);
    let sorter = sorter(&request, &with(tuning).faults(faults))?;
    let case = Case::new(request, u32::MAX, vec![0, 2, 9, 11, 4, 6], 3, (0..12).collect());
    run(&gpu(), &sorter, &case, 1, false)?;
    assert_valid(&gpu());
    Ok(())
}

/// Begins and ends above the capacity count as the capacity, and empty segments with an end below their begin spoil no others.
fn clamped() -> Result<(), Failed> {
    let sort = pairs().placement(Placement::OutOfPlace);
    let (most, capacity) = (u32::MAX, 5_000);
    let words = [
        (Segments::Offsets, vec![0, 7, 7, 400, 9_000, most, most]),
        (Segments::Ranges, vec![0, 7, 9, 5, 12, 300, 301, 0, 400, most, most, 3, most, most]),
    ];
    for options in [SorterOptions::default(), with(small_windows())] {
        for (segments, words) in &words {
            let whole = sort.segments(*segments);
            for request in [whole, whole.top(4)] {
                let sorter = sorter(&request, &options)?;
                let count = (0..).find(|count| segments.words(count + 1) > words.len() as u64).unwrap_or(0);
                let keys = generate(patterns::Pattern::Uniform, sort.key, capacity, seed());
                let case = Case::new(request, u32::MAX, words.clone(), count, keys);
                run(&gpu(), &sorter, &case, 1, true).map_err(|error| format!("{request}: {error}"))?;
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Windows in which an invocation goes through as many elements as it can: a short segment followed by none for as long as an
/// invocation merges at most, and longer ones up to a block. Software drivers end its loops after some iterations, so windows are
/// small where values are large.
fn most_iterations() -> Result<(), Failed> {
    for bytes in [4, 64, 256, 1_024] {
        let sort = SortRequest::new(KeyType::U32).value(ValueType::Bytes(bytes));
        for tuning in [None, Some(Tuning { network_longest: 4_096, ..gpu().tuning().clone() })] {
            let options = SorterOptions::default().tuning(tuning);
            let request = within_block(&sort.segments(Segments::Ranges), &options)?;
            let sorter = sorter(&request, &options)?;
            let block = limits(&sorter).block();
            let (small, last) = (block / 4, 3 * (block / 4) - 8);
            // Two shares of an invocation: what it merges at most, up to the next small segment.
            let merged = (2 * block / gpu().profile().subgroup_size).min(2 * small);
            let medium = if merged == 2 * small { [1, merged] } else { [merged + 1, last] };
            let mut ranges = [[0, 1], medium, [merged, merged + 1], [last, last + block]];
            ranges.sort_unstable();
            let (words, capacity) = (ranges.concat(), last + block);
            let keys = generate(patterns::Pattern::Uniform, KeyType::U32, capacity as usize, seed());
            let count = ranges.len() as u32;
            let case = Case::new(request, block, words, count, keys);
            run(&gpu(), &sorter, &case, 1, true).map_err(|error| format!("{bytes}, block {block}: {error}"))?;
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// More rows than a dispatch has workgroups in one dimension.
fn many_windows() -> Result<(), Failed> {
    let tuning = Tuning { segment_items: 1, workgroup_size: 1, ..small_windows() };
    let request = SortRequest::new(KeyType::U16).value(ValueType::Index).segments(Segments::Rows { stride: 3 });
    let sorter = sorter(&request, &with(tuning))?;
    let longest = limits(&sorter).longest();
    let count = 70_000 * longest / 3;
    let keys = generate(patterns::Pattern::Uniform, KeyType::U16, 3 * count as usize, seed());
    run(&gpu(), &sorter, &Case::new(request, longest, vec![], count, keys), 1, true)?;
    assert_valid(&gpu());
    Ok(())
}

/// What the host can see is refused, and says why.
fn refused() -> Result<(), Failed> {
    let of = |request: SortRequest| sorter(&request, &SorterOptions::default());
    let longest = |request: SortRequest| of(request).map(|sorter| limits(&sorter).longest());
    let any = pairs().segments(Segments::Offsets);
    let block = limits(&of(any.up_to(1))?).block();
    let usual = any.up_to(block);
    let rows = |stride| pairs().segments(Segments::Rows { stride });
    expect(of(rows(0)), &["the stride of rows", "0 elements", "at least 1"])?;
    expect(of(usual.up_to(0)), &["the longest segment", "0 elements"])?;
    assert_eq!((longest(usual)?, longest(any)?, longest(rows(1 << 20))?), (block, u32::MAX, u32::MAX));
    expect(of(rows(9).up_to(8)), &["the longest segment is 8 elements", "at least 9", "RowsOf"])?;
    expect(of(any.algorithm(Algorithm::OneSweep)), &["algorithm", "onesweep", "none"])?;
    expect(of(usual.indices_from(IndexFrom::Segment)), &["indices", "without indices"])?;
    expect(of(any.value(ValueType::Bytes(3))), &["value size", "3 bytes"])?;

    let sorter = of(usual)?;
    let size = |elements, segments| sorter.scratch_size(Capacity::new(elements).segments(segments));
    assert_eq!((size(1_000, 10)?, sorter.access()), (0, Access::Descriptors));
    expect(
        of(rows(10))?.scratch_size(Capacity::new(99).segments(10)),
        &["the number of segments is 10", "up to 9, the rows of 10 in 99 elements"],
    )?;
    let range = gpu().profile().max_storage_range_bytes;
    let most = limits(&sorter).max_segments(5)?;
    let limit = match range < 1 << 34 {
        true => format!("up to {}, whose words have the {range} bytes", range / 4 - 1),
        false => "up to 4294967290, with the 5 elements 2^32 - 1".into(),
    };
    expect(size(5, u32::MAX), &["the number of segments is 4294967295", &limit])?;
    assert!(limit.starts_with(&format!("up to {most}, ")) && size(5, most).is_ok());
    refused_buffers(&sorter)?;
    assert_valid(&gpu());
    Ok(())
}

/// The same of buffers and counts, for pairs with offsets.
fn refused_buffers(sorter: &Sorter) -> Result<(), Failed> {
    let gpu = gpu();
    let buffer = gpu.buffer(1 << 16)?;
    let range = |offset, size| BufferRange::new(buffer.raw(), size).offset(offset);
    let elements = SortBuffers::new(Capacity::new(100).segments(10)).keys(range(0, 400)).values(range(1 << 12, 400));
    let refused = |segments: Option<BufferRange>, words: &[&str]| {
        expect(sorter.check_buffers(&elements.segments(segments)), words)
    };
    refused(None, &["segments", "absent", "present"])?;
    refused(Some(range(1 << 13, 40)), &["segments has 40 bytes, needed are 44"])?;
    refused(Some(range((1 << 13) + 2, 44)), &["segments", "8194"])?;
    refused(Some(range(0, 44)), &["keys", "segments"])?;
    // SAFETY: the buffer is of the device, with every usage, and nothing is submitted.
    unsafe {
        let sort = sorter.bind(&elements.segments(range(1 << 13, 44)))?;
        let record = |count: Count| gpu.device().execute("no sort", |commands| sort.record(commands, count));
        expect(record(Count::Host(11)), &["the number of segments is 11", "up to 10, the segment capacity"])?;
        expect(record(Count::Device), &["count", "absent", "present"])?;
    }
    Ok(())
}

/// Every module of a kernel of segments that the device can run sorts once: by this tuning, a request for each type of keys, with
/// so many elements in one segment.
pub fn every_module(
    kernel: Kernel,
    tuning: &Tuning,
    (request, elements): (impl Fn(KeyType) -> SortRequest, u32),
    sort: impl Fn(&SortRequest, &SorterOptions) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let profile = gpu().profile().clone();
    let mut reached: Vec<Module> = Vec::new();
    for key in [KeyType::U32, KeyType::U8, KeyType::U64, KeyType::U128] {
        for (rank, emulated, addressed, whole_words) in [
            (None, false, false, false),
            (Some(RankMethod::Ballot), false, false, false),
            (Some(RankMethod::Private), false, false, false),
            (None, true, false, false),
            (None, false, true, false),
            (None, false, true, true),
        ] {
            if addressed && !profile.buffer_addresses {
                continue;
            }
            let tuning = Tuning { rank: rank.unwrap_or(tuning.rank), ..tuning.clone() };
            let subgroup = if emulated { SubgroupChoice::Emulated(8) } else { SubgroupChoice::Auto };
            let access = if addressed { Access::Addresses } else { Access::Descriptors };
            let request = request(key);
            let seen = DeviceProfile { small_storage: profile.small_storage && !whole_words, ..profile.clone() };
            let usual = ShapeDesc::new(&seen, &tuning, &request, Algorithm::OneSweep);
            let host = steps::of_segments(&ShapeDesc { subgroup, addressed, ..usual }, elements, 1, Count::Host(1))?;
            assert!(elements > 1 || host.steps.len() == 1, "there is one step");
            let modules = host.steps.iter().filter_map(|step| match step {
                HostStep::Dispatch(dispatch) if dispatch.module.kernel == kernel => Some(dispatch.module),
                _ => None,
            });
            let new: Vec<Module> = modules.filter(|module| !reached.contains(module)).collect();
            if !new.is_empty() {
                reached.extend(new);
                let faults = Faults { no_small_storage: whole_words, ..Faults::default() };
                sort(&request, &with(tuning).subgroup(subgroup).access(access).faults(faults))?;
            }
        }
    }
    for module in kernels::modules().into_iter().filter(|module| module.kernel == kernel) {
        match (reached.contains(&module), excuse(&module, &profile)) {
            (true, None) => {}
            (false, Some(what)) => println!("not run here: {} needs {what}", module.name()),
            (_, other) => return Err(format!("{}: run or not against {other:?}", module.name()).into()),
        }
    }
    assert_valid(&gpu());
    Ok(())
}

fn every_module_of_windows() -> Result<(), Failed> {
    let request = |key| SortRequest::new(key).value(ValueType::U32).segments(Segments::Ranges);
    every_module(Kernel::Segments, &small_windows(), (request, 1), check)
}

fn every_module_of_short_segments() -> Result<(), Failed> {
    let request = |key| SortRequest::new(key).value(ValueType::U32).segments(Segments::Ranges).up_to(7);
    every_module(Kernel::Short, &small_windows(), (request, 1), check)
}

/// What one row of each subgroup size has, whatever part of the others it takes.
pub fn trials_of_modules() -> Vec<Trial> {
    vec![
        Trial::test("every_module", every_module_of_windows),
        Trial::test("every_module_of_short_segments", every_module_of_short_segments),
    ]
}

pub fn trials() -> Vec<Trial> {
    let whole = [
        Trial::test("known", known),
        Trial::test("hostile", hostile),
        Trial::test("clamped", clamped),
        Trial::test("most_iterations", most_iterations),
        Trial::test("many_windows", many_windows),
        Trial::test("refused", refused),
    ];
    draws().into_iter().chain(whole).collect()
}
