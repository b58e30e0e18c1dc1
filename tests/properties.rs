//! Random requests on random data, shrunk to the smallest that fails: a request, data and options are drawn, and the
//! oracle decides. Draws are made for so many seconds, from a seed that each run chooses anew; what has failed once runs first.

mod common;

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use common::arena::{Arena, Count};
use common::patterns::{self, Pattern};
use common::{Level, gpu, level, seed, suite};
use proptest::prelude::*;
use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};
use vksort::{
    Access, Algorithm, Ballot, BitRange, Faults, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest,
    SorterOptions, SubgroupChoice, Tuning, ValueType,
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
    keys: Keys,
    /// Room for so many elements more than there are keys.
    spare: u32,
    /// The count on the device, if it comes from there, in percent of the capacity.
    counted: Option<u32>,
    items: u32,
    leader_adds: bool,
    few_registers: bool,
    ballot: Ballot,
    rank: RankMethod,
    /// Bits of the widest digit, if not the row's.
    digit_bits: Option<u32>,
    access: Access,
    /// The virtual subgroup size, if subgroups are emulated, which they cannot be by address.
    emulated: Option<u32>,
    by_words: bool,
    single_workgroup_size: Option<u32>,
    ring_bits: Option<u32>,
    withhold: u32,
}

/// What failed once, here or in a suite whose trials are generated; it runs before anything is drawn. Draws that fail are kept
/// in `tests/regressions` besides, for as long as draws are made in the same way.
fn once_failed() -> Vec<Draw> {
    let usual = Draw {
        request: SortRequest { algorithm: Some(Algorithm::OneSweep), ..SortRequest::new(KeyType::U32) },
        keys: Keys::Made { pattern: Pattern::Uniform, count: 20_000, seed: 20_240_917 },
        spare: 0,
        counted: None,
        items: 4,
        leader_adds: false,
        few_registers: false,
        ballot: Ballot::ByPlace,
        rank: suite::small_blocks().rank,
        digit_bits: None,
        access: Access::Descriptors,
        emulated: None,
        by_words: false,
        single_workgroup_size: None,
        ring_bits: None,
        withhold: 0,
    };
    vec![
        // Look-back over every tile took more turns of loops than drivers of CPUs allow.
        Draw { items: 1, withhold: 1, ..usual },
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

fn draws() -> impl Strategy<Value = Draw> {
    let single_workgroup_size = prop::option::weighted(0.3, 1..200u32);
    let shape = (1..9u32, prop::option::weighted(0.3, 2..12u32), single_workgroup_size);
    let rank = (
        prop_oneof![2 => Just(None), 1 => prop::sample::select(RankMethod::ALL).prop_map(Some)],
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(Ballot::ALL),
    );
    let device = (
        prop::option::weighted(0.15, prop::sample::select(&[4u32, 8, 16, 32, 64, 128])),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
    );
    let faults = (prop::option::weighted(0.3, 0..6u32), prop::sample::select(&[0u32, 0, 0, 1, 3]));
    (requests(), keys(), 0..5_000u32, prop::option::weighted(0.4, 0..150u32), shape, rank, device, faults).prop_map(
        |(request, keys, spare, counted, shape, rank, (emulated, addresses, by_words), (ring_bits, withhold))| {
            let (items, digit_bits, single_workgroup_size) = shape;
            let (rank, leader_adds, few_registers, ballot) = rank;
            let access = if addresses && emulated.is_none() { Access::Addresses } else { Access::Descriptors };
            let rank = rank.unwrap_or(suite::small_blocks().rank);
            Draw {
                request,
                keys,
                spare,
                counted,
                items,
                leader_adds,
                few_registers,
                ballot,
                rank,
                digit_bits,
                access,
                emulated,
                by_words,
                single_workgroup_size,
                ring_bits,
                withhold,
            }
        },
    )
}

fn run(draw: &Draw) -> Result<(), String> {
    let gpu = &gpu();
    let row = suite::small_blocks();
    // Where nobody publishes, or the words of a small ring are lost, look-back recounts tile after tile. Drivers of CPUs end
    // an invocation's loops after so many turns, so there are fewer tiles then.
    let recounts = draw.withhold == 1 || draw.ring_bits.is_some();
    let items = if recounts { 32 * draw.items } else { draw.items };
    let tuning = Tuning {
        items_keys: items,
        items_pairs: items,
        single_workgroup_size: draw.single_workgroup_size,
        single_items: 2 * items,
        leader_adds: draw.leader_adds,
        few_registers: draw.few_registers,
        ballot: draw.ballot,
        rank: draw.rank,
        digit_bits: draw.digit_bits.unwrap_or(row.digit_bits),
        ..row
    };
    let faults = Faults {
        withhold: draw.withhold,
        ring_bits: draw.ring_bits,
        no_small_storage: draw.by_words,
        ..Faults::default()
    };
    let options = SorterOptions {
        tuning: Some(tuning),
        subgroup: draw.emulated.map_or(SubgroupChoice::Auto, SubgroupChoice::Emulated),
        access: if gpu.profile().buffer_addresses { draw.access } else { Access::Descriptors },
        faults,
        ..SorterOptions::default()
    };
    let text = |error: vksort::Error| error.to_string();
    let sorter = gpu.sorter(&draw.request, &options).map_err(text)?;
    let mut keys = draw.keys.bytes(draw.request.key);
    let size = draw.request.key.size_bytes() as usize;
    let mut capacity = (keys.len() / size) as u32 + draw.spare;
    if capacity > sorter.max_count() {
        capacity = sorter.max_count();
        keys.truncate(capacity as usize * size);
    }
    let count = match draw.counted {
        None => Count::Host,
        Some(percent) => {
            // The keys fill the capacity then.
            capacity = (keys.len() / size) as u32;
            Count::Device((u64::from(capacity) * u64::from(percent) / 100) as u32)
        }
    };
    let arena = Arena::new(gpu, &sorter, capacity);
    suite::run_keys(&draw.request, &arena, &keys, count)?;
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
