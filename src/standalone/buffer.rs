//! Buffers in device memory, written and read through staging.

use std::fmt;
use std::mem;
use std::sync::Arc;

use ash::vk;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use super::device::Device;
use crate::error::{Context, Error};
use crate::record::BufferRange;

/// How many bytes are staged at a time.
const STAGING_BYTES: usize = 64 << 20;

/// A buffer in the memory of an owned device. Clones are the same buffer.
///
/// ```
/// # fn main() -> Result<(), vksort::Error> {
/// let gpu = vksort::standalone::Gpu::best()?;
/// let buffer = gpu.buffer(16)?; // bytes
/// buffer.write(4, &[1u32, 2, 3])?;
/// let mut last = [0u16; 2];
/// buffer.read(12, &mut last)?;
/// assert_eq!(last, [3, 0]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DeviceBuffer(Arc<Buffer>);

/// A range of a [`DeviceBuffer`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceRange {
    /// The buffer.
    pub buffer: DeviceBuffer,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

/// A buffer with its memory.
struct Buffer {
    raw: vk::Buffer,
    size: u64,
    usage: vk::BufferUsageFlags,
    allocation: Allocation,
    device: Arc<Device>,
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer").field("handle", &self.0.raw).field("size", &self.0.size).finish()
    }
}

impl DeviceRange {
    /// A new buffer of so many bytes.
    pub(super) fn allocate(device: &Arc<Device>, size: u64) -> Result<DeviceRange, Error> {
        DeviceBuffer::new(device, size).map(|buffer| buffer.range(0, size))
    }

    /// The range for the recording API, if it is within a buffer of the device.
    pub(super) fn checked(&self, name: &'static str, device: &Arc<Device>) -> Result<BufferRange, Error> {
        let DeviceRange { buffer: DeviceBuffer(buffer), offset, size } = self;
        if !Arc::ptr_eq(&buffer.device, device) {
            return Err(Error::ForeignBuffer { buffer: name });
        }
        buffer.check(name, *offset, *size)?;
        Ok(BufferRange { buffer: buffer.raw, offset: *offset, size: *size, usage: Some(buffer.usage) })
    }
}

impl DeviceBuffer {
    /// A buffer in device memory with every usage flag of a sort. Its content is undefined.
    pub(crate) fn new(device: &Arc<Device>, size: u64) -> Result<DeviceBuffer, Error> {
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if device.requirements.profile.buffer_addresses {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let buffer = Buffer::create(device, "a device buffer", size, usage, MemoryLocation::GpuOnly)?;
        Ok(DeviceBuffer(Arc::new(buffer)))
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The `size` bytes from `offset` on. Preparing a sort checks them against the buffer.
    pub fn range(&self, offset: u64, size: u64) -> DeviceRange {
        DeviceRange { buffer: self.clone(), offset, size }
    }

    /// Writes elements of any plain type, starting at byte `offset`, and waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Allocation`] for staging memory, [`Error::Timeout`], [`Error::Vulkan`].
    pub fn write<T: Pod>(&self, offset: u64, elements: &[T]) -> Result<(), Error> {
        let bytes: &[u8] = cast_slice(elements);
        self.0.check("to write", offset, bytes.len() as u64)?;
        let Some(mut staging) = self.staging(bytes.len(), MemoryLocation::CpuToGpu)? else { return Ok(()) };
        for (part, offset) in bytes.chunks(STAGING_BYTES).zip((offset..).step_by(STAGING_BYTES)) {
            let mapped = staging.allocation.mapped_slice_mut().expect("staging memory is mapped");
            mapped[..part.len()].copy_from_slice(part);
            self.0.copy(staging.raw, self.0.raw, 0, offset, part.len() as u64)?;
        }
        Ok(())
    }

    /// Reads elements of any plain type, starting at byte `offset`, and waits.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn read<T: Pod>(&self, offset: u64, elements: &mut [T]) -> Result<(), Error> {
        let bytes: &mut [u8] = cast_slice_mut(elements);
        self.0.check("to read", offset, bytes.len() as u64)?;
        let Some(staging) = self.staging(bytes.len(), MemoryLocation::GpuToCpu)? else { return Ok(()) };
        for (part, offset) in bytes.chunks_mut(STAGING_BYTES).zip((offset..).step_by(STAGING_BYTES)) {
            self.0.copy(self.0.raw, staging.raw, offset, 0, part.len() as u64)?;
            let mapped = staging.allocation.mapped_slice().expect("staging memory is mapped");
            part.copy_from_slice(&mapped[..part.len()]);
        }
        Ok(())
    }

    /// Copies `size` bytes of another buffer, starting at byte `from_offset`, to byte `offset` of this one, and waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`]; [`Error::ForeignBuffer`] for a buffer of another device; [`Error::Unsupported`] for this
    /// buffer itself, and for parts of words of 4 bytes; [`Error::Timeout`], [`Error::Vulkan`].
    pub fn copy_from(&self, offset: u64, from: &DeviceBuffer, from_offset: u64, size: u64) -> Result<(), Error> {
        self.0.check("to copy to", offset, size)?;
        let source = from.range(from_offset, size).checked("to copy from", &self.0.device)?.buffer;
        let refuse = |given: &str, allowed: &str| Err(Error::unsupported("the source of a copy", given, allowed));
        if self.0.raw == source {
            return refuse("the buffer itself", "another buffer");
        }
        if [offset, from_offset, size].into_iter().any(|number| !number.is_multiple_of(4)) {
            let given = format!("{size} bytes from byte {from_offset} to byte {offset}");
            return refuse(&given, "whole words of 4 bytes");
        }
        if size == 0 {
            return Ok(());
        }
        self.0.copy(source, self.0.raw, from_offset, offset, size)
    }

    /// The buffer itself, for tests that record sorts.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn raw(&self) -> vk::Buffer {
        self.0.raw
    }

    /// A mapped buffer for transfers of up to `size` bytes; `None` for 0 bytes.
    fn staging(&self, size: usize, location: MemoryLocation) -> Result<Option<Buffer>, Error> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let size = size.min(STAGING_BYTES) as u64;
        (size > 0).then(|| Buffer::create(&self.0.device, "staging", size, usage, location)).transpose()
    }
}

impl Buffer {
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
                Error::Allocation { what, bytes: size, source: Arc::new(result) }
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
            Error::Allocation { what, bytes: size, source: Arc::new(error) }
        })?;
        // SAFETY: the memory was allocated for this buffer's requirements and is bound once.
        let bound = unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        let buffer = Buffer { raw, size, usage, allocation, device: Arc::clone(device) };
        bound.context("vkBindBufferMemory").map(|()| buffer)
    }

    /// Refuses a range that exceeds the buffer.
    fn check(&self, buffer: &'static str, offset: u64, size: u64) -> Result<(), Error> {
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(Error::OutOfBounds { buffer, offset, size, allowed: self.size }),
        }
    }

    /// Copies between two buffers and waits; the result is visible to the host and to later submissions.
    fn copy(&self, from: vk::Buffer, to: vk::Buffer, from_offset: u64, to_offset: u64, size: u64) -> Result<(), Error> {
        let region = [vk::BufferCopy { src_offset: from_offset, dst_offset: to_offset, size }];
        let before = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE)];
        let everything = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::HOST_READ;
        let written = vk::AccessFlags::TRANSFER_WRITE;
        let after = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(everything)];
        let (all, transfer) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::TRANSFER);
        let readers = all | vk::PipelineStageFlags::HOST;
        let flags = vk::DependencyFlags::empty();
        let device = &self.device.raw;
        // SAFETY: both ranges were checked and both buffers are alive until `execute` has waited.
        unsafe {
            self.device.execute("a transfer", |commands| {
                device.cmd_pipeline_barrier(commands, all, transfer, flags, &before, &[], &[]);
                device.cmd_copy_buffer(commands, from, to, &region);
                device.cmd_pipeline_barrier(commands, transfer, readers, flags, &after, &[], &[]);
                Ok(())
            })
        }
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
            if let Err(error) = self.device.allocator().free(mem::take(&mut self.allocation)) {
                log::error!("freeing device memory failed: {error}");
            }
        }
    }
}
