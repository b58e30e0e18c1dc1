//! What instance and device must be created with, and the functions of both.

use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use ash::vk::DeviceCreateInfo as VkDeviceCreateInfo;
use ash::vk::PhysicalDeviceFeatures2 as VkPhysicalDeviceFeatures2;

use super::handles::Register;
use super::names::check_flags;
use super::outcome::{Failure, run_unit};
use super::structs::{check_pointer, put, read, write};
use super::types::*;
use crate::vk::{DeviceFeatures, InstanceRequirements, Requirements};

/// The functions of an instance that vksort calls.
pub const INSTANCE_FUNCTIONS: [&CStr; 7] = [
    c"vkEnumerateDeviceExtensionProperties",
    c"vkGetDeviceProcAddr",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceMemoryProperties",
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceQueueFamilyProperties",
];

/// The functions of a device that vksort calls.
pub const DEVICE_FUNCTIONS: [&CStr; 23] = [
    c"vkAllocateDescriptorSets",
    c"vkCmdBindDescriptorSets",
    c"vkCmdBindPipeline",
    c"vkCmdCopyBuffer",
    c"vkCmdDispatch",
    c"vkCmdDispatchIndirect",
    c"vkCmdFillBuffer",
    c"vkCmdPipelineBarrier",
    c"vkCmdPushConstants",
    c"vkCmdResetQueryPool",
    c"vkCmdWriteTimestamp",
    c"vkCreateComputePipelines",
    c"vkCreateDescriptorPool",
    c"vkCreateDescriptorSetLayout",
    c"vkCreatePipelineLayout",
    c"vkCreateShaderModule",
    c"vkDestroyDescriptorPool",
    c"vkDestroyDescriptorSetLayout",
    c"vkDestroyPipeline",
    c"vkDestroyPipelineLayout",
    c"vkDestroyShaderModule",
    c"vkGetBufferDeviceAddress",
    c"vkUpdateDescriptorSets",
];

/// What is behind a handle of requirements.
pub(super) struct DeviceKnowledge {
    pub instance: ash::Instance,
    pub requirements: Requirements,
    /// Names of the extensions, for C.
    extensions: Vec<*const c_char>,
    features: FeatureChain,
}

// SAFETY: the pointers lead to static text and into the chain, and nothing is written once it is made.
unsafe impl Send for DeviceKnowledge {}
// SAFETY: as above.
unsafe impl Sync for DeviceKnowledge {}

/// The features as a chain, on the heap. The parts point to each other, so no reference is made to any of it once it is linked.
struct FeatureChain(NonNull<Features>);

struct Features {
    head: vk::PhysicalDeviceFeatures2<'static>,
    parts: DeviceFeatures,
}

impl FeatureChain {
    fn new(parts: DeviceFeatures) -> FeatureChain {
        let chain = NonNull::from(Box::leak(Box::new(Features { head: Default::default(), parts })));
        let at = chain.as_ptr();
        // SAFETY: nothing else refers to what was just made. Its parts are reached from the one pointer that stays.
        unsafe {
            let (head, parts) = (&raw mut (*at).head, &raw mut (*at).parts);
            (*head).features = (*parts).core;
            (*head).p_next = (&raw mut (*parts).storage16).cast();
            (*parts).storage16.p_next = (&raw mut (*parts).storage8).cast();
            (*parts).storage8.p_next = (&raw mut (*parts).addresses).cast();
            if let Some(control) = &mut (*parts).subgroup_size_control {
                (*parts).addresses.p_next = std::ptr::from_mut(control).cast();
            }
        }
        FeatureChain(chain)
    }

    fn head(&self) -> *const vk::PhysicalDeviceFeatures2<'static> {
        // SAFETY: the chain lives as long as `self`; no reference is made.
        unsafe { &raw const (*self.0.as_ptr()).head }
    }
}

impl Drop for FeatureChain {
    fn drop(&mut self) {
        // SAFETY: it was a box in `new`, and ends once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

pub(super) static REQUIREMENTS: Register<DeviceKnowledge> = Register::new("VksortRequirements");

/// A function as Vulkan hands them out, as a pointer.
fn pointer(function: vk::PFN_vkVoidFunction) -> *const c_void {
    function.map_or(std::ptr::null(), |function| function as *const c_void)
}

/// Refuses a table without a function that vksort calls.
fn check_functions(missing: &HashSet<&CStr>, called: &[&CStr], whose: &str) -> Result<(), Failure> {
    match called.iter().find(|name| missing.contains(*name)) {
        None => Ok(()),
        Some(name) => {
            let text = format!("{} is not to be had from {whose}, needed is Vulkan 1.2", name.to_string_lossy());
            Err(Failure::new(VKSORT_ERROR_MISSING_FUNCTION, text))
        }
    }
}

/// The functions of an instance. Those that vksort does not call may be missing.
///
/// # Safety
///
/// `get` is Vulkan's function or behaves alike, and takes `instance`.
unsafe fn load_instance(get: PFN_vkGetInstanceProcAddr, handle: vk::Instance) -> Result<ash::Instance, Failure> {
    let get =
        get.ok_or_else(|| Failure::new(VKSORT_ERROR_POINTER, "getInstanceProcAddr is null, needed is the function"))?;
    let mut missing = HashSet::new();
    // SAFETY: by this function's contract; functions have the types that their names say.
    let instance = unsafe {
        ash::Instance::load_with(
            |name| {
                let found = pointer(get(handle, name.as_ptr()));
                if found.is_null() {
                    missing.extend(INSTANCE_FUNCTIONS.iter().find(|called| **called == name));
                }
                found
            },
            handle,
        )
    };
    check_functions(&missing, &INSTANCE_FUNCTIONS, "vkGetInstanceProcAddr")?;
    Ok(instance)
}

/// The functions of a device.
///
/// # Safety
///
/// `device` is a device of the instance.
pub(super) unsafe fn load_device(instance: &ash::Instance, device: vk::Device) -> Result<ash::Device, Failure> {
    if device == vk::Device::null() {
        return Err(Failure::new(VKSORT_ERROR_POINTER, "device is null, needed is a VkDevice"));
    }
    let mut missing = HashSet::new();
    // SAFETY: by this function's contract; functions have the types that their names say.
    let loaded = unsafe {
        ash::Device::load_with(
            |name| {
                let found = pointer(instance.get_device_proc_addr(device, name.as_ptr()));
                if found.is_null() {
                    missing.extend(DEVICE_FUNCTIONS.iter().find(|called| **called == name));
                }
                found
            },
            device,
        )
    };
    check_functions(&missing, &DEVICE_FUNCTIONS, "vkGetDeviceProcAddr")?;
    Ok(loaded)
}

/// A function of a device that need not be there.
///
/// # Safety
///
/// `device` is a device of the instance.
pub(super) unsafe fn find(instance: &ash::Instance, device: vk::Device, name: &CStr) -> *const c_void {
    // SAFETY: by this function's contract.
    pointer(unsafe { instance.get_device_proc_addr(device, name.as_ptr()) })
}

/// What a device was created with, as far as vksort cares.
#[derive(Default)]
struct Enabled {
    extensions: Vec<&'static CStr>,
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    push_descriptor: vk::Bool32,
}

/// VkPhysicalDeviceVulkan14Features, which this version of ash does not have.
#[repr(C)]
struct Vulkan14Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    _others: [vk::Bool32; 20],
    push_descriptor: vk::Bool32,
}

impl Vulkan14Features {
    const TYPE: vk::StructureType = vk::StructureType::from_raw(55);
}

impl Enabled {
    /// # Safety
    ///
    /// The pointer is null, or leads to a valid structure with a valid chain.
    unsafe fn of(info: *const VkDeviceCreateInfo<'static>) -> Result<Enabled, Failure> {
        check_pointer(info, "the VkDeviceCreateInfo")?;
        // SAFETY: the structure is valid by this function's contract, here and below.
        let info = unsafe { &*info };
        let mut enabled = Enabled::default();
        if info.enabled_extension_count > 0 {
            check_pointer(info.pp_enabled_extension_names, "ppEnabledExtensionNames")?;
        }
        for index in 0..info.enabled_extension_count as usize {
            // SAFETY: there are as many names as the structure says.
            let name = unsafe { *info.pp_enabled_extension_names.add(index) };
            check_pointer(name, "a name in ppEnabledExtensionNames")?;
            // SAFETY: it is a text.
            enabled.extensions.push(unsafe { CStr::from_ptr(name) });
        }
        if !info.p_enabled_features.is_null() {
            // SAFETY: it leads to the features.
            enabled.core = unsafe { *info.p_enabled_features };
        }
        // SAFETY: the chain is valid, and only read.
        unsafe { enabled.walk(info.p_next.cast_mut(), |own, theirs| *own |= *theirs) };
        Ok(enabled)
    }

    /// Brings each feature that vksort uses together with where a chain has it. Tells of which structures it has one: for
    /// 16-bit storage, 8-bit storage, addresses and subgroup size control.
    ///
    /// # Safety
    ///
    /// The chain is valid, and `meet` may be called on each of its features.
    unsafe fn walk(&mut self, chain: *mut c_void, meet: unsafe fn(&mut vk::Bool32, *mut vk::Bool32)) -> [bool; 4] {
        use vk::StructureType as Type;
        let mut seen = [false; 4];
        let mut next = chain.cast::<vk::BaseOutStructure<'static>>();
        macro_rules! met {
            ($type:ident { $($part:ident.$field:ident $index:literal),* }) => {{
                let theirs = next.cast::<vk::$type<'static>>();
                $(
                    // SAFETY: the structure is of this type, as it says itself.
                    unsafe { meet(&mut self.$part.$field, &raw mut (*theirs).$field) };
                    seen[$index] = true;
                )*
            }};
        }
        while !next.is_null() {
            // SAFETY: every structure of a chain begins alike.
            match unsafe { (*next).s_type } {
                Type::PHYSICAL_DEVICE_FEATURES_2 => {
                    let theirs = next.cast::<vk::PhysicalDeviceFeatures2<'static>>();
                    let own = &mut self.core.shader_storage_buffer_array_dynamic_indexing;
                    // SAFETY: the structure is of this type, as it says itself.
                    unsafe { meet(own, &raw mut (*theirs).features.shader_storage_buffer_array_dynamic_indexing) };
                }
                Type::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES => {
                    met!(PhysicalDevice16BitStorageFeatures { v11.storage_buffer16_bit_access 0 });
                }
                Type::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES => {
                    met!(PhysicalDevice8BitStorageFeatures { v12.storage_buffer8_bit_access 1 });
                }
                Type::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
                    met!(PhysicalDeviceBufferDeviceAddressFeatures { v12.buffer_device_address 2 });
                }
                Type::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES => {
                    met!(PhysicalDeviceSubgroupSizeControlFeatures {
                        v13.subgroup_size_control 3, v13.compute_full_subgroups 3
                    });
                }
                Type::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES => {
                    met!(PhysicalDeviceVulkan11Features { v11.storage_buffer16_bit_access 0 });
                }
                Type::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                    met!(PhysicalDeviceVulkan12Features {
                        v12.storage_buffer8_bit_access 1, v12.buffer_device_address 2
                    });
                }
                Type::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                    met!(PhysicalDeviceVulkan13Features {
                        v13.subgroup_size_control 3, v13.compute_full_subgroups 3
                    });
                }
                Vulkan14Features::TYPE => {
                    let theirs = next.cast::<Vulkan14Features>();
                    // SAFETY: the structure is of this type, as it says itself.
                    unsafe { meet(&mut self.push_descriptor, &raw mut (*theirs).push_descriptor) };
                }
                _ => {}
            }
            // SAFETY: as above.
            next = unsafe { (*next).p_next };
        }
        seen
    }

    fn check(&self, requirements: &Requirements) -> Result<(), Failure> {
        requirements.check_enabled(&self.extensions, &self.core, &self.v11, &self.v12, &self.v13)?;
        Ok(())
    }

    /// The requirements without the features and extensions that the device lacks.
    fn restrict(&self, mut requirements: Requirements) -> Requirements {
        let lists = |name: &CStr| self.extensions.contains(&name);
        let promoted = requirements.has_promoted();
        let on = |feature: vk::Bool32| feature == vk::TRUE;
        let control = promoted || lists(vk::EXT_SUBGROUP_SIZE_CONTROL_NAME);
        if !(control && on(self.v13.subgroup_size_control) && on(self.v13.compute_full_subgroups)) {
            requirements = requirements.without_subgroup_size_control();
        }
        if !lists(vk::NV_SHADER_SUBGROUP_PARTITIONED_NAME) {
            requirements = requirements.without_subgroup_partition();
        }
        if !(on(self.v11.storage_buffer16_bit_access) && on(self.v12.storage_buffer8_bit_access)) {
            requirements = requirements.without_small_storage();
        }
        if !on(self.v12.buffer_device_address) {
            requirements = requirements.without_buffer_addresses();
        }
        if !on(self.core.shader_storage_buffer_array_dynamic_indexing) {
            requirements = requirements.without_dynamic_indexing();
        }
        requirements
    }
}

/// The requirements of a physical device, without the features and extensions that a device of it lacks. `api_version` is the
/// one that the application asked for, or 0 for the device's.
///
/// # Safety
///
/// * `get` is Vulkan's function or behaves alike, and takes `instance`.
/// * `physical_device` is null or one of the instance.
/// * `info` is null, or leads to a valid structure with a valid chain.
pub(super) unsafe fn query(
    get: PFN_vkGetInstanceProcAddr,
    instance: vk::Instance,
    physical_device: vk::PhysicalDevice,
    api_version: u32,
    info: *const VkDeviceCreateInfo<'static>,
) -> Result<(ash::Instance, Requirements), Failure> {
    if physical_device == vk::PhysicalDevice::null() {
        return Err(Failure::new(VKSORT_ERROR_POINTER, "physicalDevice is null, needed is a VkPhysicalDevice"));
    }
    // SAFETY: by this function's contract, here and below.
    let instance = unsafe { load_instance(get, instance)? };
    // SAFETY: as above.
    let mut requirements = unsafe { Requirements::query(&instance, physical_device)? };
    if api_version != 0 {
        requirements = requirements.for_api_version(api_version);
    }
    if !info.is_null() {
        // SAFETY: as above.
        requirements = unsafe { Enabled::of(info)? }.restrict(requirements);
    }
    Ok((instance, requirements))
}

/// Refuses a device that was created without pushed descriptors. A device of Vulkan 1.4 has their function in any case.
///
/// # Safety
///
/// As for [`query`].
pub(super) unsafe fn check_pushes(info: *const VkDeviceCreateInfo<'static>) -> Result<(), Failure> {
    if info.is_null() {
        return Ok(());
    }
    // SAFETY: by this function's contract.
    let enabled = unsafe { Enabled::of(info)? };
    if enabled.push_descriptor == vk::TRUE || enabled.extensions.contains(&vk::KHR_PUSH_DESCRIPTOR_NAME) {
        return Ok(());
    }
    let text = "the device was created without pushed descriptors, needed is the extension VK_KHR_push_descriptor or the \
                feature pushDescriptor of VkPhysicalDeviceVulkan14Features";
    Err(Failure::new(VKSORT_ERROR_NOT_ENABLED, text))
}

/// Returns the requirements of an instance: Vulkan 1.2, and an extension if drivers may be layered on another API.
///
/// - getInstanceProcAddr: Vulkan's function; it is called without an instance.
/// - requirements: written; structSize must be set. What it points to is static.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// * The function is null, Vulkan's, or behaves alike.
/// * The pointer is null, or leads to a writable structure of as many bytes as its first field says.
#[unsafe(export_name = "vksortGetInstanceRequirements")]
pub unsafe extern "C" fn get_instance_requirements(
    get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    requirements: *mut VksortInstanceRequirements,
) -> VksortResult {
    run_unit("vksortGetInstanceRequirements", || {
        let missing = |what: &str| Failure::new(VKSORT_ERROR_MISSING_FUNCTION, what);
        let get = get_instance_proc_addr
            .ok_or_else(|| Failure::new(VKSORT_ERROR_POINTER, "getInstanceProcAddr is null, needed is the function"))?;
        let name = c"vkEnumerateInstanceExtensionProperties";
        // SAFETY: the function is Vulkan's, and takes no instance for this name.
        let found = pointer(unsafe { get(vk::Instance::null(), name.as_ptr()) });
        if found.is_null() {
            return Err(missing("vkEnumerateInstanceExtensionProperties is not to be had from vkGetInstanceProcAddr"));
        }
        // SAFETY: the function is Vulkan's.
        let entry = unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get }) };
        // SAFETY: no layer is named.
        let available = unsafe { entry.enumerate_instance_extension_properties(None) }
            .map_err(|result| Failure::new(result.as_raw(), format!("{} failed: {result}", name.to_string_lossy())))?;
        let needed = InstanceRequirements::select(&available);
        const PORTABILITY: &[&CStr; 1] = &[vk::KHR_PORTABILITY_ENUMERATION_NAME];
        debug_assert!(needed.extensions.iter().all(|name| PORTABILITY.contains(name)));
        let value = VksortInstanceRequirements {
            struct_size: 0,
            api_version: InstanceRequirements::API_VERSION,
            flags: needed.flags.as_raw(),
            extension_count: needed.extensions.len() as u32,
            extensions: PORTABILITY_POINTERS.0.as_ptr(),
        };
        // SAFETY: by this function's contract.
        unsafe { write(requirements, &value) }
    })
}

/// The only extension of an instance that is ever needed, for C.
struct StaticNames([*const c_char; 1]);
// SAFETY: the pointer leads to static text.
unsafe impl Sync for StaticNames {}
static PORTABILITY_POINTERS: StaticNames = StaticNames([vk::KHR_PORTABILITY_ENUMERATION_NAME.as_ptr()]);

/// Reads the properties of a physical device, and decides which extensions and features vksort needs there.
///
/// - info: the physical device. For an existing device, deviceCreateInfo describes how it was created.
/// - requirements: a handle is written, which belongs to the caller until vksortDestroyRequirements.
/// - Any thread may call it; vkGetInstanceProcAddr is called from that thread.
/// - The instance lives until the call returns, and while vksortCreateSorter is called with the handle. No other function
///   uses it.
///
/// Fails with VKSORT_ERROR_UNSUITABLE_DEVICE for a device below Vulkan 1.2, without a compute queue, or with MoltenVK before 1.3.
///
/// # Safety
///
/// * `info` is null, or leads to a structure of as many bytes as its first field says.
/// * The instance was created for Vulkan 1.2 or newer, and the physical device is its own.
/// * What `device_create_info` leads to is null or valid.
/// * `requirements` is null or writable.
#[unsafe(export_name = "vksortCreateRequirements")]
pub unsafe extern "C" fn create_requirements(
    info: *const VksortRequirementsInfo,
    requirements: *mut VksortRequirements,
) -> VksortResult {
    run_unit("vksortCreateRequirements", || {
        // SAFETY: by this function's contract, here and below.
        let info = unsafe { read(info)? };
        check_flags("flags of VksortRequirementsInfo", info.flags, 0)?;
        check_flags("reserved of VksortRequirementsInfo", info.reserved, 0)?;
        // SAFETY: as above.
        unsafe { put(requirements, std::ptr::null_mut())? };
        if info.instance == vk::Instance::null() {
            return Err(Failure::new(VKSORT_ERROR_POINTER, "instance is null, needed is a VkInstance"));
        }
        let (get, device) = (info.get_instance_proc_addr, info.physical_device);
        // SAFETY: as above.
        let (instance, queried) =
            unsafe { query(get, info.instance, device, info.api_version, info.device_create_info)? };
        let features = FeatureChain::new(queried.features());
        let extensions = queried.device_extensions.iter().map(|name| name.as_ptr()).collect();
        let handle = REQUIREMENTS.add(DeviceKnowledge { instance, requirements: queried, extensions, features });
        // SAFETY: as above.
        unsafe { put(requirements, handle) }
    })
}

/// Ends a handle of requirements. Sorters that were created with it stay.
///
/// - requirements: a handle, or null for nothing to do. The arrays of vksortGetDeviceRequirements end with it.
/// - Any thread may call it, while no other thread uses these arrays.
#[unsafe(export_name = "vksortDestroyRequirements")]
pub extern "C" fn destroy_requirements(requirements: VksortRequirements) -> VksortResult {
    run_unit("vksortDestroyRequirements", || REQUIREMENTS.remove(requirements))
}

/// Returns the extensions and features that a device must be created with.
///
/// - requirements: a handle, which owns the arrays that the result points to.
/// - result: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `result` is null, or leads to a writable structure of as many bytes as its first field says.
#[unsafe(export_name = "vksortGetDeviceRequirements")]
pub unsafe extern "C" fn get_device_requirements(
    requirements: VksortRequirements,
    result: *mut VksortDeviceRequirements,
) -> VksortResult {
    run_unit("vksortGetDeviceRequirements", || {
        let known = REQUIREMENTS.get(requirements)?;
        let value = VksortDeviceRequirements {
            struct_size: 0,
            extension_count: known.extensions.len() as u32,
            extensions: known.extensions.as_ptr(),
            features: known.features.head(),
        };
        // SAFETY: by this function's contract.
        unsafe { write(result, &value) }
    })
}

/// Sets the features that vksort needs in the caller's own structures. It clears none.
///
/// - features: the head of a chain as for VkDeviceCreateInfo::pNext. It has a structure for each feature: one of Vulkan 1.1,
///   1.2 or 1.3, or that of the extension which brought the feature. It belongs to the caller, and is not kept.
/// - Any thread may call it at any time, on chains that no other thread uses.
///
/// Fails with VKSORT_ERROR_NOT_ENABLED when a structure is missing; the text names the features that it would hold. The
/// features of the other structures are set.
///
/// # Safety
///
/// `features` is null, or the head of a valid chain that may be written to.
#[unsafe(export_name = "vksortAddDeviceFeatures")]
pub unsafe extern "C" fn add_device_features(
    requirements: VksortRequirements,
    features: *mut VkPhysicalDeviceFeatures2<'static>,
) -> VksortResult {
    run_unit("vksortAddDeviceFeatures", || {
        let known = REQUIREMENTS.get(requirements)?;
        check_pointer(features, "the pointer to features")?;
        let mut needed = Enabled::default();
        let Enabled { core, v11, v12, v13, .. } = &mut needed;
        known.requirements.features().add_to(core, v11, v12, v13);
        // SAFETY: by this function's contract.
        let seen = unsafe { needed.walk(features.cast(), |own, theirs| *theirs |= *own) };
        let parts = [
            (needed.v11.storage_buffer16_bit_access, "16BitStorageFeatures or VkPhysicalDeviceVulkan11Features"),
            (needed.v12.storage_buffer8_bit_access, "8BitStorageFeatures or VkPhysicalDeviceVulkan12Features"),
            (needed.v12.buffer_device_address, "BufferDeviceAddressFeatures or VkPhysicalDeviceVulkan12Features"),
            (needed.v13.compute_full_subgroups, "SubgroupSizeControlFeatures or VkPhysicalDeviceVulkan13Features"),
        ];
        let missing = parts.iter().zip(seen).filter(|((needed, _), seen)| *needed == vk::TRUE && !seen);
        let missing: Vec<String> = missing.map(|((_, name), _)| format!("VkPhysicalDevice{name}")).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => {
                let text = format!("the chain of features is without {}", missing.join(", and without "));
                Err(Failure::new(VKSORT_ERROR_NOT_ENABLED, text))
            }
        }
    })
}

/// Checks that a device was created with everything that requirements name. Validation layers do not notice every missing
/// feature.
///
/// - info: the structure that the device was created with; it is not kept.
/// - Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_NOT_ENABLED; the text names every feature and extension that is missing.
///
/// # Safety
///
/// `info` is null, or leads to a valid structure with a valid chain.
#[unsafe(export_name = "vksortCheckDevice")]
pub unsafe extern "C" fn check_device(
    requirements: VksortRequirements,
    info: *const VkDeviceCreateInfo<'static>,
) -> VksortResult {
    run_unit("vksortCheckDevice", || {
        let known: Arc<DeviceKnowledge> = REQUIREMENTS.get(requirements)?;
        // SAFETY: by this function's contract.
        unsafe { Enabled::of(info)? }.check(&known.requirements)
    })
}
