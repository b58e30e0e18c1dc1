//! Shapes without a device: limits, memory, ranking methods.

use vksort::__private::{Shape, ShapeDesc, Subgroup};
use vksort::__private::{driver, steps, vendor};
use vksort::{
    Algorithm, BitRange, Count, DeviceProfile, Error, FixedSubgroups, KeyType, MAX_COUNT, RankMethod, SortRequest,
    SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::drawn::with_each_size;

fn keys() -> SortRequest {
    SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep)
}

fn fit(profile: &DeviceProfile, subgroup: SubgroupChoice) -> Result<Shape, Error> {
    let request = SortRequest::new(KeyType::U32).value(ValueType::U32);
    let tuning = Tuning::for_device(profile);
    Shape::fit(&ShapeDesc { subgroup, ..ShapeDesc::new(profile, &tuning, &request, Algorithm::OneSweep) })
}

fn fit_keys(profile: &DeviceProfile, tuning: &Tuning, subgroup: SubgroupChoice) -> Shape {
    let request = SortRequest::new(KeyType::U32);
    Shape::fit(&ShapeDesc { subgroup, ..ShapeDesc::new(profile, tuning, &request, Algorithm::OneSweep) }).unwrap()
}

/// Shared memory in bytes, the most of all ranking kernels.
fn shared_bytes(shape: &Shape) -> u32 {
    shape.ranking.tile_bytes(shape.tile).max(shape.ranking.single_bytes(shape.single))
}

#[test]
fn shapes_fit_the_least_that_vulkan_promises_at_every_subgroup_size() {
    for size in [4, 8, 16, 32, 64, 128] {
        for vendor_id in [vendor::NVIDIA, vendor::AMD, vendor::INTEL, vendor::APPLE, vendor::QUALCOMM, vendor::ARM, 0] {
            let least = DeviceProfile {
                subgroup_size: size,
                subgroup_range: (size, size),
                vendor_id,
                max_workgroup_invocations: 128,
                max_workgroup_subgroups: 128 / size,
                max_shared_bytes: 16384,
                ..DeviceProfile::default()
            };
            for choice in [SubgroupChoice::Auto, SubgroupChoice::Emulated(size)] {
                let shape = fit(&least, choice).unwrap();
                assert_eq!(shape.ranking.subgroup.size, size);
                assert!(shared_bytes(&shape) <= 16384 && shape.tile.invocations <= 128, "{shape:?}");
                assert_eq!(shape.tile.invocations % size, 0);
            }
        }
    }
}

#[test]
fn workgroups_shrink_until_their_counters_fit() {
    let profile = DeviceProfile { subgroup_size: 8, subgroup_range: (8, 8), ..DeviceProfile::default() };
    let tuning = Tuning { workgroup_size: 256, items_keys: 4, ..Tuning::for_device(&profile) };
    let fit = |rank: RankMethod| fit_keys(&profile, &Tuning { rank, ..tuning.clone() }, SubgroupChoice::Auto);
    assert_eq!(fit(RankMethod::Ballot).tile.invocations, 128, "of a counter for each digit and subgroup");
    assert_eq!(fit(RankMethod::Match).tile.invocations, 64, "match masks take the other half");
}

#[test]
fn the_single_workgroup_has_a_size_of_its_own() {
    let profile = DeviceProfile { max_shared_bytes: 49152, ..DeviceProfile::default() };
    let row = Tuning { workgroup_size: 384, items_keys: 20, single_items: 8, ..Tuning::for_device(&profile) };
    let fit = |profile: &DeviceProfile, single_workgroup_size| {
        let shape = fit_keys(profile, &Tuning { single_workgroup_size, ..row.clone() }, SubgroupChoice::Auto);
        assert!(shared_bytes(&shape) <= profile.max_shared_bytes, "{shape:?}");
        (shape.tile.invocations, shape.tile.items, shape.single.invocations, shape.single.items)
    };
    assert_eq!(fit(&profile, None), (384, 20, 384, 8), "without one, as many invocations as a tile");
    assert_eq!(fit(&profile, Some(768)), (384, 20, 768, 8));
    assert_eq!(fit(&profile, Some(100)), (384, 20, 96, 8), "whole subgroups");
    assert_eq!(fit(&profile, Some(1)), (384, 20, 32, 8));
    let small = DeviceProfile { max_workgroup_invocations: 512, ..profile.clone() };
    assert_eq!(fit(&small, Some(768)), (384, 20, 384, 8), "as many invocations as the device runs");
    let small = DeviceProfile { max_shared_bytes: 16384, ..profile.clone() };
    assert_eq!(fit(&small, Some(768)).2, 384, "counters of 24 subgroups take more memory");
}

/// Of 256 tiles at most; only the sorter's capacity decides.
#[test]
fn few_elements_are_sorted_in_smaller_tiles() {
    let profile = DeviceProfile { vendor_id: vendor::NVIDIA, max_shared_bytes: 49152, ..DeviceProfile::default() };
    let row = Tuning::for_device(&profile);
    let tile = |tuning: &Tuning, request: &SortRequest, capacity| {
        let desc = ShapeDesc { capacity, ..ShapeDesc::new(&profile, tuning, request, Algorithm::OneSweep) };
        let tile = Shape::fit(&desc).unwrap().tile;
        (tile.invocations, tile.items)
    };
    let keys = SortRequest::new(KeyType::U32);
    let pairs = keys.value(ValueType::U32);
    for (request, many) in [(&keys, 20), (&pairs, 16)] {
        assert_eq!(tile(&row, request, None), (512, many));
        assert_eq!([1, 1 << 20].map(|few| tile(&row, request, Some(few))), [(512, 8); 2]);
        assert_eq!(tile(&row, request, Some((1 << 20) + 1)), (512, many));
    }
    assert_eq!(tile(&row, &SortRequest::new(KeyType::U64), Some(1000)), (512, 10), "as for many elements");
    let (none, more) = (Tuning { few_items: None, ..row.clone() }, Tuning { few_items: Some(40), ..row });
    assert_eq!([none, more].map(|tuning| tile(&tuning, &keys, Some(1000))), [(512, 20); 2], "no larger ones");
}

#[test]
fn a_tile_is_staged_in_parts_of_so_many_items() {
    let profile = DeviceProfile { max_shared_bytes: 49152, ..DeviceProfile::default() };
    let row = Tuning { workgroup_size: 256, items_keys: 40, digit_bits: 8, ..Tuning::for_device(&profile) };
    let fit = |staged_items, key| {
        let tuning = Tuning { staged_items, ..row.clone() };
        let shape =
            Shape::fit(&ShapeDesc::new(&profile, &tuning, &SortRequest::new(key), Algorithm::OneSweep)).unwrap();
        (shape.tile.items, shape.ranking.most_parts(shape.tile), 4 * shape.ranking.tile_pool_words(shape.tile))
    };
    assert_eq!(fit(None, KeyType::U32), (40, 1, 40960), "all of them");
    assert_eq!(fit(Some(40), KeyType::U32), (40, 1, 40960));
    assert_eq!(fit(Some(39), KeyType::U32), (40, 2, 20480), "parts of one size");
    assert_eq!(fit(Some(14), KeyType::U32), (40, 3, 14336));
    assert_eq!(fit(Some(1), KeyType::U32), (40, 4, 10240), "four at most");
    assert_eq!(fit(Some(14), KeyType::U64), (20, 3, 14336), "half as many items of two words");
    assert_eq!(fit(Some(14), KeyType::U128), (10, 4, 12288));
    let tuning = Tuning { items_keys: 8, staged_items: Some(2), ..row.clone() };
    let shape = fit_keys(&profile, &tuning, SubgroupChoice::Auto);
    assert_eq!(4 * shape.ranking.tile_pool_words(shape.tile), 8192, "counters have room for the whole tile");
}

/// They pass fewer subgroup barriers than the others, which must not wait for them.
#[test]
fn subgroups_rest_where_subgroup_barriers_are_known_to_concern_one_subgroup() {
    let rest = |driver_id, driver: &str, subgroup| {
        let profile = DeviceProfile { driver_id, driver: driver.into(), ..DeviceProfile::default() };
        fit_keys(&profile, &Tuning::for_device(&profile), subgroup).subgroups_rest
    };
    let native = SubgroupChoice::Native;
    let known = [
        driver::NVIDIA,
        driver::NVK,
        driver::RADV,
        driver::ANV,
        driver::TURNIP,
        driver::HONEYKRISP,
        driver::SWIFTSHADER,
    ];
    for driver_id in known {
        assert!(rest(driver_id, "any", native), "driver {driver_id:?}");
        assert!(!rest(driver_id, "any", SubgroupChoice::Emulated(32)), "emulated operations need all invocations");
    }
    let others = [vksort::ash::vk::DriverId::MESA_V3DV, driver::MOLTENVK, driver::DOZEN, driver::UNKNOWN];
    for driver_id in others {
        assert!(!rest(driver_id, "any", native), "driver {driver_id:?}");
    }
    assert!(rest(driver::LLVMPIPE, "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", native));
    assert!(!rest(driver::LLVMPIPE, "llvmpipe Mesa 26.1.6-1 (LLVM 19.1.7)", native));
}

#[test]
fn counters_of_their_own_are_for_small_subgroups() {
    let row = Tuning::for_device(&DeviceProfile { driver_id: driver::LLVMPIPE, ..Default::default() });
    let of = |size: u32| DeviceProfile { subgroup_size: size, subgroup_range: (size, size), ..Default::default() };
    for size in [4, 8, 16] {
        let shape = fit_keys(&of(size), &row, SubgroupChoice::Auto);
        assert_eq!(shape.ranking.method, RankMethod::Private);
        assert!(
            shape.histogram.block.invocations >= size && shape.histogram.block.invocations.is_multiple_of(size),
            "{shape:?}"
        );
        assert_eq!(shape.tile.invocations, size, "a workgroup is one subgroup");
    }
    assert_eq!(fit_keys(&of(32), &row, SubgroupChoice::Auto).ranking.method, RankMethod::Ballot);
    // By address there is no module for it.
    let profile = DeviceProfile { is_cpu: true, ..of(8) };
    let request = SortRequest::new(KeyType::U8);
    let desc = ShapeDesc { addressed: true, ..ShapeDesc::new(&profile, &row, &request, Algorithm::OneSweep) };
    assert_eq!(Shape::fit(&desc).unwrap().ranking.method, RankMethod::Ballot);
}

#[test]
fn ranking_methods_give_way_where_there_are_no_modules_for_them() {
    let profile = DeviceProfile { subgroup_size: 8, subgroup_range: (8, 8), ..DeviceProfile::default() };
    let tuning = Tuning { rank: RankMethod::Private, subgroup_size: None, ..Tuning::for_device(&profile) };
    let rank = |request: &SortRequest, addressed: bool, subgroup: SubgroupChoice| {
        let desc = ShapeDesc::new(&profile, &tuning, request, Algorithm::OneSweep);
        Shape::fit(&ShapeDesc { addressed, subgroup, ..desc }).unwrap().ranking.method
    };
    let auto = SubgroupChoice::Auto;
    for key in [KeyType::U8, KeyType::U32, KeyType::U64] {
        let keys = SortRequest::new(key);
        assert_eq!(rank(&keys, false, auto), RankMethod::Private, "{key}");
        assert_eq!(rank(&keys, true, auto), RankMethod::Ballot, "{key}");
        assert_eq!(
            rank(&keys, false, SubgroupChoice::Emulated(16)),
            RankMethod::Match,
            "ballots take many barriers there"
        );
    }
}

#[test]
fn digits_are_compared_in_small_subgroups_alone() {
    let request = keys();
    for (subgroup_size, expected) in [(4, RankMethod::Compare), (16, RankMethod::Compare), (32, RankMethod::Ballot)] {
        let profile =
            DeviceProfile { subgroup_size, subgroup_range: (subgroup_size, subgroup_size), ..DeviceProfile::default() };
        let tuning = Tuning { rank: RankMethod::Compare, subgroup_size: None, ..Tuning::for_device(&profile) };
        for (subgroup, expected) in
            [(SubgroupChoice::Auto, expected), (SubgroupChoice::Emulated(16), RankMethod::Match)]
        {
            let desc = ShapeDesc { subgroup, ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep) };
            assert_eq!(Shape::fit(&desc).unwrap().ranking.method, expected, "{subgroup:?} of {subgroup_size} lanes");
        }
    }
}

/// RADV says that a workgroup may have 2^32 - 1 subgroups.
#[test]
fn limits_may_be_as_large_as_their_numbers() {
    for vendor_id in [vendor::NVIDIA, vendor::AMD, vendor::INTEL, vendor::APPLE, vendor::QUALCOMM, 0] {
        let radv = DeviceProfile {
            vendor_id,
            subgroup_size: 64,
            subgroup_range: (32, 64),
            max_workgroup_subgroups: u32::MAX,
            ..DeviceProfile::default()
        };
        assert!(fit(&radv, SubgroupChoice::Auto).unwrap().tile.invocations <= 1024);
        let all = u32::MAX;
        let endless = DeviceProfile {
            max_workgroup_invocations: all,
            max_shared_bytes: all,
            max_workgroups: all,
            max_storage_range_bytes: u64::MAX,
            cpu_threads: all,
            ..radv
        };
        let tuning = Tuning::for_device(&endless);
        for capacity in [0, 1, all] {
            let request = keys();
            let desc = ShapeDesc::new(&endless, &tuning, &request, Algorithm::OneSweep);
            let sort = steps::of(&desc, capacity, Count::Host(capacity)).unwrap();
            assert!(sort.table.size + sort.counters.size <= 4 << 20);
        }
    }
}

#[test]
fn limits_of_nothing_are_refused_by_name() {
    let message = |profile: DeviceProfile| fit(&profile, SubgroupChoice::Auto).unwrap_err().to_string();
    let none = DeviceProfile { max_workgroup_invocations: 0, ..DeviceProfile::default() };
    assert!(message(none).contains("workgroup size limit is 0 invocations"));
    let none = DeviceProfile { max_workgroup_subgroups: 0, ..DeviceProfile::default() };
    assert!(message(none).contains("workgroup size limit is 0 invocations"));
    assert!(message(DeviceProfile { max_shared_bytes: 0, ..DeviceProfile::default() }).contains("shared memory is 0"));
    let none =
        DeviceProfile { max_workgroups: 0, subgroup_size: 0, subgroup_range: (0, 0), ..DeviceProfile::default() };
    let shape = fit(&none, SubgroupChoice::Auto).unwrap();
    assert!(shape.ranking.subgroup.emulated && shape.max_workgroups == 1, "{shape:?}");
}

#[test]
fn devices_without_sure_subgroups_get_emulated_ones() {
    let sure = DeviceProfile::default();
    assert!(!fit(&sure, SubgroupChoice::Auto).unwrap().ranking.subgroup.emulated);
    for unsure in [
        DeviceProfile { subgroup_operations: false, ..sure.clone() },
        DeviceProfile { full_subgroups: false, ..sure.clone() },
        DeviceProfile { subgroup_size: 1, subgroup_range: (1, 1), ..sure.clone() },
    ] {
        let shape = fit(&unsure, SubgroupChoice::Auto).unwrap();
        assert_eq!(shape.ranking.subgroup, Subgroup { size: 32, emulated: true });
    }
}

#[test]
fn subgroups_that_are_known_to_be_full_need_not_be_required() {
    for fixed_subgroups in [FixedSubgroups::Spirv16, FixedSubgroups::Driver] {
        let profile = DeviceProfile { full_subgroups: false, fixed_subgroups, ..DeviceProfile::default() };
        let (tuning, request) = (Tuning::for_device(&profile), keys());
        let desc = ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep);
        let shape = Shape::fit(&desc).unwrap();
        assert_eq!(shape.ranking.subgroup, Subgroup { size: 32, emulated: false });
        assert_eq!(shape.fixed_subgroups, fixed_subgroups);
        let asked = Shape::fit(&ShapeDesc { subgroup: SubgroupChoice::Emulated(16), ..desc }).unwrap();
        assert_eq!((asked.ranking.subgroup.emulated, asked.fixed_subgroups), (true, FixedSubgroups::No));
        let able = DeviceProfile { full_subgroups: true, ..profile.clone() };
        let required = Shape::fit(&ShapeDesc { profile: &able, ..desc }).unwrap();
        assert_eq!(required.fixed_subgroups, FixedSubgroups::No, "pipelines require them");
    }
}

#[test]
fn the_histogram_has_the_subgroups_that_its_row_asks_for() {
    let intel = DeviceProfile { vendor_id: vendor::INTEL, subgroup_range: (8, 32), ..DeviceProfile::default() };
    let of = |profile: &DeviceProfile, tuning: &Tuning, key: KeyType| {
        let request = SortRequest::new(key);
        let shape = Shape::fit(&ShapeDesc::new(profile, tuning, &request, Algorithm::OneSweep)).unwrap();
        shape.histogram.subgroup_size
    };
    let row = Tuning::for_device(&intel);
    assert_eq!(of(&intel, &row, KeyType::U32), Some(16));
    assert_eq!(of(&intel, &row, KeyType::U64), Some(16));
    assert_eq!(of(&intel, &row, KeyType::U128), None, "keys of 128 bits spill there");
    let other = Tuning { histogram_subgroup_size: None, ..row.clone() };
    assert_eq!(of(&intel, &other, KeyType::U32), None);
    let odd = Tuning { histogram_workgroup_size: 24, ..row.clone() };
    assert_eq!(of(&intel, &odd, KeyType::U32), None, "24 is no multiple of 16");
    for unable in [
        DeviceProfile { full_subgroups: false, ..intel.clone() },
        DeviceProfile { subgroup_range: (32, 32), ..intel.clone() },
    ] {
        assert_eq!(of(&unable, &row, KeyType::U32), None);
    }
}

#[test]
fn absurd_tunings_are_brought_to_what_fits() {
    let profile = DeviceProfile::default();
    for number in [0, 1, 77, u32::MAX] {
        let tuning = with_each_size(&Tuning::for_device(&profile), number);
        let shape = fit_keys(&profile, &tuning, SubgroupChoice::Auto);
        assert!(shared_bytes(&shape) <= profile.max_shared_bytes && shape.tile.elements() >= 32, "{shape:?}");
        for capacity in [0, 1, 1 << 20, MAX_COUNT] {
            let request = keys();
            let desc = ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep);
            let reached = match steps::of(&desc, capacity, Count::Host(capacity)) {
                // Small tiles and a short ring do not reach all counts.
                Err(Error::TooManyElements { allowed, .. }) if capacity == MAX_COUNT => allowed as u32,
                _ => capacity,
            };
            assert!(reached == capacity || reached >= 1 << 28, "{reached} elements with {number}");
            let sort = steps::of(&desc, reached, Count::Host(reached)).unwrap();
            assert!(sort.table.size + sort.counters.size <= 4 << 20);
            assert!(sort.steps.len() as u32 <= 2 + shape.passes + 1);
        }
    }
}

#[test]
fn windows_take_as_few_passes_as_they_can_with_even_digits() {
    let profile = DeviceProfile::default();
    let share_bits = |profile: &DeviceProfile, bits: BitRange, most: u32| {
        let tuning = Tuning { digit_bits: most, ..Tuning::for_device(profile) };
        let request = SortRequest::new(KeyType::U128).bits(bits);
        let shape = Shape::fit(&ShapeDesc::new(profile, &tuning, &request, Algorithm::OneSweep)).unwrap();
        (shape.passes, shape.ranking.digit_bits)
    };
    for (bits, passes, digit_bits) in
        [(0, 0, 1), (1, 1, 1), (8, 1, 8), (9, 2, 5), (16, 2, 8), (17, 3, 6), (32, 4, 8), (64, 8, 8), (128, 16, 8)]
    {
        assert_eq!(share_bits(&profile, (0..bits).into(), 8), (passes, digit_bits), "{bits} bits");
    }
    for (bits, passes, digit_bits) in [(9, 1, 9), (16, 2, 8), (18, 2, 9), (27, 3, 9), (32, 4, 8), (36, 5, 8)] {
        assert_eq!(share_bits(&profile, (0..bits).into(), 9), (passes, digit_bits), "{bits} bits, wide digits");
    }
    for (bits, passes, digit_bits) in [(10, 1, 10), (20, 2, 10), (30, 3, 10), (40, 5, 8), (64, 8, 8), (128, 16, 8)] {
        assert_eq!(share_bits(&profile, (0..bits).into(), 10), (passes, digit_bits), "{bits} bits, wider digits");
    }
    let least = DeviceProfile { max_shared_bytes: 16384, ..profile };
    assert_eq!(share_bits(&least, (0..128).into(), 8), (19, 7), "256 counters for each of 16 digits do not fit");
}

#[test]
fn masks_and_wide_digits_give_way_where_they_cannot_fit() {
    // The smallest workgroup fills a subgroup of the device, and then holds several emulated ones.
    const SIZES: [u32; 6] = [4, 8, 16, 32, 64, 128];
    let (narrow, wide) = (SortRequest::new(KeyType::U16).bits(3..12), KeyType::U64);
    for request in [narrow, SortRequest::new(wide)] {
        for (own, max_shared_bytes, emulated) in SIZES
            .iter()
            .flat_map(|&own| [16384, 32768].map(|bytes| (own, bytes)))
            .flat_map(|(own, bytes)| SIZES.map(|size| (own, bytes, size)))
        {
            let profile = DeviceProfile {
                subgroup_size: own,
                subgroup_range: (own, own),
                max_shared_bytes,
                ..DeviceProfile::default()
            };
            for digit_bits in 1..=12 {
                let tuning = Tuning { rank: RankMethod::Match, digit_bits, ..Tuning::for_device(&profile) };
                let subgroup = SubgroupChoice::Emulated(emulated);
                let desc = ShapeDesc { subgroup, ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep) };
                let shape = Shape::fit(&desc).unwrap();
                assert!(shared_bytes(&shape) <= max_shared_bytes, "{shape:?}");
            }
        }
    }
}

#[test]
fn what_cannot_fit_is_refused_by_name() {
    let tiny = DeviceProfile { max_shared_bytes: 64, ..DeviceProfile::default() };
    let message = fit(&tiny, SubgroupChoice::Auto).unwrap_err().to_string();
    assert!(message.contains("shared memory") && message.contains("64"), "{message}");
    let message = fit(&DeviceProfile::default(), SubgroupChoice::Emulated(48)).unwrap_err().to_string();
    assert!(message.contains("48"), "{message}");
    let none = DeviceProfile { subgroup_operations: false, ..DeviceProfile::default() };
    let message = fit(&none, SubgroupChoice::Native).unwrap_err().to_string();
    assert!(message.contains("ballot"), "{message}");
    let partial = DeviceProfile { full_subgroups: false, ..DeviceProfile::default() };
    let message = fit(&partial, SubgroupChoice::Native).unwrap_err().to_string();
    assert!(message.contains("full subgroups false"), "{message}");
}
