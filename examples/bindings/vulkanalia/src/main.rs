//! Sorts splats by depth in a command buffer of vulkanalia, whose types are not ash's, and verifies the result.
//!
//! What this binding takes: `functions`, `create_device`, and handles by `raw`.

use std::ffi::c_void;

use anyhow::{Context, Result, anyhow, bail, ensure};
use vksort::ash;
use vksort::{AccessScope, BoundSort, BufferRange, KeyType, Order, Requirements};
use vksort::{SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
use vulkanalia::loader::{LIBRARY, LibloadingLoader, Loader};
use vulkanalia::prelude::v1_2::*;
use vulkanalia::vk::{BufferUsageFlags as Usage, MemoryPropertyFlags as Memory};

/// Splats of the scene. Each half of the elements begins at a multiple of every alignment.
const COUNT: u32 = 1 << 17;
const BYTES: u64 = 4 * COUNT as u64;

/// vulkanalia's entry, and `vkGetInstanceProcAddr`, which it does not give away.
fn functions() -> Result<(Entry, *const c_void)> {
    // SAFETY: the Vulkan library is trusted to be one.
    unsafe {
        let loader = LibloadingLoader::new(LIBRARY).context("no Vulkan loader was found")?;
        let get = loader.load(b"vkGetInstanceProcAddr").map_err(|error| anyhow!("{error}"))?;
        Ok((Entry::new(loader).map_err(|error| anyhow!("{error}"))?, get as *const c_void))
    }
}

/// A device with what vksort needs. A program with features of its own sets these in the same structures.
fn create_device(
    instance: &Instance,
    physical_device: vk::PhysicalDevice,
    family: u32,
    needed: &Requirements,
) -> Result<Device> {
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
    for name in needed.feature_names() {
        match name {
            "storageBuffer16BitAccess" => v11.storage_buffer_16bit_access = vk::TRUE,
            "storageBuffer8BitAccess" => v12.storage_buffer_8bit_access = vk::TRUE,
            "subgroupSizeControl" => control.subgroup_size_control = vk::TRUE,
            "computeFullSubgroups" => control.compute_full_subgroups = vk::TRUE,
            other => bail!("vksort needs the feature {other}, which this program does not know"),
        }
    }
    let queues = [vk::DeviceQueueCreateInfo::builder().queue_family_index(family).queue_priorities(&[1.0])];
    let extensions: Vec<_> = needed.device_extensions().iter().map(|name| name.as_ptr()).collect();
    let mut info = vk::DeviceCreateInfo::builder()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut v11)
        .push_next(&mut v12);
    // Its structure comes with an extension, which not every device has.
    if control.subgroup_size_control == vk::TRUE {
        info = info.push_next(&mut control);
    }
    // SAFETY: the physical device is of the instance, and has what is enabled.
    Ok(unsafe { instance.create_device(physical_device, &info, None)? })
}

/// A handle as ash has it.
fn raw<T: ash::vk::Handle>(number: u64) -> T {
    T::from_raw(number)
}

/// A buffer with memory of its own.
struct Buffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Buffer {
    fn new(
        device: &Device,
        types: &vk::PhysicalDeviceMemoryProperties,
        size: u64,
        usage: Usage,
        wanted: Memory,
    ) -> Result<Buffer> {
        // SAFETY: the device is alive; the memory is of a type that the buffer allows, and bound once.
        unsafe {
            let buffer = device.create_buffer(&vk::BufferCreateInfo::builder().size(size).usage(usage), None)?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let flags = |kind: u32| types.memory_types[kind as usize].property_flags;
            let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1 && flags(*kind).contains(wanted);
            let kind = (0..types.memory_type_count).find(fits).context("no memory fits a buffer")?;
            let info = vk::MemoryAllocateInfo::builder().allocation_size(needs.size).memory_type_index(kind);
            let memory = device.allocate_memory(&info, None)?;
            device.bind_buffer_memory(buffer, memory, 0)?;
            Ok(Buffer { buffer, memory })
        }
    }

    /// A part of the buffer, as vksort takes it.
    fn range(&self, offset: u64, size: u64) -> BufferRange {
        BufferRange::new(raw(self.buffer.as_raw()), size).offset(offset)
    }
}

fn main() -> Result<()> {
    let (entry, get_instance_proc_addr) = functions()?;
    // SAFETY: handles are used with what they come from, and are destroyed once, when the queue is idle. The barriers order
    // what touches the sort's buffers.
    unsafe {
        let application = vk::ApplicationInfo::builder().api_version(vk::make_version(1, 2, 0));
        let instance =
            entry.create_instance(&vk::InstanceCreateInfo::builder().application_info(&application), None)?;
        let physical_device = *instance.enumerate_physical_devices()?.first().context("there is no Vulkan device")?;
        let families = instance.get_physical_device_queue_family_properties(physical_device);
        let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let family = family.context("the device has no compute queue")? as u32;
        let types = instance.get_physical_device_memory_properties(physical_device);

        // vksort reads the physical device through functions of its own.
        let functions = vksort::instance_from_raw(get_instance_proc_addr, instance.handle().as_raw() as u64)?;
        let needed = Requirements::query(&functions, raw(physical_device.as_raw() as u64))?
            .for_api_version(ash::vk::API_VERSION_1_2)?;
        let device = create_device(&instance, physical_device, family, &needed)?;
        let functions = vksort::device_from_raw(&functions, device.handle().as_raw() as u64)?;

        // Depths with the indices of their splats, farthest first.
        let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
        let sorter = Sorter::new(&functions, &needed, &request, &SorterOptions::default())?;
        let scratch_size = sorter.scratch_size(COUNT)?.max(4);
        let buffer = |size, usage, wanted| Buffer::new(&device, &types, size, usage, wanted);
        let copies = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let elements = buffer(2 * BYTES, copies | Usage::STORAGE_BUFFER, Memory::DEVICE_LOCAL)?;
        let scratch_usage = Usage::from_bits_truncate(sorter.scratch_usage().as_raw());
        let scratch = buffer(scratch_size, scratch_usage, Memory::DEVICE_LOCAL)?;
        let host = buffer(2 * BYTES, copies, Memory::HOST_VISIBLE | Memory::HOST_COHERENT)?;
        let buffers = SortBuffers::new(COUNT).keys(elements.range(0, BYTES)).values(elements.range(BYTES, BYTES));
        let sort = sorter.bind(&buffers.scratch(scratch.range(0, scratch_size)))?;

        let depths: Vec<f32> = (0..COUNT).map(|splat| (splat.wrapping_mul(0x9E37_79B9) >> 18) as f32).collect();
        let mapped = device.map_memory(host.memory, 0, 2 * BYTES, vk::MemoryMapFlags::empty())?.cast::<u32>();
        for splat in 0..COUNT {
            mapped.add(splat as usize).write(depths[splat as usize].to_bits());
            mapped.add((COUNT + splat) as usize).write(splat);
        }

        // A pass before the sort, here an upload; the sort; a pass after it, here a copy back.
        let info = vk::CommandPoolCreateInfo::builder().queue_family_index(family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::builder().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        let recording: ash::vk::CommandBuffer = raw(commands.as_raw() as u64);
        let whole = [vk::BufferCopy { size: 2 * BYTES, ..Default::default() }];
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        device.cmd_copy_buffer(commands, host.buffer, elements.buffer, &whole);
        AccessScope::TRANSFER_WRITE.record_barrier(BoundSort::INPUT_SCOPE, &functions, recording);
        sort.record(recording, COUNT)?;
        BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::TRANSFER_READ, &functions, recording);
        device.cmd_copy_buffer(commands, elements.buffer, host.buffer, &whole);
        AccessScope::TRANSFER_WRITE.record_barrier(AccessScope::HOST_READ, &functions, recording);
        device.end_command_buffer(commands)?;
        let queue = device.get_device_queue(family, 0);
        device.queue_submit(queue, &[vk::SubmitInfo::builder().command_buffers(&[commands])], vk::Fence::null())?;
        device.queue_wait_idle(queue)?;
        let output: Vec<u32> = (0..2 * COUNT as usize).map(|word| mapped.add(word).read()).collect();

        drop((sort, sorter));
        device.destroy_command_pool(pool, None);
        for Buffer { buffer, memory } in [elements, scratch, host] {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
        device.destroy_device(None);
        instance.destroy_instance(None);

        let mut expected: Vec<u32> = (0..COUNT).collect();
        expected.sort_by(|a, b| depths[*b as usize].total_cmp(&depths[*a as usize]));
        let (keys, values) = output.split_at(COUNT as usize);
        ensure!(values == expected, "the indices are not those of a stable sort");
        let sorted = expected.iter().map(|splat| depths[*splat as usize].to_bits());
        ensure!(sorted.eq(keys.iter().copied()), "depths and indices differ in their order");
    }
    println!("vulkanalia: {COUNT} depths and indices equal those of a stable sort");
    Ok(())
}
