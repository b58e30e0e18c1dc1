//! Built-in rows of tunings: which device has which row, and the values that a row may have.

use vksort::__private::{driver, row_names, vendor};
use vksort::{DeviceProfile, Tuning};

#[test]
fn every_class_of_devices_has_a_row_with_its_evidence() {
    let of = |vendor_id, driver_id| DeviceProfile { vendor_id, driver_id, ..DeviceProfile::default() };
    let intel = |subgroup_range| DeviceProfile { subgroup_range, ..of(vendor::INTEL, driver::UNKNOWN) };
    let adreno = |name: &str| DeviceProfile { name: name.into(), ..of(vendor::QUALCOMM, driver::UNKNOWN) };
    let classes = [
        (of(vendor::NVIDIA, driver::UNKNOWN), "nvidia"),
        (of(vendor::NVIDIA, driver::NVK), "nvk"),
        // A software driver may name the vendor of a GPU.
        (of(vendor::NVIDIA, driver::LLVMPIPE), "llvmpipe"),
        (of(vendor::AMD, driver::UNKNOWN), "amd"),
        (intel((8, 32)), "intel"),
        (intel((16, 32)), "intel-xe2"),
        (of(vendor::APPLE, driver::UNKNOWN), "apple"),
        (of(0, driver::MOLTENVK), "apple"),
        (of(0x10005, driver::HONEYKRISP), "apple"),
        (of(vendor::AMD, driver::MOLTENVK), "apple"),
        (of(vendor::INTEL, driver::MOLTENVK), "apple"),
        (adreno("Adreno (TM) 660"), "adreno-6xx"),
        (adreno("Turnip Adreno (TM) 618"), "adreno-6xx"),
        (adreno("Adreno (TM) 740"), "adreno"),
        (adreno("Turnip Adreno (TM) 750"), "adreno"),
        (of(vendor::ARM, driver::UNKNOWN), "mali"),
        (of(0, driver::LLVMPIPE), "llvmpipe"),
        (of(0, driver::SWIFTSHADER), "swiftshader"),
        (of(0, driver::UNKNOWN), "unknown"),
    ];
    for (profile, name) in &classes {
        let tuning = Tuning::for_device(profile);
        assert_eq!(tuning.name, *name);
        assert!(tuning.check().is_ok(), "{tuning:?}");
        let (kind, what) = tuning.evidence.split_once(": ").unwrap();
        assert!(
            ["measured", "compiled", "estimate"].contains(&kind) && !what.is_empty(),
            "{name}: {}",
            tuning.evidence
        );
    }
    for name in row_names() {
        assert!(classes.iter().any(|class| class.1 == name), "row {name} is not tested");
    }
    let unknown = Tuning::for_device(&of(0, driver::UNKNOWN));
    assert!(!unknown.look_back, "an unknown device must not wait in look-back");
}

#[test]
fn cpus_have_a_tile_for_each_thread() {
    let tiles = |cpu_threads| {
        let profile = DeviceProfile { driver_id: driver::LLVMPIPE, is_cpu: true, cpu_threads, ..Default::default() };
        Tuning::for_device(&profile).min_tiles
    };
    assert_eq!([1, 2, 64].map(tiles), [2, 2, 64]);
}

#[test]
fn numbers_out_of_range_are_refused_by_their_field() {
    let tuning = Tuning::for_device(&DeviceProfile::default());
    let refused = [
        ("workgroup_size is 0,", Tuning { workgroup_size: 0, ..tuning.clone() }),
        ("items_keys is 8193,", Tuning { items_keys: 8193, ..tuning.clone() }),
        ("single_workgroup_size is 0,", Tuning { single_workgroup_size: Some(0), ..tuning.clone() }),
        ("single_workgroup_size is 2049,", Tuning { single_workgroup_size: Some(2049), ..tuning.clone() }),
        ("items_pairs is 0,", Tuning { items_pairs: 0, ..tuning.clone() }),
        ("single_items is 0,", Tuning { single_items: 0, ..tuning.clone() }),
        ("subgroup_size is 256,", Tuning { subgroup_size: Some(256), ..tuning.clone() }),
        ("subgroup_size is 48, allowed is a power", Tuning { subgroup_size: Some(48), ..tuning.clone() }),
        ("histogram_subgroup_size is 2,", Tuning { histogram_subgroup_size: Some(2), ..tuning.clone() }),
        ("digit_bits is 0,", Tuning { digit_bits: 0, ..tuning.clone() }),
        ("polls is 4294967295,", Tuning { polls: u32::MAX, ..tuning.clone() }),
        ("min_tiles is 0,", Tuning { min_tiles: 0, ..tuning.clone() }),
        ("histogram_workgroup_size is 0,", Tuning { histogram_workgroup_size: 0, ..tuning.clone() }),
        ("histogram_items is 0,", Tuning { histogram_items: 0, ..tuning.clone() }),
        ("scan_workgroup_size is 4096,", Tuning { scan_workgroup_size: 4096, ..tuning.clone() }),
        ("name is ", Tuning { name: "a\nb".into(), ..tuning.clone() }),
        ("evidence is ", Tuning { evidence: "\u{1b}[2J".into(), ..tuning.clone() }),
    ];
    for (start, tuning) in refused {
        let message = tuning.check().unwrap_err().to_string();
        assert!(message.starts_with(start) && !message.contains('\n'), "{message}");
    }
}

/// A knob is a field under its name, and numbers that its scale does not allow leave a tuning as it is.
#[test]
fn knobs_read_and_write_their_fields() {
    let row = Tuning::for_device(&DeviceProfile { vendor_id: vendor::NVIDIA, ..DeviceProfile::default() });
    let names: Vec<_> = Tuning::KNOBS.iter().map(|knob| knob.name).collect();
    for (at, knob) in Tuning::KNOBS.iter().enumerate() {
        assert!(!names[..at].contains(&knob.name), "{} twice", knob.name);
        assert!(knob.get(&row).is_none_or(|number| knob.scale.allows(number)), "{}", knob.name);
        let allowed: Vec<_> = (0..5000).filter(|number| knob.scale.allows(*number)).collect();
        assert!(allowed.len() > 1, "{} has nothing to vary", knob.name);
        for number in allowed {
            let with = knob.with(&row, Some(number));
            assert_eq!((knob.get(&with), with.check().is_ok()), (Some(number), true), "{}", knob.name);
            let others = Tuning::KNOBS.iter().filter(|other| other.name != knob.name);
            assert!(others.clone().all(|other| other.get(&with) == other.get(&row)), "{}", knob.name);
            // A field of the type's text under this name is what changes.
            let text = format!("{with:?}");
            assert_eq!(text == format!("{row:?}"), knob.get(&row) == Some(number), "{}: {text}", knob.name);
        }
        let beyond = (0..=u32::MAX).step_by(0x1000_0001).find(|number| !knob.scale.allows(*number)).unwrap();
        assert_eq!(knob.with(&row, Some(beyond)), row, "{}", knob.name);
        let without = knob.with(&row, None);
        assert!(knob.get(&without).is_none() == knob.optional, "{}", knob.name);
    }
}
