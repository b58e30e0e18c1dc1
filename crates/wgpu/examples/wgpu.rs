//! A sort in a renderer on wgpu: between a compute pass that writes the elements and one that reads them in order.
//!
//! This is one file to copy from. It needs the crates `vksort`, `vksort-wgpu`, `pollster`, `bytemuck`, `anyhow` and `env_logger`. wgpu
//! comes from `vksort-wgpu`, which exports the version that it was built with.
#![allow(unsafe_code)]

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use pollster::block_on;
use vksort::{Count, KeyType, Order, SortBuffers, SortRequest, ValueType};
use vksort_wgpu::wgpu::{self, BufferUsages as Usage};
use vksort_wgpu::{Commands, Device, Sorter, SorterOptions};

const HELP: &str = "Sorts splats by depth between two compute passes of wgpu, and verifies every frame.

Usage: wgpu [--plain] [--validate]

  --plain     takes a device of request_device
  --validate  runs under the validation layer, if it is installed";

/// Splats of the scene, of which each frame sees a part.
const SPLATS: u32 = 200_000;
const FRAMES: u32 = 4;

/// Both passes: `cull` appends the depth and the index of each splat that the frame sees, and their number. `draw` stands for
/// a draw, and writes the depths of the splats in their order.
const SHADERS: &str = "
    @group(0) @binding(0) var<storage, read_write> depths: array<f32>;
    @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
    @group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
    @group(0) @binding(3) var<storage, read_write> drawn: array<f32>;
    @group(0) @binding(4) var<uniform> frame: vec4<u32>;

    fn depth_of(splat: u32) -> f32 {
        let mixed = (splat + frame.x) * 0x9E3779B9u;
        return f32(mixed >> 8u) / 1024.0;
    }

    @compute @workgroup_size(64) fn cull(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&indices) && depth_of(id.x) < 10000.0 {
            let slot = atomicAdd(&count, 1u);
            depths[slot] = depth_of(id.x);
            indices[slot] = id.x;
        }
    }

    @compute @workgroup_size(64) fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < atomicLoad(&count) { drawn[id.x] = depth_of(indices[id.x]); }
    }";

fn run(plain: bool, validate: bool) -> Result<()> {
    // Once: instance and adapter as everywhere, and a device with what sorts need. Without wgpu's flag DEBUG, messages of the layer
    // reach no log.
    let flags = if validate { wgpu::InstanceFlags::debugging() } else { wgpu::InstanceFlags::empty() };
    let desc = wgpu::InstanceDescriptor::new_without_display_handle();
    let desc = wgpu::InstanceDescriptor { backends: wgpu::Backends::VULKAN, flags, ..desc };
    let instance = wgpu::Instance::new(desc);
    let adapter = block_on(instance.request_adapter(&Default::default())).context("wgpu finds no Vulkan adapter")?;
    let (device, queue, for_sorts) = if plain {
        let (device, queue) = block_on(adapter.request_device(&Default::default()))?;
        let for_sorts = Device::new(&device)?;
        (device, queue, for_sorts)
    } else {
        Device::open(&adapter, &Default::default())?
    };

    // Once: the sorter, the buffers, and the sort bound to them.
    let buffer = |size: u64, usage: Usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
    let sorter = Sorter::new(&for_sorts, &request, &SorterOptions::default())?;
    let bytes = u64::from(SPLATS) * 4;
    let (depths, indices) = (buffer(bytes, Usage::STORAGE), buffer(bytes, Usage::STORAGE | Usage::COPY_SRC));
    let count = buffer(4, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
    let drawn = buffer(bytes, Usage::STORAGE | Usage::COPY_SRC);
    let frame_number = buffer(16, Usage::UNIFORM | Usage::COPY_DST);
    let buffers = SortBuffers::new(SPLATS).keys(depths.slice(..)).values(indices.slice(..)).count(count.slice(..));
    // SAFETY: device and buffers come from this one instance, and no other thread destroys the buffers.
    let sort = unsafe { sorter.bind(&buffers)? };
    println!("device     {}", for_sorts.profile().name);
    if let Some(algorithm) = sort.algorithm(SPLATS) {
        println!("algorithm  {algorithm}");
    }

    // Once: the program's own passes.
    let source = wgpu::ShaderSource::Wgsl(SHADERS.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let storage = wgpu::BufferBindingType::Storage { read_only: false };
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let entries: Vec<_> = (0..4).map(|binding| entry(binding, storage)).collect();
    let entries = [&entries[..], &[entry(4, wgpu::BufferBindingType::Uniform)]].concat();
    let desc = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
    let layout = device.create_bind_group_layout(&desc);
    let bound = (0..).zip([&depths, &indices, &count, &drawn, &frame_number]);
    let entries: Vec<_> =
        bound.map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }).collect();
    let desc = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
    let group = device.create_bind_group(&desc);
    let layouts = [Some(&layout)];
    let desc = wgpu::PipelineLayoutDescriptor { bind_group_layouts: &layouts, ..Default::default() };
    let layout = device.create_pipeline_layout(&desc);
    let pipeline = |entry_point| {
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        })
    };
    let (cull, draw) = (pipeline("cull"), pipeline("draw"));
    let pass = |encoder: &mut wgpu::CommandEncoder, pipeline: &wgpu::ComputePipeline| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(SPLATS.div_ceil(64), 1, 1);
    };

    // Each frame: the pass before the sort and the pass after it are in encoders of their own. Frames do not wait for each
    // other, and need no barriers.
    let mut frames = Vec::new();
    for frame in 0..FRAMES {
        queue.write_buffer(&frame_number, 0, bytemuck::bytes_of(&[frame * 1000, 0, 0, 0]));
        let mut before = device.create_command_encoder(&Default::default());
        before.clear_buffer(&count, 0, None);
        pass(&mut before, &cull);
        let mut after = device.create_command_encoder(&Default::default());
        pass(&mut after, &draw);
        // For the check alone.
        let results = [(&count, 4), (&indices, bytes), (&drawn, bytes)].map(|(from, size)| {
            let to = buffer(size, Usage::COPY_DST | Usage::MAP_READ);
            after.copy_buffer_to_buffer(from, 0, &to, 0, size);
            to
        });
        let commands = [before.finish().into(), sort.record(Count::Device)?, after.finish().into()];
        Commands::submit(&queue, commands);
        frames.push(results);
    }

    for (frame, results) in (0..).zip(frames) {
        let [count, indices, drawn] = results.map(|buffer| read(&device, &buffer));
        let (count, indices, drawn) = (count?[0] as usize, indices?, drawn?);
        let depth = |splat: u32| ((splat + frame * 1000).wrapping_mul(0x9E37_79B9) >> 8) as f32 / 1024.0;
        let mut expected: Vec<u32> = (0..SPLATS).filter(|&splat| depth(splat) < 10_000.0).collect();
        ensure!(count == expected.len(), "frame {frame} sees {count} splats, expected are {}", expected.len());
        // The cull pass appends in any order, and depths are all different.
        expected.sort_by(|a, b| depth(*b).total_cmp(&depth(*a)));
        ensure!(indices[..count] == expected, "frame {frame}: the indices are not those of a sort on the CPU");
        let depths: Vec<u32> = expected.iter().map(|&splat| depth(splat).to_bits()).collect();
        ensure!(drawn[..count] == depths, "frame {frame}: the pass behind the sort has read other depths");
        println!("frame {frame}    {count} of {SPLATS} splats, in the order of a sort on the CPU");
    }
    Ok(())
}

/// The words of a buffer, once the device has written them.
fn read(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Result<Vec<u32>> {
    let (send, receive) = mpsc::channel();
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| send.send(result).unwrap_or_default());
    device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(Duration::from_secs(60)) })?;
    receive.recv()??;
    Ok(bytemuck::pod_collect_to_vec(&buffer.slice(..).get_mapped_range()?))
}

fn main() -> ExitCode {
    let (mut plain, mut validate) = (false, false);
    let flags = std::env::args().skip(1).try_for_each(|argument| {
        match argument.as_str() {
            "--plain" => plain = true,
            "--validate" => validate = true,
            "--help" => {
                println!("{HELP}");
                std::process::exit(0);
            }
            other => bail!("unknown argument {other:?}, allowed are --plain, --validate and --help"),
        }
        Ok(())
    });
    // wgpu and vksort log, and messages of the validation layer are lines of wgpu's log. RUST_LOG chooses others.
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    match flags.and_then(|()| run(plain, validate)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wgpu: {error:#}");
            ExitCode::FAILURE
        }
    }
}
