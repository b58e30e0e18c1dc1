//! Vulkan objects that vksort owns when it is used without a host program: instance, device, queue, memory.
//! Safe to use from outside: every duty of the recording API is discharged here.

mod buffer;
pub(crate) mod cache;
mod device;
mod instance;
mod prepared;

pub use buffer::{DeviceBuffer, DeviceRange};
pub(crate) use device::Device;
pub(crate) use instance::{Instance, PhysicalDevice};
pub use prepared::{Passes, PreparedSort, SortRanges, StandaloneSorter};
