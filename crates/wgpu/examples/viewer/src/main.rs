//! A published renderer of splats, wgpu-3dgs-viewer, with vksort in the place of its own radix sort.
//!
//! The sort is bound to the renderer's own buffers: depths, indices, and the number of splats in the arguments of its draw. In
//! each frame the renderer culls, vksort sorts, and the renderer draws. A compute pass checks that the depths are in order, and
//! that no pair of depth and index has changed. The program has no window.
//!
//! `cargo run --release --manifest-path crates/wgpu/examples/viewer/Cargo.toml` compiles wgpu and the renderer, which takes
//! minutes, and runs it.
#![allow(unsafe_code)]

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use pollster::block_on;
use vksort::{Count, KeyType, SortBuffers, SortRequest, ValueType};
use vksort_wgpu::wgpu::{self, BufferUsages as Usage};
use vksort_wgpu::{Commands, Device, Sorter, SorterOptions};
use wgpu_3dgs_viewer::core::glam::{Quat, U8Vec4, UVec2, Vec3};
use wgpu_3dgs_viewer::core::{BufferWrapper, Gaussian, Gaussians, GaussiansSource, IterGaussian};
use wgpu_3dgs_viewer::{Camera, Viewer};

const HELP: &str = "Draws splats by wgpu-3dgs-viewer, sorted by vksort, and verifies every frame.

Usage: vksort-viewer [SCENE] [--plain] [--validate]

  SCENE       a scene in a .ply or .spz file; without it, 150000 splats in a ball
  --plain     takes a device of request_device
  --validate  runs under the validation layer, if it is installed";

const SPLATS: usize = 150_000;
const FRAMES: usize = 4;
const SIZE: UVec2 = UVec2::new(640, 360);

/// Counts the places where depths are out of order, and adds up a hash of each pair of depth and index.
const CHECK: &str = "
    @group(0) @binding(0) var<storage, read> depths: array<u32>;
    @group(0) @binding(1) var<storage, read> indices: array<u32>;
    @group(0) @binding(2) var<storage, read> draw: array<u32>;
    @group(0) @binding(3) var<storage, read_write> found: array<atomic<u32>>;

    @compute @workgroup_size(64) fn check(@builtin(global_invocation_id) id: vec3<u32>) {
        let count = min(draw[1], arrayLength(&indices));
        if id.x >= count { return; }
        let mixed = (depths[id.x] ^ (indices[id.x] * 0x9E3779B9u)) * 0x85EBCA6Bu;
        atomicAdd(&found[1], mixed ^ (mixed >> 13u));
        if id.x == 0u { atomicStore(&found[2], count); }
        else if bitcast<f32>(depths[id.x]) < bitcast<f32>(depths[id.x - 1u]) { atomicAdd(&found[0], 1u); }
    }";

/// What a check has found.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Found {
    out_of_order: u32,
    hash: u32,
    count: u32,
}

/// Splats in a ball, the same ones in every run.
fn ball() -> Gaussians {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let splats = (0..SPLATS).map(|_| {
        let pos = (0..).map(|_| Vec3::new(random(), random(), random()) * 2.0 - 1.0).find(|at| at.length() < 1.0);
        let pos = pos.unwrap_or_default();
        let color = U8Vec4::new((random() * 255.0) as u8, (random() * 255.0) as u8, (random() * 255.0) as u8, 128);
        Gaussian { rot: Quat::IDENTITY, pos, color, sh: [Vec3::ZERO; 15], scale: Vec3::splat(0.01) }
    });
    splats.collect()
}

fn run(scene: Option<&str>, plain: bool, validate: bool) -> Result<()> {
    let splats = match scene {
        None => ball(),
        Some(path) => {
            let source = if path.ends_with(".spz") { GaussiansSource::Spz } else { GaussiansSource::Ply };
            Gaussians::read_from_file(path, source).with_context(|| format!("reading {path}"))?
        }
    };
    let count = u32::try_from(splats.iter_gaussian().len())?;
    ensure!(count > 0, "the scene has no splats");

    // A device with what sorts need, and otherwise as the renderer asks for.
    let flags = if validate { wgpu::InstanceFlags::debugging() } else { wgpu::InstanceFlags::empty() };
    let desc = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { backends: wgpu::Backends::VULKAN, flags, ..desc });
    let adapter = block_on(instance.request_adapter(&Default::default())).context("wgpu finds no Vulkan adapter")?;
    let desc = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    let (device, queue, for_sorts) = if plain {
        let (device, queue) = block_on(adapter.request_device(&desc))?;
        let for_sorts = Device::new(&device)?;
        (device, queue, for_sorts)
    } else {
        Device::open(&adapter, &desc)?
    };
    println!("device     {}", for_sorts.profile().name);
    println!("splats     {count}");

    let format = wgpu::TextureFormat::Rgba8Unorm;
    let mut viewer: Viewer = Viewer::new(&device, format, &splats)?;
    let positions = || splats.iter_gaussian().map(|splat| splat.pos);
    let (low, high) =
        positions().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let mut camera = Camera::new(0.1..1e4, 60f32.to_radians());
    camera.pos = (low + high) / 2.0 - Vec3::Z * (high - low).length() * 0.7;
    viewer.update_camera(&queue, &camera, SIZE);

    // Once: the sort, bound to the renderer's buffers. Its draw has the number of instances in the second word of its arguments.
    let request = SortRequest::new(KeyType::F32).value(ValueType::U32);
    let sorter = Sorter::new(&for_sorts, &request, &SorterOptions::default())?;
    let bytes = 4 * u64::from(count);
    let (depths, indices) = (viewer.gaussians_depth_buffer.buffer(), viewer.indirect_indices_buffer.buffer());
    let draw = viewer.indirect_args_buffer.buffer();
    let buffers =
        SortBuffers::new(count).keys(depths.slice(..bytes)).values(indices.slice(..bytes)).count(draw.slice(4..8));
    // SAFETY: device and buffers come from this one instance, and no other thread destroys the buffers.
    let sort = unsafe { sorter.bind(&buffers)? };

    // Once: the check, and the picture.
    let source = wgpu::ShaderSource::Wgsl(CHECK.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let check = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("check"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = |size: u64, usage: Usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let found = buffer(size_of::<Found>() as u64, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
    let bound = (0..).zip([depths, indices, draw, &found]);
    let entries: Vec<_> =
        bound.map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }).collect();
    let layout = &check.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    let size = wgpu::Extent3d { width: SIZE.x, height: SIZE.y, depth_or_array_layers: 1 };
    let picture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = picture.create_view(&Default::default());

    // Submits commands, and returns how long they took once they have completed.
    let wait = |commands: wgpu::CommandEncoder| -> Result<Duration> {
        let started = Instant::now();
        queue.submit([commands.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(started.elapsed())
    };
    let encoder = || device.create_command_encoder(&Default::default());
    // Copies what a pass has written to the host.
    let read = |fill: &dyn Fn(&mut wgpu::CommandEncoder, &wgpu::Buffer), bytes: u64| -> Result<Vec<u8>> {
        let copy = buffer(bytes, Usage::COPY_DST | Usage::MAP_READ);
        let mut commands = encoder();
        fill(&mut commands, &copy);
        wait(commands)?;
        let (sender, receiver) = mpsc::channel();
        copy.slice(..).map_async(wgpu::MapMode::Read, move |result| sender.send(result).unwrap_or(()));
        device.poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv_timeout(Duration::from_secs(60))??;
        Ok(copy.slice(..).get_mapped_range()?.to_vec())
    };
    let checked = || -> Result<Found> {
        let run = |commands: &mut wgpu::CommandEncoder, copy: &wgpu::Buffer| {
            commands.clear_buffer(&found, 0, None);
            let mut pass = commands.begin_compute_pass(&Default::default());
            pass.set_pipeline(&check);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(count.div_ceil(64), 1, 1);
            drop(pass);
            commands.copy_buffer_to_buffer(&found, 0, copy, 0, found.size());
        };
        Ok(bytemuck::pod_read_unaligned(&read(&run, found.size())?))
    };

    let cull = || {
        let mut commands = encoder();
        viewer.preprocessor.preprocess(&mut commands, count);
        wait(commands)
    };
    let (mut by_vksort, mut by_viewer) = (Duration::MAX, Duration::MAX);
    for frame in 0..FRAMES {
        cull()?;
        let before = checked()?;
        ensure!(before.count > 0, "the camera sees no splats");
        let started = Instant::now();
        Commands::submit(&queue, [sort.record(Count::Device)?]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
        by_vksort = by_vksort.min(started.elapsed());
        let after = checked()?;
        ensure!(
            after.out_of_order == 0,
            "frame {frame}: {} depths are less than the one before them",
            after.out_of_order
        );
        ensure!((before.hash, before.count) == (after.hash, after.count), "frame {frame}: other splats after the sort");
        let mut commands = encoder();
        viewer.renderer.render(&mut commands, &view, &viewer.indirect_args_buffer);
        wait(commands)?;
        println!(
            "frame {frame}    {} of {} splats are out of order, none after the sort",
            before.out_of_order, after.count
        );
    }
    let shot = |commands: &mut wgpu::CommandEncoder, copy: &wgpu::Buffer| {
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * SIZE.x), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: copy, layout };
        commands.copy_texture_to_buffer(picture.as_image_copy(), to, size);
    };
    let pixels = read(&shot, u64::from(4 * SIZE.x * SIZE.y))?;
    let lit = pixels.chunks(4).filter(|pixel| pixel[..3].iter().any(|channel| *channel > 8)).count();
    ensure!(lit > 0, "the picture is black");
    println!("picture    {lit} of {} pixels are lit", SIZE.x * SIZE.y);

    // For comparison, the sort that the renderer brings.
    for _ in 0..2 {
        cull()?;
        let mut commands = encoder();
        viewer.radix_sorter.sort(&mut commands, &viewer.radix_sort_indirect_args_buffer);
        by_viewer = by_viewer.min(wait(commands)?);
    }
    println!("sorts      {by_vksort:.1?} by vksort, {by_viewer:.1?} by the renderer's own");
    Ok(())
}

fn main() -> ExitCode {
    env_logger::init();
    let (mut scene, mut plain, mut validate) = (None, false, false);
    let flags = std::env::args().skip(1).try_for_each(|argument| {
        match argument.as_str() {
            "--plain" => plain = true,
            "--validate" => validate = true,
            "--help" => {
                println!("{HELP}");
                std::process::exit(0);
            }
            path if scene.is_none() && !path.starts_with('-') => scene = Some(argument),
            other => bail!("unknown argument {other:?}, allowed are a scene, --plain, --validate and --help"),
        }
        Ok(())
    });
    match flags.and_then(|()| run(scene.as_deref(), plain, validate)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vksort-viewer: {error:#}");
            ExitCode::FAILURE
        }
    }
}
