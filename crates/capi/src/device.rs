//! What instance and device must be created with, and the functions of both.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

use ash::vk::{
    self, DeviceCreateInfo as VkDeviceCreateInfo, Handle, PhysicalDeviceFeatures2 as VkPhysicalDeviceFeatures2,
};

use vksort::__private::seams::{Remedies, VersionFeatures};
use vksort::__private::{Place, feature_in, load_instance};
use vksort::{DeviceFeatures, Error, InstanceRequirements, Requirements};

use super::fault::Fault;
use super::handles::Register;
use super::names::check_flags;
use super::outcome::{Failure, run_unit};
use super::structs::{check_handle, check_pointer, put, read, write};
use super::types::*;

/// The object of a handle of requirements.
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
struct FeatureChain(NonNull<(vk::PhysicalDeviceFeatures2<'static>, DeviceFeatures)>);

impl FeatureChain {
    fn new(features: DeviceFeatures) -> FeatureChain {
        let head = vk::PhysicalDeviceFeatures2::default();
        let chain = NonNull::from(Box::leak(Box::new((head, features))));
        // SAFETY: nothing else refers to what was just made. Its parts are reached from the one pointer that stays.
        let (head, parts) = unsafe { &mut *chain.as_ptr() };
        head.p_next = parts.chain(Default::default()).p_next.cast_mut();
        FeatureChain(chain)
    }

    fn head(&self) -> *const vk::PhysicalDeviceFeatures2<'static> {
        // SAFETY: the chain lives as long as `self`; no reference is made.
        unsafe { &raw const (*self.0.as_ptr()).0 }
    }
}

impl Drop for FeatureChain {
    fn drop(&mut self) {
        // SAFETY: it was a box in `new`, and ends once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// What a program does against emulated subgroups.
const REMEDIES: Remedies = Remedies {
    features: "which vksortGetDeviceRequirements lists",
    version: "set VksortRequirementsInfo::apiVersion to its version",
};

pub(super) static REQUIREMENTS: Register<DeviceKnowledge> = Register::new("VksortRequirements");

/// A function that is not there. `needed` brings it.
pub(super) fn missing(name: &CStr, through: &'static str, needed: &'static str) -> Failure {
    Fault::AbsentFunction { name: name.to_string_lossy().into(), through, needed }.into()
}

/// Vulkan's function from which all others come.
fn given(get: PFN_vkGetInstanceProcAddr) -> Result<vk::PFN_vkGetInstanceProcAddr, Failure> {
    get.ok_or_else(|| Fault::Null { what: "getInstanceProcAddr".into(), needed: "the function".into() }.into())
}

/// The functions of a device.
///
/// # Safety
///
/// `device` is null or a device of the instance.
pub(super) unsafe fn load_device(instance: &ash::Instance, device: vk::Device) -> Result<ash::Device, Failure> {
    check_handle(device, "device", "VkDevice")?;
    // SAFETY: by this function's contract.
    Ok(unsafe { vksort::device_from_raw(instance, device.as_raw())? })
}

/// A function of a device as a pointer; null if it has none of that name.
///
/// # Safety
///
/// `device` is a device of the instance.
pub(super) unsafe fn function(instance: &ash::Instance, device: vk::Device, name: &CStr) -> *const c_void {
    // SAFETY: by this function's contract.
    let found = unsafe { instance.get_device_proc_addr(device, name.as_ptr()) };
    found.map_or(std::ptr::null(), |found| found as *const c_void)
}

/// What a device was created with, as far as vksort cares.
#[derive(Default)]
pub(super) struct Enabled<'a> {
    /// The caller's texts.
    extensions: Vec<&'a CStr>,
    features: VersionFeatures,
    pub push_descriptors: bool,
}

/// The last of the 21 features in VkPhysicalDeviceVulkan14Features, which this version of ash does not have.
const PUSH_DESCRIPTOR: Place =
    (vk::StructureType::from_raw(55), size_of::<vk::BaseOutStructure<'_>>() + 20 * size_of::<vk::Bool32>());

impl<'a> Enabled<'a> {
    /// # Safety
    ///
    /// The pointer is null, or leads to a valid structure with a valid chain, which stay as they are for `'a`.
    unsafe fn of(info: *const VkDeviceCreateInfo<'static>) -> Result<Enabled<'a>, Failure> {
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
        // SAFETY: the features are valid where they are given, and so is the chain, which is only read.
        unsafe {
            enabled.features.meet(info.p_next, |own, theirs| *own |= *theirs);
            let pushed = feature_in(info.p_next, PUSH_DESCRIPTOR).is_some_and(|feature| feature.read() == vk::TRUE);
            enabled.push_descriptors = pushed || enabled.extensions.contains(&vk::KHR_PUSH_DESCRIPTOR_NAME);
        }
        Ok(enabled)
    }
}

/// The requirements of a physical device, without the features and extensions that a device of it lacks, and what that device
/// was created with, if `info` says so. `api_version` is the one that the application asked for, or 0 for the device's.
///
/// # Safety
///
/// * `get` is Vulkan's function or behaves alike, and takes `instance`.
/// * `physical_device` is null or one of the instance.
/// * `info` is null, or leads to a valid structure with a valid chain, which stay as they are for `'a`.
pub(super) unsafe fn query<'a>(
    get: PFN_vkGetInstanceProcAddr,
    instance: vk::Instance,
    physical_device: vk::PhysicalDevice,
    api_version: u32,
    info: *const VkDeviceCreateInfo<'static>,
) -> Result<(ash::Instance, Requirements, Option<Enabled<'a>>), Failure> {
    check_handle(physical_device, "physicalDevice", "VkPhysicalDevice")?;
    // SAFETY: by this function's contract, here and below.
    let instance = unsafe { load_instance(given(get)?, instance)? };
    // SAFETY: as above.
    let mut requirements = unsafe { Requirements::query(&instance, physical_device)? };
    if api_version != 0 {
        requirements = requirements.for_api_version(api_version)?;
    }
    if info.is_null() {
        return Ok((instance, requirements, None));
    }
    // SAFETY: as above.
    let enabled = unsafe { Enabled::of(info)? };
    let VersionFeatures { v11, v12, v13 } = &enabled.features;
    let requirements = requirements.only_enabled(&enabled.extensions, v11, v12, v13);
    Ok((instance, requirements, Some(enabled)))
}

/// Returns the requirements of an instance: Vulkan 1.2, and an extension if drivers may be layered on another API.
///
/// - getInstanceProcAddr: Vulkan's function; it is called without an instance.
/// - requirements: written; structSize must be set. What it points to is static.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// * The function is null or vkGetInstanceProcAddr, or behaves like it.
/// * The pointer is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetInstanceRequirements")]
pub unsafe extern "C" fn get_instance_requirements(
    get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    requirements: *mut VksortInstanceRequirements,
) -> VksortResult {
    run_unit("vksortGetInstanceRequirements", || {
        let get = given(get_instance_proc_addr)?;
        let name = c"vkEnumerateInstanceExtensionProperties";
        // SAFETY: the function is Vulkan's, and takes no instance for this name.
        if unsafe { get(vk::Instance::null(), name.as_ptr()) }.is_none() {
            return Err(missing(name, "vkGetInstanceProcAddr", "Vulkan 1.2"));
        }
        // SAFETY: the function is Vulkan's.
        let entry = unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get }) };
        // SAFETY: no layer is named.
        let available = unsafe { entry.enumerate_instance_extension_properties(None) }
            .map_err(|result| Error::Vulkan { call: "vkEnumerateInstanceExtensionProperties", result })?;
        let needed = InstanceRequirements::select(&available);
        debug_assert!(needed.extensions.iter().all(|name| *name == vk::KHR_PORTABILITY_ENUMERATION_NAME));
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
/// Fails with VKSORT_ERROR_UNSUITABLE_DEVICE for a device below Vulkan 1.2, without a compute queue, or with MoltenVK before 1.3,
/// and with VKSORT_ERROR_VALUE for an apiVersion that is neither 0 nor 1.2 or a later version of Vulkan 1.
///
/// # Safety
///
/// * `info` is null, or points to a structure whose size is in its first field.
/// * The instance was created for Vulkan 1.2 or newer, and the physical device is its own.
/// * `device_create_info` of `info` is null, or points to a valid structure with a valid chain.
/// * `requirements` is null or writable.
#[unsafe(export_name = "vksortCreateRequirements")]
pub unsafe extern "C" fn create_requirements(
    info: *const VksortRequirementsInfo,
    requirements: *mut VksortRequirements,
) -> VksortResult {
    run_unit("vksortCreateRequirements", || {
        // SAFETY: by this function's contract, here and below.
        let info = unsafe { read(info)? };
        check_flags("flags of VksortRequirementsInfo", info.flags, VKSORT_REQUIREMENTS_BUFFER_ADDRESSES)?;
        check_flags("reserved of VksortRequirementsInfo", info.reserved, 0)?;
        // SAFETY: as above.
        unsafe { put(requirements, std::ptr::null_mut())? };
        check_handle(info.instance, "instance", "VkInstance")?;
        let (get, device) = (info.get_instance_proc_addr, info.physical_device);
        // SAFETY: as above.
        let (instance, mut queried, enabled) =
            unsafe { query(get, info.instance, device, info.api_version, info.device_create_info)? };
        queried = queried.with_remedies(REMEDIES);
        // A device that exists says for itself whether it has them.
        if enabled.is_none() && info.flags & VKSORT_REQUIREMENTS_BUFFER_ADDRESSES != 0 {
            queried = queried.with_buffer_addresses();
        }
        let features = FeatureChain::new(queried.features());
        let extensions = queried.device_extensions().iter().map(|name| name.as_ptr()).collect();
        let handle = REQUIREMENTS.add(DeviceKnowledge { instance, requirements: queried, extensions, features });
        // SAFETY: as above.
        unsafe { put(requirements, handle) }
    })
}

/// Destroys requirements. Sorters that were created with them stay.
///
/// - requirements: a handle, or null, which is a no-op. The arrays of vksortGetDeviceRequirements are freed with it.
/// - Any thread may call it, while no other thread uses these arrays.
#[unsafe(export_name = "vksortDestroyRequirements")]
pub extern "C" fn destroy_requirements(requirements: VksortRequirements) -> VksortResult {
    run_unit("vksortDestroyRequirements", || REQUIREMENTS.remove("requirements", requirements))
}

/// Returns the extensions and features that a device must be created with.
///
/// - requirements: a handle, which owns the arrays that the result points to.
/// - result: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `result` is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetDeviceRequirements")]
pub unsafe extern "C" fn get_device_requirements(
    requirements: VksortRequirements,
    result: *mut VksortDeviceRequirements,
) -> VksortResult {
    run_unit("vksortGetDeviceRequirements", || {
        let known = REQUIREMENTS.get("requirements", requirements)?;
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
        let known = REQUIREMENTS.get("requirements", requirements)?;
        check_pointer(features, "the pointer to features")?;
        let mut needed = VersionFeatures::from(known.requirements.features());
        // SAFETY: by this function's contract.
        let seen = unsafe { needed.meet(features.cast(), |own, theirs| *theirs |= *own) };
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
            false => Err(Fault::MissingStructures { missing: missing.join(", and without ") }.into()),
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
        let known = REQUIREMENTS.get("requirements", requirements)?;
        // SAFETY: by this function's contract.
        let Enabled { extensions, features: VersionFeatures { v11, v12, v13 }, .. } = unsafe { Enabled::of(info)? };
        known.requirements.check_enabled(&extensions, &v11, &v12, &v13).map_err(Failure::from)
    })
}
