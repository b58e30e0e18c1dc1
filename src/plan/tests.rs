//! Plans without a device: sizes, dispatches, routes and barriers.

use super::*;
use crate::key::KeyType;
use crate::profile::DeviceProfile;
use crate::request::{SortRequest, ValueType};
use crate::shape::SubgroupChoice;
use crate::tuning::Tuning;

const LLVMPIPE: i32 = crate::profile::driver::LLVMPIPE;

fn profile(vendor_id: u32, driver_id: i32, subgroup_size: u32) -> DeviceProfile {
    let subgroup_range = (subgroup_size, subgroup_size);
    // What these vendors' desktop parts have; all others get the common 32 KiB.
    let max_shared_bytes = match vendor_id {
        0x10DE => 48 << 10,
        0x1002 | 0x8086 => 64 << 10,
        _ => 32 << 10,
    };
    DeviceProfile { vendor_id, driver_id, subgroup_size, subgroup_range, max_shared_bytes, ..DeviceProfile::default() }
}

fn plan(profile: &DeviceProfile, algorithm: Algorithm, value: ValueType, capacity: u32) -> Plan {
    let request = SortRequest { value, ..SortRequest::new(KeyType::U32) };
    let tuning = Tuning::for_device(profile);
    let shape = Shape::fit(profile, &tuning, &request, algorithm, SubgroupChoice::Auto).unwrap();
    Plan::new(algorithm, false, shape, capacity)
}

fn chained() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| *algorithm != Algorithm::SingleWorkgroup)
}

#[test]
fn scratch_beyond_ping_pong_is_under_two_percent() {
    let capacity = 1 << 24;
    for profile in [
        profile(0x10DE, 0, 32),
        profile(0x1002, 0, 64),
        profile(0x8086, 0, 16),
        profile(0x106B, 0, 32),
        profile(0x13B5, 0, 16),
        profile(0, LLVMPIPE, 4),
        profile(0, LLVMPIPE, 8),
        profile(0, LLVMPIPE, 16),
        profile(0, crate::profile::driver::SWIFTSHADER, 4),
    ] {
        for (value, element_bytes) in [(ValueType::None, 4), (ValueType::U32, 8)] {
            for algorithm in chained() {
                let layout = plan(&profile, algorithm, value, capacity).scratch(value.words());
                let data = u64::from(capacity) * element_bytes;
                let beyond = layout.size - data;
                assert!(
                    beyond * 100 < data * 2,
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
        let layout = plan(&profile(0x10DE, 0, 32), algorithm, ValueType::U32, MAX_COUNT).scratch(1);
        let elements = u64::from(MAX_COUNT);
        assert!(layout.size > 8 * elements && layout.size < 8 * elements + 8 * elements / 50, "{layout:?}");
        let regions = [layout.counters, layout.table, layout.keys, layout.values];
        for pair in regions.windows(2) {
            assert!(pair[0].offset + pair[0].size <= pair[1].offset);
            assert_eq!(pair[1].offset % REGION_ALIGNMENT, 0);
        }
        assert!(layout.values.offset + layout.values.size <= layout.size);
    }
}

#[test]
fn scratch_for_a_capacity_serves_every_smaller_count() {
    for algorithm in chained() {
        for capacity in [1, 1000, 100_003, 1 << 20, 1 << 24, MAX_COUNT] {
            let plan = plan(&profile(0, LLVMPIPE, 8), algorithm, ValueType::U32, capacity);
            let layout = plan.scratch(1);
            for count in [1, capacity / 3, capacity / 2 + 1, capacity - 1, capacity] {
                for step in plan.steps(count) {
                    if let Work::Clear { bytes } = step.work {
                        assert!(bytes <= layout.table.offset + layout.table.size, "{algorithm}, {count} of {capacity}");
                    }
                }
                assert!(plan.table_words(count) * 4 <= layout.table.size);
            }
        }
    }
}

#[test]
fn dispatches_cover_the_input_exactly_once() {
    for algorithm in chained() {
        let plan = plan(&profile(0x10DE, 0, 32), algorithm, ValueType::None, MAX_COUNT);
        let tile = plan.shape.block() * plan.blocks;
        for count in [1, tile - 1, tile, tile + 1, 10 * tile - 1, MAX_COUNT] {
            for step in plan.steps(count) {
                let Work::Dispatch { kernel, workgroups, push, .. } = step.work else { continue };
                let part = u64::from(push.blocks)
                    * u64::from(match kernel {
                        Kernel::Histogram => plan.shape.histogram_block(),
                        Kernel::Scan => {
                            assert_eq!(workgroups, plan.shape.radix());
                            continue;
                        }
                        _ => plan.shape.block(),
                    });
                assert_eq!(workgroups, push.tiles);
                let covered = u64::from(workgroups) * part;
                assert!(covered >= u64::from(count) && covered - part < u64::from(count), "{step:?}");
            }
        }
    }
}

#[test]
fn step_counts_are_as_documented() {
    let nvidia = profile(0x10DE, 0, 32);
    let steps = |digit_bits| {
        plan(&nvidia, Algorithm::ReduceThenScan { digit_bits }, ValueType::None, 1 << 20).steps(1 << 20).count()
    };
    assert_eq!(plan(&nvidia, Algorithm::OneSweep, ValueType::None, 1 << 20).steps(1 << 20).count(), 6);
    assert_eq!((steps(8), steps(4), steps(2)), (12, 24, 48));
    assert_eq!(plan(&nvidia, Algorithm::OneSweep, ValueType::None, 1 << 20).steps(0).count(), 0);
}

#[test]
fn small_counts_take_one_dispatch_when_the_algorithm_is_free() {
    let nvidia = profile(0x10DE, 0, 32);
    let mut plan = plan(&nvidia, Algorithm::OneSweep, ValueType::None, 1 << 20);
    plan.single_when_small = true;
    let block = plan.shape.block();
    assert_eq!(plan.algorithm_for(block), Algorithm::SingleWorkgroup);
    assert_eq!(plan.steps(block).count(), 1);
    assert_eq!(plan.algorithm_for(block + 1), Algorithm::OneSweep);
}

#[test]
fn passes_end_at_the_target_and_never_read_what_they_write() {
    for passes in [2, 3, 4, 8, 16] {
        let mut from = Place::Source;
        for pass in 0..passes {
            let route = Route::of_pass(pass, passes);
            assert_eq!(route.from, from);
            assert_ne!(route.to, from);
            assert!(Route::ALL.contains(&route));
            if passes % 2 == 0 && pass == 0 {
                assert_eq!(route.to, Place::Alternate, "in place, the first pass may not write its own input");
            }
            from = route.to;
        }
        assert_eq!(from, Place::Target);
    }
}

#[test]
fn every_conflict_between_steps_has_a_barrier() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for in_place in [false, true] {
            let plan = plan(&profile(0x10DE, 0, 32), algorithm, ValueType::U32, 1000);
            let mut hazards = Hazards::new(in_place);
            let mut earlier: Vec<Step> = Vec::new();
            for step in plan.steps(1000) {
                let barrier = hazards.before(&step);
                // Independent of `Hazards`: does this step touch what an earlier one since the last barrier wrote,
                // or write what one read?
                if barrier.is_some() {
                    earlier.clear();
                }
                for before in &earlier {
                    for (region, access) in step.accesses() {
                        for (other, previous) in before.accesses() {
                            let target = Region::Elements(Place::Target);
                            let same = |region| match region {
                                Region::Elements(Place::Source) if in_place => target,
                                _ => region,
                            };
                            let conflict = access != Access::Read || previous != Access::Read;
                            assert!(same(region) != same(other) || !conflict, "{before:?} then {step:?}");
                        }
                    }
                }
                earlier.push(step);
            }
        }
    }
}

#[test]
fn onesweep_barriers_are_the_expected_ones() {
    let plan = plan(&profile(0x10DE, 0, 32), Algorithm::OneSweep, ValueType::None, 100_000);
    let mut hazards = Hazards::new(true);
    let barriers: Vec<Barrier> = plan.steps(100_000).map(|step| hazards.before(&step).unwrap()).collect();
    let scope = |compute_read, compute_write, transfer_write| Scope { compute_read, compute_write, transfer_write };
    // An earlier sort's use of scratch, then clear, histogram and passes.
    assert_eq!(barriers[0], Barrier { from: scope(true, true, true), to: scope(false, false, true) });
    assert_eq!(barriers[1], Barrier { from: scope(false, false, true), to: scope(true, true, false) });
    assert_eq!(barriers[2].to, scope(true, true, false));
    assert!(barriers[2].from.transfer_write, "the cleared table is first used by the first pass");
    for barrier in &barriers[3..] {
        assert_eq!(*barrier, Barrier { from: scope(true, true, false), to: scope(true, true, false) });
    }
}
