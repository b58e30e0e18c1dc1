//! Plans without a device: sizes, dispatches, routes and barriers.

use crate::segments::Segments;
use ash::vk::AccessFlags;

use super::hazard::Region;
use super::*;
use crate::key::KeyType;
use crate::profile::{
    DeviceProfile,
    driver::{LLVMPIPE, SWIFTSHADER, UNKNOWN},
    vendor,
};
use crate::request::{KeyOutput, Placement, SortRequest};
use crate::shape::{Shape, ShapeDesc};
use crate::tuning::Tuning;

fn profile(vendor_id: u32, driver_id: ash::vk::DriverId, subgroup_size: u32) -> DeviceProfile {
    let subgroup_range = (subgroup_size, subgroup_size);
    // Shared memory of these vendors' desktop GPUs; all others get the common 32 KiB.
    let max_shared_bytes = match vendor_id {
        vendor::NVIDIA => 48 << 10,
        vendor::AMD | vendor::INTEL => 64 << 10,
        _ => 32 << 10,
    };
    DeviceProfile { vendor_id, driver_id, subgroup_size, subgroup_range, max_shared_bytes, ..DeviceProfile::default() }
}

/// A plan by the built-in row, whose sorts may end with a finish from so many tiles on.
fn plan_with(profile: &DeviceProfile, request: &SortRequest, capacity: u32, finish_tiles: Option<u32>) -> Plan {
    let tuning = Tuning { finish_tiles, ..Tuning::for_device(profile) };
    let algorithm = request.algorithm.unwrap_or(Algorithm::OneSweep);
    let shape = Shape::fit(&ShapeDesc::new(profile, &tuning, request, algorithm)).unwrap();
    Plan::new(request, algorithm, shape, capacity)
}

fn plan_of(profile: &DeviceProfile, request: &SortRequest, capacity: u32) -> Plan {
    plan_with(profile, request, capacity, None)
}

fn plan(profile: &DeviceProfile, algorithm: Algorithm, value: ValueType, capacity: u32) -> Plan {
    let request = asking(algorithm).value(value);
    plan_of(profile, &request, capacity)
}

fn asking(algorithm: Algorithm) -> SortRequest {
    SortRequest::new(KeyType::U32).algorithm(algorithm)
}

fn steps(plan: &Plan, count: Count) -> Vec<Step> {
    let mut steps = Vec::new();
    plan.each_step(count, &mut |step| steps.push(step));
    steps
}

fn chained() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| *algorithm != Algorithm::SingleWorkgroup)
}

#[test]
fn scratch_beyond_ping_pong_is_under_two_percent_or_four_mebibytes() {
    let capacity = 1 << 24;
    for profile in [
        profile(vendor::NVIDIA, UNKNOWN, 32),
        profile(vendor::AMD, UNKNOWN, 64),
        profile(vendor::INTEL, UNKNOWN, 16),
        profile(vendor::APPLE, UNKNOWN, 32),
        profile(vendor::ARM, UNKNOWN, 16),
        profile(0, LLVMPIPE, 4),
        profile(0, LLVMPIPE, 8),
        profile(0, LLVMPIPE, 16),
        profile(0, SWIFTSHADER, 4),
    ] {
        for value in [ValueType::None, ValueType::U32] {
            for algorithm in chained() {
                let plan = plan(&profile, algorithm, value, capacity);
                let layout = plan.scratch();
                let data = u64::from(capacity) * (plan.request.key.size_bytes() + value.size_bytes());
                let beyond = layout.size - data;
                // Reduce-then-scan has fewer than two parts for each of `min_tiles`, with a word for each digit.
                let words = (2 * u64::from(plan.shape.min_tiles)) << plan.shape.ranking.digit_bits;
                let least = if algorithm.looks_back() { 4 << 20 } else { 4 * words };
                assert!(
                    beyond * 100 < data * 2 || beyond <= least,
                    "{algorithm} on {}: {beyond} bytes beyond {data}",
                    Tuning::for_device(&profile).name
                );
            }
        }
    }
}

#[test]
fn scratch_sizes_do_not_wrap_at_the_largest_count() {
    for algorithm in chained() {
        let plan = plan(&profile(vendor::NVIDIA, UNKNOWN, 32), algorithm, ValueType::Bytes(16), MAX_COUNT);
        let layout = plan.scratch();
        let data = u64::from(MAX_COUNT) * (plan.request.key.size_bytes() + 16);
        assert!(layout.size > data && layout.size < data + data / 50, "{layout:?}");
        let regions = [layout.counters, layout.table, layout.keys_alternate, layout.values_alternate];
        for pair in regions.windows(2) {
            assert!(pair[0].offset + pair[0].size <= pair[1].offset);
            assert_eq!(pair[1].offset % scratch::REGION_ALIGNMENT, 0);
        }
        assert!(layout.values_alternate.offset + layout.values_alternate.size <= layout.size);
    }
}

#[test]
fn scratch_holds_only_what_the_passes_of_a_request_use() {
    let nvidia = profile(vendor::NVIDIA, UNKNOWN, 32);
    let usual = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let out = usual.placement(Placement::OutOfPlace);
    let layout = |request: SortRequest| plan_of(&nvidia, &request, 1_000_000).scratch();
    assert_eq!(layout(usual).keys_alternate.size, 4_000_000);
    assert_eq!(layout(out.bits(0..8)).keys_alternate.size, 0, "a pass goes to the target");
    assert_eq!(layout(usual.bits(0..8)).keys_alternate.size, 4_000_000, "in place");
    assert_eq!(layout(usual.bits(9..9)).size, 0, "there is nothing to do");
    let pairs = layout(usual.value(ValueType::Bytes(12)));
    assert_eq!(pairs.values_alternate.size, 12_000_000);
    let gathered = layout(usual.value(ValueType::Bytes(20)));
    let sizes = [gathered.values_alternate.size, gathered.permutation.size, gathered.aside.size];
    assert_eq!(sizes, [4_000_000, 4_000_000, 20_000_000]);
    assert_eq!(layout(out.value(ValueType::Bytes(20))).aside.size, 0);
    let discarded = out.value(ValueType::Index).key_output(KeyOutput::Discarded);
    assert_eq!(layout(discarded).keys_target.size, 4_000_000, "a second place for keys that nobody wants");
    assert_eq!(layout(discarded.bits(0..16)).keys_target.size, 0);
}

#[test]
fn scratch_for_a_capacity_serves_every_smaller_count() {
    for algorithm in chained() {
        for capacity in [1, 1000, 100_003, 1 << 20, 1 << 24, 1 << 31, MAX_COUNT] {
            let plan = plan_of(&profile(0, LLVMPIPE, 8), &asking(algorithm), capacity);
            let layout = plan.scratch();
            let host = [1, capacity / 3, capacity / 2 + 1, capacity - 1, capacity].map(Count::Host);
            for count in host.into_iter().chain([Count::Device]) {
                for step in steps(&plan, count) {
                    if let Work::Clear { bytes } = step.work {
                        let end = layout.table.offset + layout.table.size;
                        assert!(bytes <= end, "{algorithm}, {count:?} of {capacity}");
                    }
                }
                assert!(plan.table_words(plan.largest(count)) * 4 <= layout.table.size);
            }
        }
    }
}

#[test]
fn dispatches_cover_the_input_exactly_once() {
    for algorithm in chained() {
        let plan = plan(&profile(vendor::NVIDIA, UNKNOWN, 32), algorithm, ValueType::None, 1 << 29);
        let tile = plan.tile;
        for count in [1, tile - 1, tile, tile + 1, 10 * tile - 1, 1 << 29] {
            for step in steps(&plan, Count::Host(count)) {
                let Work::Dispatch { kernel, groups, push, .. } = step.work else { continue };
                let Groups::Direct(workgroups) = groups else { panic!("{step:?} is not sized on the host") };
                if kernel == Kernel::Scan {
                    assert_eq!(workgroups, plan.shape.ranking.radix());
                    continue;
                }
                let (Own::Histogram { part, .. } | Own::Pass { part, .. }) = push.own else { panic!("{step:?}") };
                let covered = u64::from(workgroups) * u64::from(part);
                assert!(covered >= u64::from(count) && covered - u64::from(part) < u64::from(count), "{step:?}");
            }
        }
    }
}

#[test]
fn look_back_takes_constant_memory_and_passes_read_every_key_once() {
    for profile in [profile(vendor::NVIDIA, UNKNOWN, 32), profile(vendor::AMD, UNKNOWN, 64), profile(0, LLVMPIPE, 8)] {
        for digit_bits in 1..=11 {
            let request = asking(Algorithm::OneSweep);
            let tuning = Tuning { digit_bits, ..Tuning::for_device(&profile) };
            let shape = Shape::fit(&ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep)).unwrap();
            for capacity in [1 << 20, 1 << 28, MAX_COUNT] {
                let plan = Plan::new(&request, Algorithm::OneSweep, shape, capacity);
                let beyond = plan.scratch().size - 4 * u64::from(capacity);
                assert!(beyond <= 4 << 20, "{beyond} bytes beyond the alternate, {digit_bits} bits of {capacity}");
                assert!(
                    !shape.ranking.staged() || plan.tile == shape.tile.elements(),
                    "a tile is a block, which is loaded once"
                );
            }
        }
    }
}

#[test]
fn a_ring_has_a_slot_for_each_tile_or_all_slots_and_anchors() {
    let profile = profile(vendor::NVIDIA, UNKNOWN, 32);
    for ring_bits in [0, 1, 2, 5, 20] {
        let request = asking(Algorithm::OneSweep);
        let tuning = Tuning::for_device(&profile);
        let desc = ShapeDesc {
            ring_bits: Some(ring_bits),
            ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep)
        };
        let shape = Shape::fit(&desc).unwrap();
        let (slots, anchors) = (1 << shape.ring_bits, 1 << shape.anchor_bits());
        assert!(ring_bits > 10 || shape.ring_bits == ring_bits);
        let slot = u64::from(abi::SLOT_WORDS * shape.ranking.radix());
        for tiles in [1, slots.max(2) - 1, slots, slots + 1, 100 * slots] {
            let plan = Plan::new(&request, Algorithm::OneSweep, shape, tiles * shape.tile.elements());
            let wanted = if tiles <= slots { tiles } else { slots + anchors };
            assert_eq!(plan.table_words(plan.capacity), u64::from(wanted) * slot, "{tiles} tiles, {slots} slots");
            let (last, shift) = ((tiles - 1) >> plan.anchor_shift(plan.capacity), plan.anchor_shift(plan.capacity));
            assert!(last <= anchors && (last == 0 || tiles > slots), "{last} of {anchors} anchors, shift {shift}");
        }
    }
}

#[test]
fn look_back_tells_all_rounds_of_its_ring_apart() {
    for profile in [profile(vendor::NVIDIA, UNKNOWN, 32), profile(vendor::ARM, UNKNOWN, 16), profile(0, LLVMPIPE, 4)] {
        for key in KeyType::ALL {
            let request = SortRequest { key: *key, ..asking(Algorithm::OneSweep) };
            let plan = plan_of(&profile, &request, MAX_COUNT);
            // Tiles of the widest keys are small, but so many of them fit no memory.
            let (reached, size) = (u64::from(plan.max_count().0), key.size_bytes());
            assert!(
                reached == u64::from(MAX_COUNT) || reached * size >= 1 << 35,
                "{reached} {} of {profile:?}",
                key.name()
            );
        }
    }
    // Small tiles and few slots: in a pass over more elements, a stale word could be taken for a tile's.
    let (profile, request) = (profile(vendor::NVIDIA, UNKNOWN, 32), asking(Algorithm::OneSweep));
    let tuning = Tuning { items_keys: 1, workgroup_size: 64, ..Tuning::for_device(&profile) };
    for ring_bits in [0, 1, 5] {
        let desc = ShapeDesc {
            ring_bits: Some(ring_bits),
            ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep)
        };
        let plan = Plan::new(&request, Algorithm::OneSweep, Shape::fit(&desc).unwrap(), MAX_COUNT);
        let tiles = plan.max_count().0 / plan.tile;
        assert!((tiles >> ring_bits) < 1 << 13 && tiles >= 1 << ring_bits, "{tiles} tiles, {ring_bits} bits of slots");
        let one_sum = Plan::new(&request, Algorithm::ReduceThenScan, plan.shape, MAX_COUNT);
        assert_eq!(one_sum.max_count().0, MAX_COUNT);
    }
}

#[test]
fn step_counts_are_as_documented() {
    let nvidia = profile(vendor::NVIDIA, UNKNOWN, 32);
    let names = |request: SortRequest, count| -> Vec<&'static str> {
        steps(&plan_of(&nvidia, &request, 1 << 20), count).iter().map(|step| step.name.kernel).collect()
    };
    let host = Count::Host(1 << 20);
    let onesweep = asking(Algorithm::OneSweep);
    let passes = ["onesweep"; 4];
    assert_eq!(names(onesweep, host), [&["clear", "histogram"], &passes[..]].concat());
    assert_eq!(names(onesweep, Count::Device), [&["clear", "arguments", "histogram"], &passes[..]].concat());
    let odd = onesweep.bits(0..24);
    assert_eq!(names(odd, host), [&["clear", "histogram"], &passes[..3], &["move"]].concat());
    assert!(names(onesweep, Count::Host(0)).is_empty());
    let apple = profile(vendor::APPLE, UNKNOWN, 32);
    let apart = steps(&plan_of(&apple, &onesweep, 1 << 20), Count::Device);
    let apart: Vec<&str> = apart.iter().map(|step| step.name.kernel).collect();
    assert_eq!(apart, [&["clear", "arguments", "histogram", "decide"], &passes[..]].concat());
    let out = onesweep.placement(Placement::OutOfPlace);
    assert_eq!(names(out, host), [&["clear", "histogram"], &passes[..]].concat());
    let splats = onesweep.value(ValueType::Index).key_output(KeyOutput::Discarded);
    assert_eq!(names(splats, host), [&["clear", "histogram"], &passes[..]].concat());
    let large = onesweep.value(ValueType::Bytes(20)).bits(0..8);
    assert_eq!(names(large, host), ["clear", "histogram", "onesweep", "move", "gather", "gather"]);
    assert_eq!(names(out.bits(5..5), host), ["move"]);
    assert!(names(onesweep.bits(5..5), host).is_empty());
    assert_eq!(names(asking(Algorithm::ReduceThenScan), host).len(), 2 + 12);
    for (digit_bits, passes) in [(4, 8), (2, 16)] {
        let tuning = Tuning { digit_bits, ..Tuning::for_device(&nvidia) };
        for (algorithm, dispatches) in [(Algorithm::OneSweep, passes), (Algorithm::ReduceThenScan, 3 * passes)] {
            let request = asking(algorithm);
            let shape = Shape::fit(&ShapeDesc::new(&nvidia, &tuning, &request, algorithm)).unwrap();
            let plan = Plan::new(&request, algorithm, shape, 1 << 20);
            assert_eq!(steps(&plan, host).len(), 2 + dispatches, "{algorithm} by digits of {digit_bits} bits");
        }
    }
}

#[test]
fn what_steps_tell_each_other_has_words_of_its_own() {
    use abi::*;
    let mut parts = [
        (0, MAX_PASSES),
        (COUNTERS_FINISHED, 1),
        // A move has a route too.
        (COUNTERS_ROUTES, MAX_PASSES + 1),
        (COUNTERS_ARGUMENTS, (ARGUMENTS_GATHER + 1) * ARGUMENT_WORDS),
        (COUNTERS_HISTOGRAM, 1),
    ];
    parts.sort_unstable();
    for pair in parts.windows(2) {
        assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
    }
    let mut slots = [ARGUMENTS_HISTOGRAM, ARGUMENTS_TILES, ARGUMENTS_GATHER];
    slots.sort_unstable();
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]) && slots[2] == ARGUMENTS_GATHER);
}

#[test]
fn small_counts_take_one_dispatch_when_the_algorithm_is_free() {
    let request = SortRequest::new(KeyType::U32);
    let plan = plan_of(&profile(vendor::NVIDIA, UNKNOWN, 32), &request, 1 << 20);
    let block = plan.shape.single.elements();
    assert!(block >= 1 << 13, "shared memory has room for more than a tile: {block}");
    assert_eq!(plan.algorithm_for(block), Algorithm::SingleWorkgroup);
    assert_eq!(steps(&plan, Count::Host(block)).len(), 1);
    assert_eq!(plan.algorithm_for(block + 1), Algorithm::OneSweep);
}

/// Every request whose steps differ.
fn requests() -> Vec<SortRequest> {
    let mut requests = Vec::new();
    for algorithm in Algorithm::ALL.iter().copied() {
        for placement in [Placement::InPlace, Placement::OutOfPlace] {
            for value in [ValueType::None, ValueType::U32, ValueType::Index, ValueType::Bytes(20)] {
                let usual = asking(algorithm);
                for bits in [usual.bits, (0..8).into(), (4..4).into()] {
                    requests.push(usual.placement(placement).value(value).bits(bits));
                }
            }
        }
    }
    requests
}

#[test]
fn every_conflict_between_steps_has_a_barrier() {
    for request in requests() {
        let plan = plan_of(&profile(vendor::NVIDIA, UNKNOWN, 32), &request, 100_000);
        for count in [Count::Host(100_000), Count::Device] {
            let mut hazards = Hazards::new();
            let mut earlier: Vec<Step> = Vec::new();
            for step in steps(&plan, count) {
                let barrier = hazards.before(&plan, &step);
                // Independent of `Hazards`: whether this step accesses a region that a step since the last barrier has
                // written, or writes a region that one has read.
                if barrier.is_some() {
                    earlier.clear();
                }
                for before in &earlier {
                    for (region, access) in plan.accesses(&step) {
                        for (other, previous) in plan.accesses(before) {
                            let writes = AccessFlags::SHADER_WRITE | AccessFlags::TRANSFER_WRITE;
                            let conflict = (access | previous).intersects(writes);
                            assert!(region != other || !conflict, "{before:?} then {step:?}");
                        }
                    }
                }
                earlier.push(step);
            }
        }
    }
}

/// The scopes that callers are told of, for memory that other resources use before and after a sort: compute shaders and
/// transfers first touch scratch, and compute shaders are the last stage of a sort, after everything else.
#[test]
fn the_scopes_around_a_sort_cover_its_scratch() {
    for request in requests() {
        let plan = plan_of(&profile(vendor::NVIDIA, UNKNOWN, 32), &request, 100_000);
        for count in [Count::Host(100_000), Count::Device, Count::Host(100)] {
            let steps = steps(&plan, count);
            let Some(last) = steps.last() else { continue };
            assert!(matches!(last.work, Work::Dispatch { .. }), "{request}: {last:?} is last");
            let mut hazards = Hazards::new();
            let (mut touched, mut cleared) = (Vec::new(), false);
            for step in &steps {
                let barrier = hazards.before(&plan, step);
                // A barrier is for all memory.
                cleared &= !barrier.is_some_and(|barrier| {
                    barrier.from.contains(AccessFlags::TRANSFER_WRITE) && barrier.to.contains(AccessFlags::SHADER_WRITE)
                });
                cleared |= matches!(step.work, Work::Clear { .. });
                for (region, access) in plan.accesses(step) {
                    let scratch = !matches!(region, Region::Input | Region::Output);
                    assert!(
                        !scratch || access != AccessFlags::INDIRECT_COMMAND_READ || touched.contains(&region),
                        "{request}: {step:?} begins with a read of arguments"
                    );
                    touched.push(region);
                }
            }
            assert!(!cleared, "{request}: no barrier follows the clear");
        }
    }
}

#[test]
fn what_the_device_sized_is_visible_to_every_dispatch_that_reads_it() {
    for request in requests() {
        let plan = plan_of(&profile(vendor::NVIDIA, UNKNOWN, 32), &request, 100_000);
        let mut hazards = Hazards::new();
        let (mut written, mut visible) = (Vec::new(), Vec::new());
        for step in steps(&plan, Count::Device) {
            let barrier = hazards.before(&plan, &step);
            if barrier.is_some_and(|barrier| {
                barrier.from.contains(AccessFlags::SHADER_WRITE)
                    && barrier.to.contains(AccessFlags::INDIRECT_COMMAND_READ)
            }) {
                visible.append(&mut written);
            }
            let Work::Dispatch { kernel, groups, .. } = step.work else { continue };
            if let Groups::Counted(slot) = groups {
                assert!(visible.contains(&slot), "{step:?} reads its size too early");
            }
            if kernel == Kernel::Arguments {
                written.extend([abi::ARGUMENTS_HISTOGRAM, abi::ARGUMENTS_TILES, abi::ARGUMENTS_GATHER]);
            }
        }
    }
}

#[test]
fn without_indirect_dispatches_a_count_on_the_device_takes_the_steps_of_the_capacity() {
    for request in requests() {
        for capacity in [1, 300, 100_000] {
            let plan = Plan { indirect: false, ..plan_of(&profile(vendor::NVIDIA, UNKNOWN, 32), &request, capacity) };
            assert_eq!(steps(&plan, Count::Device), steps(&plan, Count::Host(capacity)), "{request}: {capacity}");
        }
    }
}

#[test]
fn onesweep_barriers_are_the_expected_ones() {
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let plan = plan_of(&profile(vendor::NVIDIA, UNKNOWN, 32), &request, 100_000);
    let mut hazards = Hazards::new();
    let steps = steps(&plan, Count::Host(100_000));
    let barriers: Vec<Barrier> = steps.iter().map(|step| hazards.before(&plan, step).unwrap()).collect();
    // An earlier sort's use of scratch, then clear, histogram and passes.
    let (clear, compute) = (AccessFlags::TRANSFER_WRITE, AccessFlags::SHADER_READ | AccessFlags::SHADER_WRITE);
    let before = AccessFlags::INDIRECT_COMMAND_READ | clear | compute;
    assert_eq!(barriers[0], Barrier { from: before, to: clear });
    assert_eq!(barriers[1], Barrier { from: clear, to: compute });
    assert_eq!(barriers[2].to, compute);
    assert!(barriers[2].from.contains(clear), "the cleared table is first used by the first pass");
    for barrier in &barriers[3..] {
        assert_eq!(*barrier, Barrier { from: compute, to: compute });
    }
}

#[test]
fn passes_that_ran_are_counted() {
    let plan = plan(&profile(vendor::AMD, UNKNOWN, 32), Algorithm::OneSweep, ValueType::None, 1 << 20);
    let mut counters = vec![0; abi::COUNTERS_HISTOGRAM as usize];
    for pass in [0, 2] {
        counters[abi::COUNTERS_ROUTES as usize + pass] = abi::ROUTE_RUNS;
    }
    assert_eq!(plan.passes_of(&counters), (2, plan.shape.passes - 2));
}

/// What warms a sort up runs each of its kernels, with nothing to do.
#[test]
fn every_kernel_is_warmed_up() {
    let nvidia = profile(vendor::NVIDIA, UNKNOWN, 32);
    let plain = SortRequest::new(KeyType::U32);
    let out = plain.placement(Placement::OutOfPlace);
    let requests = [
        plain,
        plain.value(ValueType::Bytes(40)),
        plain.bits(0..8),
        out.value(ValueType::Index).bits(3..3),
        plain.segments(Segments::Offsets),
        plain.segments(Segments::Offsets).up_to(20),
        out.segments(Segments::Ranges).top(9),
        out.segments(Segments::Whole).top(9),
    ];
    let ways = chained().map(|algorithm| (algorithm, 1_000_000, None));
    let ways: Vec<_> = ways.chain([(Algorithm::OneSweep, 1 << 28, Some(2))]).collect();
    for request in requests {
        for &(algorithm, capacity, finish_tiles) in &ways {
            let plan = plan_with(&nvidia, &request.algorithm(algorithm), capacity, finish_tiles);
            let plan = Plan { segment_capacity: 7, ..plan };
            let mut warmed = Vec::new();
            for count in plan.idle_counts() {
                plan.each_step(count, &mut |step| match step.idle().work {
                    Work::Dispatch { kernel, groups, push } => {
                        let few = groups == Groups::Direct(1) || kernel == Kernel::Sample;
                        assert!(few && push.count == 0, "{request}: {} with {groups:?}", step.name);
                        warmed.push(kernel);
                    }
                    Work::Clear { .. } => {}
                });
            }
            let counts = [1, 2, 1_000, 100_000, 1_000_000].map(|count| Count::Host(count.min(plan.most())));
            let kernels = plan.kernels(&[&counts[..], &[Count::Device]].concat());
            assert!(kernels.iter().all(|kernel| warmed.contains(kernel)), "{request}: {kernels:?}, {warmed:?}");
        }
    }
}

/// The pipelines of a sorter are those of all its plans, also where a finish begins with the most elements that it serves.
#[test]
fn a_sorter_has_the_pipelines_of_every_count() {
    let nvidia = profile(vendor::NVIDIA, UNKNOWN, 32);
    let request = asking(Algorithm::OneSweep);
    let first = plan_with(&nvidia, &request, 1 << 28, Some(1)).shape;
    let most = first.finish.unwrap().most;
    for finish_tiles in [None, Some(1), Some(2_000), Some(most / first.tile.elements())] {
        let plan = plan_with(&nvidia, &request, 1 << 28, finish_tiles);
        let shape = plan.shape;
        assert_eq!(shape.finish.is_some(), finish_tiles.is_some());
        let built = Plan::new(&request, Algorithm::OneSweep, shape, shape.elements_for_all());
        let built = built.kernels(&built.idle_counts());
        let counts = [0, 1, 1_000, 1 << 20, 1 << 24, most - 1, most, most + 1, 1 << 28].map(Count::Host);
        let needed = plan.kernels(&[&counts[..], &[Count::Device]].concat());
        assert!(needed.iter().all(|kernel| built.contains(kernel)), "{finish_tiles:?}: {needed:?}, {built:?}");
    }
}
