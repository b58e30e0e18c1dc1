//! A sort in a renderer: between the program's own passes, on its own device, memory and command buffer.
//!
//! This is one file to copy from. It needs the crates `vksort`, `ash` with the feature `loaded`, and `anyhow`.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use ash::ext::debug_utils;
use ash::vk::{self, BufferUsageFlags as Usage, MemoryPropertyFlags as Memory};
use vksort::{AccessScope, BoundSort, BufferRange, InstanceRequirements, KeyType, Order, QueryRange};
use vksort::{Requirements, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};

const HELP: &str = "Sorts splats by depth in a command buffer of its own, and verifies the result.

Usage: record [--device INDEX|NAME] [--validate]";

/// Splats of the scene.
const COUNT: u32 = 500_000;

/// Sorts depths with the indices of their splats, farthest first.
fn run(flags: &Flags) -> Result<()> {
    let vulkan = Vulkan::open(flags)?;
    let device = &vulkan.device;
    let depths: Vec<f32> = (0..COUNT).map(|splat| (splat.wrapping_mul(0x9E37_79B9) >> 8) as f32 / 1e5).collect();
    let input: Vec<u32> = depths.iter().map(|depth| depth.to_bits()).chain(0..COUNT).collect();

    // Once: the sorter, its buffers, the bound sort, and queries for the times of its steps.
    let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
    let options = SorterOptions::default().capacity(COUNT);
    // SAFETY: the device was created with what the requirements name, and outlives the sorter.
    let sorter = unsafe { Sorter::new(device, &vulkan.requirements, &request, &options)? };
    let sizes = sorter.buffer_sizes(COUNT);
    // Few elements need no scratch, and Vulkan has no buffers of 0 bytes.
    let scratch_size = sorter.scratch_size(COUNT)?.max(4);
    let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let keys = vulkan.buffer(sizes.keys.context("there are keys")?, usage, Memory::DEVICE_LOCAL)?;
    let values = vulkan.buffer(sizes.values.context("there are values")?, usage, Memory::DEVICE_LOCAL)?;
    let scratch = vulkan.buffer(scratch_size, sorter.scratch_usage(), Memory::DEVICE_LOCAL)?;
    let host_bytes = keys.size + values.size;
    let copies = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let host = vulkan.buffer(host_bytes, copies, Memory::HOST_VISIBLE | Memory::HOST_COHERENT)?;
    let buffers = SortBuffers::new(COUNT).keys(keys.range()).values(values.range()).scratch(scratch.range());
    // SAFETY: the buffers are the device's, and live until the sort is dropped.
    let sort = unsafe { sorter.bind(&buffers)? };
    if let Some(algorithm) = sort.algorithm(COUNT) {
        println!("algorithm  {algorithm}");
    }

    // SAFETY: handles are the device's and are destroyed once, when the queue is idle. The mapped memory is as long as the
    // input, and is read when the queue is idle. The barriers order what touches the sort's buffers.
    let output = unsafe {
        let mapped = device.map_memory(host.memory, 0, vk::WHOLE_SIZE, Default::default())?.cast::<u32>();
        mapped.copy_from_nonoverlapping(input.as_ptr(), input.len());
        let mut output = vec![0u32; input.len()];
        let query_count = sort.query_count(COUNT);
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(query_count);
        let queries = QueryRange::new(device.create_query_pool(&info, None)?, 0, query_count);
        let timestamps = (vulkan.requirements.profile().timestamp_period_ns > 0.0).then_some(queries);
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(vulkan.family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];

        // Each frame: a pass before the sort (here an upload), the sort, a pass after it (here a copy back), and barriers.
        let barrier = |from: AccessScope, to: AccessScope| {
            let memory = [from.barrier_to(to)];
            device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
        };
        let copy = |from: vk::Buffer, src_offset: u64, to: vk::Buffer, dst_offset: u64, size: u64| {
            device.cmd_copy_buffer(commands, from, to, &[vk::BufferCopy { src_offset, dst_offset, size }]);
        };
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        copy(host.raw, 0, keys.raw, 0, keys.size);
        copy(host.raw, keys.size, values.raw, 0, values.size);
        barrier(AccessScope::TRANSFER_READ | AccessScope::TRANSFER_WRITE, BoundSort::INPUT_SCOPE);
        match timestamps {
            Some(queries) => sort.record_timed(commands, COUNT, queries)?,
            None => sort.record(commands, COUNT)?,
        }
        barrier(BoundSort::OUTPUT_SCOPE, AccessScope::TRANSFER_READ | AccessScope::TRANSFER_WRITE);
        copy(keys.raw, 0, host.raw, 0, keys.size);
        copy(values.raw, 0, host.raw, keys.size, values.size);
        barrier(AccessScope::TRANSFER_WRITE, AccessScope::HOST_READ);
        device.end_command_buffer(commands)?;
        for _frame in ["to warm up, as some drivers compile late", "to time"] {
            let submits = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&commands))];
            device.queue_submit(vulkan.queue, &submits, vk::Fence::null())?;
            device.queue_wait_idle(vulkan.queue)?;
            mapped.copy_to_nonoverlapping(output.as_mut_ptr(), output.len());
            mapped.copy_from_nonoverlapping(input.as_ptr(), input.len());
        }

        if timestamps.is_some() {
            let mut ticks = vec![0u64; query_count as usize];
            device.get_query_pool_results(queries.pool, 0, &mut ticks, vk::QueryResultFlags::TYPE_64)?;
            for step in sort.step_times(COUNT, &ticks, vulkan.timestamp_bits)? {
                println!("    {:<16} {:>9.1} us", step.name.to_string(), step.nanoseconds / 1e3);
            }
        }
        device.destroy_query_pool(queries.pool, None);
        device.destroy_command_pool(pool, None);
        drop((sort, sorter));
        for buffer in [keys, values, scratch, host] {
            device.destroy_buffer(buffer.raw, None);
            device.free_memory(buffer.memory, None);
        }
        output
    };

    let mut expected: Vec<u32> = (0..COUNT).collect();
    expected.sort_by(|a, b| depths[*b as usize].total_cmp(&depths[*a as usize]));
    let (keys, indices) = output.split_at(COUNT as usize);
    ensure!(indices == expected, "the indices are not those of a stable sort on the CPU");
    ensure!(expected.iter().map(|index| &input[*index as usize]).eq(keys), "depths and indices differ in their order");
    println!("verified   {COUNT} depths and indices equal those of a stable sort on the CPU");
    Ok(())
}

/// The options of the command line.
struct Flags {
    /// Index or part of the name of the device.
    device: Option<String>,
    /// Whether to use the Khronos validation layer, with synchronization checks.
    validate: bool,
}

impl Flags {
    /// Reads the command line; `None` for `--help`, after printing the text.
    fn parse() -> Result<Option<Flags>> {
        let mut flags = Flags { device: None, validate: false };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--device" => flags.device = Some(arguments.next().context("--device needs an index or a name")?),
                "--validate" => flags.validate = true,
                "--help" => {
                    println!("{HELP}");
                    return Ok(None);
                }
                other => bail!("unknown argument {other:?}, allowed are --device, --validate and --help"),
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
    family: u32,
    timestamp_bits: u32,
    queue: vk::Queue,
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
            // A renderer with other features merges these into its own: `DeviceFeatures::add_to`.
            let mut features = requirements.features();
            let device = instance.create_device(*physical, &features.chain(info), None)?;
            let memory = instance.get_physical_device_memory_properties(*physical);
            let queue = device.get_device_queue(family, 0);
            let timestamp_bits = families[family as usize].timestamp_valid_bits;
            Ok(Vulkan {
                instance,
                messenger,
                device,
                requirements,
                memory,
                family,
                timestamp_bits,
                queue,
                _entry: entry,
            })
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
