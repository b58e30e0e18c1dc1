//! Sorts of records: what they give, and what they refuse.

use std::mem::offset_of;
use std::ptr::{null, null_mut};

use vksort_capi::{record::*, segmented::*, sorter::*, types::*, verify};

use crate::*;

const STORAGE: u32 = ash::vk::BufferUsageFlags::STORAGE_BUFFER.as_raw();

/// A structure whose fields are at odd places.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Item {
    index: u32,
    group: i16,
    level: u8,
    rest: u8,
    depth: f32,
    more: [u32; 2],
}

fn field(offset: usize, key: VksortKeyType, order: VksortOrder) -> VksortKeyField {
    VksortKeyField { offset: offset as u32, key, order, flags: 0 }
}

/// By group, the largest first, then by depth, then by level.
fn fields() -> [VksortKeyField; 3] {
    [
        field(offset_of!(Item, group), VKSORT_KEY_I16, VKSORT_ORDER_DESCENDING),
        field(offset_of!(Item, depth), VKSORT_KEY_F32, VKSORT_ORDER_ASCENDING),
        field(offset_of!(Item, level), VKSORT_KEY_U8, VKSORT_ORDER_ASCENDING),
    ]
}

fn compare(a: &Item, b: &Item) -> std::cmp::Ordering {
    b.group.cmp(&a.group).then(a.depth.total_cmp(&b.depth)).then(a.level.cmp(&b.level))
}

/// Items of which some are equal in all fields.
fn items(count: usize) -> Vec<Item> {
    let item = |(index, word): (usize, u32)| Item {
        index: index as u32,
        group: (word % 7) as i16 - 3,
        level: (word >> 8 & 1) as u8,
        rest: 0xA5,
        depth: ((word >> 16) % 19) as f32 - 9.0,
        more: [word, !word],
    };
    words(count).into_iter().enumerate().map(item).collect()
}

fn records_of(fields: &[VksortKeyField]) -> VksortRecordRequest {
    sized!(VksortRecordRequest {
        stride: size_of::<Item>() as u32,
        field_count: fields.len() as u32,
        fields: fields.as_ptr(),
    })
}

fn info_of(request: &VksortRecordRequest) -> VksortSorterInfo {
    VksortSorterInfo { request: null(), records: request, ..vulkan().sorter_info(&u32_keys()) }
}

#[track_caller]
fn sorter_of(request: &VksortRecordRequest) -> VksortSorter {
    let mut sorter = null_mut();
    done(c!(create_sorter(&info_of(request), &mut sorter)));
    sorter
}

fn write<T: Copy>(memory: *mut u8, items: &[T]) {
    // SAFETY: the buffer holds as many, and the device is not using it.
    unsafe { memory.cast::<T>().copy_from_nonoverlapping(items.as_ptr(), items.len()) };
}

fn read<T: Copy>(memory: *mut u8, count: usize) -> Vec<T> {
    // SAFETY: the buffer holds as many, of which any bytes are valid, and the device has finished.
    unsafe { std::slice::from_raw_parts(memory.cast(), count).to_vec() }
}

#[test]
fn each_output_of_records_has_its_buffers() {
    let (count, fields) = (5_000, fields());
    let given = items(count);
    let bytes = (count * size_of::<Item>()) as u64;
    for output in 0..3 {
        let sorter = sorter_of(&VksortRecordRequest { output, ..records_of(&fields) });
        let mut needs = sized!(VksortBufferRequirements {});
        done(c!(get_buffer_requirements(sorter, count as u32, &mut needs)));
        let sizes = [needs.keys, needs.values, needs.keys_out, needs.values_out].map(|need| need.size);
        let moved = if output == VKSORT_RECORD_OUTPUT_OUT_OF_PLACE { bytes } else { 0 };
        let indices = if output == VKSORT_RECORD_OUTPUT_PERMUTATION { 4 * count as u64 } else { 0 };
        assert_eq!(sizes, [bytes, 0, moved, indices], "output {output}");
        let (buffers, mapped) = buffers_for(&needs, count as u32);
        let sort = bound(sorter, &buffers);
        let mut name = 0;
        done(c!(get_algorithm(sort, count as u64, &mut name)));
        assert_ne!(name, VKSORT_ALGORITHM_AUTO);
        for (number, sorted) in [(count as u64, count), (VKSORT_COUNT_ON_DEVICE, 1_234)] {
            write(mapped[0], &given);
            write(mapped[5], &[sorted as u32]);
            vulkan().run(|commands| done(c!(cmd_sort(commands, sort, number, null()))));
            let mut expected = given[..sorted].to_vec();
            expected.sort_by(compare);
            let found = match output {
                VKSORT_RECORD_OUTPUT_IN_PLACE => read(mapped[0], sorted),
                VKSORT_RECORD_OUTPUT_OUT_OF_PLACE => read(mapped[2], sorted),
                _ => read::<u32>(mapped[3], sorted).into_iter().map(|at| given[at as usize]).collect(),
            };
            assert_eq!(found, expected, "output {output}, {sorted} records");
            let rest = if output == VKSORT_RECORD_OUTPUT_IN_PLACE { sorted } else { 0 };
            assert_eq!(read::<Item>(mapped[0], count)[rest..], given[rest..], "output {output}, {sorted} records");
        }
        done(destroy_sort(sort));
        done(destroy_sorter(sorter));
    }
}

/// Flag and algorithm are those of the request, and a record may be a key by itself.
#[test]
fn options_of_records_do_what_they_say() {
    let count = 3_000;
    let pairs: Vec<[u32; 2]> = words(count).into_iter().zip(0..).map(|(word, index)| [index, word % 500]).collect();
    let upper = [field(4, VKSORT_KEY_U32, VKSORT_ORDER_ASCENDING)];
    let request = VksortRecordRequest { stride: 8, algorithm: VKSORT_ALGORITHM_REDUCE_THEN_SCAN, ..records_of(&upper) };
    for flags in [0, VKSORT_REQUEST_NOT_STABLE] {
        let sorter = sorter_of(&VksortRecordRequest { flags, ..request });
        let (buffers, mapped) = buffers_of(sorter, count as u32);
        let sort = bound(sorter, &buffers);
        let mut algorithm = 0;
        done(c!(get_algorithm(sort, count as u64, &mut algorithm)));
        assert_eq!(algorithm, VKSORT_ALGORITHM_REDUCE_THEN_SCAN);
        write(mapped[0], &pairs);
        vulkan().run(|commands| done(c!(cmd_sort(commands, sort, count as u64, null()))));
        let (mut found, mut expected) = (read::<[u32; 2]>(mapped[0], count), pairs.clone());
        assert!(found.is_sorted_by_key(|pair| pair[1]), "flags {flags}");
        expected.sort_by_key(|pair| pair[1]);
        if flags == VKSORT_REQUEST_NOT_STABLE {
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(found, expected, "flags {flags}");
        // A key in a buffer can be verified, a composed one cannot.
        let mut size = 0;
        done(c!(verify::get_report_size(sort, &mut size)));
        let (report, _) = vulkan().buffer(size, STORAGE);
        let mut verifier = null_mut();
        done(c!(verify::create_verifier(sort, &report, &mut verifier)));
        done(verify::destroy_verifier(verifier));
    }
    let fields = fields();
    let sorter = sorter_of(&records_of(&fields));
    let sort = bound(sorter, &buffers_of(sorter, 100).0);
    let (report, _) = vulkan().buffer(256, STORAGE);
    let parts = ["the sort of a verifier is one of records by composed keys"];
    refused(c!(verify::create_verifier(sort, &report, &mut null_mut())), VKSORT_ERROR_VALUE, &parts);
}

#[test]
fn records_are_sorted_within_segments() {
    let (rows, stride) = (40, 25);
    let (given, fields) = (items(rows * stride), fields());
    let layout =
        |flags| sized!(VksortSegmentsInfo { layout: VKSORT_SEGMENTS_ROWS, stride: stride as u32, flags: flags });
    for (output, flags) in [
        (VKSORT_RECORD_OUTPUT_IN_PLACE, 0),
        (VKSORT_RECORD_OUTPUT_OUT_OF_PLACE, 0),
        (VKSORT_RECORD_OUTPUT_PERMUTATION, 0),
        (VKSORT_RECORD_OUTPUT_PERMUTATION, VKSORT_SEGMENTS_INDEX_FROM_SEGMENT),
    ] {
        let request = VksortRecordRequest { output, ..records_of(&fields) };
        let mut sorter = null_mut();
        done(c!(create_segmented_sorter(&info_of(&request), &layout(flags), &mut sorter)));
        let (mut needs, mut none) = (sized!(VksortBufferRequirements {}), zeroed::<VksortBufferNeed>());
        let (capacity, segment_capacity) = (given.len() as u32, rows as u32);
        done(c!(get_segment_buffer_requirements(sorter, capacity, segment_capacity, &mut needs, &mut none)));
        let (buffers, mapped) = buffers_for(&needs, capacity);
        let (segments, mut sort) = (sized!(VksortSegmentBuffers { segment_capacity: segment_capacity }), null_mut());
        done(c!(bind_segments(sorter, &buffers, &segments, &mut sort)));
        write(mapped[0], &given);
        vulkan().run(|commands| done(c!(cmd_sort(commands, sort, rows as u64, null()))));
        let mut expected = given.clone();
        expected.chunks_mut(stride).for_each(|row| row.sort_by(compare));
        let found = match output {
            VKSORT_RECORD_OUTPUT_IN_PLACE => read(mapped[0], given.len()),
            VKSORT_RECORD_OUTPUT_OUT_OF_PLACE => read(mapped[2], given.len()),
            _ => {
                let begin = |at: usize| if flags == 0 { 0 } else { at / stride * stride };
                let indices = read::<u32>(mapped[3], given.len()).into_iter().enumerate();
                indices.map(|(at, index)| given[begin(at) + index as usize]).collect()
            }
        };
        assert_eq!(found, expected, "output {output}, flags {flags}");
    }
}

#[test]
fn what_is_no_request_of_records_is_refused() {
    let (fields, value, mut sorter) = (fields(), VKSORT_ERROR_VALUE, null_mut());
    let good = records_of(&fields);
    let [first, second, third] = fields;
    let wide = [field(0, VKSORT_KEY_U64, 0), field(0, VKSORT_KEY_U64, 0), field(19, VKSORT_KEY_U8, 0)];
    let with = |fields: &[VksortKeyField]| VksortRecordRequest {
        field_count: fields.len() as u32,
        fields: fields.as_ptr(),
        ..good
    };
    let unknown = [first, VksortKeyField { key: 0, ..second }];
    let turned = [first, second, VksortKeyField { order: 2, ..third }];
    let flagged = [first, VksortKeyField { flags: 1, ..second }];
    let beyond = [VksortKeyField { offset: 17, ..second }];
    let far = [VksortKeyField { offset: u32::MAX, ..second }];
    let cases: [(VksortRecordRequest, &[&str]); 13] = [
        (with(&flagged), &["vksortCreateSorter: flags of fields[1] is 0x1", "allowed is 0"]),
        (
            VksortRecordRequest { flags: 2, ..good },
            &["vksortCreateSorter: flags of VksortRecordRequest is 0x2", "a union of 0x1"],
        ),
        (
            VksortRecordRequest { stride: 0, ..good },
            &["stride of records is 0 bytes", "a multiple of 4 from 4 to 65536"],
        ),
        (VksortRecordRequest { stride: 22, ..good }, &["stride of records is 22 bytes"]),
        (VksortRecordRequest { field_count: 0, ..good }, &["fieldCount of VksortRecordRequest is 0", "1 to 4"]),
        (VksortRecordRequest { field_count: u32::MAX, ..good }, &["fieldCount of VksortRecordRequest is 4294967295"]),
        (with(&unknown), &["key of fields[1] is 0", "a VKSORT_KEY_ of 1 to 14"]),
        (with(&turned), &["order of fields[2] is 2", "a VKSORT_ORDER_ of 0 to 1"]),
        (with(&beyond), &["field 0 is f32 at bytes 17..21", "within the record's bytes 0..20"]),
        (with(&far), &["field 0 is f32 at bytes 4294967295..4294967299"]),
        (with(&wide), &["the width of the fields is 136 bits together", "at most 128 bits"]),
        (
            VksortRecordRequest { output: 3, ..good },
            &["output of VksortRecordRequest is 3", "VKSORT_RECORD_OUTPUT_ of 0 to 2"],
        ),
        (VksortRecordRequest { algorithm: 4, ..good }, &["algorithm is 4", "VKSORT_ALGORITHM_ of 0 to 3"]),
    ];
    for (request, parts) in cases {
        refused(c!(create_sorter(&info_of(&request), &mut sorter)), value, parts);
        assert!(sorter.is_null());
    }
    let pointer = VKSORT_ERROR_POINTER;
    let none = VksortRecordRequest { fields: null(), ..good };
    refused(c!(create_sorter(&info_of(&none), &mut sorter)), pointer, &["fields of VksortRecordRequest is null"]);
    let odd = VksortRecordRequest { fields: good.fields.wrapping_byte_add(1), ..good };
    refused(c!(create_sorter(&info_of(&odd), &mut sorter)), pointer, &["fields of VksortRecordRequest is not aligned"]);
    let sizeless = VksortRecordRequest { struct_size: 0, ..good };
    let parts = ["structSize of VksortRecordRequest is 0", "allowed is 32"];
    refused(c!(create_sorter(&info_of(&sizeless), &mut sorter)), VKSORT_ERROR_STRUCT, &parts);
    let keys = u32_keys();
    let both = VksortSorterInfo { request: &keys, ..info_of(&good) };
    let parts = ["records of VksortSorterInfo is not null", "null beside a request"];
    refused(c!(create_sorter(&both, &mut sorter)), value, &parts);
    let visitor = sized!(VksortVisitorInfo {});
    let parts = ["vksortCreateVisitedSorter: records of VksortSorterInfo is not null", "null with a visitor"];
    refused(c!(create_visited_sorter(&info_of(&good), &visitor, &mut sorter)), value, &parts);

    // Only whole segments of records are sorted, and by no named algorithm.
    let offsets = sized!(VksortSegmentsInfo { layout: VKSORT_SEGMENTS_OFFSETS });
    let top = VksortSegmentsInfo { top: 3, ..offsets };
    let out = VksortRecordRequest { output: VKSORT_RECORD_OUTPUT_PERMUTATION, ..good };
    let parts = ["vksortCreateSegmentedSorter: the top of each segment is the first records"];
    refused(c!(create_segmented_sorter(&info_of(&out), &top, &mut sorter)), value, &parts);
    let named = VksortRecordRequest { algorithm: VKSORT_ALGORITHM_ONESWEEP, ..good };
    let parts = ["algorithm of a sort of segments is onesweep"];
    refused(c!(create_segmented_sorter(&info_of(&named), &offsets, &mut sorter)), value, &parts);
    assert!(sorter.is_null());
}
