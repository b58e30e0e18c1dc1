//! Inspectors on the simulated device: their reports about drawn segments, counts and promises, between guard bytes.

use vksort::__private::ShapeDesc;
use vksort::__private::abi;
use vksort::__private::steps::{self, Groups, HostStep};
use vksort::{Algorithm, Count, DeviceProfile, KeyType, Tuning};
use vksort_testing::inspected::{Asked, requests};

use super::dispatch::{self, Device};
use super::invocation::descriptor;
use super::memory::Memory;
use super::sort::program;
use super::{device_of, small_blocks};

const GUARD: u32 = 256;

/// The report about a sort that is bound with these words. What is not in the report keeps its bytes.
fn report(asked: &Asked, random: &mut fastrand::Rng) -> Result<Vec<u32>, String> {
    let lanes = [4, 8, 32, 64][random.usize(0..4)];
    let profile = DeviceProfile { max_workgroups: [2, 5, 65_535][random.usize(0..3)], ..device_of(lanes, true) };
    let sizes = [1, 2, 7, 32, 64];
    let tuning = Tuning { histogram_workgroup_size: sizes[random.usize(0..sizes.len())], ..small_blocks(lanes) };
    let desc = ShapeDesc::new(&profile, &tuning, &asked.request, Algorithm::OneSweep);
    let count = if asked.on_device { Count::Device } else { Count::Host(asked.count) };
    let (elements, segments) = (asked.capacity.elements, asked.capacity.segments);
    let step = steps::inspection(&desc, elements, segments, count).map_err(|error| error.to_string())?;

    let words = [&asked.words[..], &[asked.count]].concat();
    let at = [GUARD, GUARD + 4 * words.len() as u32];
    let report = (at[1] + 4).next_multiple_of(GUARD) + GUARD;
    let size = 4 * abi::INSPECTION_WORDS;
    let mut before = vec![0xA7; (report + size + GUARD) as usize];
    before[GUARD as usize..][..4 * words.len()].copy_from_slice(bytemuck::cast_slice(&words));
    let mut memory = Memory::new(&before, random.fork());
    memory.counters = vec![(report, size)];
    memory.clear(report, size);
    if let Some(HostStep::Dispatch(dispatch)) = step {
        let of_segments = (!asked.words.is_empty()).then_some((at[0], 4 * asked.words.len() as u32));
        let bound = [
            (abi::BINDING_SEGMENTS, of_segments),
            (abi::BINDING_COUNT, asked.on_device.then_some((at[1] - 4, 4))),
            (abi::BINDING_COUNTERS, Some((report, size))),
        ];
        memory.descriptors =
            bound.iter().filter_map(|(binding, range)| Some((descriptor(*binding, 0), (*range)?))).collect();
        let Groups::Direct(groups) = dispatch.groups else { return Err("an inspector is dispatched directly".into()) };
        let limit = profile.max_workgroups;
        let size = if groups <= limit { [groups, 1, 1] } else { [limit, groups.div_ceil(limit), 1] };
        let push = abi::Push { count_word: asked.on_device.into(), ..dispatch.push };
        let device = Device { lanes, resident: 3, shuffles: true, shows: 4, late: None };
        let words = &push.words(None)[..abi::Push::WORDS];
        dispatch::run(&program(&dispatch), &device, size, &mut memory, words, random)?;
    }
    let after = memory.bytes();
    let found = report as usize..(report + size) as usize;
    before[found.clone()].copy_from_slice(&after[found.clone()]);
    match after == before {
        true => Ok(bytemuck::pod_collect_to_vec(&after[found])),
        false => Err("bytes beside the report were changed".into()),
    }
}

#[test]
fn reports_are_those_of_the_cpu() {
    let from = vksort_testing::seed();
    let (mut beyond, mut too_long, mut descending) = (0, 0, 0);
    for turn in 0..40u64 {
        let seed = from.wrapping_add(turn);
        let mut random = fastrand::Rng::with_seed(seed);
        for request in requests(KeyType::U32, &mut random) {
            let asked = Asked::draw(request, &mut random);
            let found = report(&asked, &mut random);
            assert_eq!(found.as_deref(), Ok(&asked.report()[..]), "VKSORT_SEED={seed} {request} {asked:?}");
            let [_, _, segments, elements, long, descends] = asked.report();
            beyond += u32::from(segments > 0) + u32::from(elements > 0);
            (too_long, descending) = (too_long + u32::from(long > 0), descending + u32::from(descends > 0));
        }
    }
    // The draws have all that a report can say.
    assert!(beyond > 20 && too_long > 20 && descending > 20, "{beyond} {too_long} {descending}");
}
