//! A bitonic network in one workgroup, the baseline of sorts of few keys: a kernel of the bench's own on a device of its own.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::io::Cursor;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ash::vk;
use vksort::InstanceRequirements;
use vksort::standalone::{DeviceChoice, Gpu};

/// Most invocations that pay: from there on, each has one pair of a block.
const MAX_INVOCATIONS: u32 = 1024;
/// Longest wait for the device.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An instance of Vulkan, which goes with its owner.
struct Instance {
    raw: ash::Instance,
    _entry: ash::Entry,
}

/// The device that the bench measures, opened a second time.
struct Device {
    /// It stays with a lost device.
    instance: ManuallyDrop<Instance>,
    raw: ash::Device,
    memory: vk::PhysicalDeviceMemoryProperties,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    queries: vk::QueryPool,
    /// The device's clock, where it has one.
    clock: Option<Clock>,
    /// Whether commands may still be running, after an error.
    lost: Cell<bool>,
}

/// The clock of a device's queue.
#[derive(Clone, Copy)]
struct Clock {
    /// Nanoseconds of a tick.
    tick: f64,
    /// The bits of a stamp that count.
    mask: u64,
}

impl Clock {
    /// The clock of a queue whose stamps have so many bits, if it has one.
    fn new(bits: u32, tick: f32) -> Option<Clock> {
        (bits > 0).then(|| Clock { tick: tick.into(), mask: u64::MAX >> (64 - bits.min(64)) })
    }

    /// Nanoseconds from one stamp to a later one. In between, the counter may have gone past its last bit.
    fn between(self, stamps: [u64; 2]) -> f64 {
        (stamps[1].wrapping_sub(stamps[0]) & self.mask) as f64 * self.tick
    }
}

/// The network over one number of elements.
pub struct Bitonic {
    elements: u32,
    pairs: bool,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    /// Keys and values on the device, and what they are copied from and to.
    buffers: [Buffer; 3],
    device: Device,
}

#[derive(Clone, Copy, Default)]
struct Buffer {
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Bitonic {
    /// Whether one workgroup of the device has room for so many keys, or pairs. The network is for powers of two.
    pub fn fits(gpu: &Gpu, elements: u32, pairs: bool) -> bool {
        let words = u64::from(elements) * if pairs { 2 } else { 1 };
        elements.is_power_of_two() && elements > 1 && 4 * words <= gpu.profile().max_shared_bytes.into()
    }

    /// The network on the device that `choice` means, which is that of `gpu`.
    pub fn new(gpu: &Gpu, choice: &DeviceChoice, elements: u32, pairs: bool) -> Result<Bitonic> {
        let device = Device::open(choice)?;
        let invocations = (elements / 2).min(gpu.profile().max_workgroup_invocations).min(MAX_INVOCATIONS);
        let (storage, copied) = (vk::BufferUsageFlags::STORAGE_BUFFER, vk::BufferUsageFlags::TRANSFER_SRC);
        let (copied, local) = (copied | vk::BufferUsageFlags::TRANSFER_DST, vk::MemoryPropertyFlags::DEVICE_LOCAL);
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let bytes = 4 * u64::from(elements);
        // What is not made yet is null, which destroying passes over.
        let mut new = Bitonic {
            elements,
            pairs,
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            buffers: [Buffer::default(); 3],
            device,
        };
        new.buffers[0] = new.device.buffer(bytes, storage | copied, local)?;
        new.buffers[1] = new.device.buffer(bytes, storage | copied, local)?;
        new.buffers[2] = new.device.buffer(2 * bytes, copied, host)?;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [0, 1].map(|binding| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(kind);
            binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let constants = [invocations, elements, pairs.into()];
        let data: Vec<u8> = constants.iter().flat_map(|number: &u32| number.to_ne_bytes()).collect();
        let entries = [0u32, 1, 2].map(|id| vk::SpecializationMapEntry { constant_id: id, offset: 4 * id, size: 4 });
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let words = ash::util::read_spv(&mut Cursor::new(include_bytes!("bitonic.spv")))?;
        let raw = &new.device.raw;
        // SAFETY: the module is what bitonic.comp compiles to, with these bindings and constants; its shared memory and its
        // workgroup are within the device's limits, as `fits` has found; all handles are the device's, and the buffers live as
        // long as the set.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            new.set_layout = raw.create_descriptor_set_layout(&info, None)?;
            let layouts = [new.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            new.layout = raw.create_pipeline_layout(&info, None)?;
            let module = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default().module(module).name(c"main");
            let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).specialization_info(&specialization);
            let infos = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(new.layout)];
            let made = raw.create_compute_pipelines(vk::PipelineCache::null(), &infos, None);
            raw.destroy_shader_module(module, None);
            new.pipeline = made.map_err(|(_, result)| result)?[0];
            let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 2 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            new.pool = raw.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(new.pool).set_layouts(&layouts);
            new.set = raw.allocate_descriptor_sets(&info)?[0];
            for (binding, buffer) in (0..2).zip(&new.buffers) {
                let whole = [vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default().dst_set(new.set).dst_binding(binding);
                raw.update_descriptor_sets(&[write.descriptor_type(kind).buffer_info(&whole)], &[]);
            }
        }
        Ok(new)
    }

    /// Sorts elements, which are brought to the device before; gives the time on the device, if it has a clock, and that on
    /// the host.
    pub fn run(&self, keys: &mut [u32], values: &mut [u32]) -> Result<(Option<f64>, Duration)> {
        let (count, bytes) = (self.elements as usize, 4 * u64::from(self.elements));
        ensure!(keys.len() == count && (!self.pairs || values.len() == count), "the network is for {count} elements");
        let (raw, [on_device, beside, staging]) = (&self.device.raw, &self.buffers);
        let halves = [(on_device, 0), (beside, bytes)];
        let copied = &halves[..if self.pairs { 2 } else { 1 }];
        self.device.map(*staging, bytes, |words| {
            words[..count].copy_from_slice(keys);
            words[count..][..values.len()].copy_from_slice(values);
        })?;
        let copy = |commands, from: &Buffer, to: &Buffer, offsets: (u64, u64)| {
            let region = [vk::BufferCopy::default().src_offset(offsets.0).dst_offset(offsets.1).size(bytes)];
            // SAFETY: the commands are recording, both buffers are alive until `submit` has waited, and the region lies within
            // them.
            unsafe { raw.cmd_copy_buffer(commands, from.raw, to.raw, &region) }
        };
        self.device.submit(|commands| {
            copied.iter().for_each(|(buffer, offset)| copy(commands, staging, buffer, (*offset, 0)));
        })?;
        let started = Instant::now();
        let compute = vk::PipelineBindPoint::COMPUTE;
        self.device.submit(|commands| {
            // SAFETY: the commands are recording, and pipeline, set and buffers are alive until `submit` has waited.
            unsafe {
                self.device.stamp(commands, 0);
                raw.cmd_bind_pipeline(commands, compute, self.pipeline);
                raw.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
                raw.cmd_dispatch(commands, 1, 1, 1);
                self.device.stamp(commands, 1);
            }
        })?;
        let wall = started.elapsed();
        let on_clock = self.device.stamped()?;
        self.device.submit(|commands| {
            copied.iter().for_each(|(buffer, offset)| copy(commands, buffer, staging, (0, *offset)));
        })?;
        self.device.map(*staging, bytes, |words| {
            keys.copy_from_slice(&words[..count]);
            values.copy_from_slice(&words[count..][..values.len()]);
        })?;
        Ok((on_clock, wall))
    }
}

impl Device {
    fn open(choice: &DeviceChoice) -> Result<Device> {
        // SAFETY: the Vulkan library is trusted to be one; handles are used with what they come from, and extensions and features
        // are those that were found.
        unsafe {
            let entry = ash::Entry::load().context("no Vulkan loader was found")?;
            let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
            let extensions: Vec<_> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
            let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
            let info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
            let raw = entry.create_instance(&info.enabled_extension_names(&extensions), None)?;
            let instance = Instance { raw, _entry: entry };
            // By name, another device of the same kind might be found.
            let (physical, requirements) = choice.find(&instance.raw)?;
            let families = instance.raw.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.context("the device has no compute queue")?;
            let index = family as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(index).queue_priorities(&[1.0])];
            let names: Vec<_> = requirements.device_extensions().iter().map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let raw = instance.raw.create_device(physical, &requirements.features().chain(info), None)?;
            let limits = instance.raw.get_physical_device_properties(physical).limits;
            let mut new = Device {
                memory: instance.raw.get_physical_device_memory_properties(physical),
                instance: ManuallyDrop::new(instance),
                queue: raw.get_device_queue(index, 0),
                raw,
                pool: vk::CommandPool::null(),
                commands: vk::CommandBuffer::null(),
                fence: vk::Fence::null(),
                queries: vk::QueryPool::null(),
                clock: Clock::new(families[family].timestamp_valid_bits, limits.timestamp_period),
                lost: Cell::new(false),
            };
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(index);
            let info = info.flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            new.pool = new.raw.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(new.pool).command_buffer_count(1);
            let info = info.level(vk::CommandBufferLevel::PRIMARY);
            new.commands = new.raw.allocate_command_buffers(&info)?[0];
            new.fence = new.raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            new.queries = new.raw.create_query_pool(&info, None)?;
            Ok(new)
        }
    }

    fn buffer(&self, size: u64, usage: vk::BufferUsageFlags, wanted: vk::MemoryPropertyFlags) -> Result<Buffer> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive, and nothing uses a buffer that could not be bound.
        unsafe {
            let raw = self.raw.create_buffer(&info, None)?;
            let memory = self.bind(raw, wanted).inspect_err(|_| self.raw.destroy_buffer(raw, None))?;
            Ok(Buffer { raw, memory })
        }
    }

    /// Binds a buffer to memory of its own.
    fn bind(&self, raw: vk::Buffer, wanted: vk::MemoryPropertyFlags) -> Result<vk::DeviceMemory> {
        // SAFETY: buffer and device are alive; the memory is of a type that the buffer allows, and bound once.
        unsafe {
            let needs = self.raw.get_buffer_memory_requirements(raw);
            let flags = |kind: u32| self.memory.memory_types[kind as usize].property_flags;
            let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1 && flags(*kind).contains(wanted);
            let kind = (0..self.memory.memory_type_count).find(fits).context("no memory fits a buffer")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = self.raw.allocate_memory(&info, None)?;
            let bound = self.raw.bind_buffer_memory(raw, memory, 0);
            Ok(bound.map(|()| memory).inspect_err(|_| self.raw.free_memory(memory, None))?)
        }
    }

    /// Reads or writes the words of a host's buffer of twice so many bytes.
    fn map(&self, buffer: Buffer, bytes: u64, work: impl FnOnce(&mut [u32])) -> Result<()> {
        // SAFETY: the memory is coherent, is mapped by nobody else and used by no pending commands; it is aligned for words and
        // as long as the slice.
        unsafe {
            let mapped = self.raw.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            work(std::slice::from_raw_parts_mut(mapped.cast::<u32>(), bytes as usize / 2));
            self.raw.unmap_memory(buffer.memory);
        }
        Ok(())
    }

    /// Records commands between barriers to what came before and comes after, submits them and waits.
    fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<()> {
        let (commands, fences) = ([self.commands], [self.fence]);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barriers = [vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all)];
        let (stage, flags) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        // SAFETY: nothing is pending, as every submission is waited for; what `record` puts there is valid by its own duty.
        unsafe {
            self.raw.begin_command_buffer(self.commands, &begin)?;
            self.raw.cmd_pipeline_barrier(self.commands, stage, stage, flags, &barriers, &[], &[]);
            record(self.commands);
            let host = [barriers[0].dst_access_mask(all | vk::AccessFlags::HOST_READ)];
            let after = stage | vk::PipelineStageFlags::HOST;
            self.raw.cmd_pipeline_barrier(self.commands, stage, after, flags, &host, &[], &[]);
            self.raw.end_command_buffer(self.commands)?;
            self.raw.queue_submit(self.queue, &submits, self.fence)?;
            let finished = self.raw.wait_for_fences(&fences, true, TIMEOUT.as_nanos() as u64);
            self.lost.set(finished.is_err());
            finished.context("the bitonic network")?;
            self.raw.reset_fences(&fences)?;
        }
        Ok(())
    }

    /// Writes the device's clock.
    ///
    /// # Safety
    ///
    /// `commands` is recording, and `query` is 0 or 1, in this order.
    unsafe fn stamp(&self, commands: vk::CommandBuffer, query: u32) {
        if self.clock.is_none() {
            return;
        }
        let stage = [vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::BOTTOM_OF_PIPE][query as usize];
        // SAFETY: by this function's contract; the first one resets both.
        unsafe {
            if query == 0 {
                self.raw.cmd_reset_query_pool(commands, self.queries, 0, 2);
            }
            self.raw.cmd_write_timestamp(commands, stage, self.queries, query);
        }
    }

    /// Nanoseconds between the two stamps of the last submission that had them.
    fn stamped(&self) -> Result<Option<f64>> {
        let Some(clock) = self.clock else { return Ok(None) };
        let mut stamps = [0u64; 2];
        // SAFETY: both were written by a submission that was waited for.
        unsafe { self.raw.get_query_pool_results(self.queries, 0, &mut stamps, vk::QueryResultFlags::TYPE_64)? };
        Ok(Some(clock.between(stamps)))
    }
}

impl Drop for Bitonic {
    fn drop(&mut self) {
        let raw = &self.device.raw;
        if self.device.lost.get() {
            return;
        }
        // SAFETY: nothing is pending, as every submission was waited for; each handle goes once, and the device after them.
        unsafe {
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_pipeline(self.pipeline, None);
            raw.destroy_pipeline_layout(self.layout, None);
            raw.destroy_descriptor_set_layout(self.set_layout, None);
            for buffer in self.buffers {
                raw.destroy_buffer(buffer.raw, None);
                raw.free_memory(buffer.memory, None);
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.lost.get() {
            return;
        }
        // SAFETY: what was made from the device is gone, and nothing is pending; each handle goes once, the instance last.
        unsafe {
            self.raw.destroy_query_pool(self.queries, None);
            self.raw.destroy_fence(self.fence, None);
            self.raw.destroy_command_pool(self.pool, None);
            self.raw.destroy_device(None);
            ManuallyDrop::drop(&mut self.instance);
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: what was made from the instance is gone.
        unsafe { self.raw.destroy_instance(None) };
    }
}
