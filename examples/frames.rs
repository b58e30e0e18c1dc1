//! A renderer's loop: a culling pass on the device writes keys, values and their count, the sort reads them, and a pass after
//! it reads the result. Two frames are in flight on one queue, and share the buffers of the sort. These begin with room for a part of
//! the splats; an inspector beside the sort reports how many had none, and the renderer grows the buffers.
//!
//! This is one file to copy from, with the shader in `frames/`. It needs the crates `vksort`, `ash` with the feature
//! `loaded`, and `anyhow`.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io::Cursor;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, ensure};
use ash::ext::debug_utils;
use ash::vk::{self, BufferUsageFlags as Usage, MemoryPropertyFlags as Memory};
use vksort::{AccessScope, BoundSort, BufferRange, Count, Inspection, Inspector, InstanceRequirements, KeyType, Order};
use vksort::{Requirements, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};

/// Splats of the scene.
const SPLATS: u32 = 200_000;
/// Splats that the buffers of the sort have room for at first.
const CAPACITY: u32 = 60_000;
const FRAMES: usize = 8;
const IN_FLIGHT: usize = 2;

/// The push constants of the shader: whole numbers, whose sums are exact in every order.
#[repr(C)]
#[derive(Clone, Copy)]
struct Camera {
    eye: [f32; 3],
    splats: u32,
    forward: [f32; 3],
    near: f32,
}

impl Camera {
    fn of_frame(frame: usize) -> Camera {
        let step = frame as f32;
        Camera { eye: [step, -step, 0.0], splats: SPLATS, forward: [3.0 - step, step, 1.0], near: 100.0 * step }
    }

    fn words(&self) -> [u32; 8] {
        let Camera { eye: [x, y, z], splats, forward: [u, v, w], near } = *self;
        [x.to_bits(), y.to_bits(), z.to_bits(), splats, u.to_bits(), v.to_bits(), w.to_bits(), near.to_bits()]
    }

    fn depth(&self, position: &[f32; 3]) -> f32 {
        (0..3).map(|axis| (position[axis] - self.eye[axis]) * self.forward[axis]).sum()
    }
}

/// The objects of one frame in flight.
struct Frame {
    commands: vk::CommandBuffer,
    done: vk::Fence,
    /// Host memory that the last pass writes: the inspector's report, and then keys and values of the frame's capacity.
    host: Buffer,
    mapped: *const u32,
    capacity: u32,
}

/// The sort, with buffers for as many splats as its capacity.
struct Bound {
    sort: BoundSort,
    inspector: Inspector,
    buffers: [Buffer; 3],
    capacity: u32,
}

impl Bound {
    fn new(vulkan: &Vulkan, sorter: &Sorter, [count, report]: [&Buffer; 2], capacity: u32) -> Result<Bound> {
        let (sizes, local) = (sorter.buffer_sizes(capacity), Memory::DEVICE_LOCAL);
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC;
        let keys = vulkan.buffer(sizes.keys.context("there are keys")?, usage, local)?;
        let values = vulkan.buffer(sizes.values.context("there are values")?, usage, local)?;
        let scratch = vulkan.buffer(sorter.scratch_size(capacity)?.max(4), sorter.scratch_usage(), local)?;
        let ranges = SortBuffers::new(capacity).keys(keys.range()).values(values.range()).scratch(scratch.range());
        // SAFETY: the buffers are the device's, and live until sort and inspector are dropped.
        unsafe {
            let sort = sorter.bind(&ranges.count(count.range()))?;
            let inspector = sort.inspector(report.range())?;
            Ok(Bound { sort, inspector, buffers: [keys, values, scratch], capacity })
        }
    }

    /// # Safety
    ///
    /// Nothing that was recorded is pending.
    unsafe fn destroy(self, vulkan: &Vulkan) {
        let Bound { sort, inspector, buffers, capacity: _ } = self;
        drop((inspector, sort));
        // SAFETY: by this function's contract; each buffer goes once.
        buffers.into_iter().for_each(|buffer| unsafe { vulkan.destroy(buffer) });
    }
}

fn run(validate: bool) -> Result<()> {
    let vulkan = Vulkan::open(validate)?;
    let device = &vulkan.device;
    let mixed = |seed: u32| (seed.wrapping_mul(0x9E37_79B9) ^ seed >> 15).wrapping_mul(0x85EB_CA6B);
    let coordinate = |seed: u32| (mixed(mixed(seed)) >> 22) as f32 - 512.0;
    let positions: Vec<[f32; 3]> =
        (0..3 * SPLATS).step_by(3).map(|seed| [0, 1, 2].map(|axis| coordinate(seed + axis))).collect();

    let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
    // SAFETY: the device was created with what the requirements name, and outlives the sorter.
    let sorter = unsafe { Sorter::new(device, &vulkan.requirements, &request, &SorterOptions::default())? };
    let (local, seen) = (Memory::DEVICE_LOCAL, Memory::HOST_VISIBLE | Memory::HOST_COHERENT);
    let scene = vulkan.buffer(12 * u64::from(SPLATS), Usage::STORAGE_BUFFER, seen)?;
    let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let [count, report] = [vulkan.buffer(4, usage, local)?, vulkan.buffer(REPORT_SIZE, usage, local)?];
    // One bound sort serves all frames, until it has to grow.
    let mut bound = Bound::new(&vulkan, &sorter, [&count, &report], CAPACITY)?;

    // SAFETY: handles are the device's and are destroyed once, when the queue is idle. Mapped memory is as long as what is
    // copied there, and is read once the frame's fence says so. The barriers order what touches buffers.
    unsafe {
        let mapped = device.map_memory(scene.memory, 0, vk::WHOLE_SIZE, Default::default())?.cast::<[f32; 3]>();
        mapped.copy_from_nonoverlapping(positions.as_ptr(), positions.len());
        let cull = Cull::new(device)?;
        cull.describe(device, &scene, &bound.buffers, &count);
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(vulkan.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(IN_FLIGHT as u32);
        let mut frames = Vec::new();
        for commands in device.allocate_command_buffers(&info)? {
            let host = vulkan.buffer(REPORT_SIZE + 8 * u64::from(SPLATS), Usage::TRANSFER_DST, seen)?;
            let mapped = device.map_memory(host.memory, 0, vk::WHOLE_SIZE, Default::default())?.cast::<u32>();
            let done = device.create_fence(&Default::default(), None)?;
            frames.push(Frame { commands, done, host, mapped, capacity: 0 });
        }

        for index in 0..FRAMES + IN_FLIGHT {
            let frame = &mut frames[index % IN_FLIGHT];
            if index >= IN_FLIGHT {
                device.wait_for_fences(&[frame.done], true, 60_000_000_000)?;
                device.reset_fences(&[frame.done])?;
                let found =
                    std::slice::from_raw_parts(frame.mapped, REPORT_SIZE as usize / 4 + 2 * frame.capacity as usize);
                let verified = verify(index - IN_FLIGHT, found, &positions);
                let grows = verified.as_ref().is_ok_and(|found| found.elements_beyond > 0);
                // An error drops the sort, which frames in flight still use.
                if verified.is_err() || grows {
                    device.device_wait_idle()?;
                }
                // The frames after this one may need some more. Those in flight may have found the same.
                let beyond = verified?.elements_beyond;
                let wanted = frame.capacity + beyond + beyond / 4;
                if grows && wanted > bound.capacity {
                    bound.destroy(&vulkan);
                    bound = Bound::new(&vulkan, &sorter, [&count, &report], wanted.min(SPLATS))?;
                    cull.describe(device, &scene, &bound.buffers, &count);
                    println!("grown      to a capacity of {}", bound.capacity);
                }
            }
            if index >= FRAMES {
                continue;
            }
            let (commands, [keys, values, _]) = (frame.commands, &bound.buffers);
            frame.capacity = bound.capacity;
            let barrier = |from: AccessScope, to: AccessScope| {
                let memory = [from.barrier_to(to)];
                device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
            };
            let copy = |from: &Buffer, dst_offset: u64| {
                let region = [vk::BufferCopy { src_offset: 0, dst_offset, size: from.size }];
                device.cmd_copy_buffer(commands, from.raw, frame.host.raw, &region);
            };
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            // The previous frame may still read the buffers that this frame writes.
            let compute = AccessScope::COMPUTE_READ | AccessScope::COMPUTE_WRITE;
            barrier(compute | AccessScope::TRANSFER_READ, compute | AccessScope::TRANSFER_WRITE);
            device.cmd_fill_buffer(commands, count.raw, 0, 4, 0);
            barrier(AccessScope::TRANSFER_WRITE, compute);
            cull.record(device, commands, &Camera::of_frame(index));
            barrier(AccessScope::COMPUTE_WRITE, BoundSort::INPUT_SCOPE);
            bound.inspector.record(commands, Count::Device)?;
            bound.sort.record(commands, Count::Device)?;
            barrier(BoundSort::OUTPUT_SCOPE, AccessScope::TRANSFER_READ);
            copy(&report, 0);
            copy(keys, REPORT_SIZE);
            copy(values, REPORT_SIZE + keys.size);
            barrier(AccessScope::TRANSFER_WRITE, AccessScope::HOST_READ);
            device.end_command_buffer(commands)?;
            let submits = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&commands))];
            device.queue_submit(vulkan.queue, &submits, frame.done)?;
        }

        bound.destroy(&vulkan);
        drop(sorter);
        cull.destroy(device);
        device.destroy_command_pool(pool, None);
        for frame in &frames {
            device.destroy_fence(frame.done, None);
        }
        let hosts = frames.iter().map(|frame| frame.host);
        for buffer in [scene, count, report].into_iter().chain(hosts) {
            vulkan.destroy(buffer);
        }
    }
    println!("verified   {FRAMES} frames, {IN_FLIGHT} in flight");
    Ok(())
}

/// Compares the result of a frame with a sort on the CPU, and gives its report. Splats of equal depth are in the order in which
/// invocations of the cull have written them. Of splats that had no room there may be any.
fn verify(frame: usize, found: &[u32], positions: &[[f32; 3]]) -> Result<Inspection> {
    let camera = Camera::of_frame(frame);
    let depths: Vec<f32> = positions.iter().map(|position| camera.depth(position)).collect();
    let mut expected: Vec<f32> = depths.iter().copied().filter(|depth| *depth > camera.near).collect();
    expected.sort_by(|a, b| b.total_cmp(a));
    let (report, sorted) = found.split_first_chunk().context("a report")?;
    let (report, (keys, values)) = (Inspection::from(*report), sorted.split_at(sorted.len() / 2));
    let (count, needed) = (report.count as usize, expected.len());
    ensure!(count == needed, "frame {frame} keeps {count} splats, needed are {needed}");
    let room = count.min(keys.len());
    let beyond = (count - room) as u32;
    ensure!(report.elements_beyond == beyond, "frame {frame} has {beyond} splats too many, and {report:?}");
    let sorted = match report.is_complete() {
        true => keys[..count].iter().zip(&expected).all(|(key, depth)| *key == depth.to_bits()),
        false => keys[..room].is_sorted_by(|one, other| f32::from_bits(*one) >= f32::from_bits(*other)),
    };
    ensure!(sorted, "the depths of frame {frame} are not sorted");
    let mut left = vec![true; positions.len()];
    for (splat, key) in values[..room].iter().map(|splat| *splat as usize).zip(keys) {
        let own = depths.get(splat).is_some_and(|depth| depth.to_bits() == *key);
        ensure!(own && std::mem::take(&mut left[splat]), "frame {frame} has splat {splat} in the wrong place");
    }
    let without = if beyond > 0 { format!(", {beyond} without room") } else { String::new() };
    println!("frame {frame}    {count:>6} of {SPLATS} splats in front of the camera, farthest first{without}");
    Ok(report)
}

/// Bytes of a report.
const REPORT_SIZE: u64 = 4 * Inspector::WORDS as u64;

/// The culling pass.
struct Cull {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl Cull {
    /// # Safety
    ///
    /// The device is alive.
    unsafe fn new(device: &ash::Device) -> Result<Cull> {
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        let binding = |binding: u32| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(storage);
            binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings = [0, 1, 2, 3].map(binding);
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(32)];
        let words = ash::util::read_spv(&mut Cursor::new(include_bytes!("frames/cull.spv")))?;
        // SAFETY: the module is what frames/cull.comp compiles to, with these bindings and push constants.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            let layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None)?;
            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default().module(module).name(c"main");
            let stage = stage.stage(vk::ShaderStageFlags::COMPUTE);
            let infos = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None);
            device.destroy_shader_module(module, None);
            let pipeline = made.map_err(|(_, result)| result)?[0];
            let sizes = [vk::DescriptorPoolSize { ty: storage, descriptor_count: 4 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info)?[0];
            Ok(Cull { set_layout, layout, pipeline, pool, set })
        }
    }

    /// Binds the scene, the keys and values of the sort, and its count.
    ///
    /// # Safety
    ///
    /// The buffers are the device's, and live as long as what is recorded. Nothing that was recorded is pending.
    unsafe fn describe(&self, device: &ash::Device, scene: &Buffer, [keys, values, _]: &[Buffer; 3], count: &Buffer) {
        for (binding, buffer) in (0..).zip([scene, keys, values, count]) {
            let whole = [vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default().dst_set(self.set).dst_binding(binding);
            let write = write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&whole);
            // SAFETY: by this function's contract.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
    }

    /// # Safety
    ///
    /// `commands` is recording.
    unsafe fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, camera: &Camera) {
        let words = camera.words().map(u32::to_ne_bytes);
        let (compute, stage) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: by this function's contract; everything belongs together.
        unsafe {
            device.cmd_bind_pipeline(commands, compute, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
            device.cmd_push_constants(commands, self.layout, stage, 0, words.as_flattened());
            device.cmd_dispatch(commands, SPLATS.div_ceil(64), 1, 1);
        }
    }

    /// # Safety
    ///
    /// Nothing that was recorded is pending.
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: by this function's contract; each handle goes once.
        unsafe {
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// The program's own instance and device, created with what vksort requires.
struct Vulkan {
    instance: ash::Instance,
    messenger: Option<(debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    device: ash::Device,
    requirements: Requirements,
    memory: vk::PhysicalDeviceMemoryProperties,
    family: u32,
    queue: vk::Queue,
    _entry: ash::Entry,
}

impl Vulkan {
    fn open(validate: bool) -> Result<Vulkan> {
        // SAFETY: the Vulkan library is trusted to be one; handles are used with what they come from; extensions, layers
        // and features are those that were found, or creation fails.
        unsafe {
            let entry = ash::Entry::load().context("no Vulkan loader was found")?;
            let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
            let mut extensions: Vec<_> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
            let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
            let synchronization = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
            let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&synchronization);
            let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
            let mut info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
            if validate {
                extensions.push(debug_utils::NAME.as_ptr());
                info = info.enabled_layer_names(&layers).push_next(&mut checks);
            }
            let info = info.enabled_extension_names(&extensions);
            let instance = entry.create_instance(&info, None).context("Vulkan gives no instance")?;
            let mut messenger = None;
            if validate {
                let functions = debug_utils::Instance::new(&entry, &instance);
                let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                    .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
                    .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                    .pfn_user_callback(Some(on_error));
                let handle = functions.create_debug_utils_messenger(&info, None)?;
                messenger = Some((functions, handle));
            }

            // Prefers a discrete device.
            let rank = |device: &vk::PhysicalDevice| {
                instance.get_physical_device_properties(*device).device_type != vk::PhysicalDeviceType::DISCRETE_GPU
            };
            let physical = instance.enumerate_physical_devices()?.into_iter().min_by_key(rank);
            let physical = physical.context("there is no Vulkan device")?;
            let requirements = Requirements::query(&instance, physical)?;
            println!("device     {}", requirements.profile().name);
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.context("the device has no compute queue")? as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names: Vec<_> = requirements.device_extensions().iter().map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            // A renderer with other features merges these into its own: `DeviceFeatures::add_to`.
            let mut features = requirements.features();
            let device = instance.create_device(physical, &features.chain(info), None)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let queue = device.get_device_queue(family, 0);
            Ok(Vulkan { instance, messenger, device, requirements, memory, family, queue, _entry: entry })
        }
    }

    /// # Safety
    ///
    /// The buffer is not in use, and goes once.
    unsafe fn destroy(&self, buffer: Buffer) {
        // SAFETY: by this function's contract.
        unsafe {
            self.device.destroy_buffer(buffer.raw, None);
            self.device.free_memory(buffer.memory, None);
        }
    }

    /// A buffer with memory of its own.
    fn buffer(&self, size: u64, usage: Usage, wanted: vk::MemoryPropertyFlags) -> Result<Buffer> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive; the memory is of a type that the buffer allows, and bound once.
        unsafe {
            let raw = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(raw);
            let flags = |kind: u32| self.memory.memory_types[kind as usize].property_flags;
            let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1 && flags(*kind).contains(wanted);
            let kind = (0..self.memory.memory_type_count).find(fits).context("no memory fits a buffer")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            // Kernels use addresses where descriptors do not suffice.
            let addressed = match usage.contains(Usage::SHADER_DEVICE_ADDRESS) {
                true => vk::MemoryAllocateFlags::DEVICE_ADDRESS,
                false => vk::MemoryAllocateFlags::empty(),
            };
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(addressed);
            let info = info.push_next(&mut flags);
            let memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_buffer_memory(raw, memory, 0)?;
            Ok(Buffer { raw, memory, size, usage })
        }
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: what was made from the device is destroyed, or the program ends with an error; the instance goes last.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_device(None);
            if let Some((functions, messenger)) = &self.messenger {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// A buffer with memory of its own.
#[derive(Clone, Copy)]
struct Buffer {
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
    usage: Usage,
}

impl Buffer {
    /// The whole buffer as a range. With its usage, `bind` finds missing flags.
    fn range(&self) -> BufferRange {
        BufferRange::new(self.raw, self.size).usage(self.usage)
    }
}

/// Errors of the validation layer.
static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "system" fn on_error(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data; its message is null or a text.
    let message = unsafe { (*data).message_as_c_str() }.unwrap_or_default();
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_string_lossy().into_owned());
    vk::FALSE
}

/// Fails if the validation layer has reported an error.
fn check_validation() -> Result<()> {
    let errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    ensure!(errors.is_empty(), "the validation layer reports {} errors, the first: {}", errors.len(), errors[0]);
    Ok(())
}

fn main() -> ExitCode {
    let validate = match std::env::args().nth(1).as_deref() {
        None => Ok(false),
        Some("--validate") => Ok(true),
        Some(other) => Err(anyhow!("unknown argument {other:?}, allowed is --validate")),
    };
    match validate.and_then(run).and_then(|()| check_validation()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", format!("{error:#}").replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
