//! The renderer's way in: a sort among a program's own work, on its own device, memory and command buffer.
#![allow(unsafe_code)]

#[path = "../programs/common/mod.rs"]
mod common;
#[path = "../programs/common/validation.rs"]
mod validation;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use ash::vk::{self, AccessFlags as Access, BufferUsageFlags as Usage, PipelineStageFlags as Stages};
use vksort::{AccessScope, BoundSort, BufferRange, InstanceRequirements, KeyType, Order, QueryRange};
use vksort::{Requirements, SortBuffers, SortRequest, Sorter, SorterOptions, Tuning, ValueType};

const COUNT: u32 = 500_000;
const BYTES: u64 = 4 * COUNT as u64;

fn main() -> ExitCode {
    common::run(record)
}

fn record() -> Result<()> {
    let flags = common::parse_flags("Sorts splats by depth in a command buffer of its own, and verifies the result")?;
    let depths: Vec<f32> = (0..COUNT).map(|seed| 100.0 * fastrand::Rng::with_seed(seed.into()).f32()).collect();
    let input: Vec<u32> = depths.iter().map(|depth| depth.to_bits()).chain(0..COUNT).collect();
    let mut output = vec![0; input.len()];

    // SAFETY: the Vulkan library is trusted to be one. Handles are used with the instance or device they come from, and
    // destroyed once, after all that uses them: the sort, its sorter, their device. The queue is idle when memory and
    // queries are read and when things are destroyed. Barriers order what touches the sort's buffers.
    unsafe {
        // The program's own instance and device, created with what vksort requires.
        let entry = ash::Entry::load().context("no Vulkan loader was found")?;
        let mut layer = validation::Layer::new(flags.validate);
        let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
        let extensions: Vec<_> = needed.extensions.iter().chain(&layer.extension).map(|name| name.as_ptr()).collect();
        let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
        let info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
        let info = layer.extend(info.enabled_extension_names(&extensions));
        let instance = entry.create_instance(&info, None).context("Vulkan gives no instance")?;
        layer.listen(&entry, &instance)?;
        let devices = instance.enumerate_physical_devices()?;
        let properties: Vec<_> = devices.iter().map(|raw| instance.get_physical_device_properties(*raw)).collect();
        let physical = devices[flags.pick(&properties)?];
        let needed = Requirements::query(&instance, physical)?;
        let families = instance.get_physical_device_queue_family_properties(physical);
        let compute = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let family = compute.context("the device has no compute queue")? as u32;
        let timestamp_bits = families[family as usize].timestamp_valid_bits;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let extensions: Vec<_> = needed.device_extensions.iter().map(|name| name.as_ptr()).collect();
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        let mut features = needed.features();
        let device = instance.create_device(physical, &features.chain(info), None)?;
        let queue = device.get_device_queue(family, 0);

        let kinds = instance.get_physical_device_memory_properties(physical);
        let buffer = |size, wanted| -> Result<(vk::Buffer, vk::DeviceMemory)> {
            let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
            let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let flags = |kind: u32| kinds.memory_types[kind as usize].property_flags;
            let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1 && flags(*kind).contains(wanted);
            let kind = (0..kinds.memory_type_count).find(fits).context("no memory fits a buffer")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = device.allocate_memory(&info, None)?;
            device.bind_buffer_memory(buffer, memory, 0)?;
            Ok((buffer, memory))
        };
        let local = |size| buffer(size, vk::MemoryPropertyFlags::DEVICE_LOCAL);
        let host = buffer(4 * BYTES, vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT)?;
        let mapped = device.map_memory(host.1, 0, vk::WHOLE_SIZE, Default::default())?.cast::<u32>();
        mapped.copy_from_nonoverlapping(input.as_ptr(), input.len());

        // Once: the sorter, its buffers, the sort that ties them, and queries for the time of its steps.
        let (value, order) = (ValueType::U32, Order::Descending);
        let request = SortRequest { value, order, algorithm: flags.algorithm, ..SortRequest::new(KeyType::F32) };
        let sorter = Sorter::new(&device, &needed, &request, &SorterOptions::default())?;
        let scratch_size = sorter.scratch_size(COUNT)?;
        let [keys, values, scratch] = [local(BYTES)?, local(BYTES)?, local(scratch_size)?];
        let sort = sorter.bind(&SortBuffers {
            values: Some(BufferRange::new(values.0, BYTES)),
            scratch: Some(BufferRange::new(scratch.0, scratch_size)),
            ..SortBuffers::in_place(BufferRange::new(keys.0, BYTES), COUNT)
        })?;
        let mut ticks = vec![0u64; sort.query_count(COUNT) as usize];
        let count = ticks.len() as u32;
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        let queries = QueryRange { pool: device.create_query_pool(&info, None)?, first: 0, count };
        let timestamps = (timestamp_bits > 0).then_some(queries);

        // Each frame: a pass before, here an upload; the sort; a pass after, here a copy back; barriers between them.
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        let copy = |from: vk::Buffer, src_offset, to: vk::Buffer, dst_offset| {
            device.cmd_copy_buffer(commands, from, to, &[vk::BufferCopy { src_offset, dst_offset, size: BYTES }]);
        };
        let barrier = |from: AccessScope, to: AccessScope| {
            let memory = [vk::MemoryBarrier::default().src_access_mask(from.access).dst_access_mask(to.access)];
            device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
        };
        let copies = AccessScope { stages: Stages::TRANSFER, access: Access::TRANSFER_READ | Access::TRANSFER_WRITE };
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        copy(host.0, 0, keys.0, 0);
        copy(host.0, BYTES, values.0, 0);
        barrier(copies, BoundSort::INPUT_SCOPE);
        sort.record(commands, COUNT, timestamps)?;
        barrier(BoundSort::OUTPUT_SCOPE, copies);
        copy(keys.0, 0, host.0, 2 * BYTES);
        copy(values.0, 0, host.0, 3 * BYTES);
        barrier(copies, AccessScope { stages: Stages::HOST, access: Access::HOST_READ });
        device.end_command_buffer(commands)?;

        for _frame in ["to warm up, as some drivers compile late", "to time"] {
            device.queue_submit(queue, &[vk::SubmitInfo::default().command_buffers(&[commands])], vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
        }
        mapped.add(input.len()).copy_to_nonoverlapping(output.as_mut_ptr(), output.len());
        flags.print_device(&needed.profile, &Tuning::for_device(&needed.profile), sort.algorithm(COUNT));
        if timestamps.is_some() {
            device.get_query_pool_results(queries.pool, 0, &mut ticks, vk::QueryResultFlags::TYPE_64)?;
            common::say(format!("\n{}", common::step_table(&sort.step_times(COUNT, &ticks, timestamp_bits), COUNT)));
        }

        drop((sort, sorter));
        device.destroy_command_pool(pool, None);
        device.destroy_query_pool(queries.pool, None);
        for (buffer, memory) in [keys, values, scratch, host] {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
        device.destroy_device(None);
        layer.finish();
        instance.destroy_instance(None);
    }
    common::check_validation(&validation::errors())?;
    let (keys, indices) = output.split_at(COUNT as usize);
    common::verify_order(indices, &depths)?;
    ensure!(indices.iter().map(|index| &input[*index as usize]).eq(keys), "depths and indices differ in their order");
    common::say("\nverified   every depth and index equals that of a stable sort on the CPU");
    Ok(())
}
