//! Draws of requests, keys and tunings, and the run over them: for so many seconds, on all cores, from a seed that each run
//! chooses anew. What fails is shrunk, and kept in `tests/regressions` for as long as draws are made in the same way.

use std::cell::Cell;
use std::fmt::Debug;
use std::io::Write;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use fastrand::Rng;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};
use vksort::{
    Algorithm, BitRange, IndexFrom, KeyOutput, KeyType, Knob, Order, Placement, Scale, Segments, SortRequest, Tuning,
    ValueType,
};

use crate::patterns::{self, Pattern};
use crate::{Level, level, seed, suite};

/// Keys: a pattern, or numbers drawn one by one, which can be shrunk.
#[derive(Clone, Debug)]
pub enum Keys {
    /// Keys of a pattern.
    Made {
        /// What they look like.
        pattern: Pattern,
        /// How many there are.
        count: u32,
        /// What they are made from.
        seed: u64,
    },
    /// Numbers of which each key takes its bits.
    Drawn(Vec<u128>),
}

impl Keys {
    /// The keys of a type.
    pub fn bytes(&self, key: KeyType) -> Vec<u8> {
        match self {
            Keys::Made { pattern, count, seed } => patterns::generate(*pattern, key, *count as usize, *seed),
            Keys::Drawn(numbers) => {
                let size = key.size_bytes() as usize;
                numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(size)).collect()
            }
        }
    }
}

/// Requests of every kind.
pub fn requests() -> impl Strategy<Value = SortRequest> {
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
            let request = SortRequest::new(key).value(value).order(order).bits(bits).placement(placement);
            let request = request.key_output(key_output).stable(stable);
            suite::asking(algorithm, request)
        },
    )
}

/// Few keys or up to so many.
pub fn keys(most: u32) -> impl Strategy<Value = Keys> {
    prop_oneof![
        2 => (prop::sample::select(patterns::ALL), prop_oneof![0..40u32, 0..most], any::<u64>())
            .prop_map(|(pattern, count, seed)| Keys::Made { pattern, count, seed }),
        1 => prop::collection::vec(any::<u128>(), 0..600).prop_map(Keys::Drawn),
    ]
}

/// Kernels of all shapes, with blocks so small that few elements make many tiles. What is not drawn is the row's.
pub fn tunings(row: Tuning) -> impl Strategy<Value = Tuning> {
    let drawn: Vec<_> = Tuning::KNOBS.iter().map(numbers).collect();
    drawn.prop_map(move |drawn| {
        let with = |tuning: Tuning, (knob, number): (&Knob, Option<u32>)| match number {
            Some(number) => knob.with(&tuning, Some(number)),
            None => tuning,
        };
        Tuning::KNOBS.iter().zip(drawn).fold(row.clone(), with)
    })
}

/// A knob's numbers for small sorts; `None` for the row's.
fn numbers(knob: &Knob) -> BoxedStrategy<Option<u32>> {
    let drawn = match knob.scale {
        Scale::Invocations => prop_oneof![prop::sample::select(&[8u32, 16, 24, 64, 96]), 1..200u32].boxed(),
        Scale::Items => prop_oneof![2 => 1..9u32, 1 => 9..60u32].boxed(),
        Scale::DigitBits => (1..12u32).boxed(),
        Scale::Polls => (1..10u32).boxed(),
        Scale::Tiles => prop::sample::select(&[1u32, 1, 2, 64, 1_000]).boxed(),
        Scale::Lanes => prop::sample::select(&[4u32, 8, 16, 32, 64, 128]).boxed(),
        Scale::Switch => (0..2u32).boxed(),
        Scale::Methods(names) => (0..names.len() as u32).boxed(),
        _ => panic!("{} has a scale of which no numbers are drawn", knob.name),
    };
    match knob.name {
        // Tiles are small in every draw.
        "items_keys" | "items_pairs" | "single_items" => drawn.prop_map(Some).boxed(),
        _ => prop::option::of(drawn).boxed(),
    }
}

/// Keys of any type with any values, in any order.
pub fn elements(random: &mut Rng) -> SortRequest {
    let key = KeyType::ALL[random.usize(0..KeyType::ALL.len())];
    let bytes = ValueType::Bytes([1, 2, 4, 8, 12, 16, 20][random.usize(0..7)]);
    let value = [ValueType::None, ValueType::Index, ValueType::Index, bytes, bytes][random.usize(0..5)];
    let (low, high) = (random.u32(0..=key.bits()), random.u32(0..=key.bits()));
    let narrow = random.u32(0..3) == 0;
    let discards = value != ValueType::None && random.u32(0..4) == 0;
    SortRequest::new(key)
        .value(value)
        .order([Order::Ascending, Order::Descending][random.usize(0..2)])
        .bits(if narrow { low.min(high)..low.max(high) } else { 0..key.bits() })
        .placement([Placement::InPlace, Placement::OutOfPlace][random.usize(0..2)])
        .key_output(if discards { KeyOutput::Discarded } else { KeyOutput::Sorted })
        .stable(random.bool())
}

/// What indices count from, if there are any.
pub fn indices(value: ValueType, random: &mut Rng) -> IndexFrom {
    if value == ValueType::Index && random.bool() { IndexFrom::Segment } else { IndexFrom::Array }
}

/// Words for segments of these lengths, and elements enough for them. Between ranges there may be holes.
pub fn words(segments: Segments, lengths: &[u32], random: &mut Rng) -> (Vec<u32>, u32) {
    let mut at = random.u32(0..20);
    let mut words = Vec::new();
    match segments {
        Segments::Offsets => {
            words.push(at);
            for length in lengths {
                at += length;
                words.push(at);
            }
        }
        Segments::Ranges => {
            for length in lengths {
                at += if random.u32(0..3) == 0 { random.u32(0..200) } else { 0 };
                words.extend([at, at + length]);
                at += length;
            }
        }
        Segments::Rows { stride } => at = stride * lengths.len() as u32,
        Segments::RowsOf { stride } => {
            // A few say more than there is.
            let word = |length: &u32| if random.u32(0..9) == 0 { stride + 7 } else { length % (stride + 9) };
            words = lengths.iter().map(word).collect();
            at = stride * lengths.len() as u32;
        }
        Segments::Whole => at = lengths.iter().sum(),
        other => panic!("{other:?} is not tested"),
    }
    (words, at + random.u32(0..30))
}

/// A tuning of the draws, from a seed.
pub fn tuning(row: Tuning, seed: u64) -> Tuning {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    tunings(row).new_tree(&mut runner).expect("no draw is rejected").current()
}

/// Makes draws and runs them, on each core.
pub fn run_draws<S: Strategy<Value: Debug>>(
    kept: &'static str,
    draws: impl Fn() -> S + Sync,
    run: impl Fn(&S::Value) -> Result<(), String> + Sync,
) {
    let text = std::env::var("VKSORT_DRAW_SECONDS");
    let time = Duration::from_secs(match &text {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("VKSORT_DRAW_SECONDS is {text:?}, allowed is a number")),
        Err(_) if level() == Level::Full => 15,
        Err(_) => 6,
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let (draws, run) = (&draws, &run);
    let drawn: u32 = std::thread::scope(|scope| {
        let draw = |thread| scope.spawn(move || draw_for(kept, time, thread, &draws(), run));
        let threads: Vec<_> = (0..threads).map(draw).collect();
        // What a thread says of its draw is the last thing that the log of the test says.
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|said| resume_unwind(said))).sum()
    });
    // Not by `println!`, which is shown for tests that fail only.
    let mut out = std::io::stdout();
    writeln!(out, "{drawn} draws, VKSORT_SEED={}", seed()).unwrap();
}

/// Draws of each thread, however slow the machine.
const MIN_DRAWS: u32 = 4;

/// Draws until the time is over, as one of several threads; gives how many were drawn.
fn draw_for<S: Strategy<Value: Debug>>(
    kept: &'static str,
    time: Duration,
    thread: u64,
    draws: &S,
    run: impl Fn(&S::Value) -> Result<(), String>,
) -> u32 {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    bytes[8..16].copy_from_slice(&thread.to_le_bytes());
    let kept = FileFailurePersistence::Direct(kept);
    let config = Config {
        cases: 2_000,
        failure_persistence: Some(Box::new(kept)),
        max_shrink_iters: 200,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (started, drawn, failed) = (Instant::now(), Cell::new(0), Cell::new(false));
    let result = runner.run(draws, |draw| {
        // What fails is shrunk however long it takes; but for that, draws beyond the time pass as they are.
        if !failed.get() && drawn.get() >= MIN_DRAWS && started.elapsed() > time {
            return Ok(());
        }
        drawn.set(drawn.get() + 1);
        run(&draw).map_err(|reason| {
            // Shrinking takes a while, and perhaps all memory.
            if !failed.replace(true) {
                eprintln!("this draw fails: {draw:#?}\nVKSORT_SEED={}: {reason}", seed());
            }
            TestCaseError::fail(reason)
        })
    });
    match result {
        Ok(()) => drawn.get(),
        Err(TestError::Fail(reason, draw)) => {
            // The reason comes last: who shows the end of a log shows it.
            panic!("the smallest draw that fails: {draw:#?}\nVKSORT_SEED={}: {reason}", seed())
        }
        Err(TestError::Abort(reason)) => panic!("VKSORT_SEED={}: {reason}", seed()),
    }
}

/// A row with one number as each of its sizes, allowed or not.
pub fn with_each_size(row: &Tuning, number: u32) -> Tuning {
    Tuning {
        workgroup_size: number,
        items_keys: number,
        items_pairs: number,
        staged_items: Some(number),
        single_workgroup_size: Some(number),
        single_items: number,
        segment_items: number,
        network_longest: number,
        subgroup_size: Some(number),
        digit_bits: number,
        polls: number,
        min_tiles: number,
        histogram_workgroup_size: number,
        histogram_subgroup_size: Some(number),
        histogram_items: number,
        scan_workgroup_size: number,
        ..row.clone()
    }
}
