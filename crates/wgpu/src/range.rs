//! The Vulkan buffers of wgpu's buffers.

use ash::vk;
use vksort::BufferRange;
use wgpu::hal::api::Vulkan;
use wgpu::{BufferSlice, BufferUsages};

use super::error::Error;

/// The range of the Vulkan buffer of a slice.
pub(super) fn raw_range(name: &'static str, slice: BufferSlice<'_>) -> Result<BufferRange, Error> {
    // SAFETY: the handle is not destroyed here.
    let buffer = unsafe { slice.buffer().as_hal::<Vulkan>().map(|buffer| buffer.raw_handle()) };
    let buffer = buffer.ok_or_else(|| destroyed(name))?;
    let usage = vulkan_usage(slice.buffer().usage());
    Ok(BufferRange::new(buffer, slice.size()).offset(slice.offset()).usage(usage))
}

pub(super) fn destroyed(name: &str) -> Error {
    let given = "destroyed, invalid or of another backend";
    Error::unsupported(format!("buffer {name}"), given, "a live buffer of the sorter's device")
}

/// The flags of Vulkan that wgpu creates a buffer with, of those that sorts need.
fn vulkan_usage(usage: BufferUsages) -> vk::BufferUsageFlags {
    let flag = |theirs, flag| if usage.contains(theirs) { flag } else { vk::BufferUsageFlags::empty() };
    flag(BufferUsages::STORAGE, vk::BufferUsageFlags::STORAGE_BUFFER)
        | flag(BufferUsages::COPY_DST, vk::BufferUsageFlags::TRANSFER_DST)
        | flag(BufferUsages::INDIRECT, vk::BufferUsageFlags::INDIRECT_BUFFER)
}
