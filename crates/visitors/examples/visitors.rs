//! Keys that are never stored: splats are sorted by depth, and the sort computes the depths itself.
//!
//! This is one file to copy from. It takes the crates `vksort`, `vksort-visitors`, `ash` with the feature `loaded`, and `anyhow`.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use ash::ext::debug_utils;
use ash::vk::{self, BufferUsageFlags as Usage, MemoryPropertyFlags as Memory};
use vksort::{AccessScope, BoundSort, BufferRange, DepthKeys, DepthPush, InstanceRequirements, Requirements};
use vksort::{SortBuffers, Sorter, SorterOptions, VisitorResources};
use vksort_visitors::VisitorSource;

const HELP: &str = "Sorts splats by depth with a visitor that computes the keys, and verifies the result.

Usage: visitors [--device INDEX|NAME] [--validate] [--count N] [--keys f32|16|24|z]

  --keys z  depths are a coordinate, by a visitor of the program's own; else they are computed by one of the library's";

/// A visitor of the program's own: the third coordinate of a position.
const COORDINATE: &str = "
layout(set = 1, binding = 0) readonly buffer VisitedPositions { float visited_positions[]; };

uint visit_key(uint index) { return floatBitsToUint(visited_positions[3 * index + 2]); }
";

/// What the view's row gives for a position, in the steps of the keys: as in `glsl/visitors/depth.glsl`.
fn key_of(keys: DepthKeys, row: [f32; 4], position: &[f32]) -> u32 {
    let depth = position[0] * row[0] + position[1] * row[1] + position[2] * row[2] + row[3];
    let level = |levels: f32| if depth > 0.0 { (depth.min(1.0) * levels) as u32 } else { 0 };
    match keys {
        DepthKeys::F32 => depth.to_bits(),
        DepthKeys::Bits16 => level(65_535.0),
        _ => level(16_777_215.0),
    }
}

/// Sorts positions by depth, farthest first, without a buffer of keys.
fn run(flags: &Flags) -> Result<()> {
    let vulkan = Vulkan::open(flags)?;
    let (device, count, keys) = (&vulkan.device, flags.count, flags.keys);
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let positions: Vec<f32> = (0..3 * count).map(|_| random()).collect();
    // Depths from 0 to 1, so that near and far are those.
    let row = if flags.along_z { [0.0, 0.0, 1.0, 0.0] } else { [0.5, 0.25, 0.25, 0.0] };
    let push = DepthPush::new(row, 3, 0).to_bytes();

    // Once: the layout of the visitor's resources, the sorter, its buffers, the sort that ties them.
    let request = keys.request();
    let mut source = VisitorSource::depth(keys);
    if flags.along_z {
        let VisitorSource { push_members, push_bytes, visits, .. } = source;
        source = VisitorSource::new("coordinate.glsl").text(COORDINATE).visits(visits);
        source = source.push_members(push_members).push_bytes(push_bytes);
    }
    // SAFETY: handles are the device's and are destroyed once, when the queue is idle; the device was created with what the
    // requirements name, and outlives the sorter; the visitor is one of the library's, with the resources that it asks for.
    unsafe {
        let binding = vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(std::slice::from_ref(&binding));
        let layout = device.create_descriptor_set_layout(&info, None)?;
        let options = SorterOptions::default().visitor(source, layout);
        let sorter = Sorter::new(device, &vulkan.requirements, &request, &options)?;
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let bytes = 4 * u64::from(count);
        let source = vulkan.buffer(3 * bytes, usage, Memory::DEVICE_LOCAL)?;
        let order = vulkan.buffer(bytes, usage, Memory::DEVICE_LOCAL)?;
        let scratch =
            vulkan.buffer(sorter.scratch_size(count)?.max(4), sorter.scratch_usage(), Memory::DEVICE_LOCAL)?;
        let copies = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let host = vulkan.buffer(3 * bytes, copies, Memory::HOST_VISIBLE | Memory::HOST_COHERENT)?;
        let sort = sorter.bind(&SortBuffers::new(count).values_out(order.range()).scratch(scratch.range()))?;

        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let sets = device.create_descriptor_pool(&info, None)?;
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(sets).set_layouts(&layouts);
        let set = device.allocate_descriptor_sets(&info)?[0];
        let info = [vk::DescriptorBufferInfo { buffer: source.raw, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
        device.update_descriptor_sets(&[write.buffer_info(&info)], &[]);
        let resources = VisitorResources::default().set(set).push(&push);

        let mapped = device.map_memory(host.memory, 0, vk::WHOLE_SIZE, Default::default())?.cast::<u32>();
        mapped.cast::<f32>().copy_from_nonoverlapping(positions.as_ptr(), positions.len());
        let barrier = |commands: vk::CommandBuffer, from: AccessScope, to: AccessScope| {
            let memory = [from.barrier_to(to)];
            device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
        };
        let copy = |commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer, size: u64| {
            device.cmd_copy_buffer(commands, from, to, &[vk::BufferCopy { src_offset: 0, dst_offset: 0, size }]);
        };
        let transfer = AccessScope::TRANSFER_READ | AccessScope::TRANSFER_WRITE;
        vulkan.submit(|commands| {
            copy(commands, host.raw, source.raw, 3 * bytes);
            barrier(commands, transfer, BoundSort::INPUT_SCOPE);
            Ok(())
        })?;

        // Each frame: the sort, and barriers to what comes before and after it.
        vulkan.submit(|commands| {
            sort.record_visited(commands, count, None, resources)?;
            barrier(commands, BoundSort::OUTPUT_SCOPE, transfer);
            copy(commands, order.raw, host.raw, bytes);
            barrier(commands, AccessScope::TRANSFER_WRITE, AccessScope::HOST_READ);
            Ok(())
        })?;
        let mut expected: Vec<u32> = (0..count).collect();
        let code = |index: &u32| {
            let key = key_of(keys, row, &positions[3 * *index as usize..][..3]);
            request.key.sortable(key.into(), request.order)
        };
        expected.sort_by_cached_key(code);
        let found = std::slice::from_raw_parts(mapped, count as usize);
        ensure!(found == expected, "the order is not that of a stable sort on the CPU");
        println!("verified   {count} indices equal those of a stable sort on the CPU");

        drop((sort, sorter));
        device.destroy_descriptor_pool(sets, None);
        device.destroy_descriptor_set_layout(layout, None);
        [source, order, scratch, host].into_iter().for_each(|buffer| vulkan.free(buffer));
    }
    Ok(())
}

/// What the command line asks for.
struct Flags {
    /// Index or part of the name of the device.
    device: Option<String>,
    /// Whether the Khronos validation layer checks, synchronization included.
    validate: bool,
    /// Positions.
    count: u32,
    /// What is computed of them.
    keys: DepthKeys,
    /// Whether it is a coordinate, as it is.
    along_z: bool,
}

impl Flags {
    /// Reads the command line; nothing when it asks for help, which is printed.
    fn parse() -> Result<Option<Flags>> {
        let (keys, along_z) = (DepthKeys::F32, false);
        let mut flags = Flags { device: None, validate: false, count: 500_000, keys, along_z };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut number = |most: u32| -> Result<u32> {
                let text = arguments.next().with_context(|| format!("{argument} needs a number"))?;
                let number = text.parse().ok().filter(|number| (1..=most).contains(number));
                number.with_context(|| format!("{argument} is {text:?}, allowed is a number from 1 to {most}"))
            };
            match argument.as_str() {
                "--count" => flags.count = number(1 << 24)?,
                "--device" => flags.device = Some(arguments.next().context("--device needs an index or a name")?),
                "--keys" => {
                    flags.keys = match arguments.next().as_deref() {
                        Some("f32") => DepthKeys::F32,
                        Some("z") => {
                            flags.along_z = true;
                            DepthKeys::F32
                        }
                        Some("16") => DepthKeys::Bits16,
                        Some("24") => DepthKeys::Bits24,
                        other => bail!("--keys is {other:?}, allowed are f32, 16, 24 and z"),
                    }
                }
                "--validate" => flags.validate = true,
                "--help" => {
                    println!("{HELP}");
                    return Ok(None);
                }
                other => bail!("unknown argument {other:?}, allowed are those that --help lists"),
            }
        }
        Ok(Some(flags))
    }
}

/// The program's own instance and device, created with what vksort requires.
struct Vulkan {
    instance: ash::Instance,
    messenger: Option<(debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    device: ash::Device,
    requirements: Requirements,
    memory: vk::PhysicalDeviceMemoryProperties,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    _entry: ash::Entry,
}

impl Vulkan {
    fn open(flags: &Flags) -> Result<Vulkan> {
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
            if flags.validate {
                extensions.push(debug_utils::NAME.as_ptr());
                info = info.enabled_layer_names(&layers).push_next(&mut checks);
            }
            let info = info.enabled_extension_names(&extensions);
            let instance = entry.create_instance(&info, None).context("Vulkan gives no instance")?;
            let mut messenger = None;
            if flags.validate {
                let functions = debug_utils::Instance::new(&entry, &instance);
                let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                    .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
                    .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                    .pfn_user_callback(Some(on_error));
                let handle = functions.create_debug_utils_messenger(&info, None)?;
                messenger = Some((functions, handle));
            }

            let mut named = Vec::new();
            for (index, raw) in instance.enumerate_physical_devices()?.into_iter().enumerate() {
                let name =
                    instance.get_physical_device_properties(raw).device_name_as_c_str()?.to_string_lossy().into();
                named.push((index.to_string(), name, raw));
            }
            let asked = |(index, name, _): &&(String, String, _)| match &flags.device {
                Some(wanted) => index == wanted || name.to_lowercase().contains(&wanted.to_lowercase()),
                None => true,
            };
            let Some((_, name, physical)) = named.iter().find(asked) else {
                let all: Vec<String> = named.iter().map(|(index, name, _)| format!("{index}: {name}")).collect();
                bail!("no Vulkan device is {:?}, there are {}", flags.device, all.join(", "));
            };
            println!("device     {name}");
            let requirements = Requirements::query(&instance, *physical)?;
            let families = instance.get_physical_device_queue_family_properties(*physical);
            let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.context("the device has no compute queue")? as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names: Vec<_> = requirements.device_extensions().iter().map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            // A renderer with features of its own merges these into them: `DeviceFeatures::add_to`.
            let mut features = requirements.features();
            let device = instance.create_device(*physical, &features.chain(info), None)?;
            let memory = instance.get_physical_device_memory_properties(*physical);
            let queue = device.get_device_queue(family, 0);
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            Ok(Vulkan { instance, messenger, device, requirements, memory, queue, pool, commands, _entry: entry })
        }
    }

    /// Records commands anew, runs them and waits.
    ///
    /// # Safety
    ///
    /// What `record` puts into the command buffer is valid there.
    unsafe fn submit(&self, record: impl FnOnce(vk::CommandBuffer) -> Result<()>) -> Result<()> {
        // SAFETY: the queue is idle between calls.
        unsafe {
            self.device.begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default())?;
            record(self.commands)?;
            self.device.end_command_buffer(self.commands)?;
            let submits = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&self.commands))];
            self.device.queue_submit(self.queue, &submits, vk::Fence::null())?;
            self.device.queue_wait_idle(self.queue)?;
            Ok(())
        }
    }

    /// # Safety
    ///
    /// Nothing uses the buffer any more.
    unsafe fn free(&self, buffer: Buffer) {
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
            self.device.destroy_command_pool(self.pool, None);
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
    /// The whole buffer as vksort takes it; with its usage, flags that are missing are found when the sort is bound.
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

/// Fails when the validation layer has reported anything.
fn check_validation() -> Result<()> {
    let errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    ensure!(errors.is_empty(), "the validation layer reports {} errors, the first: {}", errors.len(), errors[0]);
    Ok(())
}

fn main() -> ExitCode {
    let run = || match Flags::parse()? {
        Some(flags) => run(&flags).and_then(|()| check_validation()),
        None => Ok(()),
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", format!("{error:#}").replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
