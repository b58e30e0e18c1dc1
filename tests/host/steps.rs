//! The steps of sorts as a record kept in the repository: kernels, workgroups, the memory that each step reads and writes, and the
//! barrier before it. A change that is meant to leave sorts as they are leaves the record as it is.
//!
//! The record has a digest for each row of tunings and each algorithm. `VKSORT_WRITE_STEPS=FILE` writes what the digests are made
//! from, one sort a line, so that two commits can be compared by `diff`, and renews the record.

use std::fmt::Write;
use std::path::Path;

use vksort::internals::steps::{self, HostStep, Memory};
use vksort::internals::{driver, vendor};
use vksort::{
    Algorithm, BitRange, Count, DeviceProfile, KeyOutput, KeyType, Placement, ShapeDesc, SortRequest, Tuning, ValueType,
};

const FILE: &str = "tests/host/steps.csv";

/// A device for each row of tunings that differs in its steps.
fn devices() -> Vec<(&'static str, DeviceProfile)> {
    let gpu = |vendor_id, lanes| DeviceProfile {
        vendor_id,
        subgroup_size: lanes,
        subgroup_range: (lanes, lanes),
        max_shared_bytes: 49_152,
        ..DeviceProfile::default()
    };
    let cpu = |driver_id, lanes| DeviceProfile { driver_id, is_cpu: true, cpu_threads: 2, ..gpu(0, lanes) };
    vec![
        ("nvidia", gpu(vendor::NVIDIA, 32)),
        ("amd", gpu(vendor::AMD, 32)),
        ("intel", gpu(vendor::INTEL, 16)),
        ("apple", gpu(vendor::APPLE, 32)),
        ("adreno", gpu(vendor::QUALCOMM, 64)),
        ("unknown", gpu(0, 32)),
        ("llvmpipe-4", cpu(driver::LLVMPIPE, 4)),
        ("llvmpipe-8", cpu(driver::LLVMPIPE, 8)),
        ("swiftshader", cpu(driver::SWIFTSHADER, 4)),
    ]
}

/// Requests of every kind that plans tell apart.
fn requests() -> Vec<SortRequest> {
    let mut requests = Vec::new();
    for key in [KeyType::U8, KeyType::U16, KeyType::U32, KeyType::F64, KeyType::U128] {
        for value in [0, 2, 4, 20].map(ValueType::Bytes).into_iter().chain([ValueType::Index]) {
            let value = if value == ValueType::Bytes(0) { ValueType::None } else { value };
            for placement in [Placement::InPlace, Placement::OutOfPlace] {
                for key_output in [KeyOutput::Sorted, KeyOutput::Discarded] {
                    for bits in [0..key.bits(), 0..0, key.bits() - 5..key.bits(), 0..key.bits() / 2 + 3] {
                        let bits = BitRange::from(bits);
                        requests.push(SortRequest { value, placement, key_output, bits, ..SortRequest::new(key) });
                    }
                }
            }
        }
    }
    requests.retain(|request| request.check().is_ok());
    requests
}

fn memory(memory: Option<Memory>) -> String {
    match memory {
        None => "-".into(),
        Some(Memory::Scratch(range)) => format!("scratch+{}:{}", range.offset, range.size),
        Some(buffer) => format!("{buffer:?}").to_lowercase(),
    }
}

/// One line for a sort.
fn describe(desc: &ShapeDesc<'_>, capacity: u32, count: Count) -> String {
    let mut line = format!("{}, {capacity}, {count:?}:", desc.request);
    let sort = match steps::of(desc, capacity, count) {
        Ok(sort) => sort,
        Err(error) => return format!("{line} {error}"),
    };
    for (step, barrier) in sort.steps.iter().zip(&sort.barriers) {
        if let Some((from, to)) = barrier {
            write!(line, " |{from:?} -> {to:?}|").unwrap();
        }
        match step {
            HostStep::Clear { bytes } => write!(line, " clear {bytes};").unwrap(),
            HostStep::Dispatch(dispatch) => {
                let [keys, values] =
                    [dispatch.places.keys, dispatch.places.values].map(|ends| ends.map(memory).join(" to "));
                write!(line, " {} {:?} keys {keys} values {values};", dispatch.name, dispatch.groups).unwrap();
            }
        }
    }
    line
}

/// FNV-1a, which is the same in every version of the standard library.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[test]
fn the_steps_of_sorts_are_those_of_the_record() {
    let (mut record, mut all) = (String::from("device,algorithm,sorts,digest\n"), String::new());
    let requests = requests();
    for (device, profile) in devices() {
        let tuning = Tuning::for_device(&profile);
        for &algorithm in Algorithm::ALL {
            let mut text = String::new();
            for request in &requests {
                let request = SortRequest { algorithm: Some(algorithm), ..*request };
                let desc = ShapeDesc::new(&profile, &tuning, &request, algorithm);
                for capacity in [0, 1_000, 100_003, 1 << 22] {
                    for count in [Count::Host(capacity), Count::Device] {
                        text += &describe(&desc, capacity, count);
                        text.push('\n');
                    }
                }
            }
            writeln!(record, "{device},{algorithm},{},{:016x}", text.lines().count(), digest(&text)).unwrap();
            writeln!(all, "{device}, {algorithm}\n{text}").unwrap();
        }
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if let Some(file) = std::env::var_os("VKSORT_WRITE_STEPS") {
        std::fs::write(&file, all).unwrap();
        std::fs::write(&kept, &record).unwrap();
    }
    let expected = std::fs::read_to_string(&kept).unwrap_or_default();
    let differ: Vec<_> = record.lines().filter(|line| !expected.lines().any(|other| other == *line)).collect();
    assert!(
        differ.is_empty() && record.lines().count() == expected.lines().count(),
        "the steps differ from {FILE}; compare what VKSORT_WRITE_STEPS=FILE writes before and after: {differ:?}"
    );
}
