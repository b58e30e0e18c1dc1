//! Sorts of segments as plans: their one step or the rounds of longer ones, what they are refused for, and the search by which each segment has one window.

use vksort::__private::abi::{self, Own};
use vksort::__private::kernels::Kernel;
use vksort::__private::steps::{self, Groups, HostSort, HostStep, Memory};
use vksort::__private::{Shape, ShapeDesc, Windows, driver};
use vksort::{
    Algorithm, Count, DeviceProfile, Error, IndexFrom, KeyType, Placement, RankMethod, Segments, SortRequest, Tuning,
    ValueType,
};

fn pairs() -> SortRequest {
    SortRequest::new(KeyType::U32).value(ValueType::U32)
}

fn desc<'a>(profile: &'a DeviceProfile, tuning: &'a Tuning, request: &'a SortRequest) -> ShapeDesc<'a> {
    ShapeDesc::new(profile, tuning, request, Algorithm::OneSweep)
}

fn windows(profile: &DeviceProfile, tuning: &Tuning, request: &SortRequest) -> Result<Windows, Error> {
    Shape::fit(&desc(profile, tuning, request)).map(|shape| shape.windows.expect("there are windows"))
}

fn plan(request: &SortRequest, capacity: u32, segments: u32, count: Count) -> HostSort {
    let profile = DeviceProfile::default();
    steps::of_segments(&desc(&profile, &Tuning::for_device(&profile), request), capacity, segments, count).unwrap()
}

#[test]
fn one_dispatch_covers_all_units_without_scratch() {
    let usual = pairs().segments(Segments::Offsets);
    let block = windows(&DeviceProfile::default(), &Tuning::for_device(&DeviceProfile::default()), &usual.up_to(1))
        .unwrap()
        .block
        .elements();
    for request in [usual.up_to(block), usual.up_to(33), pairs().segments(Segments::Rows { stride: 100 })] {
        for (capacity, segments) in [(1, 1), (1_000_000, 10_000), (100, 1_000_000), (u32::MAX - 100, 100)] {
            for count in [Count::Host(segments), Count::Device] {
                let host = plan(&request, capacity, segments, count);
                let [HostStep::Dispatch(step)] = &host.steps[..] else { panic!("{:?}", host.steps) };
                let windows = host.shape.windows.unwrap();
                // Small segments that begin in a window fit a block.
                let window = windows.block.elements() - windows.small();
                assert_eq!(step.groups, Groups::Direct((capacity + segments).div_ceil(window)), "{request}");
                assert_eq!((host.scratch_bytes, &host.barriers[..]), (0, &[None][..]));
                assert_eq!((step.module.kernel, step.push.count), (Kernel::Segments, segments));
                let (row_length, longest, small) = (windows.stride(), windows.longest, windows.small());
                assert_eq!(step.push.own, Own::Windows { capacity, row_length, longest, small });
            }
        }
    }
}

#[test]
fn short_segments_take_a_few_lanes_each() {
    let keys = SortRequest::new(KeyType::U32);
    let offsets = keys.segments(Segments::Offsets);
    let out = keys.placement(Placement::OutOfPlace).segments(Segments::Ranges);
    for (request, slots) in [
        (offsets.up_to(1), 4),
        (offsets.up_to(4), 4),
        (keys.segments(Segments::Rows { stride: 5 }), 8),
        (pairs().segments(Segments::RowsOf { stride: 17 }), 32),
        (keys.segments(Segments::RowsOf { stride: 1000 }).up_to(32), 32),
        (out.top(100).up_to(20), 32),
    ] {
        for (capacity, segments) in [(1, 1), (1_000_000, 10_000), (100, 1_000_000), (100, u32::MAX - 100)] {
            for count in [Count::Host(segments), Count::Device] {
                let host = plan(&request, capacity, segments, count);
                let [HostStep::Dispatch(step)] = &host.steps[..] else { panic!("{:?}", host.steps) };
                let each = step.constants[abi::spec::WORKGROUP_SIZE] * abi::HELD_SLOTS / slots;
                assert_eq!(step.groups, Groups::Direct(segments.div_ceil(each)), "{request}");
                assert_eq!((host.scratch_bytes, &host.barriers[..]), (0, &[None][..]));
                assert_eq!((step.module.kernel, step.push.count), (Kernel::Short, segments));
                let windows = host.shape.windows.unwrap();
                let (row_length, longest) = (windows.stride(), windows.longest);
                assert_eq!(step.push.own, Own::Short { capacity, row_length, longest });
                assert!(longest <= slots && 1 << step.constants[abi::spec::NETWORK_BITS] == slots);
            }
        }
    }
}

/// Of a subgroup of few lanes, one longer than they hold takes a window.
#[test]
fn lanes_hold_four_slots_each() {
    for (lanes, longest) in [(4, 16), (8, 32), (32, 128)] {
        let profile =
            DeviceProfile { subgroup_size: lanes, subgroup_range: (lanes, lanes), ..DeviceProfile::default() };
        let tuning = Tuning { network_longest: 8_192, ..Tuning::for_device(&profile) };
        let request = |up_to| pairs().segments(Segments::Offsets).up_to(up_to);
        let is_short = |up_to| windows(&profile, &tuning, &request(up_to)).unwrap().short.is_some();
        assert_eq!([longest, longest + 1].map(is_short), [true, false], "{lanes} lanes");
        let few = Tuning { network_longest: 9, ..tuning.clone() };
        let by_knob = |up_to| windows(&profile, &few, &request(up_to)).unwrap().short.is_some();
        assert_eq!([9, 10].map(by_knob), [true, false]);
    }
    let profile = DeviceProfile::default();
    let top = pairs().placement(Placement::OutOfPlace).segments(Segments::Whole).top(3);
    let windows = windows(&profile, &Tuning::for_device(&profile), &top.up_to(9)).unwrap();
    assert_eq!(windows.short, None, "the whole array is one segment, whose elements are counted");
}

/// Names of the steps, with their rounds.
fn steps_of(request: &SortRequest, capacity: u32) -> (Vec<String>, HostSort) {
    let host = plan(request, capacity, 3, Count::Device);
    let name = |step: &HostStep| match step {
        HostStep::Clear { .. } => "clear".into(),
        HostStep::Dispatch(dispatch) => dispatch.name.to_string(),
    };
    (host.steps.iter().map(name).collect(), host)
}

#[test]
fn segments_of_any_length_take_a_round_for_each_byte() {
    for (key, placement, rounds) in [
        (KeyType::U32, Placement::InPlace, 4),
        (KeyType::U32, Placement::OutOfPlace, 4),
        (KeyType::U8, Placement::InPlace, 1),
        (KeyType::U128, Placement::OutOfPlace, 16),
    ] {
        let sort = SortRequest::new(key).placement(placement).value(ValueType::U32);
        let request = sort.segments(Segments::Offsets);
        let (names, host) = steps_of(&request, 1_000_000);
        let rounds = (0..rounds).flat_map(|round| {
            let last = if round + 1 < rounds { "children" } else { "split_move" };
            ["split_count", "split_scan", "split", last].map(|name| format!("{name} {round}"))
        });
        let expected: Vec<String> = ["clear", "segments"].map(String::from).into_iter().chain(rounds).collect();
        assert_eq!(names, expected);
        // 18 for keys of 32 bits.
        assert_eq!(names.len(), 2 + 4 * key.bits() as usize / 8);
        let windows = host.shape.windows.unwrap();
        let (n, b) = (1_000_000, u64::from(windows.block.elements()));
        let p = n / (b + 1);
        let words = 271 * p + 2 * ((n + 255 * p) / (b - b / 4) + p) + 256 * (2 * n / (4 * b + 1));
        let parts =
            [528 + 48 * u64::from(windows.rounds), 4 * words, n * sort.key.size_bytes(), n * sort.value.size_bytes()];
        assert_eq!(host.scratch_bytes, parts.iter().map(|bytes| bytes.next_multiple_of(256)).sum::<u64>());
        // Out of place, the first round reads the source, and all others what is in the alternate or the target.
        for step in host.steps.iter().skip(2) {
            let HostStep::Dispatch(dispatch) = step else { panic!("{step:?}") };
            let from_source = dispatch.places.keys[0] == Some(Memory::Keys);
            let first = dispatch.push.pass == 0 && dispatch.module.kernel == Kernel::Split && windows.rounds > 1
                || dispatch.push.pass == 0
                    && !dispatch.name.to_string().starts_with("split_move")
                    && windows.rounds == 1;
            assert_eq!(from_source, first && placement == Placement::OutOfPlace, "{}", dispatch.name);
            assert!(matches!(dispatch.groups, Groups::Counted(_)));
        }
    }
}

#[test]
fn elements_that_a_block_holds_take_no_rounds() {
    let request = pairs().segments(Segments::Offsets);
    let block = steps_of(&request, 1).1.shape.windows.unwrap().block.elements();
    assert_eq!(steps_of(&request, block).0, ["segments"]);
    assert_eq!(steps_of(&request, block).1.scratch_bytes, 0);
    // One more may be a parent, but has no tiles to add up.
    assert_eq!(steps_of(&request, block + 1).0.len(), 2 + 3 * 4);
    assert_eq!(steps_of(&request, 4 * block + 1).0.len(), 2 + 4 * 4);
}

#[test]
fn nothing_to_sort_takes_no_step() {
    let request = pairs().segments(Segments::Ranges);
    for (capacity, segments, count) in
        [(0, 0, Count::Device), (0, 9, Count::Host(9)), (9, 0, Count::Device), (9, 9, Count::Host(0))]
    {
        assert!(plan(&request, capacity, segments, count).steps.is_empty());
    }
}

#[test]
fn blocks_fit_every_device_or_are_refused() {
    for driver in [driver::UNKNOWN, driver::LLVMPIPE] {
        for lanes in [4, 8, 16, 32, 64, 128] {
            let is_cpu = driver != driver::UNKNOWN;
            for max_shared_bytes in [16 << 10, 32 << 10, 64 << 10] {
                let profile = DeviceProfile {
                    driver_id: driver,
                    is_cpu,
                    subgroup_size: lanes,
                    subgroup_range: (lanes, lanes),
                    max_shared_bytes,
                    ..DeviceProfile::default()
                };
                let row = Tuning::for_device(&profile);
                for rank in RankMethod::ALL.iter().copied() {
                    for (key, value) in
                        [(KeyType::U8, 0), (KeyType::U32, 4), (KeyType::U64, 16), (KeyType::U128, 1 << 12)]
                    {
                        for segment_items in [1, row.segment_items, 8_192] {
                            let tuning = Tuning { rank, segment_items, network_longest: 8_192, ..row.clone() };
                            let value = if value == 0 { ValueType::None } else { ValueType::Bytes(value) };
                            let request = SortRequest::new(key).value(value).segments(Segments::Offsets);
                            let Ok(shape) = Shape::fit(&desc(&profile, &tuning, &request)) else {
                                assert!(
                                    rank == RankMethod::Match || is_cpu || max_shared_bytes == 16 << 10,
                                    "{profile:?} {rank:?}"
                                );
                                continue;
                            };
                            let windows = shape.windows.unwrap();
                            assert!(shape.shared_bytes() <= max_shared_bytes && windows.block.elements() <= 1 << 15);
                            assert!(windows.small() >= 1 && windows.digit_bits >= 7, "{windows:?}");
                            // Each lane holds four slots at most, whose stages take a share of the iterations of a CPU's loops.
                            let lanes = shape.ranking.subgroup.size;
                            assert!(1 << windows.network_bits <= abi::HELD_SLOTS * lanes, "{windows:?}");
                            let stages = windows.network_bits * (windows.network_bits + 1) / 2;
                            let turns = windows.block.items * abi::SPARSEST / abi::HELD_SLOTS;
                            let staged = shape.ranking.method != RankMethod::Private;
                            let iterations = turns * stages * abi::HELD_SLOTS * (2 + shape.ranking.key_words);
                            assert!(!is_cpu || !staged || iterations <= 60_000, "{windows:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_longest_segment_is_what_a_block_holds() {
    let profile = DeviceProfile::default();
    let tuning = Tuning::for_device(&profile);
    let of = |request: SortRequest| windows(&profile, &tuning, &request);
    let usual = pairs().segments(Segments::Offsets);
    let block = of(usual).unwrap().block.elements();
    assert_eq!((of(usual).unwrap().rounds, of(usual.up_to(block)).unwrap().rounds), (4, 0));
    assert_eq!(of(usual.up_to(block)).unwrap().small(), block / 4);
    assert_eq!(of(usual.up_to(7)).unwrap().small(), 7);
    let rows = |stride| pairs().segments(Segments::RowsOf { stride });
    assert_eq!(of(rows(100)).unwrap().longest, 100);
    assert_eq!(of(rows(100).up_to(9)).unwrap().longest, 9);
    for longer in [usual.up_to(block + 1), rows(block + 1)] {
        assert_eq!((of(longer).unwrap().longest, of(longer).unwrap().rounds), (block + 1, 4));
    }
    let sort = pairs().placement(Placement::OutOfPlace);
    let top = sort.segments(Segments::Offsets).top(1);
    let block = of(top).unwrap().block.elements();
    for (request, lists) in [(top, true), (top.up_to(block + 1), true), (top.up_to(block), false)] {
        assert_eq!((of(request).unwrap().lists_rows(), of(request).unwrap().rounds), (lists, 0));
    }
}

#[test]
fn requests_are_checked_and_named() {
    let index = SortRequest::new(KeyType::F32).value(ValueType::Index);
    let request = index.segments(Segments::Rows { stride: 100 }).indices_from(IndexFrom::Segment);
    assert_eq!(request.to_string(), "rows of 100: f32 keys with their indices, ascending, counted from segments");
    assert!(request.check().is_ok());
    assert_eq!([Segments::Offsets, Segments::Ranges].map(|layout| layout.words(5)), [6, 10]);
    assert_eq!([Segments::Rows { stride: 9 }, Segments::RowsOf { stride: 9 }].map(|layout| layout.words(5)), [0, 5]);
}

/// The first segment whose unit is not below `unit`, as the kernel searches it.
fn first_owned(begins: &[u32], unit: u32) -> usize {
    let (mut low, mut high) = (0, begins.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if begins[middle] + (middle as u32) < unit { low = middle + 1 } else { high = middle }
    }
    low
}

/// So neighbouring windows agree about their bounds, and each segment has one owner at most, whatever the words are.
#[test]
fn the_search_does_not_descend_in_any_array() {
    for length in 0..6u32 {
        for number in 0..6u32.pow(length) {
            let begins: Vec<u32> = (0..length).map(|digit| number / 6u32.pow(digit) % 6).collect();
            let found: Vec<usize> = (0..14).map(|unit| first_owned(&begins, unit)).collect();
            assert!(found.is_sorted(), "{begins:?}: {found:?}");
        }
    }
}
