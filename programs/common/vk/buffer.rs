//! Buffers with memory of their own.

use std::rc::Rc;

use anyhow::{Context, Result};
use ash::vk::{self, BufferUsageFlags as Usage, MemoryPropertyFlags as Memory};
use bytemuck::Pod;
use vksort::{AccessScope, BufferRange};

use super::device::Device;

pub struct Buffer {
    pub raw: vk::Buffer,
    pub size: u64,
    usage: Usage,
    memory: vk::DeviceMemory,
    device: Rc<Device>,
}

impl Buffer {
    /// A buffer on the device.
    pub fn new(device: &Rc<Device>, what: &str, size: u64, usage: Usage) -> Result<Buffer> {
        Buffer::with_memory(device, size, usage, Memory::DEVICE_LOCAL)
            .with_context(|| format!("allocating {size} bytes for {what}"))
    }

    /// A buffer with these elements.
    pub fn with<T: Pod>(device: &Rc<Device>, what: &str, elements: &[T], usage: Usage) -> Result<Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let buffer = Buffer::new(device, what, bytes.len() as u64, usage | Usage::TRANSFER_DST)?;
        let staging = Buffer::with_memory(device, buffer.size, Usage::TRANSFER_SRC, Memory::HOST_VISIBLE)
            .with_context(|| format!("allocating {} bytes to upload {what}", buffer.size))?;
        // SAFETY: the memory is the host's to write, mapped once and as long as the elements; both buffers are alive until
        // the copy has ended.
        unsafe {
            let mapped = device.raw.map_memory(staging.memory, 0, vk::WHOLE_SIZE, Default::default())?;
            mapped.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            device.raw.unmap_memory(staging.memory);
            let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: buffer.size }];
            device.run(|raw, commands| raw.cmd_copy_buffer(commands, staging.raw, buffer.raw, &region))?;
        }
        Ok(buffer)
    }

    /// The first elements of the buffer, which has the usage `TRANSFER_SRC`.
    pub fn read<T: Pod>(&self, count: usize) -> Result<Vec<T>> {
        let size = (count * size_of::<T>()) as u64;
        assert!(size <= self.size && self.usage.contains(Usage::TRANSFER_SRC));
        if count == 0 {
            return Ok(Vec::new());
        }
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
        // SAFETY: the buffer is alive; its writers have ended, as every submission is waited for before anything is read.
        unsafe {
            read_back(&self.device, count, |raw, commands, to| raw.cmd_copy_buffer(commands, self.raw, to, &region))
        }
    }

    /// The whole buffer as a range. With its usage, `bind` finds missing flags.
    pub fn range(&self) -> BufferRange {
        self.part(0, self.size)
    }

    /// A part of the buffer as a range.
    pub fn part(&self, offset: u64, size: u64) -> BufferRange {
        BufferRange::new(self.raw, size).offset(offset).usage(self.usage)
    }

    fn with_memory(device: &Rc<Device>, size: u64, usage: Usage, wanted: Memory) -> Result<Buffer> {
        let coherent = if wanted == Memory::HOST_VISIBLE { Memory::HOST_COHERENT } else { Memory::empty() };
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive; `buffer` owns the handle from here on.
        let raw = unsafe { device.raw.create_buffer(&info, None)? };
        let mut buffer = Buffer { raw, size, usage, memory: vk::DeviceMemory::null(), device: Rc::clone(device) };
        // SAFETY: the memory is of a type that the buffer allows, and bound once.
        unsafe {
            let needs = device.raw.get_buffer_memory_requirements(raw);
            // Kernels use addresses where descriptors do not suffice.
            let flags = match usage.contains(Usage::SHADER_DEVICE_ADDRESS) {
                true => vk::MemoryAllocateFlags::DEVICE_ADDRESS,
                false => vk::MemoryAllocateFlags::empty(),
            };
            buffer.memory = allocate(device, &needs, wanted | coherent, flags)?;
            device.raw.bind_buffer_memory(raw, buffer.memory, 0)?;
        }
        Ok(buffer)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: submissions that use the buffer were waited for; each handle goes once.
            unsafe {
                self.device.raw.destroy_buffer(self.raw, None);
                self.device.raw.free_memory(self.memory, None);
            }
        }
    }
}

/// Memory of a type that has these properties.
pub fn allocate(
    device: &Device,
    needs: &vk::MemoryRequirements,
    wanted: Memory,
    flags: vk::MemoryAllocateFlags,
) -> Result<vk::DeviceMemory> {
    let types = device.memory.memory_types_as_slice();
    let fits = |kind: &usize| needs.memory_type_bits >> kind & 1 == 1 && types[*kind].property_flags.contains(wanted);
    let kind = (0..types.len()).find(fits).with_context(|| format!("no memory of the device is {wanted:?}"))?;
    let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind as u32);
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let info = info.push_next(&mut flags);
    // SAFETY: the device is alive and has this type of memory.
    Ok(unsafe { device.raw.allocate_memory(&info, None)? })
}

/// Elements that the recorded commands copy into a buffer of the host.
///
/// # Safety
///
/// The commands copy no more than these elements, from what is alive.
pub unsafe fn read_back<T: Pod>(
    device: &Rc<Device>,
    count: usize,
    copy: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::Buffer),
) -> Result<Vec<T>> {
    let size = (count * size_of::<T>()) as u64;
    let host = Buffer::with_memory(device, size, Usage::TRANSFER_DST, Memory::HOST_VISIBLE)
        .with_context(|| format!("allocating {size} bytes to read from the device"))?;
    let mut elements = vec![T::zeroed(); count];
    // SAFETY: the buffer takes the elements, by this function's contract; the barriers order the copy after earlier writes
    // and before the host, which reads after the wait.
    unsafe {
        device.run(|raw, commands| {
            let written = AccessScope::COMPUTE_WRITE | AccessScope::TRANSFER_WRITE;
            barrier(raw, commands, written, AccessScope::TRANSFER_READ);
            copy(raw, commands, host.raw);
            barrier(raw, commands, AccessScope::TRANSFER_WRITE, AccessScope::HOST_READ);
        })?;
        let mapped = device.raw.map_memory(host.memory, 0, vk::WHOLE_SIZE, Default::default())?;
        mapped.cast::<u8>().copy_to_nonoverlapping(bytemuck::cast_slice_mut(&mut elements).as_mut_ptr(), size as usize);
        device.raw.unmap_memory(host.memory);
    }
    Ok(elements)
}

/// Puts whole storage buffers into the bindings of a set, from binding 0 on.
///
/// # Safety
///
/// The set and the buffers are the device's, the set's layout has these bindings, and no pending commands use the set.
pub unsafe fn describe<'a>(raw: &ash::Device, set: vk::DescriptorSet, buffers: impl IntoIterator<Item = &'a Buffer>) {
    for (binding, buffer) in (0..).zip(buffers) {
        let whole = [vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).buffer_info(&whole);
        // SAFETY: by this function's contract.
        unsafe { raw.update_descriptor_sets(&[write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER)], &[]) };
    }
}

/// Records a memory barrier.
///
/// # Safety
///
/// The command buffer is recording, outside a render pass, on a queue with these stages.
pub unsafe fn barrier(raw: &ash::Device, commands: vk::CommandBuffer, from: AccessScope, to: AccessScope) {
    let memory = [from.barrier_to(to)];
    // SAFETY: by this function's contract.
    unsafe { raw.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]) };
}
