//! The error type: errors of vksort, and of wgpu.

use ash::vk;

/// Why a sort could not be prepared or recorded. Every message names the thing, the given value and the allowed values.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// vksort refuses a device, a request, a buffer or a count, or a Vulkan call failed.
    #[error(transparent)]
    Sort(#[from] vksort::Error),
    /// A call of wgpu failed.
    #[error("{call} of wgpu failed: {reason}")]
    Wgpu {
        /// The call.
        call: &'static str,
        /// wgpu's message.
        reason: String,
    },
}

impl Error {
    pub(crate) fn unsupported(what: impl ToString, given: impl ToString, allowed: impl ToString) -> Error {
        let (what, given, allowed) = (what.to_string(), given.to_string(), allowed.to_string());
        Error::Sort(vksort::Error::Unsupported { what, given, allowed })
    }

    /// Names the Vulkan call that failed.
    pub(crate) fn vulkan(call: &'static str) -> impl FnOnce(vk::Result) -> Error {
        move |result| Error::Sort(vksort::Error::Vulkan { call, result })
    }
}
