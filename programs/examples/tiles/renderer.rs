//! The renderer: all of a frame in one command buffer, without a readback.

use std::io::Cursor;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use anyhow::{Result, ensure};
use ash::vk::{self, BufferUsageFlags as Usage};
use glam::Mat3;
use vksort::{AccessScope, BoundSort, Capacity, Count, Inspection, Inspector, KeyType};
use vksort::{Segments, SortBuffers, SortRequest, Sorter, SorterOptions};
use vksort_programs::common::vk::buffer::{Buffer, barrier, describe};
use vksort_programs::common::vk::device::Device;
use vksort_programs::splats::camera::{BACKGROUND, Camera, Projection, Size};
use vksort_programs::splats::scene::Splat;

/// Pixels of a side of a tile, as in the shaders.
pub const TILE: usize = 16;
/// The footprint of a splat, whose third number is its depth.
type Footprint = [f32; 12];
/// The shaders in the order of a frame.
const SHADERS: [&[u8]; 4] = [
    include_bytes!("project.spv"),
    include_bytes!("offsets.spv"),
    include_bytes!("emit.spv"),
    include_bytes!("blend.spv"),
];

/// What a frame leaves.
pub struct Drawn {
    /// Three bytes a pixel.
    pub picture: Vec<u8>,
    /// The tiles that have splats, and how many.
    pub tiles: Vec<u32>,
    pub lengths: Vec<u32>,
    /// How deep each splat of the scene lies. The CPU would round depths in another way, and so put some splats in another order.
    pub depths: Vec<f32>,
}

/// The lists of all tiles, their sort, and what reports whether it had room for all of them.
struct Lists {
    sort: ManuallyDrop<BoundSort>,
    inspector: ManuallyDrop<Inspector>,
    entries: Buffer,
    report: Buffer,
    _scratch: Buffer,
    capacity: u32,
    device: Rc<Device>,
}

impl Lists {
    /// Lists of so many entries. The buffers are those of the tiles that have splats, and of their offsets.
    fn new(device: &Rc<Device>, sorter: &Sorter, [list, offsets]: [&Buffer; 2], capacity: Capacity) -> Result<Lists> {
        let (size, usage) = (8 * u64::from(capacity.elements), sorter.element_usage());
        let entries = Buffer::new(device, "entries", size, usage)?;
        // The sort may need no scratch, and Vulkan has no buffers of 0 bytes.
        let scratch = sorter.scratch_size(capacity)?.max(4);
        let scratch = Buffer::new(device, "the scratch of the sort", scratch, sorter.scratch_usage())?;
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_DST | Usage::TRANSFER_SRC;
        let report = Buffer::new(device, "the report", 4 * Inspector::WORDS as u64, usage)?;
        let bound = SortBuffers::new(capacity)
            .keys(entries.range())
            .segments(offsets.range())
            .scratch(scratch.range())
            // How many tiles have splats: the first word of the arguments of the dispatch that draws them.
            .count(list.part(0, 4));
        // SAFETY: the buffers are the device's, and live until sort and inspector are destroyed.
        let (sort, inspector) = unsafe {
            let sort = sorter.bind(&bound)?;
            let inspector = sort.inspector(report.range())?;
            (ManuallyDrop::new(sort), ManuallyDrop::new(inspector))
        };
        let (capacity, device) = (capacity.elements, Rc::clone(device));
        Ok(Lists { sort, inspector, entries, report, _scratch: scratch, capacity, device })
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: every frame was waited for; both go once, and before their buffers.
            unsafe {
                ManuallyDrop::drop(&mut self.inspector);
                ManuallyDrop::drop(&mut self.sort);
            }
        }
    }
}

/// A scene on the device, and what draws it.
pub struct Renderer {
    lists: Lists,
    sorter: ManuallyDrop<Sorter>,
    /// By binding, as the shaders name them, but for the entries, which are the sixth.
    buffers: [Buffer; 6],
    pipelines: Vec<vk::Pipeline>,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    splats: u32,
    size: Size,
    device: Rc<Device>,
}

impl Renderer {
    pub fn new(device: &Rc<Device>, splats: &[Splat], size: Size, capacity: u32) -> Result<Renderer> {
        // The key is the depth above the number of the splat: it is different for all splats of a tile, whose order then does not
        // depend on the order in which the shader emits them.
        let request = SortRequest::new(KeyType::U64).segments(Segments::Offsets);
        // SAFETY: the device was created with what the requirements name, and outlives the sorter.
        let sorter = unsafe { Sorter::new(&device.raw, &device.requirements, &request, &SorterOptions::default())? };
        let [across, down] = tiles_of(size);
        let (count, tiles) = (splats.len() as u64, (across * down) as u64);
        let most = u64::from(device.requirements.profile().max_workgroups);
        ensure!(count <= 64 * most, "the scene has {count} splats, allowed on this device are at most {}", 64 * most);
        ensure!(tiles <= most, "the picture has {tiles} tiles, allowed on this device are at most {most}");
        let scene: Vec<[[f32; 4]; 4]> = splats.iter().map(uploaded).collect();
        let (storage, read) = (Usage::STORAGE_BUFFER, Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC);
        let buffers = [
            Buffer::with(device, "the scene", &scene, storage)?,
            Buffer::new(device, "footprints", size_of::<Footprint>() as u64 * count, read)?,
            Buffer::new(device, "tiles", 4 * tiles, storage | Usage::TRANSFER_DST)?,
            Buffer::new(device, "the list of tiles", 12 + 4 * tiles, read | Usage::INDIRECT_BUFFER)?,
            Buffer::new(device, "offsets", 4 * Segments::Offsets.words(tiles as u32), read)?,
            Buffer::new(device, "pixels", 4 * (size.width * size.height) as u64, read | Usage::TRANSFER_DST)?,
        ];
        let [_, _, _, list, offsets, _] = &buffers;
        let lists = Lists::new(device, &sorter, [list, offsets], Capacity::new(capacity).segments(tiles as u32))?;
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(storage).descriptor_count(1);
        let binding = |place| binding.binding(place).stage_flags(vk::ShaderStageFlags::COMPUTE);
        let bindings = [0, 1, 2, 3, 4, 5, 6].map(binding);
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(80)];
        let raw = &device.raw;
        // SAFETY: the modules are compiled from the shaders beside this file, with these bindings and push constants. The buffers are
        // the device's, and live until the sort and the set are destroyed.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = raw.create_descriptor_set_layout(&info, None)?;
            let layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = raw.create_pipeline_layout(&info, None)?;
            let mut pipelines = Vec::new();
            for shader in SHADERS {
                let words = ash::util::read_spv(&mut Cursor::new(shader))?;
                let module = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
                let stage = vk::PipelineShaderStageCreateInfo::default().module(module).name(c"main");
                let stage = stage.stage(vk::ShaderStageFlags::COMPUTE);
                let infos = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
                let made = raw.create_compute_pipelines(vk::PipelineCache::null(), &infos, None);
                raw.destroy_shader_module(module, None);
                pipelines.extend(made.map_err(|(_, result)| result)?);
            }
            let sizes = [vk::DescriptorPoolSize { ty: storage, descriptor_count: bindings.len() as u32 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = raw.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = raw.allocate_descriptor_sets(&info)?[0];
            let renderer = Renderer {
                lists,
                sorter: ManuallyDrop::new(sorter),
                buffers,
                pipelines,
                layout,
                set_layout,
                pool,
                set,
                splats: splats.len() as u32,
                size,
                device: Rc::clone(device),
            };
            renderer.describe();
            Ok(renderer)
        }
    }

    /// Binds the buffers to the shaders. No frame may be pending.
    fn describe(&self) {
        let [scene, footprints, tiles, list, offsets, pixels] = &self.buffers;
        let by_binding = [scene, footprints, tiles, list, offsets, &self.lists.entries, pixels];
        // SAFETY: the buffers live until the set is destroyed, and no frame that uses it is pending.
        unsafe { describe(&self.device.raw, self.set, by_binding) };
    }

    /// Makes room for so many splats of all tiles together. Every frame was waited for.
    pub fn grow(&mut self, capacity: u32) -> Result<()> {
        let [_, _, _, list, offsets, _] = &self.buffers;
        let capacity = Capacity::new(capacity).segments(self.lists.sort.capacity().segments);
        self.lists = Lists::new(&self.device, &self.sorter, [list, offsets], capacity)?;
        self.describe();
        Ok(())
    }

    /// Splats of all tiles together that there is room for.
    pub fn capacity(&self) -> u32 {
        self.lists.capacity
    }

    /// Draws a frame, waits for its end, and reads the picture, unless it is not whole: then there is the report of the sort.
    pub fn draw(&self, camera: &Camera) -> Result<Result<Drawn, Inspection>> {
        let Projection { focal, border, .. } = Projection::new(self.size);
        let Mat3 { x_axis: right, y_axis: down, z_axis: forward } = camera.axes;
        let pushed = [
            camera.eye.extend(f32::from_bits(self.splats)).to_array(),
            right.extend(focal).to_array(),
            down.extend(camera.near).to_array(),
            forward.extend(f32::from_bits(self.lists.capacity)).to_array(),
            [self.size.width as f32, self.size.height as f32, border.x, border.y],
        ];
        let [_, footprints, tiles, list, offsets, pixels] = &self.buffers;
        let (compute, stage) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        let both = AccessScope::COMPUTE_READ | AccessScope::COMPUTE_WRITE;
        let groups = self.splats.div_ceil(64);
        let mut recorded = Ok(());
        // SAFETY: everything is alive until the device has run the commands, and belongs together. The barriers order each pass after
        // those whose writes it reads.
        unsafe {
            self.device.run(|raw, commands| {
                let bind = |shader: usize| {
                    raw.cmd_bind_pipeline(commands, compute, self.pipelines[shader]);
                    raw.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
                    raw.cmd_push_constants(commands, self.layout, stage, 0, bytemuck::cast_slice(&pushed));
                };
                raw.cmd_fill_buffer(commands, tiles.raw, 0, vk::WHOLE_SIZE, 0);
                raw.cmd_fill_buffer(commands, pixels.raw, 0, vk::WHOLE_SIZE, background());
                barrier(raw, commands, AccessScope::TRANSFER_WRITE, both);
                bind(0);
                raw.cmd_dispatch(commands, groups, 1, 1);
                barrier(raw, commands, AccessScope::COMPUTE_WRITE, both);
                bind(1);
                raw.cmd_dispatch(commands, 1, 1, 1);
                barrier(raw, commands, AccessScope::COMPUTE_WRITE, both);
                bind(2);
                raw.cmd_dispatch(commands, groups, 1, 1);
                barrier(raw, commands, AccessScope::COMPUTE_WRITE, BoundSort::INPUT_SCOPE);
                let Lists { sort, inspector, .. } = &self.lists;
                recorded =
                    inspector.record(commands, Count::Device).and_then(|()| sort.record(commands, Count::Device));
                barrier(raw, commands, BoundSort::OUTPUT_SCOPE, both | AccessScope::INDIRECT_READ);
                // The sort has bound its own pipeline, set and push constants.
                bind(3);
                raw.cmd_dispatch_indirect(commands, list.raw, 0);
            })?;
        }
        recorded?;
        let mut words = [0; Inspector::WORDS];
        words.copy_from_slice(&self.lists.report.read(Inspector::WORDS)?);
        let report = Inspection::from(words);
        if !report.is_complete() {
            return Ok(Err(report));
        }
        let busy = list.read::<u32>(1)?[0] as usize;
        let offsets: Vec<u32> = offsets.read(busy + 1)?;
        let lengths: Vec<u32> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let bytes = pixels.read::<[u8; 4]>(self.size.width * self.size.height)?;
        let picture = bytes.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
        let depths = footprints.read::<Footprint>(self.splats as usize)?.iter().map(|footprint| footprint[2]).collect();
        Ok(Ok(Drawn { picture, tiles: list.read::<u32>(3 + busy)?.split_off(3), lengths, depths }))
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        let raw = &self.device.raw;
        // SAFETY: every frame was waited for, and each handle goes once.
        unsafe {
            ManuallyDrop::drop(&mut self.sorter);
            self.pipelines.iter().for_each(|pipeline| raw.destroy_pipeline(*pipeline, None));
            raw.destroy_pipeline_layout(self.layout, None);
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// A splat as the shaders declare it.
fn uploaded(splat: &Splat) -> [[f32; 4]; 4] {
    let Mat3 { x_axis, y_axis, z_axis } = Mat3::from_quat(splat.rotation) * Mat3::from_diagonal(splat.scale);
    let [x, y, z] = splat.position.to_array();
    [x_axis.extend(x), y_axis.extend(y), z_axis.extend(z), splat.color.extend(splat.opacity)].map(|row| row.to_array())
}

/// Tiles across and down.
pub fn tiles_of(size: Size) -> [usize; 2] {
    [size.width.div_ceil(TILE), size.height.div_ceil(TILE)]
}

/// A pixel where there is no splat.
fn background() -> u32 {
    let [red, green, blue] = (BACKGROUND * 255.0).round().to_array().map(|channel| channel as u8);
    u32::from_le_bytes([red, green, blue, u8::MAX])
}
