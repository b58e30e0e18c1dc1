//! The kernels' SPIR-V, run step by step on the CPU: at every subgroup size, in any order of workgroups and invocations, with
//! memory that shows stores as late as Vulkan allows. An access out of bounds, a read of memory that nothing has written, a race,
//! and a subgroup operation that not all lanes reach are errors, as is an operation without a defined result.

mod arithmetic;
mod barriers;
mod bytes;
mod dispatch;
mod finish;
mod inspected;
mod invocation;
mod memory;
mod program;
mod records;
mod recount;
mod segments;
mod shared;
mod sort;
mod workgroup;

use dispatch::Device;
use proptest::prelude::*;
use sort::{Moved, Sort};
use vksort::__private::ShapeDesc;
use vksort::__private::steps;
use vksort::{Algorithm, Count, DeviceProfile, SortRequest, SubgroupChoice, Tuning};
use vksort_testing::drawn::{Keys, keys, requests, tunings};
use vksort_testing::suite;

/// All that a sort depends on.
#[derive(Clone, Debug)]
struct Draw {
    request: SortRequest,
    keys: Keys,
    /// Room for so many elements more than there are keys.
    spare: u32,
    /// The count on the device, if it comes from there, in percent of the capacity.
    counted: Option<u32>,
    profile: DeviceProfile,
    subgroup: SubgroupChoice,
    tuning: Tuning,
    addressed: bool,
    decide_apart: bool,
    withhold: u32,
    ring_bits: Option<u32>,
    /// Workgroups that run at the same time.
    resident: usize,
    shuffles: bool,
    /// Words that become visible at a time.
    shows: usize,
    seed: u64,
}

/// A device with subgroups of so many lanes.
fn device_of(lanes: u32, small_storage: bool) -> DeviceProfile {
    DeviceProfile { subgroup_size: lanes, subgroup_range: (lanes, lanes), small_storage, ..DeviceProfile::default() }
}

/// The row that draws change.
fn small_blocks(lanes: u32) -> Tuning {
    let profile = device_of(lanes, true);
    let of_device = suite::small_blocks_of(&profile);
    Tuning {
        workgroup_size: 2 * lanes,
        histogram_workgroup_size: 64,
        histogram_items: 8,
        scan_workgroup_size: 64,
        ..of_device
    }
}

fn draws() -> impl Strategy<Value = Draw> {
    let lanes = prop::sample::select(&[4u32, 8, 16, 32, 32, 64, 64, 128]);
    lanes.prop_flat_map(|lanes| {
        let device = (
            any::<bool>(),
            prop::option::weighted(0.1, prop::sample::select(&[4u32, 8, 16, 32, 64, 128])),
            prop::bool::weighted(0.2),
            prop::sample::select(&[1usize, 2, 3, 8]),
            any::<bool>(),
            prop::sample::select(&[0usize, 4, 64]),
            any::<u64>(),
        );
        let faults = (
            prop::option::weighted(0.3, 0..6u32),
            prop::sample::select(&[0u32, 0, 0, 1, 3]),
            prop::bool::weighted(0.2),
        );
        let counted = prop::option::weighted(0.4, 0..150u32);
        (requests(), keys(2_000), 0..1_000u32, counted, tunings(small_blocks(lanes)), device, faults).prop_map(
            move |(request, keys, spare, counted, tuning, device, (ring_bits, withhold, decide_apart))| {
                let (small_storage, emulated, addressed, resident, shuffles, shows, seed) = device;
                Draw {
                    request,
                    keys,
                    spare,
                    counted,
                    profile: device_of(lanes, small_storage),
                    subgroup: emulated.map_or(SubgroupChoice::Auto, SubgroupChoice::Emulated),
                    tuning,
                    // Emulated subgroups have descriptors alone.
                    addressed: addressed && emulated.is_none(),
                    decide_apart,
                    withhold,
                    ring_bits,
                    resident,
                    shuffles,
                    shows,
                    seed,
                }
            },
        )
    })
}

/// Counts of all tiles for all later ones, of which a few hundred million instructions make so many.
const MAX_COUNTS: u32 = 2_000_000;

fn run(draw: &Draw) -> Result<(), String> {
    if draw.seed.is_multiple_of(4) {
        simulate(draw, true).map_err(|reason| format!("warming up: {reason}"))?;
    }
    simulate(draw, false)
}

/// Runs a sort, or what warms its kernels up, which reads and writes no elements.
fn simulate(draw: &Draw, idle: bool) -> Result<(), String> {
    let Draw { request, profile, tuning, subgroup, addressed, withhold, ring_bits, .. } = draw;
    let mut desc = ShapeDesc {
        subgroup: *subgroup,
        addressed: *addressed,
        withhold: *withhold,
        ring_bits: *ring_bits,
        ..ShapeDesc::new(profile, tuning, request, request.algorithm.unwrap_or(tuning.algorithm()))
    };
    desc.quirks.decide_apart = draw.decide_apart;
    let text = |error: vksort::Error| error.to_string();
    let mut keys = draw.keys.bytes(request.key);
    let size = request.key.size_bytes() as usize;
    let shape = steps::of(&desc, 0, Count::Host(0)).map_err(text)?.shape;
    let most = match request.algorithm {
        Some(Algorithm::SingleWorkgroup) => shape.single.elements(),
        // If no workgroup shows its counts, each one counts all earlier tiles.
        _ => shape.tile.elements() * (MAX_COUNTS >> shape.ranking.digit_bits).isqrt(),
    };
    keys.truncate(size * most as usize);
    let given = (keys.len() / size) as u32;
    // The keys fill the capacity if the device has the count.
    let capacity = if draw.counted.is_some() { given } else { most.min(given + draw.spare) };
    let counted = draw.counted.map(|percent| (u64::from(capacity) * u64::from(percent) / 100) as u32);
    let count = if counted.is_some() { Count::Device } else { Count::Host(given) };
    let (host, counted) = match idle {
        true => (steps::of_segments(&desc, capacity, 0, None).map_err(text)?, Some(0)),
        false => (steps::of(&desc, capacity, count).map_err(text)?, counted),
    };
    let device = Device {
        lanes: profile.subgroup_size,
        resident: draw.resident,
        shuffles: draw.shuffles,
        shows: draw.shows,
        late: None,
    };
    let sort = Sort {
        request,
        host: &host,
        keys: &keys,
        stride: None,
        capacity,
        counted,
        device,
        changed: None,
        disturbed: None,
    };
    check(&sort, draw.seed).map(|_| ())
}

/// Runs a sort and compares its result in full; gives what it has moved.
fn check(sort: &Sort<'_>, seed: u64) -> Result<Moved, String> {
    let size = sort.request.key.size_bytes() as usize;
    let given = sort.keys.len() / size;
    let sorted = sort.counted.map_or(given, |counted| given.min(counted as usize)) * size;
    let (result, moved) = sort.run(&mut fastrand::Rng::with_seed(seed))?;
    suite::compare(sort.request, &sort.keys[..sorted], result).map(|()| moved)
}

#[test]
fn any_request_sorts_any_keys_at_any_subgroup_size() {
    vksort_testing::drawn::run_draws("tests/regressions/simulated.txt", draws, run);
}
