//! Every built-in tuning row, fitted to drawn devices, among them such as report 0, 1 or the largest number for a limit: a
//! shape within the device's limits comes out, or an error that names the limit, and nothing overflows.
//!
//! It takes no device. Built with overflow checks (`--config scripts/checked.toml`), it also finds sums that wrap around.

use std::cell::Cell;

use fastrand::Rng;
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use vksort::__private::{Shape, ShapeDesc};
use vksort::__private::{abi, driver, row_names, vendor};
use vksort::{
    Algorithm, BitRange, DeviceProfile, Error, KeyOutput, KeyType, Placement, SortRequest, SubgroupChoice, Tuning,
    ValueType,
};
use vksort_testing::drawn::with_each_size;

/// A class of devices, as a row asks for it.
#[derive(Clone, Copy, Debug)]
struct Class {
    name: &'static str,
    vendor_id: u32,
    driver_id: vksort::ash::vk::DriverId,
    /// The subgroup sizes that a shader may request, where a row asks for them.
    subgroup_range: Option<(u32, u32)>,
    /// The name of its row.
    row: &'static str,
}

const fn class(row: &'static str, vendor_id: u32, driver_id: vksort::ash::vk::DriverId) -> Class {
    Class { name: "drawn", vendor_id, driver_id, subgroup_range: None, row }
}

/// Classes of devices for every row.
const CLASSES: [Class; 14] = [
    class("nvidia", vendor::NVIDIA, driver::UNKNOWN),
    class("nvk", vendor::NVIDIA, driver::NVK),
    class("amd", vendor::AMD, driver::UNKNOWN),
    Class { subgroup_range: Some((8, 32)), ..class("intel", vendor::INTEL, driver::UNKNOWN) },
    Class { subgroup_range: Some((16, 32)), ..class("intel-xe2", vendor::INTEL, driver::UNKNOWN) },
    class("apple", vendor::APPLE, driver::UNKNOWN),
    class("apple", 0, driver::MOLTENVK),
    class("apple", 0, driver::HONEYKRISP),
    Class { name: "Adreno (TM) 660", ..class("adreno-6xx", vendor::QUALCOMM, driver::UNKNOWN) },
    class("adreno", vendor::QUALCOMM, driver::UNKNOWN),
    class("mali", vendor::ARM, driver::UNKNOWN),
    class("llvmpipe", 0, driver::LLVMPIPE),
    class("swiftshader", 0, driver::SWIFTSHADER),
    class("unknown", 0, driver::UNKNOWN),
];

impl Class {
    /// The device of the class with limits of another profile.
    fn with(self, limits: DeviceProfile) -> DeviceProfile {
        let Class { name, vendor_id, driver_id, subgroup_range, .. } = self;
        let subgroup_range = subgroup_range.unwrap_or(limits.subgroup_range);
        DeviceProfile { name: name.into(), vendor_id, driver_id, subgroup_range, ..limits }
    }
}

/// A limit as devices report it, or one that no device should.
fn limit(usual: &'static [u32]) -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => prop::sample::select(usual),
        2 => prop::sample::select(&[0u32, 1, u32::MAX]),
        1 => any::<u32>(),
        1 => (0..32u32, 0..3u32).prop_map(|(bit, less)| (1u32 << bit).wrapping_sub(less)),
    ]
}

fn profiles() -> impl Strategy<Value = DeviceProfile> {
    let subgroups = (limit(&[4, 8, 16, 32, 64, 128]), limit(&[4, 8, 16, 32]), limit(&[16, 32, 64, 128]));
    let workgroups = (limit(&[8, 16, 32, 64]), limit(&[128, 256, 512, 1024]), limit(&[16_384, 32_768, 49_152, 65_536]));
    let rest = (limit(&[65_535]), limit(&[0, 2, 64]), limit(&[4, 8, 16]), any::<u64>(), limit(&[4, 64, 256]));
    let flags = prop::collection::vec(prop::bool::weighted(0.8), 7);
    (prop::sample::select(&CLASSES), subgroups, workgroups, rest, flags).prop_map(
        |(class, (size, least, most), (subgroups, invocations, shared), rest, flags)| {
            let (max_workgroups, cpu_threads, max_storage_buffers, max_storage_range_bytes, alignment) = rest;
            let drawn = DeviceProfile {
                is_cpu: !flags[0],
                cpu_threads,
                subgroup_size: size,
                subgroup_range: if flags[1] { (size, size) } else { (least, most) },
                subgroup_operations: flags[2],
                full_subgroups: flags[3],
                max_workgroup_subgroups: subgroups,
                max_workgroup_invocations: invocations,
                max_shared_bytes: shared,
                max_workgroups,
                max_storage_buffers,
                max_storage_range_bytes,
                storage_alignment_bytes: alignment.into(),
                small_storage: flags[4],
                buffer_addresses: flags[5],
                ..DeviceProfile::default()
            };
            // Some devices report other sizes than their class.
            if flags[6] { class.with(drawn) } else { Class { subgroup_range: None, ..class }.with(drawn) }
        },
    )
}

/// Every kind of elements: key types x values, in all windows that differ in their digits, taken by turns.
fn requests(turn: usize) -> impl Iterator<Item = SortRequest> {
    let values = [0, 1, 2, 4, 16, 20, 1028].map(|bytes| match bytes {
        0 => ValueType::None,
        bytes => ValueType::Bytes(bytes),
    });
    KeyType::ALL.iter().enumerate().flat_map(move |(row, &key)| {
        values.into_iter().chain([ValueType::Index]).enumerate().map(move |(column, value)| {
            let turn = turn + row + column;
            let width = key.bits();
            let windows = [0..width, 0..width, 0..0, width - 1..width, 0..width / 2 + 1];
            let discards = value != ValueType::None && turn.is_multiple_of(4);
            SortRequest::new(key)
                .value(value)
                .bits(BitRange::from(windows[turn % windows.len()].clone()))
                .placement(if turn.is_multiple_of(2) { Placement::InPlace } else { Placement::OutOfPlace })
                .key_output(if discards { KeyOutput::Discarded } else { KeyOutput::Sorted })
        })
    })
}

/// The built-in row, and every number of it at its ends: what `check` lets pass has to fit, or be refused, as well.
fn tunings(profile: &DeviceProfile, turn: usize) -> Vec<Tuning> {
    let row = Tuning::for_device(profile);
    let others = [1, u32::MAX, 0].map(|number| with_each_size(&row, number));
    let smallest = Some(profile.subgroup_range.0);
    let asking = Tuning { subgroup_size: smallest, histogram_subgroup_size: smallest, ..row.clone() };
    vec![others[turn % others.len()].clone(), asking, row]
}

/// What a shape promises, whoever it is for.
fn holds(shape: &Shape, profile: &DeviceProfile, request: &SortRequest) -> Result<(), String> {
    let size = shape.ranking.subgroup.size;
    let ranking = [shape.tile.invocations, shape.single.invocations];
    let invocations = profile.max_workgroup_invocations;
    let checks = [
        ("the subgroup size is a power of two from 4 to 128", size.is_power_of_two() && (4..=128).contains(&size)),
        ("a workgroup is whole subgroups", ranking.iter().all(|group| *group > 0 && group.is_multiple_of(size))),
        ("a workgroup is as large as the device allows", ranking.iter().all(|group| *group <= invocations)),
        (
            "a workgroup has as many subgroups as the device allows",
            shape.ranking.subgroup.emulated
                || ranking.iter().all(|group| group / size.max(1) <= profile.max_workgroup_subgroups),
        ),
        ("the histogram's workgroup fits", (1..=invocations).contains(&shape.histogram.block.invocations)),
        (
            "the histogram's workgroup is as many full subgroups as the device allows",
            shape.histogram.subgroup_size.is_none_or(|size| {
                size.is_power_of_two()
                    && profile.full_subgroups
                    && (profile.subgroup_range.0..=profile.subgroup_range.1).contains(&size)
                    && shape.histogram.block.invocations.is_multiple_of(size)
                    && shape.histogram.block.invocations / size <= profile.max_workgroup_subgroups
            }),
        ),
        ("the scan's workgroup fits", (1..=invocations).contains(&shape.scan_workgroup_size)),
        ("the tile's shared memory suffices", shape.ranking.tile_bytes(shape.tile) <= profile.max_shared_bytes),
        (
            "the single workgroup's shared memory suffices",
            shape.ranking.single_bytes(shape.single) <= profile.max_shared_bytes,
        ),
        (
            "the histogram's shared memory suffices",
            vksort::__private::histogram_bytes(shape.passes, shape.ranking.digit_bits) <= profile.max_shared_bytes,
        ),
        ("there are items", shape.tile.items > 0 && shape.single.items > 0 && shape.histogram.block.items > 0),
        ("passes cover the window", shape.passes * shape.ranking.digit_bits >= request.bits.len()),
        ("passes have counters", shape.passes <= abi::MAX_PASSES),
        (
            "places of a staged block fit half a word",
            !shape.ranking.staged() || shape.tile.elements().max(shape.single.elements()) <= 1 << 16,
        ),
    ];
    match checks.into_iter().find(|(_, holds)| !holds) {
        Some((what, _)) => Err(format!("it does not hold that {what}: {shape:?}")),
        None => Ok(()),
    }
}

/// Fits everything to a device, and gives how many shapes came out; what is refused has to be refused by name.
fn fit(profile: &DeviceProfile, turn: usize) -> Result<u32, String> {
    let mut shapes = 0;
    let choices = [
        SubgroupChoice::Auto,
        SubgroupChoice::Native,
        SubgroupChoice::Emulated([4, 8, 16, 32, 64, 128][turn % 6]),
        SubgroupChoice::Emulated([0, 1, 48, 256, u32::MAX][turn % 5]),
    ];
    for tuning in tunings(profile, turn) {
        for (index, request) in requests(turn).enumerate() {
            for &algorithm in Algorithm::ALL {
                let choice = choices[(index + turn) % choices.len()];
                let what = || format!("{algorithm} {choice:?} {request:?} by {tuning:?}");
                let desc = ShapeDesc::new(profile, &tuning, &request, algorithm);
                match Shape::fit(&ShapeDesc { subgroup: choice, ..desc }) {
                    Ok(shape) => {
                        holds(&shape, profile, &request).map_err(|reason| format!("{reason}, {}", what()))?;
                        shapes += 1;
                    }
                    Err(Error::UnsuitableDevice { device, what, given, needed }) => {
                        if device != profile.name || [&what, &given, &needed].iter().any(|text| text.is_empty()) {
                            return Err(format!("{what} is {given}, needed is {needed}, on {device}"));
                        }
                    }
                    Err(Error::Unsupported { .. }) if matches!(choice, SubgroupChoice::Emulated(_)) => {}
                    Err(error) => return Err(format!("{error}: {}", what())),
                }
            }
        }
    }
    Ok(shapes)
}

#[test]
fn every_row_is_met() {
    for class in CLASSES {
        assert_eq!(Tuning::for_device(&class.with(DeviceProfile::default())).name, class.row, "{class:?}");
    }
    for name in row_names() {
        assert!(CLASSES.iter().any(|class| class.row == name), "no class of devices has the row {name}");
    }
}

/// What drivers are known to report, with each number at its ends in turn.
#[test]
fn rows_fit_devices_with_a_limit_at_its_end() {
    for class in CLASSES {
        let name = class.row;
        let usual = class.with(DeviceProfile {
            is_cpu: ["llvmpipe", "swiftshader"].contains(&name),
            subgroup_size: if name == "amd" { 64 } else { 32 },
            subgroup_range: (32, 64),
            ..DeviceProfile::default()
        });
        let field = |index: usize, number: u32| {
            let mut profile = usual.clone();
            match index {
                0 => profile.max_workgroup_subgroups = number,
                1 => profile.max_workgroup_invocations = number,
                2 => profile.max_shared_bytes = number,
                3 => profile.max_workgroups = number,
                4 => profile.cpu_threads = number,
                5 => profile.subgroup_size = number,
                6 => profile.subgroup_range = (number, number),
                7 => profile.max_storage_buffers = number,
                _ => profile.max_storage_range_bytes = number.into(),
            }
            profile
        };
        for index in 0..9 {
            for number in [0, 1, u32::MAX] {
                let profile = field(index, number);
                for turn in 0..3 {
                    fit(&profile, turn).unwrap_or_else(|reason| panic!("{name}: {reason} on {profile:?}"));
                }
            }
        }
    }
}

const CASES: u32 = 2_000;

#[test]
fn every_row_fits_any_device_or_says_why_not() {
    let seed = match std::env::var("VKSORT_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("VKSORT_SEED is {text:?}, allowed is a number")),
        Err(_) => 20_240_917,
    };
    let mut bytes = [0; 32];
    Rng::with_seed(seed).fill(&mut bytes);
    let kept = FileFailurePersistence::Direct("tests/regressions/profiles.txt");
    let config = Config { cases: CASES, failure_persistence: Some(Box::new(kept)), ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let served = Cell::new(0);
    let result = runner.run(&(profiles(), 0..60usize), |(profile, turn)| {
        let shapes = fit(&profile, turn).map_err(TestCaseError::fail)?;
        served.set(served.get() + u32::from(shapes > 0));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("VKSORT_SEED={seed}: {error}"));
    // A property of nothing always holds.
    assert!(served.get() > CASES / 4, "only {} of {CASES} devices are served at all", served.get());
}
