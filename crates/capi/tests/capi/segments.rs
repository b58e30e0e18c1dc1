//! Sorts of segments: what they give, and what they refuse.

use std::ptr::{null, null_mut};

use ash::vk;
use vksort::{AccessScope, BoundSort};
use vksort_capi::{inspect::*, record::*, segmented::*, sorter::*, types::*, verify};

use crate::*;

fn segmented(request: &VksortSortRequest, segments: &VksortSegmentsInfo) -> VksortSorter {
    let mut sorter = null_mut();
    done(c!(create_segmented_sorter(&vulkan().sorter_info(request), segments, &mut sorter)));
    sorter
}

fn layout(layout: VksortSegmentLayout) -> VksortSegmentsInfo {
    sized!(VksortSegmentsInfo { layout: layout })
}

/// The same for short segments, whose sorters have fewer pipelines.
fn short(layout: VksortSegmentLayout) -> VksortSegmentsInfo {
    sized!(VksortSegmentsInfo { layout: layout, longest: 100 })
}

/// A sort with its buffers in mapped memory: those of elements in the order of their fields, then the words of segments.
struct Placed {
    sort: VksortSort,
    elements: [*mut u8; 6],
    words: *mut u8,
}

fn placed(sorter: VksortSorter, capacity: u32, segment_capacity: u32) -> Placed {
    let mut needs = sized!(VksortBufferRequirements {});
    let mut words = zeroed::<VksortBufferNeed>();
    done(c!(get_segment_buffer_requirements(sorter, capacity, segment_capacity, &mut needs, &mut words)));
    let (buffers, elements) = buffers_for(&needs, capacity);
    let mut segments = sized!(VksortSegmentBuffers { segment_capacity: segment_capacity });
    let mut mapped = null_mut();
    if words.size > 0 {
        (segments.segments, mapped) = vulkan().buffer(words.size, words.usage);
    }
    let mut sort = null_mut();
    done(c!(bind_segments(sorter, &buffers, &segments, &mut sort)));
    Placed { sort, elements, words: mapped }
}

impl Placed {
    fn write(&self, memory: *mut u8, words: &[u32]) {
        // SAFETY: the buffer holds as many, and the device is not using it.
        unsafe { memory.cast::<u32>().copy_from_nonoverlapping(words.as_ptr(), words.len()) };
    }

    fn read(&self, memory: *mut u8, count: usize) -> Vec<u32> {
        // SAFETY: the buffer holds as many, and the device has finished.
        unsafe { std::slice::from_raw_parts(memory.cast(), count).to_vec() }
    }

    fn run(&self, count: u64) {
        vulkan().run(|commands| done(c!(cmd_sort(commands, self.sort, count, null()))));
    }
}

/// The places of keys when each part is sorted stably.
fn order_of(keys: &[u32], bounds: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    for pair in bounds.windows(2) {
        order[pair[0] as usize..pair[1] as usize].sort_by_key(|at| keys[*at as usize]);
    }
    order
}

fn keys_in_segments() -> (Vec<u32>, Vec<u32>) {
    let keys: Vec<u32> = words(3_000).into_iter().map(|word| word % 40).collect();
    let mut bounds: Vec<u32> = (0..100).map(|segment| 3 + 29 * segment).collect();
    bounds[50] = bounds[49];
    (keys, bounds)
}

#[test]
fn segments_are_sorted_by_counts_of_the_host_and_of_the_device() {
    let (keys, bounds) = keys_in_segments();
    let pairs = VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 4, ..u32_keys() };
    let sorter = segmented(&pairs, &short(VKSORT_SEGMENTS_OFFSETS));
    let placed = placed(sorter, keys.len() as u32, bounds.len() as u32 - 1);
    let values: Vec<u32> = (0..keys.len() as u32).collect();
    for (count, sorted) in [(99, 99), (0, 0), (VKSORT_COUNT_ON_DEVICE, 37), (VKSORT_COUNT_ON_DEVICE, 99)] {
        placed.write(placed.elements[0], &keys);
        placed.write(placed.elements[1], &values);
        placed.write(placed.words, &bounds);
        placed.write(placed.elements[5], &[if sorted == 99 { u32::MAX } else { sorted }]);
        placed.run(count);
        let order = order_of(&keys, &bounds[..=sorted as usize]);
        assert_eq!(placed.read(placed.elements[1], keys.len()), order, "{sorted} segments");
        let expected: Vec<u32> = order.iter().map(|at| keys[*at as usize]).collect();
        assert_eq!(placed.read(placed.elements[0], keys.len()), expected, "{sorted} segments");
    }
    // What warms the kernels up leaves everything as it is.
    let before = placed.read(placed.elements[0], keys.len());
    vulkan().run(|commands| done(c!(cmd_warm_up(commands, placed.sort, null()))));
    assert_eq!(placed.read(placed.elements[0], keys.len()), before);
    let mut queries = 0;
    done(c!(get_query_count(placed.sort, 99, &mut queries)));
    assert!(queries >= 2);
    // The sort outlives its sorter's handle.
    done(destroy_sorter(sorter));
    placed.run(5);
    done(destroy_sort(placed.sort));
}

/// Each way to say where segments are: ranges, rows, and rows with lengths.
#[test]
fn each_layout_is_sorted() {
    let (keys, _) = keys_in_segments();
    let request = VksortSortRequest { value: VKSORT_VALUE_INDEX, ..u32_keys() };
    let lengths: Vec<u32> = (0..60).map(|row| row % 51).collect();
    let ranges: Vec<u32> = lengths.iter().zip(0..).flat_map(|(length, row)| [50 * row, 50 * row + length]).collect();
    let rows = VksortSegmentsInfo { stride: 50, ..layout(VKSORT_SEGMENTS_ROWS) };
    for (info, words, whole) in [
        (short(VKSORT_SEGMENTS_RANGES), ranges, false),
        (VksortSegmentsInfo { layout: VKSORT_SEGMENTS_ROWS_OF, ..rows }, lengths.clone(), false),
        (rows, vec![], true),
        (VksortSegmentsInfo { flags: VKSORT_SEGMENTS_INDEX_FROM_SEGMENT, ..rows }, vec![], true),
    ] {
        let placed = placed(segmented(&request, &info), 3_000, 60);
        placed.write(placed.elements[0], &keys);
        if !words.is_empty() {
            placed.write(placed.words, &words);
        }
        placed.run(60);
        let found = placed.read(placed.elements[1], 3_000);
        for (row, length) in lengths.iter().enumerate() {
            let (begin, length) = (50 * row, if whole { 50 } else { *length as usize });
            let mut order: Vec<u32> = (begin as u32..(begin + length) as u32).collect();
            order.sort_by_key(|at| keys[*at as usize]);
            let from = if info.flags == 0 { 0 } else { begin as u32 };
            let order: Vec<u32> = order.into_iter().map(|at| at - from).collect();
            assert_eq!(found[begin..begin + length], order, "{info:?}, row {row}");
        }
    }
}

/// Without a promise segments have any length; with one they take no scratch.
#[test]
fn a_promise_is_a_limit() {
    let properties_of = |sorter| {
        let mut properties = sized!(VksortSegmentProperties {});
        done(c!(get_segment_properties(sorter, &mut properties)));
        properties
    };
    let scratch_of = |sorter, capacity| {
        let (mut needs, mut need) = (sized!(VksortBufferRequirements {}), zeroed());
        done(c!(get_segment_buffer_requirements(sorter, capacity, 3, &mut needs, &mut need)));
        needs.scratch.size
    };
    let offsets = layout(VKSORT_SEGMENTS_OFFSETS);
    let free = segmented(&u32_keys(), &offsets);
    let found = properties_of(free);
    assert!(found.longest == u32::MAX && (100..1 << 20).contains(&found.block), "{found:?}");
    let promised = segmented(&u32_keys(), &VksortSegmentsInfo { longest: found.block, ..offsets });
    let limited = properties_of(promised);
    assert!(limited.longest == limited.block && limited.block >= found.block, "{limited:?}");
    let long = limited.block + 700;
    let keys: Vec<u32> = words(long as usize + 50);
    let capacity = keys.len() as u32;
    assert!(scratch_of(free, capacity) > 0);
    assert_eq!(scratch_of(promised, capacity), 0);
    let bounds = [0, 20, 20 + long, capacity];
    for (sorter, sorts_long) in [(free, true), (promised, false)] {
        let placed = placed(sorter, capacity, 3);
        placed.write(placed.elements[0], &keys);
        placed.write(placed.words, &bounds);
        placed.run(3);
        let mut expected = keys.clone();
        for (segment, pair) in bounds.windows(2).enumerate() {
            if segment != 1 || sorts_long {
                expected[pair[0] as usize..pair[1] as usize].sort_unstable();
            }
        }
        assert!(placed.read(placed.elements[0], keys.len()) == expected, "the long one is sorted: {sorts_long}");
    }
}

#[test]
fn the_first_elements_are_found() {
    let (keys, _) = keys_in_segments();
    let request = VksortSortRequest {
        value: VKSORT_VALUE_INDEX,
        placement: VKSORT_PLACEMENT_OUT_OF_PLACE,
        order: VKSORT_ORDER_DESCENDING,
        ..u32_keys()
    };
    let sorter = segmented(&request, &VksortSegmentsInfo { top: 7, ..layout(VKSORT_SEGMENTS_WHOLE) });
    let mut properties = sized!(VksortSegmentProperties {});
    done(c!(get_segment_properties(sorter, &mut properties)));
    assert!(properties.max_top >= 1_000 && properties.longest == u32::MAX, "{properties:?}");
    let mut general = sized!(VksortSorterProperties {});
    done(c!(get_sorter_properties(sorter, &mut general)));
    assert_eq!(general.algorithm, VKSORT_ALGORITHM_AUTO);
    assert!(general.max_count > 1 << 20 && general.access != VKSORT_ACCESS_AUTO, "{general:?}");
    let placed = placed(sorter, 3_000, 1);
    placed.write(placed.elements[0], &keys);
    placed.write(placed.elements[5], &[2_000]);
    for (count, elements) in [(3_000, 3_000), (VKSORT_COUNT_ON_DEVICE, 2_000), (3, 3)] {
        placed.run(count);
        let mut order: Vec<u32> = (0..elements).collect();
        order.sort_by_key(|at| u32::MAX - keys[*at as usize]);
        order.truncate(7);
        assert_eq!(placed.read(placed.elements[3], order.len()), order, "{elements} elements");
        let expected: Vec<u32> = order.iter().map(|at| keys[*at as usize]).collect();
        assert_eq!(placed.read(placed.elements[2], order.len()), expected, "{elements} elements");
    }
}

#[test]
fn the_first_elements_of_long_segments_are_found() {
    let request =
        VksortSortRequest { value: VKSORT_VALUE_INDEX, placement: VKSORT_PLACEMENT_OUT_OF_PLACE, ..u32_keys() };
    let sorter = segmented(&request, &VksortSegmentsInfo { top: 3, ..layout(VKSORT_SEGMENTS_RANGES) });
    let mut properties = sized!(VksortSegmentProperties {});
    done(c!(get_segment_properties(sorter, &mut properties)));
    assert_eq!(properties.longest, u32::MAX);
    let (capacity, ranges) = (5 * properties.block, [2, 7, 9, 4 * properties.block]);
    let placed = placed(sorter, capacity, 2);
    let keys = words(capacity as usize);
    placed.write(placed.elements[0], &keys);
    placed.write(placed.words, &ranges);
    placed.run(2);
    let mut expected = Vec::new();
    for range in ranges.chunks(2) {
        let mut order: Vec<u32> = (range[0]..range[1]).collect();
        order.sort_by_key(|at| keys[*at as usize]);
        expected.extend_from_slice(&order[..3]);
    }
    assert_eq!(placed.read(placed.elements[3], 6), expected);
}

#[test]
fn what_contradicts_segments_is_refused() {
    let (vulkan, request) = (vulkan(), u32_keys());
    let (info, mut sorter) = (vulkan.sorter_info(&request), null_mut());
    let value = VKSORT_ERROR_VALUE;
    let rows = VksortSegmentsInfo { stride: 8, ..layout(VKSORT_SEGMENTS_ROWS) };
    let offsets = layout(VKSORT_SEGMENTS_OFFSETS);
    let cases: [(VksortSegmentsInfo, &[&str]); 9] = [
        (layout(0), &["vksortCreateSegmentedSorter: layout of VksortSegmentsInfo is 0", "1 to 5"]),
        (layout(6), &["layout of VksortSegmentsInfo is 6", "1 to 5"]),
        (VksortSegmentsInfo { flags: 2, ..offsets }, &["flags of VksortSegmentsInfo is 0x2", "0x1"]),
        (
            VksortSegmentsInfo { stride: 8, ..offsets },
            &["stride of VksortSegmentsInfo is 8", "0 for segments that are no rows"],
        ),
        (VksortSegmentsInfo { stride: 0, ..rows }, &["stride of rows is 0", "at least 1"]),
        (VksortSegmentsInfo { longest: 7, ..rows }, &["longest segment is 7", "at least 8"]),
        (VksortSegmentsInfo { top: 3, ..rows }, &["placement of the top of each segment is in place"]),
        (layout(VKSORT_SEGMENTS_WHOLE), &["the whole array, without a top"]),
        (
            VksortSegmentsInfo { flags: VKSORT_SEGMENTS_INDEX_FROM_SEGMENT, ..offsets },
            &["indices from the begin of segments is one without indices"],
        ),
    ];
    for (segments, parts) in cases {
        refused(c!(create_segmented_sorter(&info, &segments, &mut sorter)), value, parts);
        assert!(sorter.is_null());
    }
    let named = VksortSortRequest { algorithm: VKSORT_ALGORITHM_ONESWEEP, ..request };
    let parts = ["algorithm of a sort of segments is onesweep"];
    refused(c!(create_segmented_sorter(&vulkan.sorter_info(&named), &offsets, &mut sorter)), value, &parts);
    let pointer = VKSORT_ERROR_POINTER;
    refused(c!(create_segmented_sorter(&info, null(), &mut sorter)), pointer, &["VksortSegmentsInfo is null"]);
    refused(c!(create_segmented_sorter(&info, &offsets, null_mut())), pointer, &["the pointer to the result is null"]);
    let sizeless = VksortSegmentsInfo { struct_size: 0, ..offsets };
    let parts = ["structSize of VksortSegmentsInfo is 0", "allowed is 24"];
    refused(c!(create_segmented_sorter(&info, &sizeless, &mut sorter)), VKSORT_ERROR_STRUCT, &parts);
    // The top of more than a block.
    let out = VksortSortRequest { placement: VKSORT_PLACEMENT_OUT_OF_PLACE, ..request };
    let most = VksortSegmentsInfo { top: 1 << 20, ..layout(VKSORT_SEGMENTS_WHOLE) };
    let parts = ["top of each segment is 1048576", "a block of this device"];
    refused(c!(create_segmented_sorter(&vulkan.sorter_info(&out), &most, &mut sorter)), value, &parts);
}

/// A sorter of segments is not one of elements, nor the other way round.
#[test]
fn sorters_and_sorts_of_the_other_kind_are_refused() {
    let handle = VKSORT_ERROR_HANDLE;
    let (of_elements, of_segments) =
        (vulkan().sorter(&u32_keys()), segmented(&u32_keys(), &short(VKSORT_SEGMENTS_OFFSETS)));
    let (mut needs, mut need, mut sort) = (sized!(VksortBufferRequirements {}), zeroed(), null_mut());
    let mut properties = sized!(VksortSegmentProperties {});
    let parts = ["VksortSorter without segments", "VksortSorter of vksortCreateSegmentedSorter"];
    refused(c!(get_segment_properties(of_elements, &mut properties)), handle, &parts);
    refused(c!(get_segment_buffer_requirements(of_elements, 1, 1, &mut needs, &mut need)), handle, &parts);
    let segments = sized!(VksortSegmentBuffers { segment_capacity: 1 });
    refused(c!(bind_segments(of_elements, &sized!(VksortBuffers {}), &segments, &mut sort)), handle, &parts);
    let parts = ["VksortSorter of segments, which vksortBindSegments takes", "VksortSorter of vksortCreateSorter"];
    refused(c!(get_buffer_requirements(of_segments, 1, &mut needs)), handle, &parts);
    refused(c!(bind(of_segments, &sized!(VksortBuffers {}), &mut sort)), handle, &parts);
    assert!(sort.is_null());

    let placed = placed(of_segments, 10, 2);
    let (mut number, mut size, mut verifier) = (0, 0, null_mut());
    let parts = ["VksortSort of segments", "VksortSort of vksortBind"];
    refused(c!(get_algorithm(placed.sort, 1, &mut number)), handle, &parts);
    refused(c!(verify::get_report_size(placed.sort, &mut size)), handle, &parts);
    let report = zeroed::<VksortBufferRange>();
    refused(c!(verify::create_verifier(placed.sort, &report, &mut verifier)), handle, &parts);
    let resources = sized!(VksortVisitorResources {});
    let commands = vulkan().commands();
    refused(c!(cmd_sort_visited(commands, placed.sort, 1, null(), &resources)), handle, &parts);
}

#[test]
fn segments_beyond_their_capacity_are_refused() {
    let sorter = segmented(&u32_keys(), &short(VKSORT_SEGMENTS_OFFSETS));
    let (mut needs, mut need) = (sized!(VksortBufferRequirements {}), zeroed::<VksortBufferNeed>());
    let most = u32::MAX;
    let parts = ["the number of segments is 4294967295"];
    refused(c!(get_segment_buffer_requirements(sorter, 100, most, &mut needs, &mut need)), VKSORT_ERROR_VALUE, &parts);
    done(c!(get_segment_buffer_requirements(sorter, 100, 9, &mut needs, &mut need)));
    assert_eq!((need.size, needs.keys.size, needs.capacity), (40, 400, 100));
    refused(
        c!(get_segment_buffer_requirements(sorter, 100, 9, &mut needs, null_mut())),
        VKSORT_ERROR_POINTER,
        &["the pointer to segments is null"],
    );
    let (buffers, _) = buffers_for(&needs, 100);
    let mut sort = null_mut();
    let none = sized!(VksortSegmentBuffers { segment_capacity: 9 });
    let forgotten = VksortBuffers { count: vulkan().buffer(4, need.usage).0, ..buffers };
    let parts = ["segment capacity of a sort with a count on the device is 0 segments", "at least 1"];
    let zeroed = sized!(VksortSegmentBuffers {});
    refused(c!(bind_segments(sorter, &forgotten, &zeroed, &mut sort)), VKSORT_ERROR_VALUE, &parts);
    let parts = ["buffer segments is absent"];
    refused(c!(bind_segments(sorter, &buffers, &none, &mut sort)), VKSORT_ERROR_BUFFER, &parts);
    let (range, _) = vulkan().buffer(40, need.usage);
    let short = VksortSegmentBuffers { segments: VksortBufferRange { size: 36, ..range }, ..none };
    let parts = ["buffer range segments has 36 bytes, needed are 40"];
    refused(c!(bind_segments(sorter, &buffers, &short, &mut sort)), VKSORT_ERROR_BUFFER, &parts);
    done(c!(bind_segments(sorter, &buffers, &VksortSegmentBuffers { segments: range, ..none }, &mut sort)));
    let (commands, mut queries) = (vulkan().commands(), 0);
    let parts = ["the number of segments is 10", "up to 9, the segment capacity"];
    refused(c!(cmd_sort(commands, sort, 10, null())), VKSORT_ERROR_VALUE, &parts);
    refused(c!(get_query_count(sort, 10, &mut queries)), VKSORT_ERROR_VALUE, &parts);
}

/// What a sort leaves out is in the report, and more words are refused than there are.
#[test]
fn an_inspector_reports_what_is_left_out() {
    let sorter = segmented(&u32_keys(), &short(VKSORT_SEGMENTS_RANGES));
    let placed = placed(sorter, 1_000, 5);
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let (report, mapped) = vulkan().buffer(size_of::<VksortInspection>() as u64, usage.as_raw());
    let mut inspector = null_mut();
    let few = VksortBufferRange { size: 20, ..report };
    refused(c!(create_inspector(placed.sort, &few, &mut inspector)), VKSORT_ERROR_BUFFER, &["report", "20", "24"]);
    let odd = VksortBufferRange { offset: 2, ..report };
    refused(c!(create_inspector(placed.sort, &odd, &mut inspector)), VKSORT_ERROR_BUFFER, &["report", "2", "multiple"]);
    refused(c!(create_inspector(placed.sort, null(), &mut inspector)), VKSORT_ERROR_POINTER, &["report is null"]);
    refused(c!(create_inspector(null_mut(), &report, &mut inspector)), VKSORT_ERROR_HANDLE, &["sort is null"]);
    assert!(inspector.is_null());
    done(c!(create_inspector(placed.sort, &report, &mut inspector)));
    // One is too long, one begins before the one in front of it, and one ends beyond the capacity.
    placed.write(placed.words, &[10, 20, 0, 0, 30, 131, 200, 200, 990, 1_012]);
    placed.write(placed.elements[5], &[9]);
    let read = |count: u64| {
        vulkan().run(|commands| {
            done(c!(cmd_inspect(commands, inspector, count)));
            done(c!(cmd_sort(commands, placed.sort, count, null())));
            // SAFETY: the command buffer is recording.
            unsafe { BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::HOST_READ, &vulkan().device, commands) };
        });
        // SAFETY: the report is mapped, and the device has finished.
        unsafe { mapped.cast::<VksortInspection>().read() }
    };
    let all = VksortInspection {
        count: 9,
        longest: 101,
        segments_beyond: 4,
        elements_beyond: 12,
        too_long: 1,
        descending: 1,
    };
    assert_eq!(read(VKSORT_COUNT_ON_DEVICE), all);
    let first =
        VksortInspection { count: 1, longest: 10, segments_beyond: 0, elements_beyond: 0, too_long: 0, descending: 0 };
    assert_eq!(read(1), first);
    let commands = vulkan().commands();
    refused(c!(cmd_inspect(commands, inspector, 6)), VKSORT_ERROR_VALUE, &["segments is 6", "up to 5"]);
    let nothing = vk::CommandBuffer::null();
    refused(c!(cmd_inspect(nothing, inspector, 1)), VKSORT_ERROR_POINTER, &["commandBuffer is null"]);
    // It outlives the handle of the sort.
    done(destroy_sort(placed.sort));
    done(destroy_inspector(inspector));
    refused(c!(cmd_inspect(commands, inspector, 1)), VKSORT_ERROR_HANDLE, &["VksortInspector"]);
    done(destroy_inspector(null_mut()));
    done(destroy_sorter(sorter));
}
