//! The first elements of segments as plans: their steps, their scratch, and what they are refused for.

use vksort::__private::abi;
use vksort::__private::steps::{self, Groups, HostSort, HostStep};
use vksort::__private::{Shape, ShapeDesc, Windows, driver};
use vksort::{
    Algorithm, Capacity, Count, DeviceProfile, Error, KeyType, Order, Placement, RankMethod, Segments, SortRequest,
    Tuning, ValueType,
};

fn argsort(key: KeyType) -> SortRequest {
    SortRequest::new(key).value(ValueType::Index).order(Order::Descending).placement(Placement::OutOfPlace)
}

fn desc<'a>(profile: &'a DeviceProfile, tuning: &'a Tuning, request: &'a SortRequest) -> ShapeDesc<'a> {
    ShapeDesc::new(profile, tuning, request, Algorithm::OneSweep)
}

fn windows(request: &SortRequest) -> Result<Windows, Error> {
    let profile = DeviceProfile::default();
    let shape = Shape::fit(&desc(&profile, &Tuning::for_device(&profile), request))?;
    Ok(shape.windows.expect("there are windows"))
}

fn plan(request: &SortRequest, capacity: u32, segments: u32, count: Count, decide_apart: bool) -> HostSort {
    let profile = DeviceProfile::default();
    let tuning = Tuning::for_device(&profile);
    let mut desc = desc(&profile, &tuning, request);
    desc.quirks.decide_apart = decide_apart;
    steps::of_segments(&desc, capacity, segments, count).unwrap()
}

/// Names of the steps, without their levels.
fn names(host: &HostSort) -> Vec<&'static str> {
    let of = |step: &HostStep| match step {
        HostStep::Clear { .. } => "clear",
        HostStep::Dispatch(dispatch) => dispatch.name.kernel,
    };
    host.steps.iter().map(of).collect()
}

fn groups(host: &HostSort) -> Vec<Groups> {
    let of = |step: &HostStep| match step {
        HostStep::Clear { .. } => None,
        HostStep::Dispatch(dispatch) => Some(dispatch.groups),
    };
    host.steps.iter().filter_map(of).collect()
}

#[test]
fn steps_are_levels_of_the_key_and_of_the_index() {
    let narrow = |levels| [&["clear"][..], &vec!["narrow"; levels], &["keep", "finish"]].concat();
    for (key, of_key) in
        [(KeyType::U8, 1), (KeyType::F16, 2), (KeyType::F32, 3), (KeyType::I64, 6), (KeyType::U128, 12)]
    {
        let whole = argsort(key).segments(Segments::Whole).top(100);
        for (length, of_index) in [(1 << 22, 2), ((1 << 22) + 1, 3), (u32::MAX - 1, 3)] {
            for count in [Count::Host(length), Count::Device] {
                assert_eq!(names(&plan(&whole, length, 1, count, false)), narrow(of_key + of_index), "{whole}");
            }
        }
        let rows = argsort(key).segments(Segments::Rows { stride: 1 << 17 }).top(100);
        assert_eq!(names(&plan(&rows, 1 << 20, 8, Count::Host(8), false)), narrow(of_key + 2), "{rows}");
    }
    // Of so few elements all survive.
    let whole = argsort(KeyType::F32).segments(Segments::Whole).top(5);
    let block = windows(&whole).unwrap().block.elements();
    assert_eq!(names(&plan(&whole, block, 1, Count::Device, false)), ["clear", "keep", "finish"]);
    assert!(plan(&whole, 0, 1, Count::Device, false).steps.is_empty());
    assert!(plan(&whole, 9, 1, Count::Host(0), false).steps.is_empty());
    // Where a dispatch has no last workgroup, another one decides.
    let apart = plan(&whole, 1 << 20, 1, Count::Device, true);
    assert_eq!(names(&apart), [&["clear"][..], &["narrow", "decide"].repeat(5), &["keep", "finish"]].concat());
    // Rows of up to a block are windows.
    let short = argsort(KeyType::F32).segments(Segments::Rows { stride: block }).top(5);
    let short = plan(&short, 9 * block, 9, Count::Device, false);
    assert_eq!((names(&short), short.scratch_bytes, &short.barriers[..]), (vec!["segments"], 0, &[None][..]));
}

#[test]
fn later_levels_have_as_many_workgroups_as_rows_ask_for() {
    let request = argsort(KeyType::F32).segments(Segments::Rows { stride: 100_000 }).top(100);
    let host = plan(&request, 700_000, 7, Count::Host(5), false);
    let tiles = 5 * 100_000u32.div_ceil(4_096);
    let levels = (1..5).map(Groups::Counted);
    let expected: Vec<_> = std::iter::once(Groups::Direct(tiles)).chain(levels).collect();
    assert_eq!(groups(&host), [&expected[..], &[Groups::Direct(tiles), Groups::Direct(5)]].concat());
    let [HostStep::Clear { bytes }, ..] = &host.steps[..] else { panic!("{:?}", host.steps) };
    assert_eq!(*bytes, 784 + 5 * 8_260, "the rows that are sorted are cleared");
    assert!(host.barriers.iter().all(Option::is_some), "each step waits for the one before");
}

#[test]
fn scratch_is_what_the_formula_says() {
    for (top, rows) in [(1, 1), (100, 64), (1_000, 512), (2_048, 3)] {
        let request = argsort(KeyType::F32).segments(Segments::RowsOf { stride: 131_072 }).top(top);
        let windows = windows(&request).unwrap();
        let block = windows.block.elements();
        let survivors = (2 * top).max(block / 4).min(block);
        assert_eq!(windows.survivors, Some(survivors));
        let host = plan(&request, rows * 131_072, rows, Count::Device, false);
        let (rows, survivors) = (u64::from(rows), u64::from(survivors));
        assert_eq!(host.counters.size, 784 + rows * 8_260);
        assert_eq!(host.table.size, rows * 4 * survivors);
        assert_eq!(
            host.scratch_bytes,
            host.counters.size.next_multiple_of(256) + host.table.size.next_multiple_of(256)
        );
    }
    let whole = argsort(KeyType::F32).segments(Segments::Whole).top(100);
    let windows = windows(&whole).unwrap();
    assert_eq!(windows.survivors, Some(windows.block.elements()));
    // It does not depend on the number of elements.
    assert_eq!(plan(&whole, 5, 1, Count::Device, false).scratch_bytes, 9_216 + 8_192);
    assert_eq!(plan(&whole, u32::MAX - 1, 1, Count::Device, false).scratch_bytes, 9_216 + 8_192);
}

#[test]
fn segments_beyond_a_block_are_listed_by_windows() {
    for segments in [Segments::Offsets, Segments::Ranges] {
        let request = argsort(KeyType::F32).segments(segments).top(100);
        let block = windows(&request).unwrap().block.elements();
        let capacity = 9 * (block + 1) + 5;
        let host = plan(&request, capacity, 70, Count::Device, false);
        let narrow = vec!["narrow"; 3 + 2];
        assert_eq!(names(&host), [&["clear", "segments"][..], &narrow, &["keep", "finish"]].concat());
        // As many workgroups as windows ask for tiles, which all levels go over.
        let slots = [0, 1, 2, 3, 4, 0, 0].map(Groups::Counted);
        assert_eq!(groups(&host)[1..], slots);
        let [HostStep::Clear { bytes }, ..] = &host.steps[..] else { panic!("{:?}", host.steps) };
        assert_eq!(*bytes, 784, "windows clear the counters of the rows that they list");
        // No more segments than nine can be longer than a block, whatever the number of segments is.
        let survivors = u64::from(windows(&request).unwrap().survivors.unwrap());
        let bytes = |rows: u64| [784 + rows * 8_260, rows * (16 + 4 * survivors)];
        assert_eq!([host.counters.size, host.table.size], bytes(9));
        // Few segments have few rows, by the capacity whoever counts them: two for the first elements of each, and then one a tile.
        let (most, tile) = (50_000_000, 16_384);
        for (segments, count) in [(1, Count::Device), (8, Count::Device), (70, Count::Host(8)), (600, Count::Device)] {
            let host = plan(&request, most, segments, count, false);
            let rows = 2 * segments + (most - segments * (tile + 1)) / tile;
            assert_eq!([host.counters.size, host.table.size], bytes(rows.into()), "{segments} segments");
        }
        let most_segments = [50_000, u32::MAX - most].map(|segments| {
            let host = plan(&request, most, segments, Count::Device, false);
            [host.counters.size, host.table.size]
        });
        assert_eq!(most_segments, [bytes(u64::from(most / (block + 1))); 2]);
        let none = plan(&request, most, 0, Count::Device, false);
        assert_eq!((none.steps.len(), none.scratch_bytes), (0, 0));
        let apart = plan(&request, capacity, 70, Count::Host(70), true);
        let narrow = ["narrow", "decide"].repeat(5);
        assert_eq!(names(&apart), [&["clear", "segments"][..], &narrow, &["keep", "finish"]].concat());
        // None are longer.
        for (request, capacity) in [(request, block), (request.up_to(block), capacity)] {
            let host = plan(&request, capacity, 70, Count::Device, false);
            assert_eq!((names(&host), host.scratch_bytes), (vec!["segments"], 0));
        }
    }
}

#[test]
fn words_of_the_counters_do_not_overlap() {
    let arguments = abi::COUNTERS_ARGUMENTS..abi::COUNTERS_ARGUMENTS + (abi::TOP_LEVELS + 1) * abi::ARGUMENT_WORDS;
    assert!(abi::TOP_LEVELS < arguments.start && arguments.end <= abi::TOP_ROWS);
    let most_levels = 128u32.div_ceil(abi::TOP_DIGIT_BITS) + 32u32.div_ceil(abi::TOP_DIGIT_BITS);
    assert_eq!(most_levels, abi::TOP_LEVELS);
    assert_eq!(2 * abi::TOP_FOUND_WORDS, abi::TOP_LEVEL);
    assert_eq!(abi::TOP_KEPT + 1, abi::TOP_STATE_WORDS);
}

#[test]
fn requests_are_checked_and_named() {
    let rows = argsort(KeyType::F32).segments(Segments::Rows { stride: 50_000 });
    let named = "the first 40 of rows of 50000: f32 keys with their indices, descending, out of place";
    assert_eq!(rows.top(40).to_string(), named);
    assert_eq!(rows.top(40).buffer_sizes(Capacity::new(100_000).segments(2)).values_out, Some(4 * 80));
    assert_eq!(rows.top(40).buffer_sizes(100_000).keys, Some(400_000));
    let block = windows(&rows.top(1)).unwrap().block.elements();
    assert!(windows(&rows.top(block)).is_ok());
    let refused = [
        (rows.top(0), "the top of each segment is 0 elements, allowed is at least 1".to_string()),
        (
            argsort(KeyType::F32).segments(Segments::Whole),
            "the layout of segments is the whole array, without a top, allowed is with the top of it, or segments of another layout".into(),
        ),
        (
            SortRequest::new(KeyType::F32).segments(Segments::Whole).top(3),
            "the placement of the top of each segment is in place, allowed is out of place".into(),
        ),
    ];
    for (request, message) in refused {
        assert_eq!(request.check().unwrap_err().to_string(), message);
    }
    let error = windows(&rows.top(block + 1)).unwrap_err().to_string();
    let allowed = format!("up to {block}, a block of this device; more take a sort of whole segments");
    assert_eq!(error, format!("the top of each segment is {} elements, allowed is {allowed}", block + 1));
}

#[test]
fn survivors_have_room_for_the_first_elements_on_every_device() {
    for driver in [driver::UNKNOWN, driver::LLVMPIPE] {
        for lanes in [4, 8, 16, 32, 64, 128] {
            let profile = DeviceProfile {
                driver_id: driver,
                is_cpu: driver != driver::UNKNOWN,
                subgroup_size: lanes,
                subgroup_range: (lanes, lanes),
                ..DeviceProfile::default()
            };
            for rank in RankMethod::ALL.iter().copied() {
                for (key, items) in [(KeyType::U8, 1), (KeyType::F32, 16), (KeyType::U128, 8_192)] {
                    let tuning = Tuning { rank, single_items: items, ..Tuning::for_device(&profile) };
                    let request = argsort(key).segments(Segments::Rows { stride: 1 << 20 }).top(1);
                    let Ok(shape) = Shape::fit(&desc(&profile, &tuning, &request)) else { continue };
                    let block = shape.windows.unwrap().block.elements();
                    for top in [1, block / 8 + 1, block / 2, block] {
                        let request = request.top(top);
                        let shape = Shape::fit(&desc(&profile, &tuning, &request)).unwrap();
                        let survivors = shape.windows.unwrap().survivors.unwrap();
                        assert!((top..=block).contains(&survivors), "{top}: {survivors} of {block}");
                        assert!(shape.shared_bytes() <= profile.max_shared_bytes);
                    }
                }
            }
        }
    }
}
