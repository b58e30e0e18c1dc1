//! Structures that are sorted by two of their fields: draws of a renderer by material, and by depth within a material.
//!
//! This is one file to copy from. It needs the crates `vksort`, `ash` with the feature `loaded`, and `anyhow`.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail, ensure};
use ash::ext::debug_utils;
use ash::vk::{self, BufferUsageFlags as Usage, MemoryPropertyFlags as Memory};
use vksort::{AccessScope, BoundSort, BufferRange, InstanceRequirements, Requirements};
use vksort::{SortBuffers, SortRequest, Sorter, SorterOptions, key_field};

/// A draw, laid out as shaders read it: `repr(C)` keeps the fields in this order, and 24 bytes are a multiple of 4, which the sort needs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Draw {
    depth: f32,
    material: u16,
    flags: u16,
    place: [f32; 3],
    mesh: u32,
}

/// Draws of the scene.
const COUNT: u32 = 100_000;

fn run(validate: bool) -> Result<()> {
    let vulkan = Vulkan::open(validate)?;
    let device = &vulkan.device;
    // Draws in no order, some of them with the same material and depth: these keep their order. `mesh` tells which draw one is.
    let draw = |index: u32| {
        let mixed = index.wrapping_mul(0x9E37_79B9);
        let depth = (mixed >> 16) as f32 / 100.0;
        Draw { depth, material: (mixed % 61) as u16, flags: 1, place: [depth, 0.0, 0.0], mesh: index }
    };
    let draws: Vec<Draw> = (0..COUNT).map(draw).collect();

    // Once: the sorter, its buffers, and the bound sort. The first field decides first.
    let fields = [key_field!(Draw, material), key_field!(Draw, depth).descending()];
    let request = SortRequest::records(size_of::<Draw>() as u32, fields);
    println!("request    {request}");
    // SAFETY: the device was created with what the requirements name, and outlives the sorter.
    let sorter = unsafe { Sorter::new(device, &vulkan.requirements, &request, &SorterOptions::default())? };
    // The records are bound where other sorts have their keys. A renderer has them in memory of the device, where another pass writes
    // them; here the host does.
    let bytes = sorter.buffer_sizes(COUNT).keys.context("there are records")?;
    let memory = Memory::HOST_VISIBLE | Memory::HOST_COHERENT;
    let (records, records_memory) = vulkan.buffer(bytes, Usage::STORAGE_BUFFER, memory)?;
    // Scratch holds a key composed of the fields for each record. Records that are keys themselves may need none, and Vulkan has no
    // buffers of 0 bytes.
    let size = sorter.scratch_size(COUNT)?.max(4);
    let (scratch, scratch_memory) = vulkan.buffer(size, sorter.scratch_usage(), Memory::DEVICE_LOCAL)?;
    let range = BufferRange::new;
    let buffers = SortBuffers::new(COUNT).keys(range(records, bytes)).scratch(range(scratch, size));

    // SAFETY: handles are the device's and are destroyed once, when the queue is idle. The mapped memory holds the records, of which
    // any bytes are valid, and is accessed when the queue is idle.
    let sorted = unsafe {
        let sort = sorter.bind(&buffers)?;
        let mapped = device.map_memory(records_memory, 0, vk::WHOLE_SIZE, Default::default())?.cast::<Draw>();
        mapped.copy_from_nonoverlapping(draws.as_ptr(), draws.len());

        let info = vk::CommandPoolCreateInfo::default().queue_family_index(vulkan.family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?;
        device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
        // A renderer has a barrier here, from the pass that writes the records to `BoundSort::INPUT_SCOPE`. What the host has written
        // before the submission needs none.
        sort.record(commands[0], COUNT)?;
        BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::HOST_READ, device, commands[0]);
        device.end_command_buffer(commands[0])?;
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        device.queue_submit(vulkan.queue, &submits, vk::Fence::null())?;
        device.queue_wait_idle(vulkan.queue)?;

        let mut sorted = vec![Draw::default(); draws.len()];
        mapped.copy_to_nonoverlapping(sorted.as_mut_ptr(), sorted.len());
        device.destroy_command_pool(pool, None);
        drop((sort, sorter));
        for (buffer, memory) in [(records, records_memory), (scratch, scratch_memory)] {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
        sorted
    };

    let mut expected = draws;
    expected.sort_by(|a, b| a.material.cmp(&b.material).then(b.depth.total_cmp(&a.depth)));
    ensure!(sorted == expected, "the draws are not those of a stable sort on the CPU");
    for Draw { material, depth, mesh, .. } in &sorted[..3] {
        println!("draw       material {material}, depth {depth}, mesh {mesh}");
    }
    println!("verified   {COUNT} draws equal those of a stable sort on the CPU");
    Ok(())
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
    /// The first device, perhaps under the Khronos validation layer.
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

            let physical = *instance.enumerate_physical_devices()?.first().context("there is no Vulkan device")?;
            let properties = instance.get_physical_device_properties(physical);
            println!("device     {}", properties.device_name_as_c_str()?.to_string_lossy());
            let requirements = Requirements::query(&instance, physical)?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.context("the device has no compute queue")? as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names: Vec<_> = requirements.device_extensions().iter().map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let mut features = requirements.features();
            let device = instance.create_device(physical, &features.chain(info), None)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let queue = device.get_device_queue(family, 0);
            Ok(Vulkan { instance, messenger, device, requirements, memory, family, queue, _entry: entry })
        }
    }

    /// A buffer with memory of its own.
    fn buffer(
        &self,
        size: u64,
        usage: Usage,
        wanted: vk::MemoryPropertyFlags,
    ) -> Result<(vk::Buffer, vk::DeviceMemory)> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive; the memory is of a type that the buffer allows, and bound once.
        unsafe {
            let buffer = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let flags = |kind: u32| self.memory.memory_types[kind as usize].property_flags;
            let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1 && flags(*kind).contains(wanted);
            let kind = (0..self.memory.memory_type_count).find(fits).context("no memory fits a buffer")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            Ok((buffer, memory))
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

/// Errors of the validation layer.
static ERRORS: AtomicU32 = AtomicU32::new(0);

unsafe extern "system" fn on_error(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data; its message is null or a text.
    let message = unsafe { (*data).message_as_c_str() }.unwrap_or_default();
    eprintln!("validation: {}", message.to_string_lossy());
    ERRORS.fetch_add(1, Ordering::Relaxed);
    vk::FALSE
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(false),
        ["--validate"] => run(true),
        _ => bail!("the arguments are {arguments:?}, allowed is --validate"),
    };
    let result = run().and_then(|()| {
        let errors = ERRORS.load(Ordering::Relaxed);
        ensure!(errors == 0, "the validation layer reports {errors} errors");
        Ok(())
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", format!("{error:#}").replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
