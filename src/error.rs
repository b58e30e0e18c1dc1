//! The one error type of the crate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{error, io};

use ash::vk;

/// Why a sort could not be prepared, recorded or run. Every message names the thing, the given value and the allowed values.
///
/// What another library or the system has reported is the [`source`](error::Error::source), and not repeated in the message.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device does not support the request, or not with the given options.
    #[error("device {device:?} cannot be used: {what} is {given}, needed is {needed}")]
    UnsuitableDevice {
        /// Name of the device.
        device: String,
        /// The property or feature.
        what: String,
        /// The device's value.
        given: String,
        /// The value that the sort needs.
        needed: String,
    },
    /// A device was created without a feature or extension that the sort needs.
    #[error("device {device:?} was created without {missing}; enable them, or take `Requirements` without them")]
    NotEnabled {
        /// Name of the device.
        device: String,
        /// The features and extensions that are not enabled.
        missing: String,
    },
    /// A request, tuning or option holds a value that is not supported.
    #[error("{what} is {given}, allowed is {allowed}")]
    Unsupported {
        /// The field.
        what: String,
        /// Its value.
        given: String,
        /// The supported values.
        allowed: String,
    },
    /// The request needs a cargo feature that is off.
    #[error("{what} needs the cargo feature {feature} of vksort, which is off")]
    MissingFeature {
        /// The operation that needs the feature.
        what: String,
        /// The cargo feature.
        feature: &'static str,
    },
    /// More elements than a limit allows.
    #[error("count is {given} elements, allowed are at most {allowed} ({limit})")]
    TooManyElements {
        /// Elements asked for.
        given: u64,
        /// Elements allowed.
        allowed: u64,
        /// Where the limit comes from.
        limit: String,
    },
    /// A buffer range is shorter than the sort needs.
    #[error("buffer range {buffer} has {given} bytes, needed are {needed} bytes")]
    BufferTooSmall {
        /// Which of the sort's buffers.
        buffer: &'static str,
        /// Size given in bytes.
        given: u64,
        /// Size needed in bytes.
        needed: u64,
    },
    /// A range exceeds its buffer.
    #[error("buffer range {buffer} has {size} bytes from byte {offset} on, but the buffer has {allowed} bytes")]
    OutOfBounds {
        /// Which of the sort's buffers, or the role of the buffer in a transfer.
        buffer: &'static str,
        /// Where the range starts, in bytes.
        offset: u64,
        /// Length of the range in bytes.
        size: u64,
        /// Size of the buffer in bytes.
        allowed: u64,
    },
    /// A buffer belongs to another device than the sort.
    #[error("buffer {buffer} belongs to another device, allowed are buffers of the same device")]
    ForeignBuffer {
        /// Which of the sort's buffers.
        buffer: &'static str,
    },
    /// Pipelines to share belong to another device than the sorter.
    #[error("pipelines of {allowed:?} were given to a sorter of {given:?}, allowed are sorters of the same VkDevice")]
    ForeignPipelines {
        /// The sorter's device.
        given: vk::Device,
        /// The device of the pipelines.
        allowed: vk::Device,
    },
    /// A buffer range has a misaligned offset.
    #[error("buffer range {buffer} starts at byte {given}, allowed are multiples of {allowed}")]
    MisalignedOffset {
        /// Which of the sort's buffers.
        buffer: &'static str,
        /// Offset given in bytes.
        given: u64,
        /// Alignment that the device asks for, in bytes.
        allowed: u64,
    },
    /// Two buffer ranges overlap but must not.
    #[error(
        "buffer ranges {first} and {second} overlap: {first} is bytes {first_bytes}, {second} is bytes {second_bytes} of the same buffer, allowed are disjoint ranges"
    )]
    Overlap {
        /// One of the sort's buffers.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Bytes of the first, as `start..end`.
        first_bytes: String,
        /// Bytes of the second, as `start..end`.
        second_bytes: String,
    },
    /// A buffer was created without a usage flag that the sort needs.
    #[error("buffer {buffer} has usage {given:?}, needed is {needed:?}")]
    MissingUsage {
        /// Which of the sort's buffers.
        buffer: &'static str,
        /// The flags that the caller said the buffer has.
        given: vk::BufferUsageFlags,
        /// The flags it must have.
        needed: vk::BufferUsageFlags,
    },
    /// A buffer that the request needs was not given, or a buffer was given that the request does not use.
    #[error("buffer {buffer} is {given}, but the request needs it to be {needed}")]
    BufferPresence {
        /// Which of the sort's buffers.
        buffer: &'static str,
        /// `present` or `absent`.
        given: &'static str,
        /// `present` or `absent`.
        needed: &'static str,
    },
    /// A call to a prepared sort does not fit its request.
    #[error("{what} needs {needed}, but the request has {given}")]
    NotInRequest {
        /// The call.
        what: &'static str,
        /// The request's values or keys.
        given: &'static str,
        /// The values or keys that the call needs.
        needed: &'static str,
    },
    /// A query range is too short for the steps of the sort.
    #[error("timestamp query range has {given} queries, needed are {needed}")]
    TooFewQueries {
        /// Queries given.
        given: u32,
        /// Queries needed.
        needed: u32,
    },
    /// Fewer results of queries than the steps of the sort have.
    #[error("there are {given} ticks, needed are {needed}, one for each query")]
    TooFewTicks {
        /// Ticks given.
        given: usize,
        /// Ticks needed.
        needed: usize,
    },
    /// Two slices that belong together differ in length.
    #[error("there are {given} values, needed are {needed}, one for each key")]
    LengthMismatch {
        /// Values given.
        given: usize,
        /// Keys given.
        needed: usize,
    },
    /// The host cannot specialize a kernel's SPIR-V. This is a bug in the crate.
    #[error("module {module} cannot be specialized: {reason}")]
    Module {
        /// The module.
        module: String,
        /// The fault.
        reason: String,
    },
    /// A visitor's code does not compile, or was compiled for another request or version.
    #[error("visitor {name}: {reason}")]
    Visitor {
        /// The visitor's name.
        name: String,
        /// The cause. For code that does not compile, the compiler's messages with file and line.
        reason: String,
    },
    /// The Vulkan loader could not be loaded.
    #[error(
        "no Vulkan loader was found ({0}); needed is libvulkan (on Debian: apt-get install libvulkan1 mesa-vulkan-drivers)"
    )]
    NoLoader(String),
    /// No Vulkan driver is installed.
    #[error(
        "no Vulkan driver was found; needed is the driver of a GPU or a software driver (on Debian: apt-get install mesa-vulkan-drivers), or its manifest named in VK_DRIVER_FILES"
    )]
    NoDriver,
    /// No device fits the choice.
    #[error("no Vulkan device fits {given}, available: {available}")]
    NoDevice {
        /// The choice that was made.
        given: String,
        /// The devices there are.
        available: String,
    },
    /// A layer that was asked for is not installed.
    #[error("layer {given} is not installed, available: {available}")]
    MissingLayer {
        /// The layer.
        given: String,
        /// The layers there are.
        available: String,
    },
    /// The device did not finish in time.
    #[error("the device did not finish {what} within {allowed:?}")]
    Timeout {
        /// The work.
        what: &'static str,
        /// The time allowed.
        allowed: Duration,
    },
    /// Memory for a buffer could not be allocated.
    #[error("allocating {bytes} bytes for {what} failed")]
    Allocation {
        /// The buffer.
        what: &'static str,
        /// Its size in bytes.
        bytes: u64,
        /// What Vulkan or the allocator said.
        source: Arc<dyn error::Error + Send + Sync>,
    },
    /// A file could not be used.
    #[error("{what} is {path:?}, allowed is {allowed}")]
    Io {
        /// The option that names the file.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The supported values.
        allowed: &'static str,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A function of Vulkan was not found, of which the caller gave the handles.
    #[error("{function} was not found through {through}, needed is Vulkan 1.2")]
    MissingFunction {
        /// The function.
        function: &'static str,
        /// The function that was asked for it.
        through: &'static str,
    },
    /// A Vulkan call failed.
    #[error("{call} failed: {result:?}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result, which says what it means.
        #[source]
        result: vk::Result,
    },
}

impl Error {
    /// Whether the device is lost, after which every sort on it fails.
    pub fn is_device_lost(&self) -> bool {
        matches!(self, Error::Vulkan { result: vk::Result::ERROR_DEVICE_LOST, .. })
    }

    /// Whether memory was used up, of the device or of the host. Fewer elements at a time may fit.
    pub fn is_out_of_memory(&self) -> bool {
        const USED_UP: [vk::Result; 2] = [vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_OUT_OF_HOST_MEMORY];
        matches!(self, Error::Allocation { .. })
            || matches!(self, Error::Vulkan { result, .. } if USED_UP.contains(result))
    }

    pub(crate) fn unsupported(what: impl ToString, given: impl ToString, allowed: impl ToString) -> Error {
        Error::Unsupported { what: what.to_string(), given: given.to_string(), allowed: allowed.to_string() }
    }

    pub(crate) fn unsuitable(device: &str, what: &str, given: impl ToString, needed: impl ToString) -> Error {
        let (given, needed) = (given.to_string(), needed.to_string());
        Error::UnsuitableDevice { device: device.into(), what: what.into(), given, needed }
    }
}

/// The item of a list that has the given name.
pub(crate) fn by_name<T: Copy, N: ToString>(what: &str, text: &str, all: &[T], name: fn(&T) -> N) -> Result<T, Error> {
    all.iter().copied().find(|one| name(one).to_string() == text).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|one| name(one).to_string()).collect();
        Error::unsupported(what, text, format!("one of {}", names.join(", ")))
    })
}

/// Names the Vulkan call in a failed result.
pub(crate) trait Context<T> {
    /// Wraps a failure as [`Error::Vulkan`] of `call`.
    fn context(self, call: &'static str) -> Result<T, Error>;
}

impl<T> Context<T> for Result<T, vk::Result> {
    fn context(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|result| Error::Vulkan { call, result })
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_result_of_vulkan_is_the_source_of_its_error() {
        let error = Err::<(), _>(vk::Result::ERROR_DEVICE_LOST).context("vkQueueSubmit").unwrap_err();
        assert_eq!(error.to_string(), "vkQueueSubmit failed: ERROR_DEVICE_LOST");
        let source = error.source().and_then(|source| source.downcast_ref::<vk::Result>());
        assert_eq!(source, Some(&vk::Result::ERROR_DEVICE_LOST));
        assert!(error.is_device_lost() && !error.is_out_of_memory());
    }

    #[test]
    fn memory_that_is_used_up_is_known_from_a_call_and_from_an_allocator() {
        let result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        let error = Error::Allocation { what: "keys", bytes: 40, source: Arc::new(result) };
        assert_eq!(error.to_string(), "allocating 40 bytes for keys failed");
        assert_eq!(error.source().map(ToString::to_string), Some(result.to_string()));
        assert!(error.is_out_of_memory() && !error.is_device_lost());
        let of_call = |result| Err::<(), _>(result).context("vkCreateBuffer").unwrap_err();
        assert!(of_call(result).is_out_of_memory());
        assert!(of_call(vk::Result::ERROR_OUT_OF_HOST_MEMORY).is_out_of_memory());
        assert!(!of_call(vk::Result::ERROR_INITIALIZATION_FAILED).is_out_of_memory());
    }
}
