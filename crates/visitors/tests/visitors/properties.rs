//! Random requests on random data, shrunk to the smallest that fails: a request, data and options are drawn, and the
//! oracle decides. Draws are made for so many seconds, from a seed that each run chooses anew; what has failed once runs first.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use vksort::__private::Faults;
use vksort::{
    Access, Algorithm, KeyOutput, KeyType, Placement, RankMethod, SortRequest, SorterOptions, Specialization,
    SubgroupChoice, Tuning, ValueType, Visitor, Visits,
};
use vksort_testing::arena::{Arena, Count};
use vksort_testing::drawn::{Keys, keys, requests, tunings};
use vksort_testing::patterns::Pattern;
use vksort_testing::visited::VisitedArena;
use vksort_testing::{Trial, gpu, suite};

use crate::source::source;

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
    let options = SorterOptions::default().tuning(tuning).access(Access::Descriptors).faults(faults);
    vec![
        // Look-back over every tile took more turns of loops than drivers of CPUs allow.
        Draw {
            request: SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep),
            visits: Visits::default(),
            keys: Keys::Made { pattern: Pattern::Uniform, count: 20_000, seed: 20_240_917 },
            spare: 0,
            counted: None,
            options,
        },
        // lavapipe of Mesa 22.3 lost lanes of a subgroup that was not full, after a branch with barriers that was not taken.
        Draw {
            request: SortRequest::new(KeyType::U32).bits(0..7).algorithm(Algorithm::OneSweep),
            visits: Visits::default(),
            keys: Keys::Made { pattern: Pattern::OneStray, count: 1_000, seed: 1 },
            spare: 0,
            counted: None,
            options: SorterOptions::default()
                .tuning(Tuning { workgroup_size: 12, rank: RankMethod::Match, ..suite::small_blocks() })
                .subgroup(SubgroupChoice::Emulated(4)),
        },
        // What was bound in place of discarded keys was a word of the sorted values, which the next step writes without a barrier for it.
        Draw {
            request: SortRequest::new(KeyType::U8)
                .value(ValueType::Bytes(8))
                .placement(Placement::OutOfPlace)
                .key_output(KeyOutput::Discarded),
            visits: Visits::NONE.keys(true).values(true),
            keys: Keys::Made { pattern: Pattern::Uniform, count: 3_000, seed: 1 },
            spare: 0,
            counted: None,
            options: SorterOptions::default().tuning(Tuning { digit_bits: 8, ..suite::small_blocks() }),
        },
        // SwiftShader takes all memory to compile a histogram whose loops over many digits are unrolled, each with a branch.
        Draw {
            request: SortRequest::new(KeyType::U128).algorithm(Algorithm::OneSweep),
            visits: Visits::default(),
            keys: Keys::Made { pattern: Pattern::OneStray, count: 24, seed: 1 },
            spare: 869,
            counted: None,
            options: SorterOptions::default()
                .tuning(Tuning { merge_runs: true, rank: RankMethod::Ballot, ..suite::small_blocks() })
                .specialization(Specialization::Host),
        },
    ]
}

fn options() -> impl Strategy<Value = SorterOptions> {
    let device = (
        prop::option::weighted(0.15, prop::sample::select(&[4u32, 8, 16, 32, 64, 128])),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
        prop::sample::select(&[Specialization::Auto, Specialization::Driver, Specialization::Host]),
    );
    let faults =
        (prop::option::weighted(0.3, 0..6u32), prop::sample::select(&[0u32, 0, 0, 1, 3]), prop::bool::weighted(0.2));
    (tunings(suite::small_blocks()), device, faults).prop_map(|(mut tuning, device, faults)| {
        let (ring_bits, withhold, decide_apart) = faults;
        let (emulated, addresses, no_small_storage, specialization) = device;
        // Where nobody publishes, or the words of a small ring are lost, look-back recounts tile after tile. Drivers of CPUs
        // end an invocation's loops after so many turns, so there are fewer tiles then.
        if withhold == 1 || ring_bits.is_some() {
            tuning.items_keys = tuning.items_keys.max(MIN_RECOUNTED.div_ceil(tuning.workgroup_size));
            tuning.items_pairs = tuning.items_keys;
        }
        // Emulated subgroups have descriptors alone.
        let addresses = addresses && emulated.is_none() && gpu().profile().buffer_addresses;
        SorterOptions::default()
            .tuning(tuning)
            .subgroup(emulated.map_or(SubgroupChoice::Auto, SubgroupChoice::Emulated))
            .access(if addresses { Access::Addresses } else { Access::Descriptors })
            .specialization(specialization)
            .faults(Faults { withhold, ring_bits, no_small_storage, decide_apart, ..Faults::default() })
    })
}

/// Elements of a tile, at least, if many tiles are recounted.
const MIN_RECOUNTED: u32 = 512;

fn draws() -> impl Strategy<Value = Draw> {
    let visits = prop::option::weighted(0.3, (any::<bool>(), any::<bool>(), any::<bool>()));
    (requests(), visits, keys(20_000), 0..5_000u32, prop::option::weighted(0.4, 0..150u32), options()).prop_map(
        |(mut request, visits, keys, spare, counted, options)| {
            // As far as the request can be visited, and then not in place.
            let (keys_made, values, output) = visits.unwrap_or_default();
            let visits = Visits::NONE
                .keys(keys_made)
                .values(values && request.value.is_read())
                .output(output && !request.value.is_gathered());
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
        Some(percent) if capacity > 0 => Count::Device((u64::from(capacity) * u64::from(percent) / 100) as u32),
        // A sort without room takes no count on the device.
        _ => Count::Host,
    };
    if *visits == Visits::default() {
        let sorter = gpu.sorter(request, options).map_err(text)?;
        let capacity = fit(sorter.max_count());
        let arena = Arena::new(gpu, &sorter, capacity);
        suite::run_keys(request, &arena, &keys, counted(capacity))?;
    } else {
        let visitor = Visitor::from(source(*visits));
        let mut capacity = 0;
        let arena = VisitedArena::new(gpu, request, options, &visitor, |sorter| {
            capacity = fit(sorter.max_count());
            capacity
        });
        arena.map_err(text)?.check(&keys, counted(capacity), spare)?;
    }
    vksort_testing::assert_valid(gpu);
    Ok(())
}

fn any_request_sorts_any_keys() {
    for draw in once_failed() {
        run(&draw).unwrap_or_else(|reason| panic!("{reason}: {draw:#?}"));
    }
    vksort_testing::drawn::run_draws("tests/regressions/properties.txt", draws, run);
}

/// Sizes that few draws have, and that no sorter takes, would fail a run in a hundred.
fn every_drawn_size_is_allowed() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..20_000 {
        let tuning = options().new_tree(&mut runner).unwrap().current().tuning.unwrap();
        for knob in Tuning::KNOBS {
            let number = knob.get(&tuning);
            assert!(number.is_none_or(|number| knob.scale.allows(number)), "{} is {number:?}: {tuning:?}", knob.name);
        }
    }
}

pub fn trials() -> Vec<Trial> {
    vksort_testing::trials![any_request_sorts_any_keys, every_drawn_size_is_allowed]
}
