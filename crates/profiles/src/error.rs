//! The error type.

/// Why a profile cannot be used. Every message is one line, and names the thing, the given value and the allowed values.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read, understood or written.
    #[error("tuning profile {path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// The fault, and the allowed value.
        reason: String,
    },
    /// The profile was made on another device.
    #[error("the tuning profile is for device {given}, needed is one for {needed}")]
    Foreign {
        /// The profile's device.
        given: String,
        /// The device to sort on.
        needed: String,
    },
    /// The profile was made on this device, with another driver or with other kernels.
    #[error("the tuning profile was made with {given}, needed is one made with {needed}")]
    Stale {
        /// The profile's driver or kernels.
        given: String,
        /// The present driver or kernels.
        needed: String,
    },
}
