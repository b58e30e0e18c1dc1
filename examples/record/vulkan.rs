//! The Vulkan that the program has anyway: instance, device, queue, buffers. What vksort asks of it is named `needed`.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use anyhow::{Context, Result};
use ash::{Device, Entry, Instance, ext::debug_utils, vk};
use vksort::{InstanceRequirements, Requirements};

use crate::common::Common;

static VALIDATION_ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A device with one queue.
pub struct Vulkan {
    pub device: Device,
    pub queue: vk::Queue,
    pub family: u32,
    /// Valid bits of the queue's timestamps; 0 when it has none.
    pub timestamp_bits: u32,
    pub requirements: Requirements,
    physical: vk::PhysicalDevice,
    instance: Instance,
    debug: debug_utils::Instance,
    messenger: Option<vk::DebugUtilsMessengerEXT>,
    _entry: Entry,
}

/// A buffer with memory of its own.
pub struct Buffer {
    pub raw: vk::Buffer,
    pub memory: vk::DeviceMemory,
    pub size: u64,
}

impl Vulkan {
    /// Opens the device that the flags ask for.
    pub fn open(flags: &Common) -> Result<Vulkan> {
        // SAFETY: the system's Vulkan library is trusted to be one.
        let entry = unsafe { Entry::load() }.context("no Vulkan loader was found")?;
        let instance = create_instance(&entry, flags.validate)?;
        let debug = debug_utils::Instance::new(&entry, &instance);
        let listener = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(on_error));
        // SAFETY: the extension is enabled when validating; `on_error` may be called at any time, from any thread.
        let listen = || unsafe { debug.create_debug_utils_messenger(&listener, None) };
        let messenger = flags.validate.then(listen).transpose().context("listening to the validation layer")?;

        // SAFETY: the instance is alive, and these are its own devices.
        let (devices, properties) = unsafe {
            let devices = instance.enumerate_physical_devices().context("listing devices")?;
            let properties: Vec<_> = devices.iter().map(|raw| instance.get_physical_device_properties(*raw)).collect();
            (devices, properties)
        };
        let physical = devices[flags.pick(&properties)?];
        // SAFETY: the instance is of Vulkan 1.2 or newer, and the physical device is its own.
        let needed = unsafe { Requirements::query(&instance, physical)? };

        // SAFETY: the same.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let has_compute = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let family = families.iter().position(has_compute).context("the device has no compute queue")?;
        let timestamp_bits = families[family].timestamp_valid_bits;
        let family = family as u32;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let extensions: Vec<*const c_char> = needed.device_extensions.iter().map(|name| name.as_ptr()).collect();
        let mut features = needed.features();
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        if let Some(features) = features.as_mut() {
            info = info.push_next(features);
        }
        // SAFETY: the device has these extensions and features, as the query found.
        let device = unsafe { instance.create_device(physical, &info, None) }.context("creating a device")?;
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let requirements = needed;
        Ok(Vulkan {
            device,
            queue,
            family,
            timestamp_bits,
            requirements,
            physical,
            instance,
            debug,
            messenger,
            _entry: entry,
        })
    }

    /// A buffer of `size` bytes for copies and shaders, in memory with these properties.
    pub fn buffer(&self, size: u64, properties: vk::MemoryPropertyFlags) -> Result<Buffer> {
        let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::STORAGE_BUFFER | copies);
        // SAFETY: the handles belong together; the memory is allocated for this buffer and bound to it once.
        unsafe {
            let raw = self.device.create_buffer(&info, None).context("creating a buffer")?;
            let needed = self.device.get_buffer_memory_requirements(raw);
            let kinds = self.instance.get_physical_device_memory_properties(self.physical);
            let fits = |(index, kind): &(usize, &vk::MemoryType)| {
                needed.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(properties)
            };
            let found = kinds.memory_types_as_slice().iter().enumerate().find(fits);
            let (index, _) = found.with_context(|| format!("no memory for buffers is {properties:?}"))?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needed.size).memory_type_index(index as u32);
            let memory =
                self.device.allocate_memory(&info, None).with_context(|| format!("allocating {size} bytes"))?;
            self.device.bind_buffer_memory(raw, memory, 0).context("binding memory")?;
            Ok(Buffer { raw, memory, size })
        }
    }

    /// Destroys everything; gives the errors that the validation layer has reported.
    ///
    /// # Safety
    ///
    /// The queue is idle, nothing made from the device is left but these buffers, and they are all there are.
    pub unsafe fn destroy(self, buffers: impl IntoIterator<Item = Buffer>) -> Vec<String> {
        // SAFETY: by this function's contract; what was created last goes first.
        unsafe {
            for buffer in buffers {
                self.device.destroy_buffer(buffer.raw, None);
                self.device.free_memory(buffer.memory, None);
            }
            self.device.destroy_device(None);
            if let Some(messenger) = self.messenger {
                self.debug.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
        VALIDATION_ERRORS.lock().map(|errors| errors.clone()).unwrap_or_default()
    }
}

fn create_instance(entry: &Entry, validate: bool) -> Result<Instance> {
    // SAFETY: the entry points are loaded; no layer is named.
    let available = unsafe { entry.enumerate_instance_extension_properties(None) }.context("listing extensions")?;
    let needed = InstanceRequirements::select(&available);
    let mut extensions: Vec<*const c_char> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
    let mut layers = Vec::new();
    let checks = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
    let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
    let mut info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
    if validate {
        extensions.push(debug_utils::NAME.as_ptr());
        layers.push(c"VK_LAYER_KHRONOS_validation".as_ptr());
        info = info.push_next(&mut checks);
    }
    let info = info.enabled_extension_names(&extensions).enabled_layer_names(&layers);
    // SAFETY: every name lives as long as the program; a layer that is not installed is an error, not a danger.
    unsafe { entry.create_instance(&info, None) }.context("creating an instance")
}

unsafe extern "system" fn on_error(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data; its message is null or a text.
    let message = unsafe { (*data).message_as_c_str() }.unwrap_or(c"");
    if let Ok(mut errors) = VALIDATION_ERRORS.lock() {
        errors.push(message.to_string_lossy().into_owned());
    }
    vk::FALSE
}
