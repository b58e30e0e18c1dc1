//! Instance, validation messages and the list of devices.

use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};

use ash::{ext, vk};

use crate::error::{Context, Error};
use crate::record::{InstanceRequirements, Requirements, lists, text};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Validation errors so far, in the order in which they came.
type Messages = Mutex<Vec<String>>;

/// An instance with its messenger; destroyed with the last device made from it.
pub(crate) struct Instance {
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    pub raw: ash::Instance,
    /// The version that it was created for.
    api_version: u32,
    pub debug_utils: bool,
    /// Read by the messenger's callback, so it must outlive the messenger.
    messages: Box<Messages>,
    _entry: ash::Entry,
}

/// A physical device and its requirements, or the reason against it.
pub(crate) struct PhysicalDevice {
    pub raw: vk::PhysicalDevice,
    pub name: String,
    pub kind: vk::PhysicalDeviceType,
    pub requirements: Result<Requirements, Error>,
}

impl Instance {
    /// Loads the Vulkan library and creates an instance, with the Khronos layer's core and synchronization checks if asked for.
    pub fn new(validation: bool) -> Result<Arc<Instance>, Error> {
        // SAFETY: the system's Vulkan loader is trusted to be one.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Error::NoLoader(error.to_string()))?;
        // SAFETY: the entry points were just loaded; no layer is named.
        let available = unsafe { entry.enumerate_instance_extension_properties(None) }
            .context("vkEnumerateInstanceExtensionProperties")?;
        let needed = InstanceRequirements::select(&available);
        let mut extensions: Vec<*const std::ffi::c_char> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
        let mut layers = Vec::new();
        let mut debug_utils = lists(&available, ext::debug_utils::NAME);
        if validation {
            check_layer(&entry)?;
            layers.push(VALIDATION_LAYER.as_ptr());
            // The layer brings this extension where the loader has none of its own.
            debug_utils = true;
        }
        if debug_utils {
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        // With 1.3, more devices sort with their own subgroups.
        // SAFETY: the entry points were just loaded.
        let loader = unsafe { entry.try_enumerate_instance_version() }.context("vkEnumerateInstanceVersion")?;
        let newest = loader.unwrap_or(InstanceRequirements::API_VERSION).min(vk::API_VERSION_1_3);
        let api_version = newest.max(InstanceRequirements::API_VERSION);
        let application =
            vk::ApplicationInfo::default().application_name(c"vksort").engine_name(c"vksort").api_version(api_version);
        let synchronization = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&synchronization);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .flags(needed.flags)
            .enabled_extension_names(&extensions)
            .enabled_layer_names(&layers);
        if validation {
            info = info.push_next(&mut checks);
        }
        // SAFETY: extensions and layers were found above; all pointers live until the call returns.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            // Loaders return this if no driver is installed.
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDriver,
            result => Error::Vulkan { call: "vkCreateInstance", result },
        })?;
        let mut instance = Instance {
            messenger: None,
            raw,
            api_version,
            debug_utils,
            messages: Box::default(),
            _entry: entry.clone(),
        };
        if validation {
            instance.listen(&entry)?;
        }
        Ok(Arc::new(instance))
    }

    fn listen(&mut self, entry: &ash::Entry) -> Result<(), Error> {
        let functions = ext::debug_utils::Instance::new(entry, &self.raw);
        let messages: *const Messages = &*self.messages;
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
            )
            .message_type(
                vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
            )
            .pfn_user_callback(Some(on_message))
            .user_data(messages.cast_mut().cast::<c_void>());
        // SAFETY: the extension is enabled; the messages are boxed and dropped after the messenger.
        let messenger =
            unsafe { functions.create_debug_utils_messenger(&info, None) }.context("vkCreateDebugUtilsMessengerEXT")?;
        self.messenger = Some((functions, messenger));
        Ok(())
    }

    /// Every device of the instance, in the loader's order.
    pub fn devices(&self) -> Result<Vec<PhysicalDevice>, Error> {
        // SAFETY: the instance is alive, and was created for Vulkan 1.2 or newer.
        let mut devices = unsafe { devices(&self.raw) }?;
        for device in &mut devices {
            let told = |requirements: Requirements| requirements.for_api_version(self.api_version);
            device.requirements = device.requirements.clone().and_then(told);
        }
        Ok(devices)
    }

    /// Validation errors so far.
    pub fn validation_errors(&self) -> Vec<String> {
        self.messages.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: messenger and instance were created in `new`; devices hold an `Arc` of the instance, so none is left.
        unsafe {
            if let Some((functions, messenger)) = &self.messenger {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// Every device of an instance, in the loader's order.
///
/// # Safety
///
/// The instance is alive, and was created for Vulkan 1.2 or later.
pub(super) unsafe fn devices(instance: &ash::Instance) -> Result<Vec<PhysicalDevice>, Error> {
    // SAFETY: by this function's contract.
    let devices = unsafe { instance.enumerate_physical_devices() }.context("vkEnumeratePhysicalDevices")?;
    let describe = |raw| {
        // SAFETY: the device was just listed by this instance.
        let properties = unsafe { instance.get_physical_device_properties(raw) };
        // SAFETY: by this function's contract, and the device is the instance's own.
        let requirements = unsafe { Requirements::query(instance, raw) };
        PhysicalDevice { raw, name: text(&properties.device_name), kind: properties.device_type, requirements }
    };
    Ok(devices.into_iter().map(describe).collect())
}

fn check_layer(entry: &ash::Entry) -> Result<(), Error> {
    // SAFETY: the entry points are loaded.
    let layers =
        unsafe { entry.enumerate_instance_layer_properties() }.context("vkEnumerateInstanceLayerProperties")?;
    if layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
        return Ok(());
    }
    let names: Vec<String> = layers.iter().map(|layer| text(&layer.layer_name)).collect();
    Err(Error::MissingLayer {
        given: VALIDATION_LAYER.to_string_lossy().into_owned(),
        available: if names.is_empty() { "none".into() } else { names.join(", ") },
    })
}

unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data with a text, and the user data given in `listen`, which outlives it.
    let (text, messages) = unsafe {
        let message = (*data).p_message;
        let text = if message.is_null() { c"" } else { CStr::from_ptr(message) };
        (text.to_string_lossy().into_owned(), &*messages.cast::<Messages>())
    };
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        log::error!("{text}");
        messages.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
    } else {
        log::warn!("{text}");
    }
    vk::FALSE
}
