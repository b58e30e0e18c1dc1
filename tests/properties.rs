//! Random requests on random data, shrunk to the smallest that fails: a request, data and options are drawn, and the
//! oracle decides.

mod common;

use common::arena::{Arena, Count};
use common::patterns::{self, Pattern};
use common::{Level, gpu, level, seed, suite};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use vksort::{
    Access, Algorithm, BitRange, Faults, KeyOutput, KeyType, Order, Placement, SortRequest, SorterOptions,
    SubgroupChoice, Tuning, ValueType,
};

/// Keys: a pattern, or numbers drawn one by one, which can be shrunk.
#[derive(Clone, Debug)]
enum Keys {
    Made { pattern: Pattern, count: u32 },
    Drawn(Vec<u128>),
}

impl Keys {
    fn bytes(&self, key: KeyType) -> Vec<u8> {
        match self {
            Keys::Made { pattern, count } => patterns::generate(*pattern, key, *count as usize, seed()),
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
    blocks: u32,
    early_counts: bool,
    emulated: bool,
    addresses: bool,
    portion: Option<u32>,
    withhold: u32,
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
    let algorithm = prop::option::of(prop::sample::select(&[
        Algorithm::OneSweep,
        Algorithm::OneSweep,
        Algorithm::Leading,
        Algorithm::Leading,
        Algorithm::ReduceThenScan,
    ]));
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
        2 => (prop::sample::select(patterns::ALL), prop_oneof![0..40u32, 0..20_000u32])
            .prop_map(|(pattern, count)| Keys::Made { pattern, count }),
        1 => prop::collection::vec(any::<u128>(), 0..600).prop_map(Keys::Drawn),
    ]
}

fn draws() -> impl Strategy<Value = Draw> {
    let options = (1..9u32, 1..4u32, any::<bool>(), prop::bool::weighted(0.15), prop::bool::weighted(0.2));
    let faults = (prop::option::weighted(0.2, 1..10_000u32), prop::sample::select(&[0u32, 0, 0, 1, 3]));
    (requests(), keys(), 0..5_000u32, prop::option::weighted(0.4, 0..150u32), options, faults).prop_map(
        |(request, keys, spare, counted, (items, blocks, early_counts, emulated, addresses), (portion, withhold))| {
            Draw {
                request,
                keys,
                spare,
                counted,
                items,
                blocks,
                early_counts,
                emulated,
                addresses: addresses && !emulated,
                portion,
                withhold,
            }
        },
    )
}

fn run(draw: &Draw) -> Result<(), String> {
    let gpu = &gpu();
    // Where nobody publishes, look-back walks over all tiles, and drivers of CPUs let loops have so many turns only.
    let items = if draw.withhold == 1 { 16 * draw.items } else { draw.items };
    let tuning = Tuning {
        items_keys: items,
        items_pairs: items,
        single_items: 2 * items,
        max_blocks: draw.blocks,
        early_counts: draw.early_counts,
        ..suite::small_blocks()
    };
    let addresses = draw.addresses && gpu.profile().buffer_addresses;
    let options = SorterOptions {
        tuning: Some(tuning),
        subgroup: if draw.emulated { SubgroupChoice::Emulated(16) } else { SubgroupChoice::Auto },
        access: if addresses { Access::Addresses } else { Access::Descriptors },
        faults: Faults { withhold: draw.withhold, portion: draw.portion, ..Faults::default() },
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

#[test]
fn any_request_sorts_any_keys() {
    let cases = if level() == Level::Full { 200 } else { 40 };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&draws(), |draw| run(&draw).map_err(TestCaseError::fail));
    if let Err(TestError::Fail(reason, draw)) = result {
        panic!("VKSORT_SEED={}: {reason}\nthe smallest draw that fails: {draw:#?}", seed());
    }
    result.unwrap();
}
