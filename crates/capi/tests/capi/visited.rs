//! Visitors through C: what they sort, in full and between guards, and what is refused.

use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use ash::vk;
use vksort::{DepthKeys, Order, Placement, SortRequest, ValueType, Visits};
use vksort_capi::{record::*, sorter::*, types::*, visitor::*};
use vksort_visitors::VisitorSource;

use crate::*;

/// What nobody may write to.
const GUARD: u8 = 0xA7;
/// Bytes of guard before and behind a range, a multiple of every alignment of offsets.
const BESIDE: usize = 256;

/// A range between guards.
struct Guarded {
    range: VksortBufferRange,
    mapped: *mut u8,
}

impl Guarded {
    fn new(size: u64, usage: u32) -> Guarded {
        let (range, mapped) = vulkan().buffer(size + 2 * BESIDE as u64, usage);
        let guarded = Guarded { range: VksortBufferRange { offset: BESIDE as u64, size, ..range }, mapped };
        guarded.clear();
        guarded
    }

    fn len(&self) -> usize {
        self.range.size as usize + 2 * BESIDE
    }

    /// Sets every byte to that of the guards.
    fn clear(&self) {
        // SAFETY: the memory is mapped for as long as the test, and the device is not using it.
        unsafe { self.mapped.write_bytes(GUARD, self.len()) };
    }

    fn write(&self, words: &[u32]) {
        assert!(4 * words.len() as u64 <= self.range.size);
        // SAFETY: as above; there is room for the words.
        unsafe { self.mapped.add(BESIDE).copy_from_nonoverlapping(words.as_ptr().cast(), 4 * words.len()) };
    }

    /// The first words, behind which all is as it was.
    #[track_caller]
    fn words(&self, count: usize) -> Vec<u32> {
        // SAFETY: as above; nobody writes meanwhile.
        let bytes = unsafe { std::slice::from_raw_parts(self.mapped, self.len()) };
        let (before, behind) = (&bytes[..BESIDE], &bytes[BESIDE + 4 * count..]);
        assert!(before.iter().chain(behind).all(|byte| *byte == GUARD), "bytes are written beside {count} words");
        bytemuck::pod_collect_to_vec(&bytes[BESIDE..][..4 * count])
    }
}

/// A layout with so many storage buffers.
fn layout_of(buffers: u32) -> vk::DescriptorSetLayout {
    vksort_testing::sets::layout_of(&vulkan().device, buffers)
}

/// A set with these ranges.
fn set_of(layout: vk::DescriptorSetLayout, ranges: &[&VksortBufferRange]) -> vk::DescriptorSet {
    let info = |range: &&VksortBufferRange| vk::DescriptorBufferInfo {
        buffer: range.buffer,
        offset: range.offset,
        range: range.size,
    };
    vksort_testing::sets::set_of(&vulkan().device, layout, &ranges.iter().map(info).collect::<Vec<_>>()).1
}

fn visitor_info(code: &[u8], set_layout: vk::DescriptorSetLayout) -> VksortVisitorInfo {
    sized!(VksortVisitorInfo { code: code.as_ptr().cast(), code_size: code.len(), set_layout: set_layout })
}

fn resources<T>(push: &[T], set: vk::DescriptorSet) -> VksortVisitorResources {
    let push_size = size_of_val(push) as u32;
    sized!(VksortVisitorResources { push_size: push_size, push: push.as_ptr().cast(), set: set })
}

fn visited_sorter(info: &VksortSorterInfo, visitor: &VksortVisitorInfo) -> VksortSorter {
    let mut sorter = null_mut();
    done(c!(create_visited_sorter(info, visitor, &mut sorter)));
    sorter
}

/// Keys are words that a push constant changes, and values follow from the index.
const TEXT: &str = "
layout(set = 1, binding = 0) readonly buffer VisitedWords { uint visited_words[]; };

KEY visit_key(uint index) { return visited_words[index] ^ push.visitor_mask; }
";
const ALL_TEXT: &str = "
layout(set = 1, binding = 1) writeonly buffer VisitedSorted { uvec2 visited_sorted[]; };

uint visit_value(uint index, uint word) { return index * push.visitor_factor; }
void visit_output(uint position, KEY key, VALUE value) { visited_sorted[position] = uvec2(key, value); }
";
const MASK: u32 = 0x5EED_00FF;
const FACTOR: u32 = 0x9E37_79B1;

fn source(text: &str, visits: Visits) -> VisitorSource {
    let members = "uint visitor_mask; uint visitor_factor;";
    VisitorSource::new("c.glsl").text(text).push_members(members).push_bytes(8).visits(visits)
}

const KEYS: Visits = Visits::NONE.keys(true);
const ALL: Visits = Visits::NONE.keys(true).values(true).output(true);

fn u32_request(value: ValueType) -> SortRequest {
    SortRequest::new(KeyType::U32).value(value).placement(Placement::OutOfPlace)
}

/// A visitor of keys, for indices.
fn keys_code() -> &'static [u8] {
    static CODE: OnceLock<Vec<u8>> = OnceLock::new();
    CODE.get_or_init(|| source(TEXT, KEYS).compile(&u32_request(ValueType::Index)).unwrap())
}

/// The request of `keys_code`.
fn indices() -> VksortSortRequest {
    VksortSortRequest { value: VKSORT_VALUE_INDEX, placement: VKSORT_PLACEMENT_OUT_OF_PLACE, ..u32_keys() }
}

/// Elements of several tiles.
const CAPACITY: u32 = 70_000;

/// Counts to record, with what the count buffer holds.
fn counts() -> [(u64, u32); 8] {
    let host = [0, 1, 100, CAPACITY - 1, CAPACITY].map(|count: u32| (u64::from(count), count));
    let [a, b, c, d, e] = host;
    [a, b, c, d, e, (VKSORT_COUNT_ON_DEVICE, 0), (VKSORT_COUNT_ON_DEVICE, 54_321), (VKSORT_COUNT_ON_DEVICE, u32::MAX)]
}

/// The order of a stable sort.
fn order_of(keys: &[u32], descending: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|at| if descending { !keys[*at as usize] } else { keys[*at as usize] });
    order
}

fn needs_of(sorter: VksortSorter) -> VksortBufferRequirements {
    let mut needs = sized!(VksortBufferRequirements {});
    done(c!(get_buffer_requirements(sorter, CAPACITY, &mut needs)));
    needs
}

/// A range for what the sorter needs; none for what it does not.
fn guarded(need: &VksortBufferNeed) -> Option<Guarded> {
    (need.size > 0).then(|| Guarded::new(need.size, need.usage))
}

fn range(guarded: &Option<Guarded>) -> VksortBufferRange {
    guarded.as_ref().map_or(sized!(VksortBuffers {}).keys, |guarded| guarded.range)
}

#[test]
fn keys_of_a_visitor_are_sorted_as_those_of_a_buffer() {
    let vulkan = vulkan();
    // Few values, so that there are equal keys.
    let data: Vec<u32> = words(CAPACITY as usize).into_iter().map(|word| word % 5_000).collect();
    let descending = VksortSortRequest { order: VKSORT_ORDER_DESCENDING, ..indices() };
    let by_scan = VksortSortRequest { algorithm: VKSORT_ALGORITHM_REDUCE_THEN_SCAN, ..indices() };
    let layout = layout_of(1);
    let input = Guarded::new(4 * u64::from(CAPACITY), 0x20);
    input.write(&data);
    let set = set_of(layout, &[&input.range]);
    for request in [indices(), descending, by_scan] {
        let sorter = visited_sorter(&vulkan.sorter_info(&request), &visitor_info(keys_code(), layout));
        let needs = needs_of(sorter);
        assert_eq!((needs.keys.size, needs.keys.usage, needs.values.size), (0, 0, 0));
        let [keys_out, values_out, scratch] =
            [needs.keys_out, needs.values_out, needs.scratch].map(|need| guarded(&need));
        let count = Guarded::new(4, needs.count.usage);
        let buffers = sized!(VksortBuffers {
            capacity: CAPACITY,
            keys_out: range(&keys_out),
            values_out: range(&values_out),
            scratch: range(&scratch),
            count: count.range,
        });
        let sort = bound(sorter, &buffers);
        let [keys_out, values_out] = [keys_out, values_out].map(Option::unwrap);
        for (recorded, counted) in counts() {
            [&keys_out, &values_out].into_iter().for_each(Guarded::clear);
            count.write(&[counted]);
            let given = resources(&[MASK, FACTOR], set);
            vulkan.run(|commands| done(c!(cmd_warm_up(commands, sort, &given))));
            let missing = c!(cmd_warm_up(vulkan.commands(), sort, null()));
            refused(missing, VKSORT_ERROR_VALUE, &["without a visitor's resources"]);
            vulkan.run(|commands| done(c!(cmd_sort_visited(commands, sort, recorded, null(), &given))));
            let sorted = counted.min(CAPACITY) as usize;
            let keys: Vec<u32> = data[..sorted].iter().map(|word| word ^ MASK).collect();
            let order = order_of(&keys, request.order == VKSORT_ORDER_DESCENDING);
            let expected: Vec<u32> = order.iter().map(|at| keys[*at as usize]).collect();
            assert!(keys_out.words(sorted) == expected, "keys of {recorded} elements, {counted} counted");
            assert!(values_out.words(sorted) == order, "indices of {recorded} elements, {counted} counted");
            assert!(input.words(data.len()) == data && count.words(1) == [counted]);
            let scratch = scratch.as_ref().unwrap();
            scratch.words(scratch.range.size as usize / 4);
        }
        done(destroy_sort(sort));
        done(destroy_sorter(sorter));
    }
}

/// Nothing but scratch and count is bound where a visitor makes keys and values and takes the result.
#[test]
fn a_visitor_may_take_the_place_of_every_buffer() {
    let vulkan = vulkan();
    let data: Vec<u32> = words(CAPACITY as usize).into_iter().map(|word| word % 5_000).collect();
    let code = source(&format!("{TEXT}{ALL_TEXT}"), ALL).compile(&u32_request(ValueType::U32)).unwrap();
    let request = VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 4, ..indices() };
    let layout = layout_of(2);
    let (input, output) = (Guarded::new(4 * u64::from(CAPACITY), 0x20), Guarded::new(8 * u64::from(CAPACITY), 0x20));
    input.write(&data);
    let set = set_of(layout, &[&input.range, &output.range]);
    let sorter = visited_sorter(&vulkan.sorter_info(&request), &visitor_info(&code, layout));
    let needs = needs_of(sorter);
    let sizes = [needs.keys, needs.values, needs.keys_out, needs.values_out].map(|need| need.size);
    assert_eq!(sizes, [0; 4]);
    let (scratch, count) = (guarded(&needs.scratch), Guarded::new(4, needs.count.usage));
    let sort =
        bound(sorter, &sized!(VksortBuffers { capacity: CAPACITY, scratch: range(&scratch), count: count.range }));
    for (recorded, counted) in counts() {
        output.clear();
        count.write(&[counted]);
        let given = resources(&[MASK, FACTOR], set);
        vulkan.run(|commands| done(c!(cmd_sort_visited(commands, sort, recorded, null(), &given))));
        let sorted = counted.min(CAPACITY) as usize;
        let keys: Vec<u32> = data[..sorted].iter().map(|word| word ^ MASK).collect();
        let pair = |at: u32| [keys[at as usize], at.wrapping_mul(FACTOR)];
        let expected: Vec<u32> = order_of(&keys, false).into_iter().flat_map(pair).collect();
        assert!(output.words(2 * sorted) == expected, "pairs of {recorded} elements, {counted} counted");
        assert!(input.words(data.len()) == data);
    }
    done(destroy_sort(sort));
    done(destroy_sorter(sorter));
}

#[test]
fn a_visitor_without_resources_takes_no_set() {
    let vulkan = vulkan();
    let text = "KEY visit_key(uint index) { return index * 0x9E3779B1u; }";
    let source = VisitorSource::new("hash.glsl").text(text).visits(KEYS);
    let code = source.compile(&u32_request(ValueType::Index)).unwrap();
    let sorter = visited_sorter(&vulkan.sorter_info(&indices()), &visitor_info(&code, vk::DescriptorSetLayout::null()));
    let (buffers, mapped) = buffers_of(sorter, 1_000);
    let sort = bound(sorter, &buffers);
    let nothing = sized!(VksortVisitorResources {});
    vulkan.run(|commands| done(c!(cmd_sort_visited(commands, sort, 1_000, null(), &nothing))));
    let keys: Vec<u32> = (0..1_000u32).map(|index| index.wrapping_mul(FACTOR)).collect();
    // SAFETY: the buffer holds so many words, and the device has finished.
    let found = unsafe { std::slice::from_raw_parts(mapped[3].cast::<u32>(), 1_000) };
    assert!(found == order_of(&keys, false));
    let layout = layout_of(1);
    let with_set = VksortVisitorResources { set: set_of(layout, &[&buffers.keys_out]), ..nothing };
    let code = c!(cmd_sort_visited(vulkan.commands(), sort, 1_000, null(), &with_set));
    refused(code, VKSORT_ERROR_VALUE, &["descriptor set is a set", "allowed is null"]);
    done(destroy_sort(sort));
    done(destroy_sorter(sorter));
}

#[test]
fn depths_of_positions_are_sorted_farthest_first() {
    let vulkan = vulkan();
    let count = 20_000u32;
    // Numbers of which all products and sums are exact.
    let positions: Vec<f32> = words(3 * count as usize).into_iter().map(|word| (word % 1024) as f32).collect();
    let input = Guarded::new(4 * positions.len() as u64, 0x20);
    input.write(bytemuck::cast_slice(&positions));
    let layout = layout_of(1);
    let set = set_of(layout, &[&input.range]);
    for (number, keys, levels) in [
        (VKSORT_DEPTH_F32, DepthKeys::F32, None),
        (VKSORT_DEPTH_BITS16, DepthKeys::Bits16, Some(65_535.0)),
        (VKSORT_DEPTH_BITS24, DepthKeys::Bits24, Some(16_777_215.0)),
    ] {
        let mut request = sized!(VksortSortRequest {});
        done(c!(get_depth_request(number, &mut request)));
        assert_eq!(request.struct_size as usize, size_of::<VksortSortRequest>());
        assert_eq!(request.order == VKSORT_ORDER_DESCENDING, keys.request().order == Order::Descending);
        let info = sized!(VksortDepthInfo {
            keys: number,
            row: [2.0, 1.0, 1.0, 512.0],
            near_depth: 1024.0,
            far_depth: 3072.0,
            stride: 3,
        });
        let mut push = zeroed::<VksortDepthPush>();
        done(c!(get_depth_push(&info, &mut push)));
        let key = |at: u32| {
            let [x, y, z] = std::array::from_fn(|axis| positions[3 * at as usize + axis]);
            let depth = 2.0 * x + y + z + 512.0;
            match levels {
                None => depth.to_bits(),
                Some(levels) => (((depth - 1024.0) / 2048.0).clamp(0.0, 1.0) * levels) as u32,
            }
        };
        let code = VisitorSource::depth(keys).compile(&keys.request()).unwrap();
        let sorter = visited_sorter(&vulkan.sorter_info(&request), &visitor_info(&code, layout));
        let (buffers, mapped) = buffers_of(sorter, count);
        let sort = bound(sorter, &buffers);
        let given = resources(std::slice::from_ref(&push), set);
        vulkan.run(|commands| done(c!(cmd_sort_visited(commands, sort, count.into(), null(), &given))));
        // SAFETY: the buffer holds so many words, and the device has finished.
        let found = unsafe { std::slice::from_raw_parts(mapped[3].cast::<u32>(), count as usize) };
        assert!(found == order_of(&(0..count).map(key).collect::<Vec<_>>(), true), "depths as {keys:?}");
        done(destroy_sort(sort));
        done(destroy_sorter(sorter));
    }
}

#[test]
fn bytes_and_layouts_that_do_not_fit_are_refused() {
    let vulkan = vulkan();
    let (request, layout) = (indices(), layout_of(1));
    let (info, good) = (vulkan.sorter_info(&request), visitor_info(keys_code(), layout));
    let mut sorter = null_mut();
    let mut create = |info: &VksortSorterInfo, visitor: &VksortVisitorInfo, code, parts: &[&str]| {
        sorter = std::ptr::without_provenance_mut(1);
        refused(c!(create_visited_sorter(info, visitor, &mut sorter)), code, parts);
        assert!(sorter.is_null());
    };
    let bad = VksortVisitorInfo { struct_size: 31, ..good };
    create(&info, &bad, VKSORT_ERROR_STRUCT, &["vksortCreateVisitedSorter: ", "VksortVisitorInfo is 31", "is 32"]);
    let bad = VksortVisitorInfo { flags: 2, ..good };
    create(&info, &bad, VKSORT_ERROR_VALUE, &["flags of VksortVisitorInfo is 0x2, allowed is a union of 0x1"]);
    let bad = VksortVisitorInfo { code: null(), ..good };
    create(&info, &bad, VKSORT_ERROR_POINTER, &["code of VksortVisitorInfo is null"]);
    let bad = VksortVisitorInfo { code_size: usize::MAX, ..good };
    create(&info, &bad, VKSORT_ERROR_VALUE, &["the size of code", &usize::MAX.to_string()]);

    let code = keys_code();
    let visitor = VKSORT_ERROR_VISITOR;
    create(&info, &visitor_info(b"something else", layout), visitor, &["no compiled visitor", "compile-visitor"]);
    create(&info, &visitor_info(&[7; 4096], layout), visitor, &["no compiled visitor"]);
    create(&info, &VksortVisitorInfo { code_size: 0, ..good }, visitor, &["no compiled visitor"]);
    for length in [1, 8, 40, 90, code.len() / 2, code.len() - 1] {
        create(&info, &visitor_info(&code[..length], layout), visitor, &["visitor from bytes: "]);
    }
    create(&info, &visitor_info(&code[..code.len() - 1], layout), visitor, &["not whole"]);
    let mut changed = code.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    create(&info, &visitor_info(&changed, layout), visitor, &["not whole"]);
    changed[8] ^= 1;
    create(&info, &visitor_info(&changed, layout), visitor, &["for kernels of contract 0, needed is 1"]);

    // An index that varies takes a feature, which the caller says is there. Without such an index the flag changes nothing.
    let text = "layout(set = 1, binding = 0) readonly buffer Visited { uint visited[]; } visited_parts[2];
                KEY visit_key(uint index) { return visited_parts[index & 1].visited[index]; }";
    let source = VisitorSource::new("parts.glsl").text(text).visits(KEYS);
    let of_keys = SortRequest::new(KeyType::U32).placement(Placement::OutOfPlace);
    let varying = source.compile(&of_keys).unwrap();
    let keys = VksortSortRequest { placement: VKSORT_PLACEMENT_OUT_OF_PLACE, ..u32_keys() };
    let named = ["parts.glsl", "shaderStorageBufferArrayDynamicIndexing", "VKSORT_VISITOR_DYNAMIC_INDEXING"];
    create(&vulkan.sorter_info(&keys), &visitor_info(&varying, layout), visitor, &named);
    let said = VksortVisitorInfo { flags: VKSORT_VISITOR_DYNAMIC_INDEXING, ..good };
    done(destroy_sorter(visited_sorter(&info, &said)));

    let none = vk::DescriptorSetLayout::null();
    create(&info, &visitor_info(code, none), visitor, &["c.glsl", "set 1", "null"]);
    let wide = VksortSortRequest { key: VKSORT_KEY_U64, ..request };
    create(&vulkan.sorter_info(&wide), &good, visitor, &["c.glsl", "another request than u64 keys"]);
    let gathered = VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 20, ..request };
    create(&vulkan.sorter_info(&gathered), &good, visitor, &["without the kernel", "another request"]);
    let in_place = VksortSortRequest { placement: VKSORT_PLACEMENT_IN_PLACE, ..request };
    create(&vulkan.sorter_info(&in_place), &good, VKSORT_ERROR_VALUE, &["placement is in place", "out of place"]);
    let bad = VksortSorterInfo { device: vk::Device::null(), ..info };
    create(&bad, &good, VKSORT_ERROR_POINTER, &["device is null"]);
    let bad = VksortSorterInfo { requirements: null_mut(), ..info };
    create(&bad, &good, VKSORT_ERROR_HANDLE, &["VksortRequirements"]);

    let pointer = VKSORT_ERROR_POINTER;
    refused(c!(create_visited_sorter(&info, null(), &mut sorter)), pointer, &["VksortVisitorInfo is null"]);
    refused(c!(create_visited_sorter(null(), &good, &mut sorter)), pointer, &["VksortSorterInfo is null"]);
    refused(c!(create_visited_sorter(&info, &good, null_mut())), pointer, &["the pointer to the result is null"]);

    // At any alignment, and beside other sorters.
    let moved = [&[0], code].concat();
    let visited = visited_sorter(&info, &visitor_info(&moved[1..], layout));
    let plain = indices();
    let mut shared = null_mut();
    done(c!(create_sorter(&VksortSorterInfo { share_with: visited, ..vulkan.sorter_info(&plain) }, &mut shared)));
    let second = visited_sorter(&VksortSorterInfo { share_with: shared, ..info }, &good);
    for sorter in [visited, shared, second] {
        done(destroy_sorter(sorter));
    }
}

#[test]
fn resources_that_do_not_fit_are_refused() {
    let vulkan = vulkan();
    let layout = layout_of(1);
    let request = indices();
    let sorter = visited_sorter(&vulkan.sorter_info(&request), &visitor_info(keys_code(), layout));
    let (buffers, _) = buffers_of(sorter, 1_000);
    let (keys, _) = vulkan.buffer(4_000, 0x20);
    let mut sort = null_mut();
    let code = c!(bind(sorter, &VksortBuffers { keys, ..buffers }, &mut sort));
    refused(code, VKSORT_ERROR_BUFFER, &["keys is present"]);
    let sort = bound(sorter, &buffers);
    let plain = vulkan.sorter(&request);
    let plain_sort = bound(plain, &buffers_of(plain, 1_000).0);

    let push = [MASK, FACTOR];
    let good = resources(&push, set_of(layout, &[&keys]));
    let commands = vulkan.commands();
    let value = VKSORT_ERROR_VALUE;
    let record = |sort, count, resources: &VksortVisitorResources| {
        c!(cmd_sort_visited(commands, sort, count, null(), resources))
    };
    let name = "vksortCmdSortVisited: ";
    refused(record(sort, 10, &VksortVisitorResources { push_size: 4, ..good }), value, &[name, "4 bytes", "8 bytes"]);
    refused(record(sort, 10, &VksortVisitorResources { push_size: 0, ..good }), value, &["0 bytes", "8 bytes"]);
    let none = VksortVisitorResources { push: null(), ..good };
    refused(record(sort, 10, &none), VKSORT_ERROR_POINTER, &["push of VksortVisitorResources is null"]);
    let none = VksortVisitorResources { set: vk::DescriptorSet::null(), ..good };
    refused(record(sort, 10, &none), value, &["descriptor set is null", "allowed is a set"]);
    let short = VksortVisitorResources { struct_size: 8, ..good };
    refused(record(sort, 10, &short), VKSORT_ERROR_STRUCT, &["VksortVisitorResources is 8"]);
    refused(record(sort, 1_001, &good), VKSORT_ERROR_TOO_MANY_ELEMENTS, &["1001", "1000"]);
    refused(record(null_mut(), 10, &good), VKSORT_ERROR_HANDLE, &["sort is null", "VksortSort"]);
    refused(record(sorter.cast(), 10, &good), VKSORT_ERROR_HANDLE, &["of another kind"]);
    let code = c!(cmd_sort_visited(commands, sort, 10, null(), null()));
    refused(code, VKSORT_ERROR_POINTER, &["VksortVisitorResources is null"]);
    let nothing = vk::CommandBuffer::null();
    let code = c!(cmd_sort_visited(nothing, sort, 10, null(), &good));
    refused(code, VKSORT_ERROR_POINTER, &["commandBuffer is null"]);
    let queries = sized_queries();
    let code = c!(cmd_sort_visited(commands, sort, 10, &queries, &good));
    refused(code, value, &["timestamps"]);

    // Each kind of sort has its call.
    let parts = ["without a visitor's resources", "the sorter has a visitor"];
    refused(c!(cmd_sort(commands, sort, 10, null())), value, &parts);
    let parts = ["with a visitor's resources", "the sorter has no visitor"];
    refused(record(plain_sort, 10, &good), value, &parts);
    done(destroy_sort(sort));
    refused(record(sort, 10, &good), VKSORT_ERROR_HANDLE, &["which is destroyed"]);
    done(destroy_sort(plain_sort));
    done(destroy_sorter(plain));
    done(destroy_sorter(sorter));
}

/// Queries without a pool.
fn sized_queries() -> VksortQueryRange {
    VksortQueryRange { pool: vk::QueryPool::null(), first: 0, count: 10 }
}

#[test]
fn depths_that_are_none_are_refused() {
    let mut request = sized!(VksortSortRequest {});
    for number in [0, 4, u32::MAX] {
        let given = format!("keys is {number}");
        refused(c!(get_depth_request(number, &mut request)), VKSORT_ERROR_VALUE, &[&given, "1 to 3"]);
    }
    refused(c!(get_depth_request(VKSORT_DEPTH_F32, null_mut())), VKSORT_ERROR_POINTER, &["VksortSortRequest is null"]);
    let good = sized!(VksortDepthInfo { keys: VKSORT_DEPTH_BITS16, far_depth: 1.0 });
    let mut push = zeroed::<VksortDepthPush>();
    refused(c!(get_depth_push(null(), &mut push)), VKSORT_ERROR_POINTER, &["VksortDepthInfo is null"]);
    refused(c!(get_depth_push(&good, null_mut())), VKSORT_ERROR_POINTER, &["the pointer to the result is null"]);
    let bad = VksortDepthInfo { keys: 0, ..good };
    refused(c!(get_depth_push(&bad, &mut push)), VKSORT_ERROR_VALUE, &["keys is 0"]);
    for (near_depth, far_depth) in [(0.0, f32::INFINITY), (f32::NAN, 1.0), (f32::MIN, f32::MAX)] {
        let bad = VksortDepthInfo { near_depth, far_depth, ..good };
        refused(c!(get_depth_push(&bad, &mut push)), VKSORT_ERROR_VALUE, &["nearDepth to farDepth", "finite"]);
        // Depths that are keys as they are have no range.
        done(c!(get_depth_push(&VksortDepthInfo { keys: VKSORT_DEPTH_F32, ..bad }, &mut push)));
    }
    // A range without length counts as a short one, and one from far to near is mirrored.
    done(c!(get_depth_push(&VksortDepthInfo { far_depth: 0.0, row: [1.0; 4], ..good }, &mut push)));
    assert_eq!(push.row, [1e30; 4]);
    done(c!(get_depth_push(
        &VksortDepthInfo { far_depth: -2.0, row: [1.0; 4], stride: 5, first: 6, ..good },
        &mut push
    )));
    assert_eq!((push.row, push.stride, push.first), ([-0.5; 4], 5, 6));
}
