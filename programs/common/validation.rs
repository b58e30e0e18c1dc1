//! The Khronos validation layer, for a program that creates its instance itself.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use ash::ext::debug_utils;
use ash::prelude::VkResult;
use ash::{Entry, Instance, vk};

static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What the layer needs of an instance; nothing at all when it is off.
pub struct Layer {
    /// Instance extension to enable.
    pub extension: Option<&'static CStr>,
    layers: Vec<*const c_char>,
    features: Option<vk::ValidationFeaturesEXT<'static>>,
    messenger: Option<(debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
}

impl Layer {
    pub fn new(on: bool) -> Layer {
        let synchronization = &[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let features = vk::ValidationFeaturesEXT::default().enabled_validation_features(synchronization);
        Layer {
            extension: on.then_some(debug_utils::NAME),
            layers: on.then_some(c"VK_LAYER_KHRONOS_validation".as_ptr()).into_iter().collect(),
            features: on.then_some(features),
            messenger: None,
        }
    }

    /// Adds the layer, with synchronization checks beside those that it makes anyway.
    pub fn extend<'a>(&'a mut self, info: vk::InstanceCreateInfo<'a>) -> vk::InstanceCreateInfo<'a> {
        let info = info.enabled_layer_names(&self.layers);
        match &mut self.features {
            Some(features) => info.push_next(features),
            None => info,
        }
    }

    /// Collects errors from here on.
    ///
    /// # Safety
    ///
    /// The instance was created with the extension.
    pub unsafe fn listen(&mut self, entry: &Entry, instance: &Instance) -> VkResult<()> {
        if self.extension.is_some() {
            let functions = debug_utils::Instance::new(entry, instance);
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
                .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                .pfn_user_callback(Some(on_error));
            // SAFETY: by this function's contract; `on_error` may be called at any time, from any thread.
            let messenger = unsafe { functions.create_debug_utils_messenger(&info, None)? };
            self.messenger = Some((functions, messenger));
        }
        Ok(())
    }

    /// Stops listening.
    ///
    /// # Safety
    ///
    /// The instance is alive.
    pub unsafe fn finish(self) {
        if let Some((functions, messenger)) = self.messenger {
            // SAFETY: by this function's contract; the messenger was created in `listen` and is destroyed once.
            unsafe { functions.destroy_debug_utils_messenger(messenger, None) };
        }
    }
}

/// The errors so far.
pub fn errors() -> Vec<String> {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

unsafe extern "system" fn on_error(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data; its message is null or a text.
    let message = unsafe { (*data).message_as_c_str() }.unwrap_or_default();
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_string_lossy().into_owned());
    vk::FALSE
}
