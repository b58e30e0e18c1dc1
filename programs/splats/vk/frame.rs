//! The frames: culling, keys, sort and draw in one command buffer, which waits for nothing on the host.

use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ash::vk::{self, BufferUsageFlags as Usage};
use cpu_time::ThreadTime;
use glam::Mat3;
use vksort::{AccessScope, Algorithm, BoundSort, Count, DeviceProfile, KeyOutput, KeyType, Order, Placement};
use vksort::{SortBuffers, SortRequest, Sorter, SorterOptions, Tuning, ValueType};

use super::image::{COLOR, Image, LAYER};
use super::pipelines::{BINDINGS, BLENDED, FRAME_BYTES, Pipelines, STAGES};
use vksort_programs::common::memory::Memory;
use vksort_programs::common::vk::buffer::{Buffer, barrier, describe};
use vksort_programs::common::vk::device::Device;
use vksort_programs::splats::Ordering;
use vksort_programs::splats::camera::{BACKGROUND, Camera, Projection, Size};
use vksort_programs::splats::scene::{Scene, Splat};

/// The passes of a frame.
pub const PASSES: [&str; 4] = ["cull", "keys", "sort", "draw"];
/// Timestamps of a frame: at its start and after each pass.
const STAMPS: u32 = PASSES.len() as u32 + 1;
/// Splats of a workgroup, and words that mark those of them that are seen.
const GROUP: u32 = 256;
const GROUP_WORDS: u64 = 8;
/// The binding of the arguments of the draw.
const DRAW: usize = 10;
/// Where the arguments of the draw hold the number of splats.
const COUNT_OFFSET: u64 = 4;

/// Memory for a splat in bytes, rounded up: on the device the buffers of the scene and the scratch of the sort, and on the host
/// the scene, what is uploaded of it, and what is read back to be verified.
const DEVICE_BYTES: u64 = 104;
const HOST_BYTES: u64 = 144;

/// Where the keys of the sort come from.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Keys {
    /// A shader writes them to a buffer.
    Buffer,
    /// A visitor makes them within the sort.
    #[cfg(feature = "visitors")]
    Visitor,
}

impl Keys {
    fn are_visited(self) -> bool {
        self != Keys::Buffer
    }
}

/// What a frame took.
pub struct Times {
    /// CPU time of recording, with the driver's part of it.
    pub recording: Duration,
    /// CPU time of submitting in this thread, with the driver's part of it.
    pub submitting: Duration,
    /// From before the recording to the end.
    pub wall: Duration,
    /// Nanoseconds of each pass, where the device has timestamps.
    pub passes: Option<[f64; PASSES.len()]>,
}

/// What a frame drew.
pub struct Drawn {
    /// The splats in the order in which they were sorted, by index.
    pub order: Vec<u32>,
    /// The depth of each splat of the scene. Those that were culled have none.
    pub depths: Vec<f32>,
}

/// An image of a window.
pub struct Target {
    pub image: vk::Image,
    pub size: Size,
    /// The image may be written, and the image is written.
    pub semaphores: [vk::Semaphore; 2],
}

/// A scene on the device, and what draws it.
pub struct Renderer {
    sort: ManuallyDrop<BoundSort>,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    queries: vk::QueryPool,
    fence: vk::Fence,
    framebuffer: vk::Framebuffer,
    commands: vk::CommandBuffer,
    picture: Image,
    /// By binding.
    buffers: [Buffer; BINDINGS],
    _scratch: Option<Buffer>,
    pipelines: Pipelines,
    splats: u32,
    antialiased: bool,
    keys: Keys,
    size: Size,
    device: Rc<Device>,
}

impl Renderer {
    /// The most splats that a device can draw, by its limits and its memory.
    pub fn most_splats(profile: &DeviceProfile) -> u64 {
        let by_limits =
            (profile.max_storage_range_bytes / 16).min(u64::from(GROUP) * u64::from(profile.max_workgroups));
        let Memory { device, host } = Memory::available(profile);
        let by_memory = match profile.is_cpu {
            true => host / (DEVICE_BYTES + HOST_BYTES),
            false => (device / DEVICE_BYTES).min(host / HOST_BYTES),
        };
        by_limits.min(by_memory)
    }

    /// Uploads a scene of at most [`most_splats`](Self::most_splats), and prepares to draw it.
    pub fn new(
        device: &Rc<Device>,
        scene: &Scene,
        size: Size,
        keys: Keys,
        algorithm: Option<Algorithm>,
        tuning: Option<Tuning>,
    ) -> Result<Renderer> {
        let profile = device.requirements.profile();
        ensure!(
            profile.max_storage_buffers >= BINDINGS as u32,
            "{} has {} storage buffers in a set, needed are {BINDINGS}",
            profile.name,
            profile.max_storage_buffers
        );
        let splats = &scene.splats;
        let count = splats.len() as u32;
        let pipelines = Pipelines::new(device)?;
        let buffers = scene_buffers(device, splats, keys)?;

        let farthest = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
        let placement = if keys.are_visited() { Placement::OutOfPlace } else { Placement::InPlace };
        let request = farthest.placement(placement).key_output(KeyOutput::Discarded).algorithm(algorithm);
        let options = SorterOptions::default().tuning(tuning).capacity(count);
        let options = match keys {
            Keys::Buffer => options,
            #[cfg(feature = "visitors")]
            Keys::Visitor => options.visitor(visitor(), pipelines.set_layout),
        };
        // SAFETY: the device was created with what the requirements name, and outlives the sorter; the layout has the bindings of
        // the visitor, whose keys are the same throughout a sort.
        let sorter = unsafe { Sorter::new(&device.raw, &device.requirements, &request, &options)? };
        let scratch = match sorter.scratch_size(count)? {
            0 => None,
            size => Some(Buffer::new(device, "the scratch of the sort", size, sorter.scratch_usage())?),
        };
        let [.., of_keys, order, draw, sorted] = &buffers;
        let bound = SortBuffers::new(count)
            .keys((!keys.are_visited()).then(|| of_keys.range()))
            .values(order.range())
            .values_out(keys.are_visited().then(|| sorted.range()))
            .scratch(scratch.as_ref().map(Buffer::range))
            .count(draw.part(COUNT_OFFSET, 4));
        // SAFETY: the buffers are the device's, and live until the sort is dropped.
        let sort = unsafe { sorter.bind(&bound)? };

        // What can fail comes first, as the sort is destroyed by the renderer alone.
        let (commands, picture) = (device.commands()?, picture(device, size)?);
        let mut renderer = Renderer {
            sort: ManuallyDrop::new(sort),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            queries: vk::QueryPool::null(),
            fence: vk::Fence::null(),
            framebuffer: vk::Framebuffer::null(),
            commands,
            picture,
            buffers,
            _scratch: scratch,
            pipelines,
            splats: count,
            antialiased: scene.antialiased,
            keys,
            size,
            device: Rc::clone(device),
        };
        renderer.make_handles()?;
        Ok(renderer)
    }

    /// The algorithm that sorts the scene.
    pub fn algorithm(&self) -> Algorithm {
        self.sort.algorithm(self.splats).expect("the splats are one array")
    }

    /// Draws a frame, and waits for its end.
    pub fn draw(&mut self, camera: &Camera, ordering: Ordering) -> Result<Times> {
        // SAFETY: there is no target.
        unsafe { self.draw_to(camera, ordering, None) }
    }

    /// Draws a frame, copies it to a target if there is one, and waits for its end.
    ///
    /// # Safety
    ///
    /// The image of the target is alive and may be written once the first semaphore is signalled, which will happen; the
    /// second semaphore is not in use.
    pub unsafe fn draw_to(&mut self, camera: &Camera, ordering: Ordering, target: Option<&Target>) -> Result<Times> {
        let (started, recording) = (Instant::now(), ThreadTime::now());
        // SAFETY: the frame before has ended, so nothing of it is pending.
        unsafe { self.record(camera, ordering, target).context("recording a frame")? };
        let (recording, submitting) = (recording.elapsed(), ThreadTime::now());
        // SAFETY: the commands were just recorded, and what they use lives as long as the renderer; the fence was reset.
        unsafe { self.device.submit(self.commands, self.fence, target.map(|target| target.semaphores))? };
        let submitting = submitting.elapsed();
        self.device.wait(self.fence)?;
        Ok(Times { recording, submitting, wall: started.elapsed(), passes: self.pass_times()? })
    }

    /// What the last frame drew.
    pub fn drawn(&self, ordering: Ordering) -> Result<Drawn> {
        let [.., depths, _bits, _counts, _keys, order, draw, sorted] = &self.buffers;
        let order = if self.is_apart(ordering) { sorted } else { order };
        let count: Vec<u32> = draw.read(2)?;
        Ok(Drawn { order: order.read(count[1] as usize)?, depths: depths.read(self.splats as usize)? })
    }

    /// Whether the order is in a buffer of its own.
    fn is_apart(&self, ordering: Ordering) -> bool {
        self.keys.are_visited() && ordering != Ordering::Unsorted
    }

    /// The picture of the last frame, three bytes a pixel.
    pub fn picture(&self) -> Result<Vec<u8>> {
        let byte = |half: u16| (half::f16::from_bits(half).to_f32().clamp(0.0, 1.0) * 255.0).round() as u8;
        let pixels = self.picture.read()?.into_iter();
        Ok(pixels.flat_map(|[red, green, blue, _alpha]| [red, green, blue].map(byte)).collect())
    }

    fn make_handles(&mut self) -> Result<()> {
        let raw = &self.device.raw;
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        let sizes = [vk::DescriptorPoolSize { ty: storage, descriptor_count: BINDINGS as u32 }];
        let layouts = [self.pipelines.set_layout];
        // SAFETY: everything is of the same device and alive; `self` owns the handles.
        unsafe {
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            self.pool = raw.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
            self.set = raw.allocate_descriptor_sets(&info)?[0];
            describe(raw, self.set, &self.buffers);
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(STAMPS);
            self.queries = raw.create_query_pool(&info, None)?;
            self.fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        self.make_framebuffer()
    }

    fn make_framebuffer(&mut self) -> Result<()> {
        let views = [self.picture.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(self.pipelines.pass)
            .attachments(&views)
            .width(self.size.width as u32)
            .height(self.size.height as u32)
            .layers(1);
        // SAFETY: pass and view are alive and fit each other; `self` owns the handle.
        self.framebuffer = unsafe { self.device.raw.create_framebuffer(&info, None)? };
        Ok(())
    }

    /// Draws pictures of another size from now on.
    #[cfg(feature = "window")]
    pub fn resize(&mut self, size: Size) -> Result<()> {
        // SAFETY: the last frame was waited for; a null handle takes the place of the destroyed one.
        unsafe { self.device.raw.destroy_framebuffer(std::mem::take(&mut self.framebuffer), None) };
        self.picture = picture(&self.device, size)?;
        self.size = size;
        self.make_framebuffer()
    }

    /// # Safety
    ///
    /// The command buffer is not pending. The target is as for `draw_to`.
    unsafe fn record(&self, camera: &Camera, ordering: Ordering, target: Option<&Target>) -> Result<()> {
        let (raw, commands) = (&self.device.raw, self.commands);
        let compute = vk::PipelineBindPoint::COMPUTE;
        let groups = self.splats.div_ceil(GROUP);
        // SAFETY: by this function's contract. Sets, pipelines and push constants are of one layout. The barriers order
        // each pass after the writes that it reads, and the first one after the reads of the frame before.
        unsafe {
            let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            raw.begin_command_buffer(commands, &once)?;
            if self.device.timestamp_bits > 0 {
                raw.cmd_reset_query_pool(commands, self.queries, 0, STAMPS);
            }
            // lavapipe takes the time at the next barrier.
            self.stamp(0);
            let both = AccessScope::COMPUTE_READ | AccessScope::COMPUTE_WRITE;
            let drawing = AccessScope::VERTEX_SHADER_READ | AccessScope::INDIRECT_READ;
            barrier(raw, commands, both | drawing | AccessScope::TRANSFER_READ, both);
            raw.cmd_push_constants(
                commands,
                self.pipelines.layout,
                STAGES,
                0,
                bytemuck::cast_slice(&self.frame(camera, ordering)),
            );
            for point in [compute, vk::PipelineBindPoint::GRAPHICS] {
                raw.cmd_bind_descriptor_sets(commands, point, self.pipelines.layout, 0, &[self.set], &[]);
            }
            raw.cmd_bind_pipeline(commands, compute, self.pipelines.cull);
            raw.cmd_dispatch(commands, groups, 1, 1);
            barrier(raw, commands, AccessScope::COMPUTE_WRITE, both);
            raw.cmd_bind_pipeline(commands, compute, self.pipelines.scan);
            raw.cmd_dispatch(commands, 1, 1, 1);
            self.stamp(1);
            barrier(raw, commands, AccessScope::COMPUTE_WRITE, AccessScope::COMPUTE_READ);
            raw.cmd_bind_pipeline(commands, compute, self.pipelines.keys);
            raw.cmd_dispatch(commands, groups, 1, 1);
            self.stamp(2);
            barrier(raw, commands, AccessScope::COMPUTE_WRITE, BoundSort::INPUT_SCOPE);
            if ordering != Ordering::Unsorted {
                match self.keys {
                    Keys::Buffer => self.sort.record(commands, Count::Device)?,
                    #[cfg(feature = "visitors")]
                    Keys::Visitor => {
                        let resources = vksort::VisitorResources::default().set(self.set);
                        self.sort.record_visited(commands, Count::Device, None, resources)?;
                    }
                }
            }
            self.stamp(3);
            barrier(raw, commands, BoundSort::OUTPUT_SCOPE, drawing);
            self.record_draw(camera, ordering);
            self.stamp(4);
            if let Some(target) = target {
                self.record_copy(target);
            }
            raw.end_command_buffer(commands)?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// The command buffer is recording, and what the draw reads is visible to it.
    unsafe fn record_draw(&self, camera: &Camera, ordering: Ordering) {
        let (raw, commands) = (&self.device.raw, self.commands);
        let Size { width, height } = self.size;
        let area = vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent: vk::Extent2D { width: width as u32, height: height as u32 },
        };
        let viewport =
            vk::Viewport { width: width as f32, height: height as f32, max_depth: 1.0, ..vk::Viewport::default() };
        let [red, green, blue] = BACKGROUND.to_array();
        let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: [red, green, blue, 1.0] } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pipelines.pass)
            .framebuffer(self.framebuffer)
            .render_area(area)
            .clear_values(&clear);
        // SAFETY: by this function's contract. Pass, framebuffer and pipeline fit each other.
        unsafe {
            raw.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipelines.draw);
            // Binding the pipelines and the set of the sort has made them void.
            raw.cmd_push_constants(
                commands,
                self.pipelines.layout,
                STAGES,
                0,
                bytemuck::cast_slice(&self.frame(camera, ordering)),
            );
            raw.cmd_set_viewport(commands, 0, &[viewport]);
            raw.cmd_set_scissor(commands, 0, &[area]);
            raw.cmd_draw_indirect(commands, self.buffers[DRAW].raw, 0, 1, 0);
            raw.cmd_end_render_pass(commands);
        }
    }

    /// Copies the picture to an image that is then presented.
    ///
    /// # Safety
    ///
    /// The command buffer is recording, after the draw. The target is as for `draw_to`.
    unsafe fn record_copy(&self, target: &Target) {
        let (raw, commands) = (&self.device.raw, self.commands);
        let corner = |size: Size| vk::Offset3D { x: size.width as i32, y: size.height as i32, z: 1 };
        let blit = [vk::ImageBlit {
            src_subresource: LAYER,
            src_offsets: [vk::Offset3D::default(), corner(self.size)],
            dst_subresource: LAYER,
            dst_offsets: [vk::Offset3D::default(), corner(target.size)],
        }];
        let (from, to) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let turn = |old, new, before, after| {
            let image = [vk::ImageMemoryBarrier::default()
                .old_layout(old)
                .new_layout(new)
                .src_access_mask(before)
                .dst_access_mask(after)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(target.image)
                .subresource_range(COLOR)];
            // The semaphores order what comes before and after by this stage.
            let stage = vk::PipelineStageFlags::TRANSFER;
            // SAFETY: by this function's contract.
            unsafe { raw.cmd_pipeline_barrier(commands, stage, stage, Default::default(), &[], &[], &image) };
        };
        let (none, write) = (vk::AccessFlags::empty(), vk::AccessFlags::TRANSFER_WRITE);
        turn(vk::ImageLayout::UNDEFINED, to, none, write);
        // SAFETY: by this function's contract; the pass of the draw leaves the picture in this layout.
        unsafe { raw.cmd_blit_image(commands, self.picture.raw, from, target.image, to, &blit, vk::Filter::NEAREST) };
        turn(to, vk::ImageLayout::PRESENT_SRC_KHR, write, none);
    }

    /// # Safety
    ///
    /// The command buffer is recording, and has reset the queries.
    unsafe fn stamp(&self, index: u32) {
        if self.device.timestamp_bits > 0 {
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            // SAFETY: by this function's contract; the pool has this query.
            unsafe { self.device.raw.cmd_write_timestamp(self.commands, stage, self.queries, index) };
        }
    }

    /// The description of a frame, as the shaders declare it.
    fn frame(&self, camera: &Camera, ordering: Ordering) -> [[f32; 4]; FRAME_BYTES as usize / 16] {
        let Projection { focal, border, .. } = Projection::new(self.size);
        let Mat3 { x_axis: right, y_axis: down, z_axis: forward } = camera.axes;
        let reversed = u32::from(ordering == Ordering::Reversed);
        let (visited, apart) = (u32::from(self.keys.are_visited()), u32::from(self.is_apart(ordering)));
        let mode = reversed | visited << 1 | apart << 2 | u32::from(self.antialiased) << 3;
        [
            camera.eye.extend(f32::from_bits(self.splats)).to_array(),
            right.extend(focal).to_array(),
            down.extend(camera.near).to_array(),
            forward.extend(f32::from_bits(mode)).to_array(),
            [self.size.width as f32, self.size.height as f32, border.x, border.y],
        ]
    }

    fn pass_times(&self) -> Result<Option<[f64; PASSES.len()]>> {
        let bits = self.device.timestamp_bits;
        if bits == 0 {
            return Ok(None);
        }
        let mut ticks = [0u64; STAMPS as usize];
        // SAFETY: the frame that writes the queries has ended.
        unsafe {
            let flags = vk::QueryResultFlags::TYPE_64;
            self.device.raw.get_query_pool_results(self.queries, 0, &mut ticks, flags)?;
        }
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let period = f64::from(self.device.requirements.profile().timestamp_period_ns);
        let between = |pass: usize| (ticks[pass + 1].wrapping_sub(ticks[pass]) & mask) as f64 * period;
        Ok(Some(std::array::from_fn(between)))
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        // SAFETY: every frame was waited for; each handle is null or goes once, and the sort before its buffers.
        unsafe {
            ManuallyDrop::drop(&mut self.sort);
            self.device.raw.destroy_framebuffer(self.framebuffer, None);
            self.device.raw.destroy_fence(self.fence, None);
            self.device.raw.destroy_query_pool(self.queries, None);
            self.device.raw.destroy_descriptor_pool(self.pool, None);
        }
    }
}

/// What makes the keys within the sort.
#[cfg(feature = "visitors")]
fn visitor() -> vksort::Visitor {
    let text = include_str!("../shaders/depth.glsl");
    vksort_visitors::VisitorSource::new("depth.glsl").text(text).visits(vksort::Visits::NONE.keys(true)).into()
}

fn picture(device: &Rc<Device>, size: Size) -> Result<Image> {
    let (side, most) = (size.width.max(size.height), device.longest_side);
    ensure!(
        side <= most as usize,
        "a side of the picture has {side} pixels, allowed on this device are at most {most}"
    );
    let extent = vk::Extent2D { width: size.width as u32, height: size.height as u32 };
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    Image::new(device, extent, BLENDED, usage)
}

/// The buffers of a scene by binding, those that it comes in filled.
fn scene_buffers(device: &Rc<Device>, splats: &[Splat], keys: Keys) -> Result<[Buffer; BINDINGS]> {
    let half = |value: f32| u32::from(half::f16::from_f32(value.clamp(-MAX_COLOR, MAX_COLOR)).to_bits());
    let positions: Vec<[u32; 4]> = splats
        .iter()
        .map(|splat| {
            let [x, y, z] = splat.position.to_array().map(f32::to_bits);
            [x, y, z, half(splat.color.x) | half(splat.color.y) << 16]
        })
        .collect();
    let rotations: Vec<[f32; 4]> = splats.iter().map(|splat| splat.rotation.to_array()).collect();
    let scales: Vec<[u32; 4]> = splats
        .iter()
        .map(|splat| {
            let [x, y, z] = splat.scale.to_array().map(f32::to_bits);
            let opacity = (splat.opacity * f32::from(u16::MAX)).round() as u32;
            [x, y, z, half(splat.color.z) | opacity << 16]
        })
        .collect();

    let count = splats.len() as u64;
    let groups = count.div_ceil(u64::from(GROUP));
    // A buffer that no shader uses is as short as a buffer can be.
    let (of_keys, of_sorted) = if keys.are_visited() { (1, count) } else { (count, 1) };
    let (storage, read) = (Usage::STORAGE_BUFFER, Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC);
    Ok([
        Buffer::with(device, "the scene", &positions, storage)?,
        Buffer::with(device, "the scene", &rotations, storage)?,
        Buffer::with(device, "the scene", &scales, storage)?,
        Buffer::new(device, "places of splats", 16 * count, storage)?,
        Buffer::new(device, "shapes of splats", 16 * count, storage)?,
        Buffer::new(device, "depths", 4 * count, read)?,
        Buffer::new(device, "marks of splats", 4 * GROUP_WORDS * groups, storage)?,
        Buffer::new(device, "counts of splats", 4 * groups, storage)?,
        Buffer::new(device, "keys", 4 * of_keys, storage)?,
        Buffer::new(device, "values", 4 * count, read)?,
        Buffer::new(device, "the arguments of the draw", 16, read | Usage::INDIRECT_BUFFER)?,
        Buffer::new(device, "sorted values", 4 * of_sorted, read)?,
    ])
}

/// Brightest colour that is kept.
const MAX_COLOR: f32 = 1000.0;
