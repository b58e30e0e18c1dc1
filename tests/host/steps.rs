//! The steps of sorts as a record kept in the repository: kernels, workgroups, push constants, the memory that each step reads and
//! writes, and the barrier before it. A change that is meant to leave sorts as they are leaves the record as it is.
//!
//! The record has a digest for each row of tunings and each kind of sort: elements by each algorithm, records, segments, and the first
//! elements of segments. `VKSORT_WRITE_STEPS=FILE` writes what the digests are made
//! from, one sort a line, so that two commits can be compared by `diff`, and renews the record.

use std::fmt::Write;
use std::path::Path;

use vksort::__private::ShapeDesc;
use vksort::__private::abi::{Push, SPECIALIZATION};
use vksort::__private::steps::{self, HostSort, HostStep, Memory};
use vksort::__private::{driver, vendor};
use vksort::{
    Algorithm, BitRange, Count, DeviceProfile, Error, IndexFrom, KeyField, KeyOutput, KeyType, Order, Placement,
    Segments, SortRequest, Tuning, ValueType,
};

use vksort_testing::records::outputs;

const FILE: &str = "tests/host/steps.csv";
/// The largest capacity, for which every algorithm but the single workgroup has all its kernels.
const LARGEST: u32 = 1 << 22;

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
                        requests.push(
                            SortRequest::new(key).value(value).placement(placement).key_output(key_output).bits(bits),
                        );
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

/// Requests of records that plans tell apart: composed keys of each width, records that are keys, and each output.
fn records() -> Vec<SortRequest> {
    let fields: [(u32, &[KeyField]); 5] = [
        (12, &[KeyField::new(8, KeyType::F16)]),
        (20, &[KeyField::new(0, KeyType::U16), KeyField::new(7, KeyType::F32).descending()]),
        (32, &[KeyField::new(0, KeyType::F64).descending(), KeyField::new(8, KeyType::I64)]),
        (8, &[KeyField::new(4, KeyType::U32)]),
        (4, &[KeyField::new(0, KeyType::F32).descending()]),
    ];
    fields.into_iter().flat_map(|(stride, fields)| outputs(&SortRequest::records(stride, fields))).collect()
}

/// Requests of segments that plans tell apart: every layout, with segments within a block, beyond it, and of unknown length. With
/// `top`, those of their first elements.
fn segments(top: bool) -> Vec<SortRequest> {
    let layouts = [
        Segments::Offsets,
        Segments::Ranges,
        Segments::Rows { stride: 8 },
        Segments::Rows { stride: 50_000 },
        Segments::RowsOf { stride: 300 },
        Segments::RowsOf { stride: 20_000 },
        Segments::Whole,
    ];
    let mut requests = Vec::new();
    for layout in layouts {
        for key in [KeyType::U16, KeyType::F32, KeyType::U64, KeyType::U128] {
            for value in [ValueType::None, ValueType::U32, ValueType::Bytes(20), ValueType::Index] {
                for (placement, order) in
                    [(Placement::InPlace, Order::Ascending), (Placement::OutOfPlace, Order::Descending)]
                {
                    for bits in [0..key.bits(), 3..12, 0..0] {
                        let bits = BitRange::from(bits);
                        let sort = SortRequest::new(key).value(value).placement(placement).order(order).bits(bits);
                        let all = sort.segments(layout);
                        let discarded = sort.key_output(KeyOutput::Discarded);
                        let discarded = discarded.segments(layout).indices_from(IndexFrom::Segment);
                        for request in [all, all.up_to(200), all.up_to(100_000), discarded] {
                            match top {
                                true => requests.extend([request.top(1), request.top(40)]),
                                false => requests.push(request),
                            }
                        }
                    }
                }
            }
        }
        for request in records().iter().filter(|_| !top) {
            let request = request.segments(layout);
            requests.extend([request, request.up_to(100)]);
        }
    }
    requests.retain(|request| request.check().is_ok());
    requests
}

/// The steps of a sort, or why there is none. With `constants` also the specialization constants that are not their defaults.
fn describe(sort: Result<HostSort, Error>, constants: bool) -> String {
    let sort = match sort {
        Ok(sort) => sort,
        Err(error) => return format!(" {error}"),
    };
    let mut line = String::new();
    for (step, barrier) in sort.steps.iter().zip(&sort.barriers) {
        if let Some((from, to)) = barrier {
            write!(line, " |{from:?} -> {to:?}|").unwrap();
        }
        match step {
            HostStep::Clear { bytes } => write!(line, " clear {bytes};").unwrap(),
            HostStep::Dispatch(dispatch) => {
                let [keys, values] =
                    [dispatch.places.keys, dispatch.places.values].map(|ends| ends.map(memory).join(" to "));
                let (name, groups, push) = (dispatch.name, dispatch.groups, dispatch.push.words(None));
                // Addresses are those of buffers, which are not known here.
                let push = &push[Push::FIRST_SINGLE..];
                write!(line, " {name} {groups:?} push {push:x?} keys {keys} values {values};").unwrap();
                if constants {
                    let set =
                        dispatch.constants.iter().zip(&SPECIALIZATION).filter(|(set, (_, default))| *set != default);
                    set.for_each(|(set, (name, _))| write!(line, " {name}={set:x}").unwrap());
                }
            }
        }
    }
    line
}

/// The sorts of one kind on one device, one a line.
fn sorts(profile: &DeviceProfile, kind: &str) -> String {
    let tuning = Tuning::for_device(profile);
    let mut text = String::new();
    let mut add = |what: &dyn std::fmt::Display, capacity: u32, count: Count, sort: Result<HostSort, Error>| {
        // The constants of a request's pipelines are the same for every count.
        let constants = count == Count::Device && (capacity == LARGEST || kind == "records");
        writeln!(text, "{what}, {capacity}, {count:?}:{}", describe(sort, constants)).unwrap();
    };
    let counts = |capacity: u32| [Count::Host(capacity), Count::Device];
    match kind {
        "records" => {
            for request in &records() {
                let (sort, fields) = steps::resolve(request).expect("a request that is allowed");
                let algorithm = tuning.algorithm();
                let desc = ShapeDesc { fields, ..ShapeDesc::new(profile, &tuning, &sort, algorithm) };
                for capacity in [1_000, 100_003] {
                    counts(capacity)
                        .into_iter()
                        .for_each(|count| add(request, capacity, count, steps::of(&desc, capacity, count)));
                }
            }
        }
        "segments" | "first elements" => {
            for request in &segments(kind == "first elements") {
                let (sort, fields) = steps::resolve(request).expect("a request that is allowed");
                let algorithm = tuning.algorithm();
                let desc = ShapeDesc { fields, ..ShapeDesc::new(profile, &tuning, &sort, algorithm) };
                for (capacity, segments) in [(100_003, 0), (100_003, 1), (LARGEST, 7_000)] {
                    let whole = request.segments.is_some_and(|of| of.layout == Segments::Whole);
                    let number = if whole { capacity } else { segments };
                    for count in counts(number) {
                        add(&sort, capacity, count, steps::of_segments(&desc, capacity, number, count));
                    }
                }
            }
        }
        _ => {
            let algorithm = kind.parse().expect("every other kind is an algorithm");
            for request in &requests() {
                let request = request.algorithm(algorithm);
                let desc = ShapeDesc::new(profile, &tuning, &request, algorithm);
                for capacity in [0, 1_000, 100_003, LARGEST] {
                    counts(capacity)
                        .into_iter()
                        .for_each(|count| add(&request, capacity, count, steps::of(&desc, capacity, count)));
                }
            }
        }
    }
    text
}

/// FNV-1a, which is the same in every version of the standard library.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[test]
fn the_steps_of_sorts_are_those_of_the_record() {
    let (mut record, mut all) = (String::from("device,sort,sorts,digest\n"), String::new());
    let algorithms = Algorithm::ALL.iter().map(Algorithm::to_string);
    let kinds: Vec<_> = algorithms.chain(["records", "segments", "first elements"].map(String::from)).collect();
    for (device, profile) in devices() {
        for kind in &kinds {
            let text = sorts(&profile, kind);
            writeln!(record, "{device},{kind},{},{:016x}", text.lines().count(), digest(&text)).unwrap();
            writeln!(all, "{device}, {kind}\n{text}").unwrap();
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
