//! Buffers in device memory, written and read through staging.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use super::Device;
use crate::error::{Context, Error};

/// Most bytes staged at a time.
const STAGING_BYTES: u64 = 64 << 20;

/// A buffer with its memory.
pub(crate) struct Buffer {
    pub raw: vk::Buffer,
    pub size: u64,
    pub usage: vk::BufferUsageFlags,
    allocation: ManuallyDrop<Allocation>,
    device: Arc<Device>,
}

impl Buffer {
    /// A buffer of `size` bytes in device memory, of use for everything that a sort asks for; its content is undefined.
    pub fn new(device: &Arc<Device>, what: &'static str, size: u64) -> Result<Arc<Buffer>, Error> {
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if device.requirements.profile.buffer_addresses {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        Self::create(device, what, size, usage, MemoryLocation::GpuOnly).map(Arc::new)
    }

    fn create(
        device: &Arc<Device>,
        what: &'static str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Buffer, Error> {
        let info = vk::BufferCreateInfo::default().size(size.max(4)).usage(usage);
        // SAFETY: the device is alive; the buffer is destroyed below on failure, in `Drop` otherwise.
        let raw = unsafe { device.raw.create_buffer(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                Error::Allocation { what, bytes: size, reason: result.to_string() }
            }
            result => Error::Vulkan { call: "vkCreateBuffer", result },
        })?;
        // SAFETY: the buffer was just created.
        let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let desc = AllocationCreateDesc {
            name: what,
            requirements,
            location,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let allocated = device.allocator().allocate(&desc);
        let allocation = allocated.map_err(|error| {
            // SAFETY: nothing uses the buffer yet.
            unsafe { device.raw.destroy_buffer(raw, None) };
            Error::Allocation { what, bytes: size, reason: error.to_string() }
        })?;
        // SAFETY: the memory was allocated for this buffer's requirements and is bound once.
        let bound = unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        let allocation = ManuallyDrop::new(allocation);
        let buffer = Buffer { raw, size, usage, allocation, device: Arc::clone(device) };
        bound.context("vkBindBufferMemory").map(|()| buffer)
    }

    /// Writes bytes from `offset` on.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.check("to write", offset, bytes.len() as u64)?;
        let staging = self.staging(bytes.len() as u64, MemoryLocation::CpuToGpu)?;
        let Some(mut staging) = staging else { return Ok(()) };
        for (index, part) in bytes.chunks(STAGING_BYTES as usize).enumerate() {
            let mapped = staging.allocation.mapped_slice_mut().expect("staging memory is mapped");
            mapped[..part.len()].copy_from_slice(part);
            self.copy(staging.raw, self.raw, 0, offset + index as u64 * STAGING_BYTES, part.len() as u64)?;
        }
        Ok(())
    }

    /// Reads bytes from `offset` on.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.check("to read", offset, bytes.len() as u64)?;
        let staging = self.staging(bytes.len() as u64, MemoryLocation::GpuToCpu)?;
        let Some(staging) = staging else { return Ok(()) };
        for (index, part) in bytes.chunks_mut(STAGING_BYTES as usize).enumerate() {
            self.copy(self.raw, staging.raw, offset + index as u64 * STAGING_BYTES, 0, part.len() as u64)?;
            let mapped = staging.allocation.mapped_slice().expect("staging memory is mapped");
            part.copy_from_slice(&mapped[..part.len()]);
        }
        Ok(())
    }

    /// Copies `size` bytes from another buffer, without the host.
    pub fn copy_from(&self, offset: u64, from: &Buffer, from_offset: u64, size: u64) -> Result<(), Error> {
        self.check("to copy to", offset, size)?;
        from.check("to copy from", from_offset, size)?;
        let refuse = |given: &str, allowed: &str| {
            let (what, given) = ("the source of a copy".into(), given.into());
            Err(Error::Unsupported { what, given, allowed: allowed.into() })
        };
        if !from.is_of(&self.device) {
            return Err(Error::ForeignBuffer { buffer: "to copy from" });
        }
        if self.raw == from.raw {
            return refuse("the buffer itself", "another buffer");
        }
        let words = |number: u64| number.is_multiple_of(4);
        if !(words(offset) && words(from_offset) && words(size)) {
            let given = format!("{size} bytes from byte {from_offset} to byte {offset}");
            return refuse(&given, "whole words of 4 bytes");
        }
        if size == 0 {
            return Ok(());
        }
        self.copy(from.raw, self.raw, from_offset, offset, size)
    }

    /// Zeroes whole words of 4 bytes.
    pub fn clear(&self, offset: u64, size: u64) -> Result<(), Error> {
        self.check("to clear", offset, size)?;
        // SAFETY: the range was checked, its bounds are multiples of 4 in this crate's calls, and the buffer is alive until
        // `execute` has waited; the barrier after it makes the zeros visible to every later submission.
        unsafe {
            self.device.execute("a transfer", |commands| {
                self.device.raw.cmd_fill_buffer(commands, self.raw, offset, size, 0);
                self.settle(commands);
                Ok(())
            })
        }
    }

    /// Whether the buffer belongs to a device.
    pub fn is_of(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    /// Refuses a range that is not within the buffer.
    pub fn check(&self, buffer: &'static str, offset: u64, size: u64) -> Result<(), Error> {
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(Error::OutOfBounds { buffer, offset, size, allowed: self.size }),
        }
    }

    /// A mapped buffer for transfers of up to `size` bytes, or none for an empty one.
    fn staging(&self, size: u64, location: MemoryLocation) -> Result<Option<Buffer>, Error> {
        if size == 0 {
            return Ok(None);
        }
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        Self::create(&self.device, "staging", size.min(STAGING_BYTES), usage, location).map(Some)
    }

    /// Copies between two buffers and waits; the result is visible to the host and to later submissions.
    fn copy(&self, from: vk::Buffer, to: vk::Buffer, from_offset: u64, to_offset: u64, size: u64) -> Result<(), Error> {
        let region = [vk::BufferCopy { src_offset: from_offset, dst_offset: to_offset, size }];
        let before = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE)];
        let (all, transfer) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::TRANSFER);
        let flags = vk::DependencyFlags::empty();
        let device = &self.device.raw;
        // SAFETY: both ranges were checked and both buffers are alive until `execute` has waited.
        unsafe {
            self.device.execute("a transfer", |commands| {
                device.cmd_pipeline_barrier(commands, all, transfer, flags, &before, &[], &[]);
                device.cmd_copy_buffer(commands, from, to, &region);
                self.settle(commands);
                Ok(())
            })
        }
    }

    /// Records that transfers are visible to the host and to whatever is submitted later.
    ///
    /// # Safety
    ///
    /// `commands` is recording.
    unsafe fn settle(&self, commands: vk::CommandBuffer) {
        let everything = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::HOST_READ;
        let written = vk::AccessFlags::TRANSFER_WRITE;
        let after = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(everything)];
        let readers = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        let (transfer, flags) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
        // SAFETY: by this function's contract.
        unsafe { self.device.raw.cmd_pipeline_barrier(commands, transfer, readers, flags, &after, &[], &[]) };
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        // SAFETY: submissions that used the buffer were waited for; buffer and memory go once, memory last.
        unsafe {
            self.device.raw.destroy_buffer(self.raw, None);
            let allocation = ManuallyDrop::take(&mut self.allocation);
            if let Err(error) = self.device.allocator().free(allocation) {
                log::error!("freeing device memory failed: {error}");
            }
        }
    }
}
