//! Vulkan objects that vksort owns for the standalone API: instance, device, queue, memory. The API is safe: every duty of
//! the recording API is discharged here.

mod buffer;
pub(crate) mod cache;
mod choice;
mod device;
mod instance;
mod prepared;

pub use buffer::{DeviceBuffer, DeviceRange};
pub use choice::DeviceChoice;
pub(crate) use choice::{index_of, kind, select};
pub use device::Device;
pub(crate) use instance::{Instance, PhysicalDevice};
pub use prepared::{Passes, PreparedSort, SortRanges, StandaloneSorter};
