//! The range of a buffer, which structures of several sorts have.

use ash::vk::{Buffer as VkBuffer, DeviceSize as VkDeviceSize, Flags as VkFlags};

/// A range of a buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortBufferRange {
    /// The buffer; null when there is none.
    pub buffer: VkBuffer,
    /// Where the range starts, in bytes.
    pub offset: VkDeviceSize,
    /// Length of the range in bytes.
    pub size: VkDeviceSize,
    /// The VkBufferUsageFlags that the buffer was created with, to have them checked; 0 when they are not known.
    pub usage: VkFlags,
    /// 0.
    pub reserved: u32,
}
