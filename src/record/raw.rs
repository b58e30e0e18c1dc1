//! Vulkan from raw handles, for programs whose bindings are not ash: they need no version of it.

use std::ffi::{CStr, CString, c_void};

use ash::vk::{self, Handle};

use crate::error::Error;

/// The functions of an instance that vksort calls.
pub const INSTANCE_FUNCTIONS: &str = "vkEnumerateDeviceExtensionProperties vkGetDeviceProcAddr \
    vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceProperties \
    vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceQueueFamilyProperties";

/// The functions of a device that vksort calls.
pub const DEVICE_FUNCTIONS: &str = "vkAllocateDescriptorSets vkCmdBindDescriptorSets vkCmdBindPipeline vkCmdCopyBuffer \
    vkCmdDispatch vkCmdDispatchIndirect vkCmdFillBuffer vkCmdPipelineBarrier vkCmdPushConstants vkCmdResetQueryPool \
    vkCmdWriteTimestamp vkCreateComputePipelines vkCreateDescriptorPool vkCreateDescriptorSetLayout \
    vkCreatePipelineLayout vkCreateShaderModule vkDestroyDescriptorPool vkDestroyDescriptorSetLayout vkDestroyPipeline \
    vkDestroyPipelineLayout vkDestroyShaderModule vkGetBufferDeviceAddress vkGetBufferMemoryRequirements \
    vkUpdateDescriptorSets";

/// Refuses a parent that does not have all of the functions.
fn check(functions: &'static str, through: &'static str, find: impl Fn(&CStr) -> *const c_void) -> Result<(), Error> {
    let absent = |name: &&str| CString::new(*name).is_ok_and(|name| find(&name).is_null());
    let missing = functions.split_whitespace().find(absent);
    missing.map_or(Ok(()), |function| Err(Error::MissingFunction { function, through }))
}

/// A handle from its number, unless that is 0.
fn handle<T: Handle>(what: &str, raw: u64, allowed: &str) -> Result<T, Error> {
    if raw == 0 { Err(Error::unsupported(what, "null", allowed)) } else { Ok(T::from_raw(raw)) }
}

/// The functions of an instance that exists, for [`Requirements::query`](crate::Requirements::query) and [`device_from_raw`], in
/// programs whose Vulkan bindings are not [`ash`](crate::ash), or another version of it.
///
/// * `get_instance_proc_addr`: the function `vkGetInstanceProcAddr`, from which all others come.
/// * `instance`: the handle as a number. The instance stays the caller's: dropping the result does not destroy it.
///
/// # Errors
///
/// * [`Error::Unsupported`] if one of them is null.
/// * [`Error::MissingFunction`] names a function that `vkGetInstanceProcAddr` does not return.
///
/// # Safety
///
/// * `get_instance_proc_addr` is null, or `vkGetInstanceProcAddr`, or a function that behaves like it.
/// * `instance` is 0, or an instance that the function takes.
pub unsafe fn instance_from_raw(get_instance_proc_addr: *const c_void, instance: u64) -> Result<ash::Instance, Error> {
    // SAFETY: null is no function, and anything else is this one by this function's contract.
    let get: Option<vk::PFN_vkGetInstanceProcAddr> = unsafe { std::mem::transmute(get_instance_proc_addr) };
    let get = get.ok_or_else(|| Error::unsupported("get_instance_proc_addr", "null", "vkGetInstanceProcAddr"))?;
    let instance = handle("instance", instance, "a VkInstance")?;
    // SAFETY: the function takes the instance, by this function's contract.
    unsafe { load_instance(get, instance) }
}

/// The same, also without a handle, for a function that needs none.
///
/// # Errors
///
/// [`Error::MissingFunction`].
///
/// # Safety
///
/// `get` is `vkGetInstanceProcAddr` or behaves like it, and takes the instance.
pub unsafe fn load_instance(
    get: vk::PFN_vkGetInstanceProcAddr,
    instance: vk::Instance,
) -> Result<ash::Instance, Error> {
    // SAFETY: the function takes the instance, by this function's contract.
    let find = |name: &CStr| unsafe { get(instance, name.as_ptr()) }.map_or(std::ptr::null(), |found| found as _);
    check(INSTANCE_FUNCTIONS, "vkGetInstanceProcAddr", find)?;
    // SAFETY: functions have the types that their names say.
    Ok(unsafe { ash::Instance::load_with(find, instance) })
}

/// The functions of a device that exists, for [`Sorter::new`](crate::Sorter::new) and
/// [`AccessScope::record_barrier`](crate::AccessScope::record_barrier), in programs whose Vulkan bindings are not
/// [`ash`](crate::ash), or another version of it.
///
/// * `device`: the handle as a number. The device stays the caller's: dropping the result does not destroy it.
///
/// Handles of buffers and command buffers are made by [`from_raw`](ash::vk::Handle::from_raw), flags by their own `from_raw`.
///
/// ```
/// use std::ffi::c_void;
/// use vksort::ash::vk::{Buffer, CommandBuffer, Handle, PhysicalDevice};
/// use vksort::{BoundSort, BufferRange, Error, KeyType, Requirements, SortBuffers, SortRequest, Sorter};
///
/// /// Records a sort of 1,000 numbers, with handles as another binding has them. The device was created with these names.
/// /// The result lives until the commands have completed.
/// # /// # Safety
/// # /// Never called.
/// unsafe fn sort(
///     get_instance_proc_addr: *const c_void,
///     [instance, physical_device, device, commands]: [u64; 4],
///     (extensions, features): (&[&str], &[&str]),
///     [keys, scratch]: [u64; 2],
/// ) -> Result<BoundSort, Error> {
///     let range = |buffer, bytes| BufferRange::new(Buffer::from_raw(buffer), bytes);
///     # // SAFETY: never called.
///     unsafe {
///         let instance = vksort::instance_from_raw(get_instance_proc_addr, instance)?;
///         let needed = Requirements::query(&instance, PhysicalDevice::from_raw(physical_device))?;
///         let needed = needed.only_enabled_names(extensions, features);
///         let device = vksort::device_from_raw(&instance, device)?;
///         let sorter = Sorter::new(&device, &needed, &SortRequest::new(KeyType::U32), &Default::default())?;
///         let scratch = range(scratch, sorter.scratch_size(1_000)?);
///         let sort = sorter.bind(&SortBuffers::new(1_000).keys(range(keys, 4_000)).scratch(scratch))?;
///         sort.record(CommandBuffer::from_raw(commands), 1_000)?;
///         Ok(sort)
///     }
/// }
/// ```
///
/// # Errors
///
/// * [`Error::Unsupported`] if the device is null.
/// * [`Error::MissingFunction`] names a function that `vkGetDeviceProcAddr` does not return.
///
/// # Safety
///
/// `device` is 0 or a device of `instance`.
pub unsafe fn device_from_raw(instance: &ash::Instance, device: u64) -> Result<ash::Device, Error> {
    let device = handle("device", device, "a VkDevice")?;
    let get = instance.fp_v1_0().get_device_proc_addr;
    // SAFETY: the device is of the instance, by this function's contract.
    let find = |name: &CStr| unsafe { get(device, name.as_ptr()) }.map_or(std::ptr::null(), |found| found as _);
    check(DEVICE_FUNCTIONS, "vkGetDeviceProcAddr", find)?;
    // SAFETY: functions have the types that their names say.
    Ok(unsafe { ash::Device::load_with(find, device) })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ffi::c_char;

    use super::*;

    thread_local! {
        /// The function that is not there.
        static HIDDEN: Cell<&'static str> = const { Cell::new("") };
    }

    type GetProcAddr = unsafe extern "system" fn(usize, *const c_char) -> vk::PFN_vkVoidFunction;

    unsafe extern "system" fn never_called() {}

    /// Every function but the hidden one, of which none is called but that for a device's.
    unsafe extern "system" fn all_but_hidden(_parent: usize, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: it is a text, as Vulkan's functions are called.
        let name = unsafe { CStr::from_ptr(name) };
        match name.to_str() == Ok(HIDDEN.get()) {
            true => None,
            false if name == c"vkGetDeviceProcAddr" => {
                // SAFETY: functions are handed out without their type.
                Some(unsafe { std::mem::transmute::<GetProcAddr, unsafe extern "system" fn()>(all_but_hidden) })
            }
            false => Some(never_called),
        }
    }

    fn open(get: *const c_void, instance: u64, device: u64) -> Result<ash::Device, String> {
        // SAFETY: the function behaves like Vulkan's and takes any handle. Nothing else is called.
        let opened =
            unsafe { instance_from_raw(get, instance).and_then(|instance| device_from_raw(&instance, device)) };
        opened.map_err(|error| error.to_string())
    }

    #[test]
    fn functions_that_are_missing_are_named() {
        let get = all_but_hidden as *const c_void;
        assert_eq!(open(get, 1, 2).unwrap().handle(), vk::Device::from_raw(2));
        let lists = [(INSTANCE_FUNCTIONS, "vkGetInstanceProcAddr"), (DEVICE_FUNCTIONS, "vkGetDeviceProcAddr")];
        for (names, through) in lists {
            for name in names.split_whitespace() {
                HIDDEN.set(name);
                let message = open(get, 1, 2).err().unwrap();
                assert_eq!(message, format!("{name} was not found through {through}, needed is Vulkan 1.2"));
            }
        }
    }

    #[test]
    fn what_is_null_is_named() {
        let get = all_but_hidden as *const c_void;
        let cases = [
            (std::ptr::null(), 1, 2, "get_instance_proc_addr is null, allowed is vkGetInstanceProcAddr"),
            (get, 0, 2, "instance is null, allowed is a VkInstance"),
            (get, 1, 0, "device is null, allowed is a VkDevice"),
        ];
        for (get, instance, device, message) in cases {
            assert_eq!(open(get, instance, device).err().unwrap(), message);
        }
    }
}
