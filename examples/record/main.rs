//! A sort among a program's own Vulkan work: its device, its memory, its command buffer. As a renderer has them.
#![allow(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod vulkan;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use ash::vk;
use clap::Parser;
use vksort::{AccessScope, BoundSort, BufferRange, KeyType, Order, QueryRange};
use vksort::{SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
use vulkan::{Buffer, Vulkan};

/// Sorts splat indices by depth, far to near, in a command buffer of the program's own, and verifies the result.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    common: common::Common,
}

const COUNT: u32 = 500_000;
const BYTES: u64 = 4 * COUNT as u64;
/// Frames to submit; the times are those of the last, as some drivers compile kernels during the first.
const FRAMES: u32 = 3;

const COPY: vk::PipelineStageFlags = vk::PipelineStageFlags::TRANSFER;
const COPY_READ: AccessScope = AccessScope { stages: COPY, access: vk::AccessFlags::TRANSFER_READ };
const COPY_WRITE: AccessScope = AccessScope { stages: COPY, access: vk::AccessFlags::TRANSFER_WRITE };
const HOST_READ: AccessScope = AccessScope { stages: vk::PipelineStageFlags::HOST, access: vk::AccessFlags::HOST_READ };

fn main() -> ExitCode {
    common::run(record)
}

fn record() -> Result<()> {
    let flags = Args::parse().common;
    let vulkan = Vulkan::open(&flags)?;
    let device = &vulkan.device;

    // Once: the sorter, its buffers, and the sort that ties them.
    let (value, order) = (ValueType::U32, Order::Descending);
    let request = SortRequest { value, order, algorithm: flags.algorithm, ..SortRequest::new(KeyType::F32) };
    // SAFETY: the device was created with what the requirements name, and is destroyed after the sorter.
    let sorter = unsafe { Sorter::new(device, &vulkan.requirements, &request, &SorterOptions::default())? };
    let [local, visible] = [vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::HOST_VISIBLE];
    let keys = vulkan.buffer(BYTES, local)?;
    let values = vulkan.buffer(BYTES, local)?;
    let scratch = vulkan.buffer(sorter.scratch_size(COUNT)?, local)?;
    let range = |buffer: &Buffer| BufferRange::new(buffer.raw, buffer.size);
    let (values_range, scratch_range) = (Some(range(&values)), Some(range(&scratch)));
    let in_place = SortBuffers::in_place(range(&keys), COUNT);
    // SAFETY: the buffers are the device's, with memory and the usage needed, and are destroyed after the sort.
    let sort = unsafe { sorter.bind(&SortBuffers { values: values_range, scratch: scratch_range, ..in_place })? };

    // Depths and indices: the first half of this buffer as they go in, the second as they come out.
    let host = vulkan.buffer(4 * BYTES, visible | vk::MemoryPropertyFlags::HOST_COHERENT)?;
    let mut random = fastrand::Rng::with_seed(1);
    let depths: Vec<f32> = (0..COUNT).map(|_| 100.0 * random.f32()).collect();
    let input: Vec<u32> = depths.iter().map(|depth| depth.to_bits()).chain(0..COUNT).collect();
    let mut output = vec![0u32; input.len()];
    let query_count = sort.query_count(COUNT);
    let mut ticks = vec![0u64; query_count as usize];

    // SAFETY: commands and queries are recorded and read in their order, with the queue idle before anything is read
    // or destroyed; the mapped memory is twice as long as input and output.
    unsafe {
        let mapped = device.map_memory(host.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u32>();
        mapped.copy_from_nonoverlapping(input.as_ptr(), input.len());
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(query_count);
        let queries = QueryRange { pool: device.create_query_pool(&info, None)?, first: 0, count: query_count };
        let timestamps = Some(queries).filter(|_| vulkan.timestamp_bits > 0);
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(vulkan.family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?;

        device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
        record_frame(device, commands[0], [&host, &keys, &values], &sort, timestamps)?;
        device.end_command_buffer(commands[0])?;
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        for _frame in 0..FRAMES {
            device.queue_submit(vulkan.queue, &submits, vk::Fence::null()).context("submitting a frame")?;
            device.queue_wait_idle(vulkan.queue).context("waiting for a frame")?;
        }

        mapped.add(input.len()).copy_to_nonoverlapping(output.as_mut_ptr(), output.len());
        if timestamps.is_some() {
            device.get_query_pool_results(queries.pool, 0, &mut ticks, vk::QueryResultFlags::TYPE_64)?;
        }
        device.destroy_command_pool(pool, None);
        device.destroy_query_pool(queries.pool, None);
    }
    flags.print_device(&vulkan.requirements.profile, sort.algorithm(COUNT));
    match vulkan.timestamp_bits {
        0 => common::say("\nno times: the queue has no timestamps"),
        bits => common::say(format!("\n{}", common::step_table(&sort.step_times(COUNT, &ticks, bits), COUNT))),
    }
    drop((sort, sorter));
    // SAFETY: the queue is idle; sort, sorter and pools are gone; these are all buffers.
    common::check_validation(&unsafe { vulkan.destroy([host, keys, values, scratch]) })?;

    let mut expected: Vec<u32> = (0..COUNT).collect();
    expected.sort_by(|a, b| depths[*b as usize].total_cmp(&depths[*a as usize]));
    ensure!(output[COUNT as usize..] == expected, "the indices differ from those of a stable sort on the CPU");
    let sorted = expected.iter().map(|index| input[*index as usize]);
    ensure!(output[..COUNT as usize].iter().copied().eq(sorted), "the depths differ from those sorted on the CPU");
    common::say("\nverified   every depth and index equals that of a stable sort on the CPU");
    Ok(())
}

/// Records one frame: a pass before the sort, the sort, and a pass after it, with the barriers between them.
///
/// # Safety
///
/// `commands` is recording for a queue with compute; the buffers have the sizes of [`record`]; all of it is the device's.
unsafe fn record_frame(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    [host, keys, values]: [&Buffer; 3],
    sort: &BoundSort,
    timestamps: Option<QueryRange>,
) -> Result<()> {
    // SAFETY: by this function's contract; barriers keep copies apart from what else touches their memory.
    let copy = |from: &Buffer, src_offset, to: &Buffer, dst_offset| unsafe {
        device.cmd_copy_buffer(commands, from.raw, to.raw, &[vk::BufferCopy { src_offset, dst_offset, size: BYTES }]);
    };
    // SAFETY: by this function's contract.
    let barrier = |from: AccessScope, to: AccessScope| unsafe {
        let memory = [vk::MemoryBarrier::default().src_access_mask(from.access).dst_access_mask(to.access)];
        device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
    };
    // Before: an upload here, the pass that computes depths in a renderer.
    copy(host, 0, keys, 0);
    copy(host, BYTES, values, 0);
    barrier(COPY_WRITE, BoundSort::INPUT_SCOPE);
    // SAFETY: by this function's contract; the barriers around it are those that the sort asks for.
    unsafe { sort.record(commands, COUNT, timestamps)? };
    barrier(BoundSort::OUTPUT_SCOPE, COPY_READ);
    // After: a copy to the host here, the pass that draws the splats in a renderer.
    copy(keys, 0, host, 2 * BYTES);
    copy(values, 0, host, 3 * BYTES);
    barrier(COPY_WRITE, HOST_READ);
    Ok(())
}
