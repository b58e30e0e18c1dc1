//! What Vulkan does not give: functions, features and extensions.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

use ash::vk;
use vksort::__private::{DEVICE_FUNCTIONS, INSTANCE_FUNCTIONS};
use vksort_capi::{device::*, record::*, sorter::*, types::*, vrdx};

use crate::*;

thread_local! {
    /// The one function that the filter hides, if any; else it hides all that vksort does not name.
    static HIDDEN: RefCell<Option<CString>> = const { RefCell::new(None) };
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

fn hides(name: &CStr, named: &str) -> bool {
    ASKED.set(ASKED.get() + 1);
    HIDDEN.with_borrow(|hidden| match hidden {
        Some(hidden) => name == hidden.as_c_str(),
        None => !named.split_whitespace().any(|named| name.to_str() == Ok(named)),
    })
}

/// The loader's function, but for what is hidden.
unsafe extern "system" fn filtered(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's duties are the same.
    let text = unsafe { CStr::from_ptr(name) };
    if hides(text, INSTANCE_FUNCTIONS) {
        return None;
    }
    if text == c"vkGetDeviceProcAddr" {
        // SAFETY: functions are handed out without their type.
        return Some(unsafe {
            std::mem::transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(filtered_device)
        });
    }
    // SAFETY: as above.
    unsafe { (vulkan().entry.static_fn().get_instance_proc_addr)(instance, name) }
}

unsafe extern "system" fn filtered_device(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's duties are the same.
    match hides(unsafe { CStr::from_ptr(name) }, DEVICE_FUNCTIONS) {
        true => None,
        // SAFETY: as above.
        false => unsafe { (vulkan().instance.fp_v1_0().get_device_proc_addr)(device, name) },
    }
}

#[test]
fn functions_that_cannot_be_had_are_named_and_no_others_are_called() {
    let vulkan = vulkan();
    let info = VksortRequirementsInfo { get_instance_proc_addr: Some(filtered), ..vulkan.info() };
    let mut requirements = null_mut();
    let missing = VKSORT_ERROR_MISSING_FUNCTION;
    for name in INSTANCE_FUNCTIONS.split_whitespace() {
        HIDDEN.set(CString::new(name).ok());
        refused(c!(create_requirements(&info, &mut requirements)), missing, &[name, "vkGetInstanceProcAddr"]);
    }
    HIDDEN.set(None);
    done(c!(create_requirements(&info, &mut requirements)));
    let requests = [
        VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 20, ..u32_keys() },
        VksortSortRequest { algorithm: VKSORT_ALGORITHM_REDUCE_THEN_SCAN, ..u32_keys() },
    ];
    for request in &requests {
        let sorter_info = VksortSorterInfo { requirements, ..vulkan.sorter_info(request) };
        let mut sorter = null_mut();
        for name in DEVICE_FUNCTIONS.split_whitespace() {
            HIDDEN.set(CString::new(name).ok());
            refused(c!(create_sorter(&sorter_info, &mut sorter)), missing, &[name, "vkGetDeviceProcAddr"]);
        }
        // With the functions that it names and no others, everything works.
        HIDDEN.set(None);
        ASKED.set(0);
        done(c!(create_sorter(&sorter_info, &mut sorter)));
        assert!(ASKED.get() > 100, "the filter was not asked");
        let (buffers, _) = buffers_of(sorter, 20_000);
        let sort = bound(sorter, &buffers);
        for count in [20_000, 100, VKSORT_COUNT_ON_DEVICE] {
            let mut queries = 0;
            done(c!(get_query_count(sort, count, &mut queries)));
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(queries);
            // SAFETY: the device is alive.
            let pool = unsafe { vulkan.device.create_query_pool(&info, None).unwrap() };
            let queries = VksortQueryRange { pool, first: 0, count: queries };
            vulkan.run(|commands| done(c!(cmd_sort(commands, sort, count, &queries))));
        }
        done(destroy_sort(sort));
        done(destroy_sorter(sorter));
    }
    let info = VksortSorterInfo { requirements, flags: VKSORT_SORTER_LABELS, ..vulkan.sorter_info(&requests[0]) };
    refused(
        c!(create_sorter(&info, &mut null_mut())),
        missing,
        &["vkCmdBeginDebugUtilsLabelEXT", "VK_EXT_debug_utils"],
    );
    let info = VksortVrdxInfo { get_instance_proc_addr: Some(filtered), ..vulkan.vrdx_info() };
    refused(
        c!(vrdx::create(&info, &mut null_mut())),
        missing,
        &["vkCmdPushDescriptorSetKHR", "VK_KHR_push_descriptor"],
    );
    done(destroy_requirements(requirements));
}

#[test]
fn what_a_device_lacks_is_named_or_left_out() {
    let vulkan = vulkan();
    let mut needed = sized!(VksortDeviceRequirements {});
    done(c!(get_device_requirements(vulkan.requirements(), &mut needed)));
    let nothing = vk::DeviceCreateInfo::default();
    let code = c!(check_device(vulkan.requirements(), &nothing));
    refused(code, VKSORT_ERROR_NOT_ENABLED, &["feature storageBuffer8BitAccess", "was created without"]);

    // A chain of the caller's own gets what is needed, and says what it has no place for.
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut head = vk::PhysicalDeviceFeatures2::default();
    let code = c!(add_device_features(vulkan.requirements(), (&raw mut head).cast()));
    refused(
        code,
        VKSORT_ERROR_NOT_ENABLED,
        &["VkPhysicalDevice8BitStorageFeatures or VkPhysicalDeviceVulkan12Features"],
    );
    let mut control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
    let mut head = head.push_next(&mut v11).push_next(&mut v12).push_next(&mut control);
    done(c!(add_device_features(vulkan.requirements(), (&raw mut head).cast())));
    let mut info = vk::DeviceCreateInfo { p_next: (&raw const head).cast(), ..Default::default() };
    info.enabled_extension_count = needed.extension_count;
    info.pp_enabled_extension_names = needed.extensions;
    done(c!(check_device(vulkan.requirements(), (&raw const info).cast())));
    assert_eq!((v12.timeline_semaphore, v12.storage_buffer8_bit_access), (vk::TRUE, vk::TRUE));

    // What became core in Vulkan 1.3 needs its extension for an instance of 1.2.
    let names: &[*const c_char] = match needed.extension_count {
        0 => &[],
        // SAFETY: there are as many names, and they live as long as the requirements.
        count => unsafe { std::slice::from_raw_parts(needed.extensions, count as usize) },
    };
    // SAFETY: each is a text.
    let promoted = |name: &*const c_char| unsafe { CStr::from_ptr(*name) } == vk::EXT_SUBGROUP_SIZE_CONTROL_NAME;
    let others: Vec<_> = names.iter().copied().filter(|name| !promoted(name)).collect();
    // SAFETY: the physical device is of the instance.
    let version = unsafe { vulkan.instance.get_physical_device_properties(vulkan.physical) }.api_version;
    let without = vk::DeviceCreateInfo { p_next: info.p_next, ..Default::default() }.enabled_extension_names(&others);
    for api_version in [0, vk::API_VERSION_1_2, vk::API_VERSION_1_3] {
        let mut requirements = null_mut();
        done(c!(create_requirements(&VksortRequirementsInfo { api_version, ..vulkan.info() }, &mut requirements)));
        let code = c!(check_device(requirements, (&raw const without).cast()));
        match names.len() == others.len() || version >= vk::API_VERSION_1_3 && api_version != vk::API_VERSION_1_2 {
            true => done(code),
            false => refused(code, VKSORT_ERROR_NOT_ENABLED, &["extension VK_EXT_subgroup_size_control"]),
        }
        done(destroy_requirements(requirements));
    }

    // Requirements of a device that lacks something are without it.
    for small_storage in [false, true] {
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default().storage_buffer16_bit_access(small_storage);
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default().storage_buffer8_bit_access(small_storage);
        let info = vk::DeviceCreateInfo::default().push_next(&mut v11).push_next(&mut v12);
        let lacking = VksortRequirementsInfo { device_create_info: (&raw const info).cast(), ..vulkan.info() };
        let mut requirements = null_mut();
        done(c!(create_requirements(&lacking, &mut requirements)));
        done(c!(check_device(requirements, (&raw const info).cast())));
        let request = u32_keys();
        let mut sorter = null_mut();
        done(c!(create_sorter(&VksortSorterInfo { requirements, ..vulkan.sorter_info(&request) }, &mut sorter)));
        done(destroy_sorter(sorter));
        done(destroy_requirements(requirements));
    }
    let names = vk::DeviceCreateInfo { enabled_extension_count: 1, ..Default::default() };
    refused(
        c!(check_device(vulkan.requirements(), &names)),
        VKSORT_ERROR_POINTER,
        &["ppEnabledExtensionNames is null"],
    );
}

/// They are named on request, and where an existing device has them.
#[test]
fn buffer_addresses_are_named_on_request() {
    let vulkan = vulkan();
    let mut with = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
    let device = vk::DeviceCreateInfo::default().push_next(&mut with);
    let without = vk::DeviceCreateInfo::default();
    let flag = VKSORT_REQUIREMENTS_BUFFER_ADDRESSES;
    let cases = [
        (0, null(), false),
        (flag, null(), true),
        (0, &raw const device, true),
        (flag, &raw const device, true),
        (flag, &raw const without, false),
    ];
    for (flags, created, named) in cases {
        let info = VksortRequirementsInfo { flags, device_create_info: created.cast(), ..vulkan.info() };
        let mut requirements = null_mut();
        done(c!(create_requirements(&info, &mut requirements)));
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut head =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut v11).push_next(&mut v12).push_next(&mut v13);
        done(c!(add_device_features(requirements, (&raw mut head).cast())));
        assert_eq!(v12.buffer_device_address == vk::TRUE, named, "flags {flags}, device {created:?}");
        done(destroy_requirements(requirements));
    }
}

/// VkPhysicalDeviceVulkan14Features: `pushDescriptor` is the last of its 21 features.
#[repr(C)]
struct Vulkan14Features {
    s_type: vk::StructureType,
    p_next: *const std::ffi::c_void,
    features: [vk::Bool32; 21],
}

#[test]
fn a_device_without_pushed_descriptors_is_refused_though_it_has_their_function() {
    let vulkan = vulkan();
    let names = [vk::KHR_PUSH_DESCRIPTOR_NAME.as_ptr()];
    let plain = vk::DeviceCreateInfo::default();
    let create = |info: &vk::DeviceCreateInfo<'_>| {
        let info = VksortVrdxInfo { device_create_info: std::ptr::from_ref(info).cast(), ..vulkan.vrdx_info() };
        let mut sorter = null_mut();
        let code = c!(vrdx::create(&info, &mut sorter));
        done(vrdx::destroy(sorter));
        code
    };
    let mut v14 =
        Vulkan14Features { s_type: vk::StructureType::from_raw(55), p_next: null(), features: [vk::TRUE; 21] };
    v14.features[20] = vk::FALSE;
    let parts = ["VK_KHR_push_descriptor", "pushDescriptor of VkPhysicalDeviceVulkan14Features"];
    let chained = vk::DeviceCreateInfo { p_next: (&raw const v14).cast(), ..plain };
    for info in [plain, chained] {
        refused(create(&info), VKSORT_ERROR_NOT_ENABLED, &parts);
    }
    done(create(&plain.enabled_extension_names(&names)));
    let v14 = Vulkan14Features { features: std::array::from_fn(|at| (at == 20).into()), ..v14 };
    done(create(&vk::DeviceCreateInfo { p_next: (&raw const v14).cast(), ..plain }));
}

#[test]
fn scopes_have_the_bits_of_synchronization2() {
    let (compute, reads, writes) = (
        vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw(),
        vk::AccessFlags2::SHADER_READ.as_raw(),
        vk::AccessFlags2::SHADER_WRITE.as_raw(),
    );
    let stages = [VKSORT_INPUT_STAGES, VKSORT_OUTPUT_STAGES].map(u64::from);
    let access = [VKSORT_INPUT_ACCESS, VKSORT_OUTPUT_ACCESS].map(u64::from);
    assert_eq!((stages, access), ([compute, compute], [reads | writes, writes]));
}
