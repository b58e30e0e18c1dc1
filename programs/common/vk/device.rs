//! The program's instance and device, created with what vksort requires.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use ash::ext::debug_utils;
use ash::vk;
use vksort::standalone::DeviceChoice;
use vksort::{DeviceProfile, Error, InstanceRequirements, Requirements};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
/// Longest time that submitted work may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A device with one queue for compute and graphics.
pub struct Device {
    pub raw: ash::Device,
    pub requirements: Requirements,
    pub queue: vk::Queue,
    /// Bits of a timestamp; 0 where the queue has none.
    pub timestamp_bits: u32,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// Longest side of a picture that can be drawn, in pixels.
    pub longest_side: u32,
    #[cfg(feature = "window")]
    pub family: u32,
    #[cfg(feature = "window")]
    pub physical: vk::PhysicalDevice,
    pool: vk::CommandPool,
    /// A submission has timed out or failed. Objects that it may use are never destroyed.
    lost: Cell<bool>,
    pub instance: Instance,
}

/// Extensions for what vksort knows nothing of.
#[derive(Default)]
pub struct Extensions {
    pub instance: Vec<&'static CStr>,
    pub device: Vec<&'static CStr>,
}

impl Device {
    /// Opens the device of a choice, or without one that of `VKSORT_DEVICE`, else the best.
    pub fn open(choice: Option<&DeviceChoice>, validate: bool, extensions: &Extensions) -> Result<Rc<Device>> {
        let instance = Instance::new(validate, &extensions.instance)?;
        let choice = choice.cloned().map_or_else(DeviceChoice::from_env, Ok)?;
        let wanted = vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS;
        // SAFETY: the instance was created for Vulkan 1.2 and is alive. The device is created with what was found on it, and the
        // handles are used with what they come from. `Device` owns them.
        unsafe {
            let (physical, requirements) = choice.find(&instance.raw)?;
            let families = instance.raw.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(wanted));
            let family = family
                .with_context(|| format!("{} has no queue for compute and graphics", requirements.profile().name))?;
            let timestamp_bits = families[family].timestamp_valid_bits;
            let limits = instance.raw.get_physical_device_properties(physical).limits;
            let viewport = limits.max_viewport_dimensions.map(|side| side.min(limits.max_image_dimension2_d));
            let framebuffer = limits.max_framebuffer_width.min(limits.max_framebuffer_height);
            let family = family as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names = requirements.device_extensions().iter().chain(&extensions.device);
            let names: Vec<_> = names.map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let mut features = requirements.features();
            let raw = instance
                .raw
                .create_device(physical, &features.chain(info), None)
                .with_context(|| format!("opening {}", requirements.profile().name))?;
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = match raw.create_command_pool(&info, None) {
                Ok(pool) => pool,
                Err(error) => {
                    raw.destroy_device(None);
                    return Err(error).context("creating a command pool");
                }
            };
            Ok(Rc::new(Device {
                queue: raw.get_device_queue(family, 0),
                memory: instance.raw.get_physical_device_memory_properties(physical),
                #[cfg(feature = "window")]
                family,
                #[cfg(feature = "window")]
                physical,
                longest_side: viewport[0].min(viewport[1]).min(framebuffer),
                lost: Cell::new(false),
                raw,
                requirements,
                timestamp_bits,
                pool,
                instance,
            }))
        }
    }

    /// Whether nothing may be destroyed any more.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// A command buffer, which goes with the device.
    pub fn commands(&self) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is the device's, which only this thread uses.
        Ok(unsafe { self.raw.allocate_command_buffers(&info)? }[0])
    }

    /// Submits recorded commands, which signal the fence at their end. Their transfers wait for a semaphore and their end
    /// signals another, if there are two.
    ///
    /// # Safety
    ///
    /// * The commands are recorded and not pending, what they use is alive, and the fence is unsignalled and not in use.
    /// * The first semaphore will be signalled, and the second is not in use.
    pub unsafe fn submit(
        &self,
        commands: vk::CommandBuffer,
        fence: vk::Fence,
        semaphores: Option<[vk::Semaphore; 2]>,
    ) -> Result<()> {
        let (waits, signals): (Vec<_>, Vec<_>) = semaphores.into_iter().map(|[wait, signal]| (wait, signal)).unzip();
        let stages = [vk::PipelineStageFlags::TRANSFER];
        let submits = [vk::SubmitInfo::default()
            .command_buffers(std::slice::from_ref(&commands))
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages[..waits.len()])
            .signal_semaphores(&signals)];
        // SAFETY: by this function's contract.
        let submitted = unsafe { self.raw.queue_submit(self.queue, &submits, fence) };
        self.lost.set(self.lost.get() || submitted.is_err());
        submitted.context("submitting to the device")
    }

    /// Waits for a fence, and resets it.
    pub fn wait(&self, fence: vk::Fence) -> Result<()> {
        // SAFETY: the fence is the device's. It is reset only after it was signalled, so no submission uses it then.
        let waited = unsafe { self.raw.wait_for_fences(&[fence], true, TIMEOUT.as_nanos() as u64) };
        self.lost.set(self.lost.get() || waited.is_err());
        waited.with_context(|| format!("waiting for the device, at most {} s", TIMEOUT.as_secs()))?;
        // SAFETY: as above.
        unsafe { self.raw.reset_fences(&[fence])? };
        Ok(())
    }

    /// Records commands, submits them, and waits for their end.
    ///
    /// # Safety
    ///
    /// What is recorded is valid outside a render pass, and uses what is alive.
    pub unsafe fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        let commands = self.commands()?;
        // SAFETY: the command buffer is new; the rest by this function's contract. Both objects go after the wait, or never.
        unsafe {
            let fence = self.raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let done = (|| {
                let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
                self.raw.begin_command_buffer(commands, &once)?;
                record(&self.raw, commands);
                self.raw.end_command_buffer(commands)?;
                self.submit(commands, fence, None)?;
                self.wait(fence)
            })();
            if !self.is_lost() {
                self.raw.destroy_fence(fence, None);
                self.raw.free_command_buffers(self.pool, &[commands]);
            }
            done
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.is_lost() {
            return;
        }
        // SAFETY: all that was made from the device held it, and is destroyed; submissions were waited for.
        unsafe {
            self.raw.destroy_command_pool(self.pool, None);
            self.raw.destroy_device(None);
            self.instance.destroy();
        }
    }
}

/// What the device of a choice can do, before it is opened. Without a choice it is that of `VKSORT_DEVICE`, else the best.
pub fn profile(choice: Option<&DeviceChoice>) -> Result<DeviceProfile> {
    let choice = choice.cloned().map_or_else(DeviceChoice::from_env, Ok)?;
    let mut instance = Instance::new(false, &[])?;
    // SAFETY: the instance was created for Vulkan 1.2 and is alive, and nothing is made from it.
    unsafe {
        let found = choice.find(&instance.raw);
        instance.destroy();
        Ok(found?.1.profile().clone())
    }
}

/// An instance, with a messenger if the validation layer is loaded. It is destroyed by [`destroy`](Instance::destroy) alone.
pub struct Instance {
    pub raw: ash::Instance,
    messenger: Option<(debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// It keeps the library loaded.
    pub entry: ash::Entry,
}

impl Instance {
    fn new(validate: bool, others: &[&'static CStr]) -> Result<Instance> {
        // SAFETY: the Vulkan library is trusted to be one. Extensions and layers were found, or creation fails.
        unsafe {
            let entry = ash::Entry::load().map_err(|error| Error::NoLoader(error.to_string()))?;
            let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
            let extensions = needed.extensions.iter().chain(others).map(|name| name.as_ptr());
            let mut extensions: Vec<*const c_char> = extensions.collect();
            let layers = [VALIDATION_LAYER.as_ptr()];
            let synchronization = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
            let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&synchronization);
            let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
            let mut info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
            if validate {
                check_layer(&entry)?;
                extensions.push(debug_utils::NAME.as_ptr());
                info = info.enabled_layer_names(&layers).push_next(&mut checks);
            }
            let info = info.enabled_extension_names(&extensions);
            let raw = entry.create_instance(&info, None).map_err(|result| match result {
                vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDriver,
                result => Error::Vulkan { call: "vkCreateInstance", result },
            })?;
            let mut messenger = None;
            if validate {
                let functions = debug_utils::Instance::new(&entry, &raw);
                let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                    .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
                    .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                    .pfn_user_callback(Some(on_error));
                let handle = functions.create_debug_utils_messenger(&info, None)?;
                messenger = Some((functions, handle));
            }
            Ok(Instance { raw, messenger, entry })
        }
    }

    /// # Safety
    ///
    /// Nothing made from the instance is left. It is called once.
    unsafe fn destroy(&mut self) {
        // SAFETY: by this function's contract.
        unsafe {
            if let Some((functions, messenger)) = &self.messenger {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

fn check_layer(entry: &ash::Entry) -> Result<()> {
    // SAFETY: the entry points are loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties()? };
    let names = || layers.iter().filter_map(|layer| layer.layer_name_as_c_str().ok());
    let available: Vec<_> = names().map(CStr::to_string_lossy).collect();
    let missing = || Error::MissingLayer {
        given: VALIDATION_LAYER.to_string_lossy().into_owned(),
        available: if available.is_empty() { "none".into() } else { available.join(", ") },
    };
    Ok(names().find(|name| *name == VALIDATION_LAYER).map(|_| ()).ok_or_else(missing)?)
}

/// Errors of the validation layer.
static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Errors that the validation layer has reported so far.
pub fn validation_errors() -> Vec<String> {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

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
