//! Sorts that may end with a finish, of keys by which the sample decides either way, also when the keys change before it.

use proptest::prelude::*;
use vksort::__private::{ShapeDesc, abi, steps};
use vksort::{Algorithm, Count, RankMethod, SortRequest, SubgroupChoice, Tuning};
use vksort_testing::leading;

use super::dispatch::Device;
use super::sort::Sort;
use super::{check, device_of, small_blocks};

/// A sort, and the way in which it runs.
#[derive(Clone, Debug)]
struct Draw {
    request: SortRequest,
    kind: &'static str,
    windows: u32,
    counted: Option<u32>,
    lanes: u32,
    tuning: Tuning,
    emulated: bool,
    addressed: bool,
    /// Whether the keys change between the passes and the finish.
    disturbs: bool,
    resident: usize,
    shows: usize,
    seed: u64,
}

fn draws() -> impl Strategy<Value = Draw> {
    let lanes = prop::sample::select(&[4u32, 8, 16, 32]);
    let way = (
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::sample::select(&[1usize, 2, 3, 8]),
        prop::sample::select(&[0usize, 4, 64]),
        any::<u64>(),
    );
    let request = prop::sample::select(leading::requests());
    let kind = prop::sample::select(leading::KINDS.map(|(kind, _)| kind).to_vec());
    // A run that is longer than a window takes many of these, or has too large a share of the keys.
    let windows = prop_oneof![3 => 8..40u32, 1 => 110..130u32];
    let counted = prop::option::weighted(0.3, 30..150u32);
    (request, kind, windows, counted, lanes, 2..9u32, way).prop_map(
        |(request, kind, windows, counted, lanes, items, (emulated, addressed, disturbs, resident, shows, seed))| {
            Draw {
                request,
                kind,
                windows,
                counted,
                lanes,
                tuning: Tuning {
                    rank: RankMethod::Ballot,
                    digit_bits: 8,
                    segment_items: items * request.key.bits() / 32,
                    finish_tiles: Some(1),
                    single_workgroup_size: Some(lanes),
                    workgroup_size: lanes.max(8),
                    ..small_blocks(lanes)
                },
                emulated,
                addressed: addressed && !emulated,
                disturbs,
                resident,
                shows,
                seed,
            }
        },
    )
}

fn run(draw: &Draw) -> Result<(), String> {
    let Draw { request, tuning, lanes, .. } = draw;
    let profile = device_of(*lanes, true);
    let desc = ShapeDesc {
        subgroup: if draw.emulated { SubgroupChoice::Emulated(*lanes) } else { SubgroupChoice::Auto },
        addressed: draw.addressed,
        ..ShapeDesc::new(&profile, tuning, request, Algorithm::OneSweep)
    };
    let text = |error: vksort::Error| error.to_string();
    let shape = steps::of(&desc, 0, Count::Host(0)).map_err(text)?.shape;
    let window = shape.finish.ok_or("the shape has no finish")?.window.elements();
    let given = (draw.windows * window).min(4_000) + draw.seed as u32 % 7;
    let keys = leading::keys(request, draw.kind, given, draw.seed);
    let counted = draw.counted.map(|percent| given * percent / 100);
    let count = if counted.is_some() { Count::Device } else { Count::Host(given) };
    let host = steps::of(&desc, given, count).map_err(text)?;
    let device = Device { lanes: *lanes, resident: draw.resident, shuffles: true, shows: draw.shows, late: None };
    let sort = Sort {
        request,
        host: &host,
        keys: &keys,
        stride: None,
        capacity: given,
        counted,
        device,
        changed: None,
        disturbed: draw.disturbs.then_some("runs"),
    };
    if draw.disturbs {
        // What is sorted then is nothing that the caller gave, but all of it is in the caller's ranges.
        return sort.run(&mut fastrand::Rng::with_seed(draw.seed)).map(drop);
    }
    check(&sort, draw.seed).map(|_| ())
}

#[test]
fn runs_of_equal_leading_bits_are_sorted_whatever_the_sample_finds() {
    const { assert!(abi::COUNTERS_FINISH < abi::COUNTERS_ARGUMENTS) };
    vksort_testing::drawn::run_draws("tests/regressions/finish.txt", draws, run);
}
