//! Vulkan objects that vksort owns when it is used without a host program: instance, device, queue, memory.
//! Safe to use from outside: every duty of the recording API is discharged here.

mod buffer;
mod cache;
mod device;
mod instance;

pub(crate) use buffer::Buffer;
pub(crate) use device::{BoundRun, Device, OwnedSorter};
pub(crate) use instance::{Instance, InstanceDesc, PhysicalDevice};
