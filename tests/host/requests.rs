//! What can be asked for: names, windows, buffers, barriers, extensions and the order of keys, as far as it takes no device.

use vksort::ash::vk;
use vksort::{
    AccessScope, Algorithm, BitRange, BoundSort, BufferSizes, IndexFrom, InstanceRequirements, KeyOutput, KeyType,
    Order, Placement, Segments, SortRequest, ValueType,
};

/// Bit patterns near everything that matters in a key of `bits` bits.
fn samples(bits: u32) -> Vec<u128> {
    let ones = u128::MAX >> (128 - bits);
    let mut samples = vec![0, 1, 2, ones, ones - 1, ones >> 1, (ones >> 1) + 1, (ones >> 1) + 2];
    for shift in 0..bits {
        samples.extend([1 << shift, ones ^ (1 << shift), ones << shift & ones]);
    }
    samples
}

#[test]
fn sortable_numbers_order_like_rust() {
    fn check<T: Copy>(key: KeyType, from: impl Fn(u128) -> T, compare: impl Fn(&T, &T) -> std::cmp::Ordering) {
        for a in samples(key.bits()) {
            for b in samples(key.bits()) {
                let [x, y] = [a, b].map(|bits| key.sortable(bits, Order::Ascending));
                assert_eq!(x.cmp(&y), compare(&from(a), &from(b)), "{}: {a:#x} against {b:#x}", key.name());
            }
        }
    }
    check(KeyType::U8, |bits| bits as u8, u8::cmp);
    check(KeyType::I8, |bits| bits as i8, i8::cmp);
    check(KeyType::U16, |bits| bits as u16, u16::cmp);
    check(KeyType::I16, |bits| bits as i16, i16::cmp);
    check(KeyType::F16, |bits| half::f16::from_bits(bits as u16), half::f16::total_cmp);
    check(KeyType::Bf16, |bits| half::bf16::from_bits(bits as u16), half::bf16::total_cmp);
    check(KeyType::U32, |bits| bits as u32, u32::cmp);
    check(KeyType::I32, |bits| bits as i32, i32::cmp);
    check(KeyType::F32, |bits| f32::from_bits(bits as u32), f32::total_cmp);
    check(KeyType::U64, |bits| bits as u64, u64::cmp);
    check(KeyType::I64, |bits| bits as i64, i64::cmp);
    check(KeyType::F64, |bits| f64::from_bits(bits as u64), f64::total_cmp);
    check(KeyType::U128, |bits| bits, u128::cmp);
    check(KeyType::I128, |bits| bits as i128, i128::cmp);
}

#[test]
fn setters_of_segments_take_back_what_they_have_set() {
    let keys = SortRequest::new(KeyType::U32);
    assert_eq!(keys.top(5).top(None), keys);
    assert_eq!(keys.up_to(None), keys);
    let lists = keys.segments(Segments::Offsets);
    assert_eq!(lists.up_to(7).top(5).up_to(None).top(None), lists);
    let (of, both) =
        (lists.up_to(7).segments.unwrap(), lists.up_to(7).indices_from(IndexFrom::Segment).segments.unwrap());
    assert_eq!((of.up_to, of.indices_from, both.indices_from), (Some(7), IndexFrom::Array, IndexFrom::Segment));
}

#[test]
fn names_of_keys_parse_back() {
    for &key in KeyType::ALL {
        assert_eq!(key.name().parse::<KeyType>().unwrap(), key);
        assert_eq!(key.to_string(), key.name());
    }
    assert_eq!([Order::Ascending, Order::Descending].map(|order| order.to_string()), ["ascending", "descending"]);
    let message = "u33".parse::<KeyType>().unwrap_err().to_string();
    assert!(message.contains("u33") && message.contains("bf16"), "{message}");
}

#[test]
fn sortable_numbers_reverse_when_descending() {
    for &key in KeyType::ALL {
        for bits in samples(key.bits()) {
            let up = key.sortable(bits, Order::Ascending);
            let down = key.sortable(bits, Order::Descending);
            assert_eq!(down, !up & (u128::MAX >> (128 - key.bits())));
        }
    }
}

#[test]
fn requests_are_told_by_what_is_not_usual() {
    let keys = SortRequest::new(KeyType::U8);
    assert_eq!(keys.to_string(), "u8 keys, ascending");
    let order = Order::Descending;
    let pairs = SortRequest::new(KeyType::F32).value(ValueType::U32).order(order).bits(8..32);
    assert_eq!(pairs.to_string(), "f32 keys with values of 4 bytes, descending, by bits 8..32");
    let (placement, key_output) = (Placement::OutOfPlace, KeyOutput::Discarded);
    let indices = keys.value(ValueType::Index).placement(placement).key_output(key_output).stable(false);
    assert_eq!(indices.to_string(), "u8 keys with their indices, ascending, out of place, keys discarded, not stable");
}

#[test]
fn algorithm_names_parse_back() {
    for &algorithm in Algorithm::ALL {
        assert_eq!(algorithm.to_string().parse::<Algorithm>().unwrap(), algorithm);
    }
    let message = "quicksort".parse::<Algorithm>().unwrap_err().to_string();
    assert!(message.contains("quicksort") && message.contains("onesweep"), "{message}");
}

#[test]
fn requests_out_of_range_are_refused_by_name() {
    let message = |request: SortRequest| request.check().unwrap_err().to_string();
    let u16s = SortRequest::new(KeyType::U16);
    assert!(u16s.check().is_ok());
    for (bits, given) in [(BitRange::from(3..17), "3..17"), (BitRange { low: 9, high: 8 }, "9..8")] {
        let text = message(u16s.bits(bits));
        assert!(text.contains("bit window") && text.contains(given) && text.contains("16"), "{text}");
    }
    for bytes in [0, 3, 5, 6, 18, (1 << 16) + 4, 1 << 29, u32::MAX - 3] {
        let text = message(u16s.value(ValueType::Bytes(bytes)));
        assert!(text.contains("value size") && text.contains(&format!("{bytes} bytes")), "{text}");
    }
    let text = message(u16s.key_output(KeyOutput::Discarded));
    assert!(text.contains("discarded"), "{text}");
}

#[test]
fn buffers_are_those_that_the_request_reads_and_writes() {
    let keys = SortRequest::new(KeyType::U32);
    let indices = keys.value(ValueType::Index);
    let out = |request: SortRequest| request.placement(Placement::OutOfPlace);
    let discarding = indices.key_output(KeyOutput::Discarded);
    let sized = |request: SortRequest, count| {
        let BufferSizes { keys, values, keys_out, values_out, .. } = request.buffer_sizes(count);
        (keys, values, keys_out, values_out)
    };
    assert_eq!(sized(keys, 10), (Some(40), None, None, None));
    assert_eq!(sized(out(keys), 10), (Some(40), None, Some(40), None));
    assert_eq!(sized(indices, 10), (Some(40), Some(40), None, None));
    assert_eq!(sized(out(indices), 10), (Some(40), None, Some(40), Some(40)));
    assert_eq!(sized(out(discarding), 10), (Some(40), None, None, Some(40)));
    let bytes = SortRequest::new(KeyType::U8).value(ValueType::Bytes(1));
    assert_eq!(sized(bytes, 5), (Some(8), Some(8), None, None));
    let most = keys.value(ValueType::Bytes(u32::MAX - 3)).buffer_sizes(u32::MAX);
    assert_eq!(most.values, Some(u64::from(u32::MAX) * u64::from(u32::MAX - 3)), "without overflow");
}

#[test]
fn windows_parse_back() {
    assert_eq!("8..24".parse::<BitRange>().unwrap(), BitRange::from(8..24));
    for text in ["", "8", "8..", "..8", "a..b", "-1..3", "8...9"] {
        assert!(text.parse::<BitRange>().unwrap_err().to_string().contains("LO..HI"), "{text}");
    }
}

#[test]
fn scopes_are_the_same_with_synchronization2() {
    use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};
    let scopes = [
        (AccessScope::COMPUTE_READ, Stage::COMPUTE_SHADER, Access::SHADER_READ),
        (AccessScope::COMPUTE_WRITE, Stage::COMPUTE_SHADER, Access::SHADER_WRITE),
        (AccessScope::TRANSFER_READ, Stage::TRANSFER, Access::TRANSFER_READ),
        (AccessScope::TRANSFER_WRITE, Stage::TRANSFER, Access::TRANSFER_WRITE),
        (AccessScope::VERTEX_SHADER_READ, Stage::VERTEX_SHADER, Access::SHADER_READ),
        (AccessScope::INDEX_READ, Stage::VERTEX_INPUT, Access::INDEX_READ),
        (AccessScope::INDIRECT_READ, Stage::DRAW_INDIRECT, Access::INDIRECT_COMMAND_READ),
        (AccessScope::HOST_READ, Stage::HOST, Access::HOST_READ),
    ];
    for (scope, stages, access) in scopes {
        let barrier = scope.barrier2_to(BoundSort::INPUT_SCOPE);
        assert_eq!((barrier.src_stage_mask, barrier.src_access_mask), (stages, access));
        assert_eq!(barrier.dst_stage_mask, Stage::COMPUTE_SHADER);
        let barrier = scope.barrier_to(BoundSort::INPUT_SCOPE);
        let both = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        assert_eq!((barrier.src_access_mask, barrier.dst_access_mask), (scope.access, both));
    }
}

fn extension(name: &std::ffi::CStr) -> vk::ExtensionProperties {
    vk::ExtensionProperties::default().extension_name(name).unwrap()
}

#[test]
fn portability_is_asked_for_where_the_loader_offers_it() {
    let none = InstanceRequirements::select(&[extension(c"VK_KHR_surface")]);
    assert!(none.extensions.is_empty() && none.flags.is_empty());
    let layered = InstanceRequirements::select(&[extension(vk::KHR_PORTABILITY_ENUMERATION_NAME)]);
    assert_eq!(layered.extensions, [vk::KHR_PORTABILITY_ENUMERATION_NAME]);
    assert_eq!(layered.flags, vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR);
}
