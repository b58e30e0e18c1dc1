//! Tuning profiles in files, as far as they take no device.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use vksort::ash::vk::DriverId;
use vksort::{DeviceProfile, RankMethod, Tuning};
use vksort_profiles::{Clock, Error, MeasuredSort, Quartiles, SortKind, TuningProfile};

/// The day of the profiles.
const DATE: &str = "2026-01-31";

fn device() -> DeviceProfile {
    DeviceProfile {
        name: "Foo GT \"4\"".into(),
        vendor_id: 0x10DE,
        device_id: 0x2335,
        driver_id: DriverId::NVIDIA_PROPRIETARY,
        driver_version: 0x8A40_C000,
        driver: "NVIDIA 553.3".into(),
        ..DeviceProfile::default()
    }
}

fn profile() -> TuningProfile {
    let numbers = Quartiles { q25: 0.1 + 0.2, median: 1e9, q75: f64::MAX };
    let sort = |kind| MeasuredSort {
        kind,
        count: 1 << 24,
        rounds: 21,
        clock: Clock::Device,
        built_in_ns: numbers,
        tuned_ns: numbers,
        ratio: numbers,
    };
    let tuning = Tuning {
        name: "tuned".into(),
        evidence: format!("measured {}", 1).into(),
        subgroup_size: Some(16),
        rank: RankMethod::Match,
        ..Tuning::for_device(&device())
    };
    TuningProfile::new(&device(), tuning, SortKind::ALL.iter().map(|kind| sort(*kind)).collect(), DATE)
}

/// A file of this test's own.
fn file(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("vksort-{test}-{}.json", std::process::id()))
}

/// The profile in a file with this content.
fn read(content: &[u8]) -> Result<TuningProfile, Error> {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let path = file(&format!("read-{}", FILES.fetch_add(1, Ordering::Relaxed)));
    fs::write(&path, content).unwrap();
    let profile = TuningProfile::load(&path);
    fs::remove_file(&path).unwrap();
    profile
}

/// The profile with one piece of its text replaced.
fn changed(from: &str, to: &str) -> Result<TuningProfile, Error> {
    let text = profile().to_json();
    assert!(text.contains(from), "{from} is not in {text}");
    read(text.replacen(from, to, 1).as_bytes())
}

#[test]
fn a_profile_is_the_same_after_writing_and_reading() {
    let path = file("profile");
    let written = profile();
    written.save(&path).unwrap();
    assert_eq!(TuningProfile::load(&path).unwrap(), written);
    // Again, over what is there.
    let built_in = TuningProfile::new(&device(), Tuning::for_device(&device()), Vec::new(), DATE);
    built_in.save(&path).unwrap();
    let read = TuningProfile::load(&path).unwrap();
    assert_eq!(read, built_in);
    assert_eq!(read.tuning_for(&device()).unwrap(), Tuning::for_device(&device()));
    fs::remove_file(&path).unwrap();
}

#[test]
fn the_file_speaks_of_the_fields_by_their_names() {
    let text = profile().to_json();
    for part in [
        "\"format\": ",
        "\"date\": \"2026-01-31\"",
        "\"device_id\": 9013",
        "\"name\": \"Foo GT \\\"4\\\"\"",
        "\"workgroup_size\": 512",
        "\"subgroup_size\": 16",
        "\"rank\": \"match\"",
        "\"ballot\": \"by-mask\"",
        "\"kind\": \"pairs\"",
        "\"clock\": \"device\"",
        "\"median\": 1000000000.0",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn what_is_not_a_profile_of_this_version_is_refused_in_one_line() {
    let text = profile().to_json();
    let format = text.lines().find_map(|line| line.trim().strip_prefix("\"format\": ")).unwrap().trim_end_matches(',');
    let cases: [(_, &str); 17] = [
        (read(b""), "not a profile, which is JSON: EOF"),
        (read(b"{\"formats\": 1}"), "not a profile, which is JSON: missing field `format`"),
        // Of an older version, with fields that are gone.
        (
            read(b"{\"format\": 8, \"tuning\": {\"leader_adds\": false}}"),
            &format!("format is 8, allowed is {format}; make it again"),
        ),
        (changed(&format!("\"format\": {format}"), "\"format\": -1"), "not a profile, which is JSON: invalid value"),
        (changed("\"match\"", "\"guess\""), "rank is \"guess\", allowed is ballot, match, compare, private"),
        (changed("\"few_registers\"", "\"few_register\""), "missing field `few_registers`"),
        (changed("\"few_registers\": true", "\"few_registers\": 7"), "few_registers is 7, allowed is false or true"),
        (changed("\"by-mask\"", "\"ByMask\""), "ballot is \"ByMask\", allowed is by-place, by-mask"),
        (changed("\"polls\": 256,", ""), "missing field `polls`"),
        (changed("\"polls\": 256,", "\"polls\": 256, \"leader_adds\": false,"), "unknown field `leader_adds`"),
        (changed("\"polls\": 256", "\"polls\": null"), "polls is null, allowed is 1 to 65536"),
        (changed("\"polls\": 256", "\"polls\": -1"), "polls is -1, allowed is 1 to 65536"),
        (changed("\"polls\": 256", "\"polls\": 0"), "polls is 0, allowed is 1 to 65536"),
        (changed("\"polls\": 256", "\"polls\": 4294967296"), "polls is 4294967296, allowed is 1 to 65536"),
        (changed("\"subgroup_size\": 16", "\"subgroup_size\": 48"), "subgroup_size is 48, allowed is a power"),
        (changed("\"vendor_id\"", "\"vendor\""), "unknown field `vendor`"),
        (changed("\"rounds\": 21", "\"rounds\": 21, \"more\": 1"), "unknown field `more`"),
    ];
    for (result, expected) in cases {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(expected) && !message.contains('\n'), "{expected}: {message}");
    }
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let missing = TuningProfile::load("nowhere/tuning.json").unwrap_err().to_string();
    assert!(missing.starts_with("tuning profile nowhere/tuning.json: "), "{missing}");
    let unwritten = profile().save("nowhere/tuning.json").unwrap_err().to_string();
    assert!(unwritten.starts_with("tuning profile nowhere/tuning.json: writing it: "), "{unwritten}");
    assert!(matches!(profile().save("/"), Err(Error::File { .. })));

    let long = read(&[b' '; (1 << 20) + 10]).unwrap_err().to_string();
    assert!(long.contains("more than 1048576 bytes"), "{long}");
    let binary = read(&[0xFF, 0xFE, 0x00]).unwrap_err().to_string();
    assert!(binary.contains("not a profile, which is JSON: "), "{binary}");
}

#[test]
fn other_devices_are_foreign_and_other_drivers_stale() {
    let (profile, here) = (profile(), device());
    assert_eq!(profile.tuning_for(&here).unwrap(), profile.tuning);
    for other in [
        DeviceProfile { name: "Bar".into(), ..here.clone() },
        DeviceProfile { vendor_id: 0x1002, ..here.clone() },
        // Both differ: the device matters more.
        DeviceProfile { device_id: 0x2336, driver_version: 1, ..here.clone() },
    ] {
        let error = profile.tuning_for(&other).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
        let ids = format!("{:?} ({:04x}:{:04x})", other.name, other.vendor_id, other.device_id);
        let message = error.to_string();
        assert!(message.contains("(10de:2335)") && message.contains(&ids), "both are named: {message}");
    }
    for other in [
        DeviceProfile { driver_id: DriverId::AMD_PROPRIETARY, ..here.clone() },
        DeviceProfile { driver_version: 0x8A40_C001, ..here.clone() },
        DeviceProfile { driver: "NVIDIA 553.4".into(), ..here.clone() },
    ] {
        let error = profile.tuning_for(&other).unwrap_err();
        assert!(matches!(error, Error::Stale { .. }), "{error}");
        assert!(error.to_string().contains("NVIDIA 553.3"), "{error}");
    }
    let text = profile.to_json();
    let (_, rest) = text.split_once("\"kernels\": \"").unwrap();
    let (kernels, _) = rest.split_once('"').unwrap();
    let old = changed(kernels, "0123456789abcdef").unwrap();
    let error = old.tuning_for(&here).unwrap_err();
    assert!(matches!(error, Error::Stale { .. }) && error.to_string().contains("0123456789abcdef"), "{error}");
}

#[test]
fn quartiles_are_interpolated() {
    assert_eq!(Quartiles::of(&[4.0, 1.0, 3.0, 2.0]), Quartiles { q25: 1.75, median: 2.5, q75: 3.25 });
    let none = Quartiles::of(&[]);
    assert!([none.q25, none.median, none.q75].iter().all(|number| number.is_nan()), "{none:?}");
    assert_eq!(Quartiles::of(&[7.0]), Quartiles { q25: 7.0, median: 7.0, q75: 7.0 });
}
