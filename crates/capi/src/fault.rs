//! What the C API refuses by itself. All other errors are those of the crate `vksort`.
//!
//! The guide's page of errors has each message and each code, and a test compares them.

use ash::vk;

use super::types::*;

/// A fault of a call, with its message.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// A pointer to a structure, an array or a result.
    #[error("{what} is {given}, allowed is a pointer to one")]
    Pointer { what: String, given: &'static str },
    /// A handle or a function of Vulkan.
    #[error("{what} is null, needed is {needed}")]
    Null { what: String, needed: String },
    /// A structure of another version, or one whose size was not set.
    #[error("structSize of {name} is {given}, allowed is {allowed}, or up to 4096 with zeros behind that")]
    StructSize { name: &'static str, given: usize, allowed: usize },
    /// A handle of vksort.
    #[error("{what} is {given}, allowed is a living {kind}")]
    Handle { what: &'static str, given: String, kind: &'static str },
    /// A sorter to share pipelines with.
    #[error("shareWith is a sorter of {given:?}, allowed is a sorter of device, {allowed:?}")]
    ForeignSorter { given: vk::Device, allowed: vk::Device },
    /// A function of Vulkan that the caller's `vkGetInstanceProcAddr` does not lead to.
    #[error("{name} was not found through {through}, needed is {needed}")]
    AbsentFunction { name: String, through: &'static str, needed: &'static str },
    /// The chain of the caller has no place for features.
    #[error("the chain of features is without {missing}")]
    MissingStructures { missing: String },
    /// A device for `vksort_vrdx.h`.
    #[error(
        "the device was created without pushed descriptors, needed is the extension VK_KHR_push_descriptor or the feature pushDescriptor of VkPhysicalDeviceVulkan14Features"
    )]
    PushDescriptors,
    /// A callback that sets a callback.
    #[error("the call comes from a log callback, allowed is a call from elsewhere")]
    CallInCallback,
    /// A process has one logger.
    #[error("the logger of the process is another one, allowed is that of vksort")]
    OtherLogger,
    /// A panic.
    #[error("a fault of vksort: {0}")]
    Panic(String),
}

impl Fault {
    /// The code that the call returns.
    pub fn code(&self) -> VksortResult {
        match self {
            Fault::Pointer { .. } | Fault::Null { .. } => VKSORT_ERROR_POINTER,
            Fault::StructSize { .. } => VKSORT_ERROR_STRUCT,
            Fault::Handle { .. } | Fault::ForeignSorter { .. } => VKSORT_ERROR_HANDLE,
            Fault::AbsentFunction { .. } => VKSORT_ERROR_MISSING_FUNCTION,
            Fault::MissingStructures { .. } | Fault::PushDescriptors => VKSORT_ERROR_NOT_ENABLED,
            Fault::CallInCallback | Fault::OtherLogger => VKSORT_ERROR_LOGGER,
            Fault::Panic(_) => VKSORT_ERROR_INTERNAL,
        }
    }
}
