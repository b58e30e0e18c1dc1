//! Sorts of wgpu's buffers, on its Vulkan backend.

mod commands;
mod device;
mod guarded;
mod held;
mod range;
mod sort;
mod sorter;
mod times;

pub use self::commands::WgpuCommands;
#[cfg(feature = "testing")]
pub use self::device::CREATED;
pub use self::device::WgpuDevice;
pub use self::sort::WgpuSort;
pub use self::sorter::WgpuSorter;
pub use self::times::WgpuStepTimes;
