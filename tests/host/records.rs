//! Requests of sorts of records: what is refused, the order of composed keys, and how records are sorted.

use fastrand::Rng;
use vksort::__private::ShapeDesc;
use vksort::__private::abi::{self, Own, spec};
use vksort::__private::steps::{self, Dispatch, HostStep, Memory, resolve};
use vksort::ash::vk::AccessFlags;
use vksort::{
    Algorithm, BitRange, Capacity, Count, DeviceProfile, KeyField, KeyOutput, KeyType, Order, Placement, Segments,
    SortRequest, Tuning, ValueType,
};
use vksort_testing::records::{Bytes, bytes, compare_records, composed, drawn, outputs, stride};
use vksort_testing::{expect, seed};

fn field(offset: u32, key: KeyType) -> KeyField {
    KeyField::new(offset, key)
}

#[test]
fn what_no_device_sorts_is_refused() {
    let refused = |stride, fields: &[KeyField], words: &[&str]| {
        expect(SortRequest::records(stride, fields).check(), words).unwrap();
    };
    let number = field(0, KeyType::U32);
    for stride in [0, 2, 6, 65_540, u32::MAX] {
        let given = format!("the stride of records is {stride} bytes");
        refused(stride, &[number], &[&given, "a multiple of 4 from 4 to 65536 bytes"]);
    }
    refused(8, &[], &["the number of fields is 0", "1 to 4"]);
    refused(8, &[number; 5], &["the number of fields is 5", "1 to 4"]);
    refused(8, &[number, field(5, KeyType::U32)], &["u32 at bytes 5..9", "0..8"]);
    refused(8, &[field(u32::MAX, KeyType::U8)], &["u8 at bytes 4294967295..4294967296"]);
    let wide = [field(0, KeyType::U128), field(7, KeyType::U8)];
    refused(16, &wide, &["the width of the fields is 136 bits together", "at most 128 bits"]);
    for (stride, fields) in [(4, &[number][..]), (65_536, &[field(65_535, KeyType::I8)]), (16, &wide[..1])] {
        SortRequest::records(stride, fields).check().unwrap();
    }
    // Nor what has no meaning for records.
    let records = SortRequest::records(8, [number]);
    let mut other = records;
    other.key = KeyType::F32;
    for (request, words) in [
        (other, &["the key type of records is f32, allowed is u32"][..]),
        (records.bits(0..16), &["the bit window of records is 0..16", "all bits of their fields"]),
        (records.order(Order::Descending), &["the order of records is descending", "a direction of each field"]),
        (records.value(ValueType::U32), &["the values of records is 4 bytes beside each", "none, or their indices"]),
        (records.key_output(KeyOutput::Discarded), &["the output of records is discarded"]),
        (records.segments(Segments::Offsets).algorithm(Algorithm::OneSweep), &["the algorithm of a sort of segments"]),
    ] {
        expect(request.check(), words).unwrap();
    }
}

#[test]
fn the_order_of_numbers_is_that_of_the_fields() {
    let mut random = Rng::with_seed(seed());
    let mut equal = 0;
    for _ in 0..400 {
        let request = drawn(&mut random);
        request.check().unwrap();
        let stride = stride(&request);
        let records = bytes(Bytes::Few, 40 * stride, &mut random);
        let records: Vec<&[u8]> = records.chunks(stride).collect();
        for (one, other) in records.iter().flat_map(|one| records.iter().map(move |other| (one, other))) {
            let numbers = [one, other].map(|record| composed(&request, record));
            let expected = compare_records(&request, one, other);
            assert_eq!(numbers[0].cmp(&numbers[1]), expected, "{request}: {one:02x?} and {other:02x?}");
            equal += usize::from(expected.is_eq() && one != other);
        }
    }
    assert!(equal > 1_000, "only {equal} pairs of records are equal in all fields");
}

#[test]
fn numbers_have_the_first_field_on_top() {
    let fields = [field(5, KeyType::I16), field(0, KeyType::U8).descending(), field(1, KeyType::F32)];
    let record = [0x0F, 0, 0, 0x80, 0x3F, 0xFF, 0xFF, 0];
    assert_eq!(composed(&SortRequest::records(8, fields), &record), 0x007F_FFF0_BF80_0000);
}

/// The sort of composed keys is by exactly their bits, and of records that are keys by those of the fields.
#[test]
fn records_are_sorted_by_the_bits_of_their_fields() {
    let fields = [field(4, KeyType::F32), field(9, KeyType::U8)];
    let request = SortRequest::records(32, fields);
    let in_place =
        SortRequest::new(KeyType::U64).value(ValueType::Bytes(32)).bits(0..40).key_output(KeyOutput::Discarded);
    let sort_of = |request: &SortRequest| {
        let (sort, fields) = resolve(request).unwrap();
        (sort, fields.is_some())
    };
    assert_eq!(sort_of(&request), (in_place, true));
    let out_of_place = in_place.placement(Placement::OutOfPlace);
    assert_eq!(sort_of(&request.placement(Placement::OutOfPlace)), (out_of_place, true));
    let permutation = request.value(ValueType::Index);
    assert_eq!(sort_of(&permutation), (out_of_place.value(ValueType::Index), true));
    for (bits, key) in [(8, KeyType::U32), (32, KeyType::U32), (40, KeyType::U64), (72, KeyType::U128)] {
        let types = [KeyType::U8, KeyType::U32, KeyType::U64].into_iter().filter(|key| bits & key.bits() != 0);
        let fields: Vec<_> = types.map(|key| field(1, key)).collect();
        let (sort, _) = sort_of(&SortRequest::records(20, fields));
        assert_eq!((sort.key, sort.bits), (key, BitRange { low: 0, high: bits }));
    }
    let upper_half = SortRequest::records(8, [field(4, KeyType::F32).descending()]);
    let expected = SortRequest::new(KeyType::F64).order(Order::Descending).bits(32..64);
    assert_eq!(sort_of(&upper_half), (expected, false));
}

/// The sort of up to 1,000 records by a device, or of so many segments of them.
fn host_sort(request: &SortRequest, algorithm: Algorithm, segments: u32) -> steps::HostSort {
    let profile = DeviceProfile::default();
    let tuning = Tuning::for_device(&profile);
    let (sort, fields) = resolve(request).unwrap();
    let desc = ShapeDesc { fields, ..ShapeDesc::new(&profile, &tuning, &sort, algorithm) };
    match request.segments {
        None => steps::of(&desc, 1_000, Count::Host(1_000)).unwrap(),
        Some(_) => steps::of_segments(&desc, 1_000, segments, Count::Device).unwrap(),
    }
}

fn first(host: &steps::HostSort) -> &Dispatch {
    match &host.steps[0] {
        HostStep::Dispatch(dispatch) => dispatch,
        HostStep::Clear { .. } => panic!("the first step clears"),
    }
}

/// Each field has a constant, and the records' words are the values.
#[test]
fn constants_say_where_fields_are() {
    let fields = [field(300, KeyType::F16).descending(), field(0, KeyType::I64), field(17, KeyType::U8)];
    let host = host_sort(&SortRequest::records(304, fields), Algorithm::OneSweep, 0);
    let step = first(&host);
    let bytes = |bytes: u32| bytes << abi::FIELD_BYTES;
    let expected = [
        300 | bytes(2) | abi::FIELD_SIGNED | abi::FIELD_FLOAT | abi::FIELD_DESCENDING,
        bytes(8) | abi::FIELD_SIGNED,
        17 | bytes(1),
        0,
    ];
    let constants = [spec::FIELD_0, spec::FIELD_1, spec::FIELD_2, spec::FIELD_3].map(|id| step.constants[id]);
    assert_eq!((constants, step.constants[spec::VALUE_BITS]), (expected, 304 * 8));
    assert_eq!(step.module.name(), "compose_128");
    assert!(matches!(step.push.own, Own::Compose { composes_all: 0, .. }) && step.push.count == 1_000);
}

/// Keys are composed in scratch, where they stay, and every step but the moves of records reads them there or in the alternate.
#[test]
fn records_are_read_twice_and_composed_keys_take_two_places() {
    let fields = [field(4, KeyType::F32), field(9, KeyType::U8)];
    for algorithm in [Algorithm::OneSweep, Algorithm::ReduceThenScan] {
        let results = [Memory::Keys, Memory::KeysOut, Memory::ValuesOut];
        for (request, result) in outputs(&SortRequest::records(32, fields).algorithm(algorithm)).iter().zip(results) {
            let host = host_sort(request, algorithm, 0);
            // The histogram waits for the clear of counters, and for the keys.
            let (from, to) = host.barriers[2].unwrap();
            assert_eq!(from, AccessFlags::TRANSFER_WRITE | AccessFlags::SHADER_WRITE);
            assert!(to.contains(AccessFlags::SHADER_READ));
            let places = first(&host).places;
            let (Some(Memory::Scratch(keys)), Some(Memory::Keys)) = (places.keys[1], places.values[0]) else {
                panic!("{places:?}");
            };
            assert_eq!(keys.size, 8_000);
            let mut of_keys = vec![Memory::Scratch(keys)];
            let mut written = Vec::new();
            for step in &host.steps[1..] {
                let HostStep::Dispatch(step) = step else { continue };
                if step.name.kernel != "gather" {
                    of_keys.extend(step.places.keys.into_iter().flatten());
                }
                written.extend(step.places.values[1]);
            }
            of_keys.sort_by_key(|memory| format!("{memory:?}"));
            of_keys.dedup();
            assert_eq!(of_keys.len(), 2, "{request}: {of_keys:?}");
            assert!(of_keys.iter().all(|memory| matches!(memory, Memory::Scratch(_))), "{request}: {of_keys:?}");
            assert!(written.contains(&result), "{request}: {written:?}");
        }
    }
}

/// The count is that of segments, so the keys of all records are composed.
#[test]
fn keys_within_segments_are_composed_of_all_records() {
    let request = SortRequest::records(20, [field(4, KeyType::F32), field(9, KeyType::U8)]);
    let host = host_sort(&request.segments(Segments::Offsets), Algorithm::OneSweep, 7);
    let (step, steps) = (first(&host), host.steps.len());
    assert!(matches!(step.push.own, Own::Compose { composes_all: 1, .. }));
    assert_eq!((step.push.count, steps, host.scratch_bytes), (1_000, 2, 8_192));
    assert!(host.barriers[1].is_some());
    let sizes = request.segments(Segments::Offsets).buffer_sizes(Capacity::new(1_000).segments(10));
    assert_eq!((sizes.keys, sizes.values, sizes.keys_out), (Some(20_000), None, None));
}

/// Keys in scratch are no elements of the caller's, whose first ones could be found.
#[test]
fn the_first_records_of_segments_are_refused() {
    let records = SortRequest::records(20, [field(4, KeyType::F32)]).placement(Placement::OutOfPlace);
    let request = records.segments(Segments::Rows { stride: 100 });
    assert!(request.check().is_ok());
    let error = request.top(10).check().unwrap_err().to_string();
    assert!(
        error.contains("the top of each segment is the first records") && error.contains("array of the field"),
        "{error}"
    );
}
