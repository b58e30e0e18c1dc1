//! Splats sorted in the render graph of Bevy, behind a compute pass that culls them.
//!
//! The app has no window. In each frame, a system of the schedule `RenderGraph` adds the cull pass, the sort, and copies of the
//! result. The host compares the result of every frame with a sort of its own.
//!
//! `cargo run --release --manifest-path crates/wgpu/examples/bevy/Cargo.toml` compiles Bevy, which takes minutes, and runs it.
#![allow(unsafe_code)]

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bevy::app::ScheduleRunnerPlugin;
use bevy::diagnostic::FrameCount;
use bevy::log::LogPlugin;
use bevy::prelude::{
    App, AppExit, Commands, DefaultPlugins, IntoScheduleConfigs, Last, Local, MessageWriter, PluginGroup, Res,
    Resource, WindowPlugin, default, resource_exists,
};
use bevy::render::renderer::{
    RenderAdapter, RenderAdapterInfo, RenderContext, RenderDevice, RenderGraph, RenderGraphSystems, RenderInstance,
    RenderQueue,
};
use bevy::render::settings::{InstanceFlags, RenderCreation, WgpuSettings};
use bevy::render::{RenderApp, RenderPlugin, RenderStartup};
use bevy::window::ExitCondition;
use pollster::block_on;
use vksort::{Count, KeyType, Order, SortBuffers, SortRequest, ValueType};
use vksort_wgpu::wgpu::{self, BufferUsages as Usage};
use vksort_wgpu::{BoundSort, Device, Sorter, SorterOptions};

const HELP: &str = "Sorts splats by depth in the render graph of Bevy, and verifies every frame.

Usage: vksort-bevy [--plain] [--validate]

  --plain     takes the device that Bevy creates
  --validate  runs under the validation layer, if it is installed";

/// Splats of the scene, of which each frame sees a part.
const SPLATS: u32 = 200_000;
const FRAMES: u32 = 4;

/// Appends the depth and the index of each splat that the frame sees, and their number.
const CULL: &str = "
    @group(0) @binding(0) var<storage, read_write> depths: array<f32>;
    @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
    @group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
    @group(0) @binding(3) var<uniform> frame: vec4<u32>;

    @compute @workgroup_size(64) fn cull(@builtin(global_invocation_id) id: vec3<u32>) {
        let depth = f32(((id.x + frame.x) * 0x9E3779B9u) >> 8u) / 1024.0;
        if id.x < arrayLength(&indices) && depth < 10000.0 {
            let slot = atomicAdd(&count, 1u);
            depths[slot] = depth;
            indices[slot] = id.x;
        }
    }";

/// The device of [`Device::open`], which Bevy renders with.
#[derive(Resource)]
struct Opened(Device);

/// The pass before the sort, and the sort, bound to its buffers.
#[derive(Resource)]
struct Splats {
    indices: wgpu::Buffer,
    count: wgpu::Buffer,
    frame: wgpu::Buffer,
    group: wgpu::BindGroup,
    cull: wgpu::ComputePipeline,
    sort: BoundSort,
}

/// The result of a frame: copies of the number of splats and of their indices in order.
struct Frame {
    device: wgpu::Device,
    count: wgpu::Buffer,
    indices: wgpu::Buffer,
}

#[derive(Resource)]
struct Results(Sender<anyhow::Result<Frame>>);

impl Splats {
    fn new(device: &wgpu::Device, for_sorts: &Device) -> anyhow::Result<Self> {
        let bytes = u64::from(SPLATS) * 4;
        let depths = buffer(device, bytes, Usage::STORAGE);
        let indices = buffer(device, bytes, Usage::STORAGE | Usage::COPY_SRC);
        let count = buffer(device, 4, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
        let frame = buffer(device, 16, Usage::UNIFORM | Usage::COPY_DST);

        let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
        let sorter = Sorter::new(for_sorts, &request, &SorterOptions::default())?;
        let buffers = SortBuffers::new(SPLATS).keys(depths.slice(..)).values(indices.slice(..)).count(count.slice(..));
        // SAFETY: device and buffers come from the one instance of the app, and no other thread destroys the buffers.
        let sort = unsafe { sorter.bind(&buffers)? };

        let source = wgpu::ShaderSource::Wgsl(CULL.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let cull = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let bound = (0..).zip([&depths, &indices, &count, &frame]);
        let entries: Vec<_> = bound
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = &cull.get_bind_group_layout(0);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        Ok(Self { indices, count, frame, group, cull, sort })
    }

    /// Adds the commands of one frame.
    fn record(&self, context: &mut RenderContext, queue: &wgpu::Queue, frame: u32) -> anyhow::Result<Frame> {
        queue.write_buffer(&self.frame, 0, bytemuck::bytes_of(&[frame * 1000, 0, 0, 0]));
        let encoder = context.command_encoder();
        encoder.clear_buffer(&self.count, 0, None);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.cull);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(SPLATS.div_ceil(64), 1, 1);
        drop(pass);

        // SAFETY: Bevy submits command buffers in the order in which a system adds them, by one call.
        for part in unsafe { self.sort.record(Count::Device)?.into_command_buffers() } {
            context.add_command_buffer(part);
        }

        // Bevy has closed the encoder of the cull pass, and opens another one behind the sort.
        let device = context.render_device().wgpu_device().clone();
        let encoder = context.command_encoder();
        let [count, indices] = [&self.count, &self.indices].map(|from| {
            let to = buffer(&device, from.size(), Usage::COPY_DST | Usage::MAP_READ);
            encoder.copy_buffer_to_buffer(from, 0, &to, 0, from.size());
            to
        });
        Ok(Frame { device, count, indices })
    }
}

fn buffer(device: &wgpu::Device, size: u64, usage: Usage) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

/// Runs once the device is there.
fn prepare(mut commands: Commands, device: Res<RenderDevice>, opened: Option<Res<Opened>>, results: Res<Results>) {
    let device = device.wgpu_device();
    let splats = match opened {
        Some(opened) => Splats::new(device, &opened.0),
        None => Device::new(device).map_err(Into::into).and_then(|plain| Splats::new(device, &plain)),
    };
    match splats {
        Ok(splats) => commands.insert_resource(splats),
        Err(error) => results.0.send(Err(error)).unwrap_or_default(),
    }
}

/// Runs in every frame, like the systems of Bevy's own passes.
fn sort_splats(
    mut context: RenderContext,
    splats: Res<Splats>,
    queue: Res<RenderQueue>,
    results: Res<Results>,
    mut frame: Local<u32>,
) {
    results.0.send(splats.record(&mut context, &queue, *frame)).unwrap_or_default();
    *frame += 1;
}

/// A device with all that sorts need, for Bevy to render with.
fn open(flags: wgpu::InstanceFlags) -> anyhow::Result<(RenderCreation, Device)> {
    let desc = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { backends: wgpu::Backends::VULKAN, flags, ..desc });
    let adapter = block_on(instance.request_adapter(&Default::default())).context("wgpu finds no Vulkan adapter")?;
    let required_limits = adapter.limits();
    let desc = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, queue, for_sorts) = Device::open(&adapter, &desc)?;
    let creation = RenderCreation::manual(
        RenderDevice::from(device),
        RenderQueue::new(queue),
        RenderAdapterInfo::new(adapter.get_info()),
        RenderAdapter::new(adapter),
        RenderInstance::new(instance),
    );
    Ok((creation, for_sorts))
}

fn run(plain: bool, validate: bool) -> anyhow::Result<()> {
    let flags = if validate { InstanceFlags::debugging() } else { InstanceFlags::empty() };
    let (render_creation, opened) = if plain {
        (WgpuSettings { instance_flags: flags, ..default() }.into(), None)
    } else {
        let (creation, for_sorts) = open(flags)?;
        (creation, Some(Opened(for_sorts)))
    };

    let mut app = App::new();
    let plugins = DefaultPlugins
        .set(LogPlugin { filter: "warn".into(), ..default() })
        .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
        .set(RenderPlugin { render_creation, ..default() });
    app.add_plugins((plugins, ScheduleRunnerPlugin::run_loop(Duration::ZERO)));
    // The render world is one frame behind.
    app.add_systems(Last, |frames: Res<FrameCount>, mut exit: MessageWriter<AppExit>| {
        if frames.0 > FRAMES + 2 {
            exit.write(AppExit::Success);
        }
    });
    let (send, receive) = channel();
    let render = app.get_sub_app_mut(RenderApp).context("Bevy has found no device to render with")?;
    render.insert_resource(Results(send));
    if let Some(opened) = opened {
        render.insert_resource(opened);
    }
    render.add_systems(RenderStartup, prepare);
    let sort = sort_splats.in_set(RenderGraphSystems::Render).run_if(resource_exists::<Splats>);
    render.add_systems(RenderGraph, sort);
    ensure!(app.run().is_success(), "Bevy has quit with an error");
    verify(receive)
}

fn verify(results: Receiver<anyhow::Result<Frame>>) -> anyhow::Result<()> {
    for frame in 0..FRAMES {
        let Frame { device, count, indices } = results.try_recv().context("Bevy has rendered too few frames")??;
        let (count, indices) = (read(&device, &count)?[0] as usize, read(&device, &indices)?);
        let depth = |splat: u32| ((splat + frame * 1000).wrapping_mul(0x9E37_79B9) >> 8) as f32 / 1024.0;
        let mut expected: Vec<u32> = (0..SPLATS).filter(|&splat| depth(splat) < 10_000.0).collect();
        // The cull pass appends in any order, and depths are all different.
        expected.sort_by(|a, b| depth(*b).total_cmp(&depth(*a)));
        ensure!(count == expected.len(), "frame {frame} sees {count} splats, expected are {}", expected.len());
        ensure!(indices[..count] == expected, "frame {frame}: the indices are not those of a sort on the CPU");
        println!("frame {frame}    {count} of {SPLATS} splats, in the order of a sort on the CPU");
    }
    Ok(())
}

/// The words of a buffer, once the device has written them.
fn read(device: &wgpu::Device, buffer: &wgpu::Buffer) -> anyhow::Result<Vec<u32>> {
    let (send, receive) = channel();
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
    match flags.and_then(|()| run(plain, validate)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vksort-bevy: {error:#}");
            ExitCode::FAILURE
        }
    }
}
