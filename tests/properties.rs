//! Random requests on random data, shrunk to the smallest that fails: a request, data and options are drawn, and the
//! oracle decides. Draws are made for so many seconds, from a seed that each run chooses anew; what has failed once runs first.

mod common;

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use common::arena::{Arena, Count};
use common::patterns::{self, Pattern};
use common::visited::{self, VisitedArena};
use common::{Level, gpu, level, seed, suite};
use proptest::prelude::*;
use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};
use vksort::{
    Access, Algorithm, Ballot, BitRange, Faults, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest,
    SorterOptions, Specialization, SubgroupChoice, Tuning, ValueType, Visitor, Visits,
};

/// Keys: a pattern, or numbers drawn one by one, which can be shrunk.
#[derive(Clone, Debug)]
enum Keys {
    Made { pattern: Pattern, count: u32, seed: u64 },
    Drawn(Vec<u128>),
}

impl Keys {
    fn bytes(&self, key: KeyType) -> Vec<u8> {
        match self {
            Keys::Made { pattern, count, seed } => patterns::generate(*pattern, key, *count as usize, *seed),
            Keys::Drawn(numbers) => {
                let size = key.size_bytes() as usize;
                numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(size)).collect()
            }
        }
    }
}

/// All that a run depends on.
#[derive(Clone, Debug)]
struct Draw {
    request: SortRequest,
    /// The buffers that a visitor replaces, if any.
    visits: Visits,
    keys: Keys,
    /// Room for so many elements more than there are keys.
    spare: u32,
    /// The count on the device, if it comes from there, in percent of the capacity.
    counted: Option<u32>,
    options: SorterOptions,
}

/// What failed once, here or in a suite whose trials are generated; it runs before anything is drawn. Draws that fail are kept
/// in `tests/regressions` besides, for as long as draws are made in the same way.
fn once_failed() -> Vec<Draw> {
    let tuning = Tuning { items_keys: 32, items_pairs: 32, single_items: 64, ..suite::small_blocks() };
    let faults = Faults { withhold: 1, ..Faults::default() };
    let options =
        SorterOptions { tuning: Some(tuning), access: Access::Descriptors, faults, ..SorterOptions::default() };
    vec![
        // Look-back over every tile took more turns of loops than drivers of CPUs allow.
        Draw {
            request: SortRequest { algorithm: Some(Algorithm::OneSweep), ..SortRequest::new(KeyType::U32) },
            visits: Visits::default(),
            keys: Keys::Made { pattern: Pattern::Uniform, count: 20_000, seed: 20_240_917 },
            spare: 0,
            counted: None,
            options,
        },
    ]
}

fn requests() -> impl Strategy<Value = SortRequest> {
    let key = prop::sample::select(KeyType::ALL);
    let value = prop_oneof![
        Just(ValueType::None),
        Just(ValueType::Index),
        prop::sample::select(&[1u32, 2, 4, 8, 12, 16, 20, 100]).prop_map(ValueType::Bytes),
    ];
    let order = prop::sample::select(&[Order::Ascending, Order::Descending]);
    let placement = prop::sample::select(&[Placement::InPlace, Placement::OutOfPlace]);
    let algorithm = prop::option::of(prop_oneof![Just(Algorithm::OneSweep), prop::sample::select(Algorithm::ALL)]);
    let window = (any::<u32>(), any::<u32>(), 0..3u32);
    (key, value, order, placement, algorithm, window, any::<bool>(), any::<bool>()).prop_map(
        |(key, value, order, placement, algorithm, (low, high, narrow), discard, stable)| {
            let width = key.bits();
            let (low, high) = (low % (width + 1), high % (width + 1));
            let bits = match narrow {
                0 => BitRange { low: low.min(high), high: low.max(high) },
                _ => BitRange { low: 0, high: width },
            };
            let key_output = match discard && value != ValueType::None {
                true => KeyOutput::Discarded,
                false => KeyOutput::Sorted,
            };
            let request = SortRequest { key, value, order, bits, placement, key_output, stable, algorithm: None };
            suite::asking(algorithm, request)
        },
    )
}

fn keys() -> impl Strategy<Value = Keys> {
    prop_oneof![
        2 => (prop::sample::select(patterns::ALL), prop_oneof![0..40u32, 0..20_000u32], any::<u64>())
            .prop_map(|(pattern, count, seed)| Keys::Made { pattern, count, seed }),
        1 => prop::collection::vec(any::<u128>(), 0..600).prop_map(Keys::Drawn),
    ]
}

/// Kernels of all shapes, with blocks so small that few elements make many tiles.
fn tunings() -> impl Strategy<Value = Tuning> {
    let blocks = (
        prop_oneof![Just(None), prop::sample::select(&[8u32, 16, 24, 64, 96, 200]).prop_map(Some)],
        1..9u32,
        prop::option::weighted(0.3, 1..200u32),
        1..40u32,
        prop::sample::select(&[1u32, 1, 2, 64, 1_000]),
    );
    let rank = (
        prop_oneof![2 => Just(None), 1 => prop::sample::select(RankMethod::ALL).prop_map(Some)],
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(Ballot::ALL),
        prop::option::weighted(0.3, 1..12u32),
    );
    let ways = (
        prop::bool::weighted(0.75),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.75),
        1..10u32,
        prop::bool::weighted(0.2),
        any::<bool>(),
    );
    let counting = prop::option::weighted(0.5, (1..140u32, 1..60u32, 1..140u32));
    (blocks, rank, ways, counting).prop_map(|(blocks, rank, ways, counting)| {
        let row = suite::small_blocks();
        let (workgroup_size, items, single_workgroup_size, single_items, min_tiles) = blocks;
        let (rank, leader_adds, few_registers, ballot, digit_bits) = rank;
        let (skip, merge_runs, unordered, join_index, polls, decide_apart, look_back) = ways;
        let of_row = (row.histogram_workgroup_size, row.histogram_items, row.scan_workgroup_size);
        let (histogram_workgroup_size, histogram_items, scan_workgroup_size) = counting.unwrap_or(of_row);
        Tuning {
            workgroup_size: workgroup_size.unwrap_or(row.workgroup_size),
            items_keys: items,
            items_pairs: items,
            single_workgroup_size,
            single_items,
            min_tiles,
            rank: rank.unwrap_or(row.rank),
            leader_adds,
            few_registers,
            ballot,
            digit_bits: digit_bits.unwrap_or(row.digit_bits),
            skip,
            merge_runs,
            unordered,
            join_index,
            polls,
            decide_apart,
            look_back,
            histogram_workgroup_size,
            histogram_items,
            scan_workgroup_size,
            ..row
        }
    })
}

fn options() -> impl Strategy<Value = SorterOptions> {
    let device = (
        prop::option::weighted(0.15, prop::sample::select(&[4u32, 8, 16, 32, 64, 128])),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
        prop::sample::select(&[Specialization::Auto, Specialization::Driver, Specialization::Host]),
    );
    let faults = (prop::option::weighted(0.3, 0..6u32), prop::sample::select(&[0u32, 0, 0, 1, 3]));
    (tunings(), device, faults).prop_map(|(mut tuning, device, (ring_bits, withhold))| {
        let (emulated, addresses, no_small_storage, specialization) = device;
        // Where nobody publishes, or the words of a small ring are lost, look-back recounts tile after tile. Drivers of CPUs
        // end an invocation's loops after so many turns, so there are fewer tiles then.
        if withhold == 1 || ring_bits.is_some() {
            tuning.items_keys *= LEAST_RECOUNTED.div_ceil(tuning.workgroup_size);
            tuning.items_pairs = tuning.items_keys;
        }
        // Emulated subgroups have descriptors alone.
        let addresses = addresses && emulated.is_none() && gpu().profile().buffer_addresses;
        SorterOptions {
            tuning: Some(tuning),
            subgroup: emulated.map_or(SubgroupChoice::Auto, SubgroupChoice::Emulated),
            access: if addresses { Access::Addresses } else { Access::Descriptors },
            specialization,
            faults: Faults { withhold, ring_bits, no_small_storage, ..Faults::default() },
            ..SorterOptions::default()
        }
    })
}

/// Elements of a tile, at least, if many tiles are recounted.
const LEAST_RECOUNTED: u32 = 512;

fn draws() -> impl Strategy<Value = Draw> {
    let visits = prop::option::weighted(0.3, (any::<bool>(), any::<bool>(), any::<bool>()));
    (requests(), visits, keys(), 0..5_000u32, prop::option::weighted(0.4, 0..150u32), options()).prop_map(
        |(mut request, visits, keys, spare, counted, options)| {
            // As far as the request can be visited, and then not in place.
            let (keys_made, values, output) = visits.unwrap_or_default();
            let visits = Visits {
                keys: keys_made,
                values: values && request.value.is_read(),
                output: output && !request.value.is_gathered(),
            };
            if visits != Visits::default() {
                request.placement = Placement::OutOfPlace;
            }
            Draw { request, visits, keys, spare, counted, options }
        },
    )
}

fn run(draw: &Draw) -> Result<(), String> {
    let Draw { request, visits, options, .. } = draw;
    let gpu = &gpu();
    let text = |error: vksort::Error| error.to_string();
    let mut keys = draw.keys.bytes(request.key);
    let size = request.key.size_bytes() as usize;
    // The keys fill the capacity if the device has the count.
    let spare = if draw.counted.is_some() { 0 } else { draw.spare };
    let wanted = (keys.len() / size) as u32 + spare;
    let mut fit = |most: u32| {
        let capacity = wanted.min(most);
        keys.truncate(capacity as usize * size);
        capacity
    };
    let counted = |capacity: u32| match draw.counted {
        None => Count::Host,
        Some(percent) => Count::Device((u64::from(capacity) * u64::from(percent) / 100) as u32),
    };
    if *visits == Visits::default() {
        let sorter = gpu.sorter(request, options).map_err(text)?;
        let capacity = fit(sorter.max_count());
        let arena = Arena::new(gpu, &sorter, capacity);
        suite::run_keys(request, &arena, &keys, counted(capacity))?;
    } else {
        let visitor = Visitor::from(visited::source(*visits));
        let mut capacity = 0;
        let arena = VisitedArena::new(gpu, request, options, &visitor, |sorter| {
            capacity = fit(sorter.max_count());
            capacity
        });
        arena.map_err(text)?.check(&keys, counted(capacity), spare)?;
    }
    common::assert_valid(gpu);
    Ok(())
}

/// Draws until the time is over, as one of several threads; gives how many were drawn.
fn draw_for(time: Duration, thread: u64) -> u32 {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    bytes[8..16].copy_from_slice(&thread.to_le_bytes());
    let kept = FileFailurePersistence::Direct("tests/regressions/properties.txt");
    let config =
        Config { cases: 2_000, failure_persistence: Some(Box::new(kept)), max_shrink_iters: 200, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (started, drawn, failed) = (Instant::now(), Cell::new(0), Cell::new(false));
    let result = runner.run(&draws(), |draw| {
        // What fails is shrunk however long it takes; but for that, draws beyond the time pass as they are.
        if !failed.get() && drawn.get() >= MIN_DRAWS && started.elapsed() > time {
            return Ok(());
        }
        drawn.set(drawn.get() + 1);
        run(&draw).map_err(|reason| {
            failed.set(true);
            TestCaseError::fail(reason)
        })
    });
    match result {
        Ok(()) => drawn.get(),
        Err(TestError::Fail(reason, draw)) => {
            panic!("VKSORT_SEED={}: {reason}\nthe smallest draw that fails: {draw:#?}", seed())
        }
        Err(TestError::Abort(reason)) => panic!("VKSORT_SEED={}: {reason}", seed()),
    }
}

/// Draws of each thread, however slow the machine.
const MIN_DRAWS: u32 = 10;

#[test]
fn any_request_sorts_any_keys() {
    for draw in once_failed() {
        run(&draw).unwrap_or_else(|reason| panic!("{reason}: {draw:#?}"));
    }
    let text = std::env::var("VKSORT_DRAW_SECONDS");
    let time = Duration::from_secs(match &text {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("VKSORT_DRAW_SECONDS is {text:?}, allowed is a number")),
        Err(_) if level() == Level::Full => 15,
        Err(_) => 6,
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let drawn: u32 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || draw_for(time, thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a draw failed")).sum()
    });
    // Not by `println!`, which is shown for tests that fail only.
    writeln!(std::io::stdout(), "{drawn} draws, VKSORT_SEED={}", seed()).unwrap();
    common::close();
}
