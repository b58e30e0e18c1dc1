//! What cannot be is refused by a code and a text.

use std::ptr::{null, null_mut};
use std::sync::Barrier;

use ash::vk;
use vksort_capi::{device::*, inspect, names::*, record::*, segmented, sorter::*, types::*, verify, visitor, vrdx};

use crate::*;

#[test]
fn null_pointers_and_handles_are_refused() {
    let vulkan = vulkan();
    let mut requirements = null_mut();
    let mut number = 0;
    let info = vulkan.info();
    let request = u32_keys();
    let pointer = VKSORT_ERROR_POINTER;
    refused(c!(get_capabilities(null_mut())), pointer, &["vksortGetCapabilities: VksortCapabilities is null"]);
    refused(c!(get_key_type_properties(VKSORT_KEY_U8, null_mut())), pointer, &["VksortKeyTypeProperties is null"]);
    refused(c!(get_instance_requirements(None, null_mut())), pointer, &["getInstanceProcAddr is null"]);
    refused(c!(get_instance_requirements(vulkan.get(), null_mut())), pointer, &["VksortInstanceRequirements is null"]);
    refused(c!(create_requirements(null(), &mut requirements)), pointer, &["VksortRequirementsInfo is null"]);
    refused(c!(create_requirements(&info, null_mut())), pointer, &["the pointer to the result is null"]);
    let none = VksortRequirementsInfo { get_instance_proc_addr: None, ..info };
    refused(c!(create_requirements(&none, &mut requirements)), pointer, &["getInstanceProcAddr is null"]);
    let none = VksortRequirementsInfo { instance: vk::Instance::null(), ..info };
    refused(c!(create_requirements(&none, &mut requirements)), pointer, &["instance is null"]);
    let none = VksortRequirementsInfo { physical_device: vk::PhysicalDevice::null(), ..info };
    refused(c!(create_requirements(&none, &mut requirements)), pointer, &["physicalDevice is null"]);
    assert!(requirements.is_null());
    refused(c!(check_device(vulkan.requirements(), null())), pointer, &["VkDeviceCreateInfo is null"]);
    refused(c!(add_device_features(vulkan.requirements(), null_mut())), pointer, &["features is null"]);

    let mut sorter = null_mut();
    let good = vulkan.sorter_info(&request);
    refused(c!(create_sorter(null(), &mut sorter)), pointer, &["VksortSorterInfo is null"]);
    let bad = VksortSorterInfo { request: null(), ..good };
    refused(c!(create_sorter(&bad, &mut sorter)), pointer, &["VksortSortRequest is null"]);
    let bad = VksortSorterInfo { device: vk::Device::null(), ..good };
    refused(c!(create_sorter(&bad, &mut sorter)), pointer, &["device is null"]);
    let bad = VksortSorterInfo { requirements: null_mut(), ..good };
    refused(
        c!(create_sorter(&bad, &mut sorter)),
        VKSORT_ERROR_HANDLE,
        &["requirements of VksortSorterInfo is null", "VksortRequirements"],
    );
    assert!(sorter.is_null());

    let handle = VKSORT_ERROR_HANDLE;
    let mut device = sized!(VksortDeviceRequirements {});
    refused(c!(get_device_requirements(null_mut(), &mut device)), handle, &["VksortRequirements"]);
    let mut needs = sized!(VksortBufferRequirements {});
    refused(c!(get_buffer_requirements(null_mut(), 1, &mut needs)), handle, &["VksortSorter"]);
    let mut properties = sized!(VksortSorterProperties {});
    refused(c!(get_sorter_properties(null_mut(), &mut properties)), handle, &["VksortSorter"]);
    let mut sort = null_mut();
    refused(c!(bind(null_mut(), null(), &mut sort)), pointer, &["VksortBuffers is null"]);
    refused(c!(bind(null_mut(), &sized!(VksortBuffers {}), &mut sort)), handle, &["sorter is null", "VksortSorter"]);
    refused(c!(cmd_sort(vk::CommandBuffer::null(), null_mut(), 1, null())), pointer, &["commandBuffer is null"]);
    refused(c!(cmd_sort(vulkan.commands(), null_mut(), 1, null())), handle, &["VksortSort"]);
    refused(c!(get_query_count(null_mut(), 1, &mut number)), handle, &["sort is null", "VksortSort"]);
    refused(c!(get_algorithm(null_mut(), 1, &mut number)), handle, &["VksortSort"]);
    refused(c!(get_step_times(null_mut(), 1, 0, null(), 64, &mut number, null_mut())), handle, &["VksortSort"]);
    refused(c!(vrdx::create(null(), null_mut())), pointer, &["VksortVrdxInfo is null"]);
    refused(c!(vrdx::cmd_sort(vk::CommandBuffer::null(), null_mut(), null())), pointer, &["commandBuffer is null"]);
    let mut size = 0;
    refused(
        c!(vrdx::get_storage_requirements(null_mut(), 1, 0, &mut size, &mut number)),
        handle,
        &["a living VksortVrdx"],
    );
    // Null is nothing to destroy.
    done(destroy_requirements(null_mut()));
    done(destroy_sorter(null_mut()));
    done(destroy_sort(null_mut()));
    done(vrdx::destroy(null_mut()));
}

#[test]
fn pointers_that_are_not_aligned_are_refused() {
    let mut bytes = [0u64; 64];
    let odd = bytes.as_mut_ptr().cast::<u8>().wrapping_add(1);
    refused(c!(get_capabilities(odd.cast())), VKSORT_ERROR_POINTER, &["not aligned"]);
    let sorter = vulkan().sorter(&u32_keys());
    let (buffers, _) = buffers_of(sorter, 10);
    let sort = bound(sorter, &buffers);
    refused(c!(get_query_count(sort, 1, odd.cast())), VKSORT_ERROR_POINTER, &["not aligned"]);
}

#[test]
fn structures_of_another_size_are_refused_and_memory_behind_them_stays() {
    #[repr(C)]
    struct Behind {
        known: VksortCapabilities,
        mine: [u32; 1024],
    }
    let mut behind = Behind { known: sized!(VksortCapabilities {}), mine: [7; 1024] };
    let right = size_of::<VksortCapabilities>() as u32;
    // The longest are what memory holds that nobody has set.
    for size in [0, 1, right - 1, right + 1, right + 4, 2 * right, 4096, 4097, 0xCCCC_CCCC, u32::MAX] {
        behind.known.struct_size = size;
        let parts = [&format!("structSize of VksortCapabilities is {size}"), "allowed is 32"];
        refused(c!(get_capabilities((&raw mut behind).cast())), VKSORT_ERROR_STRUCT, &parts);
        assert_eq!((behind.known.struct_size, behind.known.key_types, behind.mine), (size, 0, [7; 1024]));
    }
    behind.known.struct_size = right;
    done(c!(get_capabilities((&raw mut behind).cast())));
    assert_eq!((behind.known.struct_size, behind.known.key_types, behind.mine), (right, 14, [7; 1024]));
    // Zeros are what a later version has there, up to the bound.
    behind.mine = [0; 1024];
    for (size, accepted) in [(right + 4, true), (4096, true), (4097, false), (4100, false)] {
        behind.known.struct_size = size;
        match accepted {
            true => done(c!(get_capabilities((&raw mut behind).cast()))),
            false => refused(c!(get_capabilities((&raw mut behind).cast())), VKSORT_ERROR_STRUCT, &["allowed is 32"]),
        }
        assert_eq!((behind.known.struct_size, behind.mine), (size, [0; 1024]));
    }
    behind.mine = [7; 1024];

    // With zeros behind it, it is what a later version's header makes; a field that is not known may not be set.
    #[repr(C)]
    struct Longer {
        known: VksortSortRequest,
        more: u32,
    }
    let mut longer = Longer { known: u32_keys(), more: 0 };
    longer.known.struct_size = size_of::<Longer>() as u32;
    let mut sorter = null_mut();
    let mut info = vulkan().sorter_info(&longer.known);
    info.request = (&raw const longer).cast();
    done(c!(create_sorter(&info, &mut sorter)));
    done(destroy_sorter(sorter));
    behind.mine[..2].fill(0);
    behind.known.struct_size = right + 8;
    done(c!(get_capabilities((&raw mut behind).cast())));
    assert_eq!((behind.known.struct_size, behind.mine[1], behind.mine[2]), (right + 8, 0, 7));
    for at in 0..4 {
        longer.more = 1 << (8 * at);
        info.request = (&raw const longer).cast();
        let parts = ["structSize of VksortSortRequest is 48", "allowed is 44, or up to 4096 with zeros behind that"];
        refused(c!(create_sorter(&info, &mut sorter)), VKSORT_ERROR_STRUCT, &parts);
    }
}

#[test]
fn numbers_that_are_none_of_an_enumeration_are_refused() {
    let vulkan = vulkan();
    let mut properties = sized!(VksortKeyTypeProperties {});
    for key in [0, VKSORT_KEY_TYPES + 1, u32::MAX] {
        let code = c!(get_key_type_properties(key, &mut properties));
        refused(code, VKSORT_ERROR_VALUE, &[&format!("key is {key}"), "1 to 14"]);
    }
    let good = u32_keys();
    let bad = [
        (VksortSortRequest { key: 0, ..good }, "key is 0"),
        (VksortSortRequest { key: u32::MAX, ..good }, "key is 4294967295"),
        (VksortSortRequest { value: 3, ..good }, "value is 3"),
        (VksortSortRequest { value: VKSORT_VALUE_BYTES, ..good }, "value size is 0 bytes"),
        (VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 7, ..good }, "value size is 7 bytes"),
        (VksortSortRequest { value_bytes: 4, ..good }, "valueBytes is 4"),
        (VksortSortRequest { value: VKSORT_VALUE_INDEX, value_bytes: 4, ..good }, "valueBytes is 4"),
        (VksortSortRequest { order: 2, ..good }, "order is 2"),
        (VksortSortRequest { placement: 2, ..good }, "placement is 2"),
        (VksortSortRequest { key_output: 9, ..good }, "keyOutput is 9"),
        (VksortSortRequest { key_output: 1, ..good }, "discarded without values"),
        (VksortSortRequest { algorithm: 4, ..good }, "algorithm is 4"),
        (VksortSortRequest { flags: 2, ..good }, "flags of VksortSortRequest is 0x2"),
        (VksortSortRequest { high_bit: 33, ..good }, "bit window is 0..33"),
        (VksortSortRequest { low_bit: 33, ..good }, "bit window is 33..32"),
    ];
    let mut sorter = null_mut();
    for (request, part) in bad {
        let code = c!(create_sorter(&vulkan.sorter_info(&request), &mut sorter));
        refused(code, VKSORT_ERROR_VALUE, &["vksortCreateSorter: ", part, "allowed is"]);
    }
    let info = VksortSorterInfo { access: 3, ..vulkan.sorter_info(&good) };
    refused(c!(create_sorter(&info, &mut sorter)), VKSORT_ERROR_VALUE, &["access is 3"]);
    let info = VksortSorterInfo { flags: 2, ..vulkan.sorter_info(&good) };
    refused(c!(create_sorter(&info, &mut sorter)), VKSORT_ERROR_VALUE, &["flags of VksortSorterInfo"]);
    let info = VksortRequirementsInfo { flags: 2, ..vulkan.info() };
    refused(c!(create_requirements(&info, &mut null_mut())), VKSORT_ERROR_VALUE, &["flags of VksortRequirementsInfo"]);
    let info = VksortRequirementsInfo { reserved: 1, ..vulkan.info() };
    let parts = ["reserved of VksortRequirementsInfo is 0x1, allowed is 0"];
    refused(c!(create_requirements(&info, &mut null_mut())), VKSORT_ERROR_VALUE, &parts);
    assert!([0, 4, 5].into_iter().all(|number| get_algorithm_name(number).is_null()));
}

#[test]
fn versions_below_that_of_an_instance_for_vksort_are_refused() {
    let vulkan = vulkan();
    let (mut requirements, mut sorter) = (null_mut(), null_mut());
    let made = vulkan.vrdx_info();
    let other_variant = vk::make_api_version(1, 1, 3, 0);
    for api_version in [vk::API_VERSION_1_0, vk::API_VERSION_1_1, 1, other_variant, u32::MAX] {
        let given = format!("({api_version:#x}), allowed is Vulkan 1.2");
        let parts = ["apiVersion is ", given.as_str()];
        let info = VksortRequirementsInfo { api_version, ..vulkan.info() };
        refused(c!(create_requirements(&info, &mut requirements)), VKSORT_ERROR_VALUE, &parts);
        let info = VksortVrdxInfo { api_version, ..made };
        refused(c!(vrdx::create(&info, &mut sorter)), VKSORT_ERROR_VALUE, &parts);
        assert!(requirements.is_null() && sorter.is_null());
    }
}

#[test]
fn the_usage_of_scratch_is_told_at_every_capacity() {
    let vulkan = vulkan();
    type Usage = vk::BufferUsageFlags;
    let usage = (Usage::STORAGE_BUFFER | Usage::TRANSFER_DST | Usage::INDIRECT_BUFFER).as_raw();
    for access in [VKSORT_ACCESS_DESCRIPTORS, VKSORT_ACCESS_AUTO] {
        let mut sorter = null_mut();
        let request = VksortSortRequest { value: VKSORT_VALUE_INDEX, ..u32_keys() };
        done(c!(create_sorter(&VksortSorterInfo { access, ..vulkan.sorter_info(&request) }, &mut sorter)));
        let usages = [0, 1, 100, 1_000_000].map(|capacity| {
            let mut needs = sized!(VksortBufferRequirements {});
            done(c!(get_buffer_requirements(sorter, capacity, &mut needs)));
            // The buffer of at least 4 bytes that programs make of it is bound.
            let scratch = vulkan.buffer(needs.scratch.size.max(4), needs.scratch.usage).0;
            let (buffers, _) = buffers_of(sorter, capacity);
            done(destroy_sort(bound(sorter, &VksortBuffers { scratch, ..buffers })));
            (needs.scratch.usage, needs.keys_out.usage)
        });
        assert_eq!(usages, [(usage, 0); 4]);
        done(destroy_sorter(sorter));
    }
}

#[test]
fn handles_that_do_not_live_are_refused() {
    let vulkan = vulkan();
    let (request, handle) = (u32_keys(), VKSORT_ERROR_HANDLE);
    let mut requirements = null_mut();
    done(c!(create_requirements(&vulkan.info(), &mut requirements)));
    let sorter = vulkan.sorter(&request);
    let (buffers, _) = buffers_of(sorter, 100);
    let sort = bound(sorter, &buffers);

    // Of another kind, and what was never one.
    let mut properties = sized!(VksortSorterProperties {});
    for other in [requirements.cast(), sort.cast(), (&raw const request).cast_mut().cast(), 7 as VksortSorter] {
        refused(c!(get_sorter_properties(other, &mut properties)), handle, &["0x", "a living VksortSorter"]);
        refused(destroy_sorter(other), handle, &["a living VksortSorter"]);
    }
    let info = VksortSorterInfo { share_with: sort.cast(), ..vulkan.sorter_info(&request) };
    refused(c!(create_sorter(&info, &mut null_mut())), handle, &["a living VksortSorter"]);

    // A sort outlives its sorter, and both their requirements.
    done(destroy_requirements(requirements));
    refused(destroy_requirements(requirements), handle, &["destroyed"]);
    let mut shared = null_mut();
    let info = VksortSorterInfo { share_with: sorter, ..vulkan.sorter_info(&request) };
    done(c!(create_sorter(&info, &mut shared)));
    done(destroy_sorter(sorter));
    refused(c!(get_sorter_properties(sorter, &mut properties)), handle, &["destroyed"]);
    refused(destroy_sorter(sorter), handle, &["destroyed"]);
    done(c!(get_sorter_properties(shared, &mut properties)));
    vulkan.run(|commands| done(c!(cmd_sort(commands, sort, 100, null()))));
    done(destroy_sort(sort));
    refused(destroy_sort(sort), handle, &["destroyed"]);
    refused(c!(cmd_sort(vulkan.commands(), sort, 1, null())), handle, &["destroyed"]);
    done(destroy_sorter(shared));
}

#[test]
fn calls_beside_a_destruction_finish_or_fail() {
    let vulkan = vulkan();
    for _ in 0..20 {
        let sorter = vulkan.sorter(&u32_keys());
        let address = sorter.addr();
        let call = move || {
            let mut properties = sized!(VksortSorterProperties {});
            loop {
                let sorter: VksortSorter = std::ptr::without_provenance_mut(address);
                match c!(get_sorter_properties(sorter, &mut properties)) {
                    0 => assert!(properties.max_count > 0),
                    code => return code,
                }
            }
        };
        let threads = [(); 2].map(|()| std::thread::spawn(call));
        std::thread::yield_now();
        done(destroy_sorter(sorter));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), VKSORT_ERROR_HANDLE);
        }
    }
}

#[test]
fn pipelines_of_another_device_are_refused() {
    let (vulkan, request) = (vulkan(), u32_keys());
    let mut needed = sized!(VksortDeviceRequirements {});
    done(c!(get_device_requirements(vulkan.requirements(), &mut needed)));
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    // SAFETY: the device is created with what the requirements name, and none of its sorters is left when it goes.
    unsafe {
        let names = std::slice::from_raw_parts(needed.extensions, needed.extension_count as usize);
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(names);
        info.p_next = needed.features.cast();
        let other = vulkan.instance.create_device(vulkan.physical, &info, None).unwrap();
        let sorter = vulkan.sorter(&request);
        let info = VksortSorterInfo { share_with: sorter, device: other.handle(), ..vulkan.sorter_info(&request) };
        let mut shared = null_mut();
        let devices = [vulkan.device.handle(), other.handle()].map(|device| format!("{device:?}"));
        let parts = ["shareWith", &devices[0], &devices[1]];
        refused(create_sorter(&info, &mut shared), VKSORT_ERROR_HANDLE, &parts);
        assert!(shared.is_null());
        done(destroy_sorter(sorter));
        other.destroy_device(None);
    }
}

#[test]
fn no_elements_need_no_buffers() {
    let vulkan = vulkan();
    let kinds = [
        VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 4, ..u32_keys() },
        VksortSortRequest { placement: VKSORT_PLACEMENT_OUT_OF_PLACE, value: VKSORT_VALUE_INDEX, ..u32_keys() },
    ];
    for request in kinds {
        let sorter = vulkan.sorter(&request);
        let mut needs = sized!(VksortBufferRequirements {});
        done(c!(get_buffer_requirements(sorter, 0, &mut needs)));
        let sizes = [needs.keys, needs.values, needs.keys_out, needs.values_out, needs.scratch].map(|need| need.size);
        assert_eq!(sizes, [0; 5]);
        // As the sizes say, and with those of one element.
        let (one, _) = buffers_of(sorter, 1);
        let none = sized!(VksortBuffers {});
        for buffers in [buffers_of(sorter, 0).0, none, VksortBuffers { capacity: 0, count: none.count, ..one }] {
            let sort = bound(sorter, &buffers);
            vulkan.run(|commands| done(c!(cmd_sort(commands, sort, 0, null()))));
            refused(c!(cmd_sort(vulkan.commands(), sort, 1, null())), VKSORT_ERROR_TOO_MANY_ELEMENTS, &["1", "0"]);
            let code = c!(cmd_sort(vulkan.commands(), sort, VKSORT_COUNT_ON_DEVICE, null()));
            refused(code, VKSORT_ERROR_VALUE, &["capacity of a sort with a count on the device is 0 elements"]);
            done(destroy_sort(sort));
        }
        let buffers = VksortBuffers { capacity: 1, ..none };
        refused(c!(bind(sorter, &buffers, &mut null_mut())), VKSORT_ERROR_BUFFER, &["keys is absent"]);
        // Of no elements, nothing is counted.
        let buffers = VksortBuffers { count: one.count, ..none };
        let parts = ["capacity of a sort with a count on the device is 0 elements", "at least 1"];
        refused(c!(bind(sorter, &buffers, &mut null_mut())), VKSORT_ERROR_VALUE, &parts);
        done(destroy_sorter(sorter));
    }
    // Calls that take their buffers do not read such a count.
    let info = vulkan.vrdx_info();
    let mut pushed = null_mut();
    if c!(vrdx::create(&info, &mut pushed)) == VKSORT_SUCCESS {
        let buffer = vulkan.buffer(1024, vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()).0.buffer;
        let none = sized!(VksortVrdxSort { indirect_buffer: buffer, keys_buffer: buffer, storage_buffer: buffer });
        vulkan.run(|commands| done(c!(vrdx::cmd_sort(commands, pushed, &none))));
        done(vrdx::destroy(pushed));
    }
}

#[test]
fn buffers_and_counts_that_do_not_fit_are_refused() {
    let vulkan = vulkan();
    let request = VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 4, ..u32_keys() };
    let sorter = vulkan.sorter(&request);
    let capacity = 50_000;
    let (good, _) = buffers_of(sorter, capacity);
    let absent = sized!(VksortBuffers {}).keys;
    let range = |range: VksortBufferRange, change: fn(&mut VksortBufferRange)| {
        let mut changed = range;
        change(&mut changed);
        changed
    };
    let bad = [
        (VksortBuffers { keys: absent, ..good }, "keys is absent"),
        (VksortBuffers { values: absent, ..good }, "values is absent"),
        (VksortBuffers { scratch: absent, ..good }, "scratch is absent"),
        (VksortBuffers { keys_out: good.count, ..good }, "keysOut is present"),
        (VksortBuffers { keys: range(good.keys, |range| range.size -= 4), ..good }, "keys has 199996 bytes"),
        (VksortBuffers { scratch: range(good.scratch, |range| range.size = 0), ..good }, "scratch has 0 bytes"),
        (VksortBuffers { keys: range(good.keys, |range| range.offset = 1), ..good }, "starts at byte 1"),
        (VksortBuffers { keys: range(good.keys, |range| range.offset = u64::MAX), ..good }, "18446744073709551615"),
        (VksortBuffers { values: good.keys, ..good }, "overlap"),
        (
            VksortBuffers { keys: range(good.keys, |range| range.usage = 1), ..good },
            "usage VK_BUFFER_USAGE_TRANSFER_SRC_BIT, needed is VK_BUFFER_USAGE_STORAGE_BUFFER_BIT",
        ),
    ];
    let mut sort = null_mut();
    for (buffers, part) in bad {
        refused(c!(bind(sorter, &buffers, &mut sort)), VKSORT_ERROR_BUFFER, &["vksortBind: ", part]);
    }
    let buffers = VksortBuffers { count: range(good.count, |range| range.reserved = 1), ..good };
    refused(c!(bind(sorter, &buffers, &mut sort)), VKSORT_ERROR_VALUE, &["reserved"]);
    let mut needs = sized!(VksortBufferRequirements {});
    let mut properties = sized!(VksortSorterProperties {});
    done(c!(get_sorter_properties(sorter, &mut properties)));
    if properties.max_count < u32::MAX {
        let code = c!(get_buffer_requirements(sorter, properties.max_count + 1, &mut needs));
        refused(code, VKSORT_ERROR_TOO_MANY_ELEMENTS, &["maxStorageBufferRange"]);
    }
    assert!(sort.is_null());

    let sort = bound(sorter, &VksortBuffers { count: absent, ..good });
    let commands = vulkan.commands();
    let many = VKSORT_ERROR_TOO_MANY_ELEMENTS;
    refused(c!(cmd_sort(commands, sort, 50_001, null())), many, &["50001", "50000"]);
    refused(c!(cmd_sort(commands, sort, 1 << 32, null())), many, &["4294967296", "VKSORT_COUNT_ON_DEVICE"]);
    refused(c!(cmd_sort(commands, sort, VKSORT_COUNT_ON_DEVICE, null())), VKSORT_ERROR_BUFFER, &["count is absent"]);
    let mut number = 0;
    refused(c!(get_query_count(sort, 50_001, &mut number)), many, &["50001"]);
    refused(c!(get_algorithm(sort, 50_001, &mut number)), many, &["50001"]);
    done(c!(get_query_count(sort, capacity.into(), &mut number)));
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(number);
    // SAFETY: the device is alive.
    let pool = unsafe { vulkan.device.create_query_pool(&info, None).unwrap() };
    let mut queries = VksortQueryRange { pool, first: 0, count: number - 1 };
    refused(c!(cmd_sort(commands, sort, capacity.into(), &queries)), VKSORT_ERROR_TOO_FEW_QUERIES, &["needed are"]);
    queries.pool = vk::QueryPool::null();
    refused(c!(cmd_sort(commands, sort, capacity.into(), &queries)), VKSORT_ERROR_VALUE, &["timestamps"]);
    let mut steps = 0;
    let code = c!(get_step_times(sort, 1, 0, [0].as_ptr(), 64, &mut steps, [].as_mut_ptr()));
    refused(code, VKSORT_ERROR_TOO_FEW_QUERIES, &["there are 0 ticks"]);
    // No elements are sorted by no steps.
    vulkan.run(|commands| done(c!(cmd_sort(commands, sort, 0, null()))));
}

#[test]
fn a_panic_becomes_a_code_in_every_function() {
    let nothing = vk::CommandBuffer::null();
    let calls: [(&str, &dyn Fn() -> VksortResult); 37] = [
        ("vksortGetCapabilities", &|| c!(get_capabilities(null_mut()))),
        ("vksortGetKeyTypeProperties", &|| c!(get_key_type_properties(0, null_mut()))),
        ("vksortGetInstanceRequirements", &|| c!(get_instance_requirements(None, null_mut()))),
        ("vksortCreateRequirements", &|| c!(create_requirements(null(), null_mut()))),
        ("vksortDestroyRequirements", &|| destroy_requirements(null_mut())),
        ("vksortGetDeviceRequirements", &|| c!(get_device_requirements(null_mut(), null_mut()))),
        ("vksortAddDeviceFeatures", &|| c!(add_device_features(null_mut(), null_mut()))),
        ("vksortCheckDevice", &|| c!(check_device(null_mut(), null()))),
        ("vksortCreateSorter", &|| c!(create_sorter(null(), null_mut()))),
        ("vksortCreateVisitedSorter", &|| c!(create_visited_sorter(null(), null(), null_mut()))),
        ("vksortCreateSegmentedSorter", &|| c!(segmented::create_segmented_sorter(null(), null(), null_mut()))),
        ("vksortGetSegmentProperties", &|| c!(segmented::get_segment_properties(null_mut(), null_mut()))),
        ("vksortGetSegmentBufferRequirements", &|| {
            c!(segmented::get_segment_buffer_requirements(null_mut(), 0, 0, null_mut(), null_mut()))
        }),
        ("vksortBindSegments", &|| c!(segmented::bind_segments(null_mut(), null(), null(), null_mut()))),
        ("vksortDestroySorter", &|| destroy_sorter(null_mut())),
        ("vksortGetSorterProperties", &|| c!(get_sorter_properties(null_mut(), null_mut()))),
        ("vksortGetBufferRequirements", &|| c!(get_buffer_requirements(null_mut(), 0, null_mut()))),
        ("vksortBind", &|| c!(bind(null_mut(), null(), null_mut()))),
        ("vksortDestroySort", &|| destroy_sort(null_mut())),
        ("vksortCmdSort", &|| c!(cmd_sort(nothing, null_mut(), 0, null()))),
        ("vksortCmdSortVisited", &|| c!(cmd_sort_visited(nothing, null_mut(), 0, null(), null()))),
        ("vksortCmdWarmUp", &|| c!(cmd_warm_up(nothing, null_mut(), null()))),
        ("vksortGetReportSize", &|| c!(verify::get_report_size(null_mut(), null_mut()))),
        ("vksortCreateVerifier", &|| c!(verify::create_verifier(null_mut(), null(), null_mut()))),
        ("vksortDestroyVerifier", &|| verify::destroy_verifier(null_mut())),
        ("vksortCmdVerifyBefore", &|| c!(verify::cmd_verify_before(nothing, null_mut(), 0))),
        ("vksortCmdVerifyAfter", &|| c!(verify::cmd_verify_after(nothing, null_mut(), 0))),
        ("vksortCreateInspector", &|| c!(inspect::create_inspector(null_mut(), null(), null_mut()))),
        ("vksortDestroyInspector", &|| inspect::destroy_inspector(null_mut())),
        ("vksortCmdInspect", &|| c!(inspect::cmd_inspect(nothing, null_mut(), 0))),
        ("vksortGetDepthRequest", &|| c!(visitor::get_depth_request(0, null_mut()))),
        ("vksortGetDepthPush", &|| c!(visitor::get_depth_push(null(), null_mut()))),
        ("vksortGetQueryCount", &|| c!(get_query_count(null_mut(), 0, null_mut()))),
        ("vksortGetAlgorithm", &|| c!(get_algorithm(null_mut(), 0, null_mut()))),
        ("vksortGetStepTimes", &|| c!(get_step_times(null_mut(), 0, 0, null(), 0, null_mut(), null_mut()))),
        ("vksortVrdxCreate", &|| c!(vrdx::create(null(), null_mut()))),
        ("vksortVrdxCmdSort", &|| c!(vrdx::cmd_sort(nothing, null_mut(), null()))),
    ];
    for (name, call) in calls {
        vksort_capi::outcome::FAULT.set(true);
        refused(call(), VKSORT_ERROR_INTERNAL, &[name, "a fault of vksort: asked for by a test"]);
    }
}

#[test]
fn threads_have_a_text_each() {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for (key, part) in [(0, "key is 0"), (77, "key is 77")] {
            let barrier = &barrier;
            scope.spawn(move || {
                assert_eq!(text(), "");
                barrier.wait();
                for _ in 0..100 {
                    let mut properties = sized!(VksortKeyTypeProperties {});
                    let code = c!(get_key_type_properties(key, &mut properties));
                    refused(code, VKSORT_ERROR_VALUE, &[part]);
                    barrier.wait();
                    // What has gone well, and what went wrong elsewhere, leave the text.
                    done(c!(get_key_type_properties(1, &mut properties)));
                    assert!(text().contains(part));
                }
            });
        }
    });
}
