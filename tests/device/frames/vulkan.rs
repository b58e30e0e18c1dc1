//! An instance and a device as a program with its own renderer creates them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use ash::ext::debug_utils;
use ash::vk::{self, BufferUsageFlags as Usage, Handle as _, MemoryPropertyFlags as Memory};
use vksort::{AccessScope, BufferRange, InstanceRequirements, Requirements};
use vksort_testing::Failed;

use vksort_testing::{gpu, validating};

/// Calls a function of Vulkan, or of the recording API.
macro_rules! vulkan {
    ($call:expr) => {{
        // SAFETY: handles are the test's, are used with the device that made them, and live until the queues are idle. The
        // test waits for what it reads, and records the barriers that it is about.
        let result = unsafe { $call };
        result
    }};
}

/// Nanoseconds that a wait may take.
const PATIENCE: u64 = 60_000_000_000;

/// A queue with its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    pub raw: vk::Queue,
    pub family: u32,
}

/// The instance, the device, and everything that is destroyed with it.
pub struct Vulkan {
    pub device: ash::Device,
    /// The functions of pushed descriptors, where the device has them.
    pub push: Option<ash::khr::push_descriptor::Device>,
    pub requirements: Requirements,
    /// The queue that sorts.
    pub sorting: Queue,
    /// The queue that takes the result: of another family, or another one of the family, or the same.
    pub consuming: Queue,
    physical: vk::PhysicalDevice,
    instance: ash::Instance,
    messenger: Option<(debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    messages: Box<Mutex<Vec<String>>>,
    memory: vk::PhysicalDeviceMemoryProperties,
    made: RefCell<Made>,
    entry: ash::Entry,
}

#[derive(Default)]
struct Made {
    buffers: Vec<Buffer>,
    pools: Vec<vk::CommandPool>,
    fences: Vec<vk::Fence>,
    semaphores: Vec<vk::Semaphore>,
}

/// A buffer with memory of its own.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub raw: vk::Buffer,
    pub bytes: usize,
    memory: vk::DeviceMemory,
    usage: Usage,
    /// Null if the host does not see the memory.
    mapped: *mut u8,
}

impl Buffer {
    pub fn range(&self, offset: usize, bytes: usize) -> BufferRange {
        BufferRange::new(self.raw, bytes as u64).offset(offset as u64).usage(self.usage)
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(!self.mapped.is_null() && offset + bytes.len() <= self.bytes);
        // SAFETY: the range is within the mapping, by the assertion.
        unsafe { self.mapped.add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    pub fn read(&self, offset: usize, bytes: usize) -> Vec<u8> {
        assert!(!self.mapped.is_null() && offset + bytes <= self.bytes);
        // SAFETY: the range is within the mapping, by the assertion; the device does not write there meanwhile.
        unsafe { std::slice::from_raw_parts(self.mapped.add(offset), bytes).to_vec() }
    }
}

impl Vulkan {
    pub fn open() -> Result<Vulkan, Failed> {
        vulkan!({
            let entry = ash::Entry::load()?;
            let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
            let mut extensions: Vec<_> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
            let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
            let synchronization = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
            let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&synchronization);
            let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
            let mut info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
            if validating() {
                extensions.push(debug_utils::NAME.as_ptr());
                info = info.enabled_layer_names(&layers).push_next(&mut checks);
            }
            let instance = entry.create_instance(&info.enabled_extension_names(&extensions), None)?;
            let messages: Box<Mutex<Vec<String>>> = Box::default();
            let mut messenger = None;
            if validating() {
                let functions = debug_utils::Instance::new(&entry, &instance);
                let severity = vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
                let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                    .message_severity(severity | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
                    .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                    .pfn_user_callback(Some(on_message))
                    .user_data((&raw const *messages).cast_mut().cast());
                let handle = functions.create_debug_utils_messenger(&info, None)?;
                messenger = Some((functions, handle));
            }

            let chosen = |device: &vk::PhysicalDevice| {
                let properties = instance.get_physical_device_properties(*device);
                properties.device_name_as_c_str().is_ok_and(|name| name.to_bytes() == device_name().as_bytes())
            };
            let physical = instance.enumerate_physical_devices()?.into_iter().find(chosen);
            let physical = physical.ok_or_else(|| format!("the device {} is no longer there", device_name()))?;
            let requirements = Requirements::query(&instance, physical)?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let [(family, index), (other_family, other_index)] = roles(&families)?;
            let priorities = [1.0; 2];
            let queues = |family: u32, count: usize| {
                let info = vk::DeviceQueueCreateInfo::default().queue_family_index(family);
                info.queue_priorities(&priorities[..count])
            };
            let queues = match family == other_family {
                true => vec![queues(family, 1 + other_index.max(index) as usize)],
                false => vec![queues(family, 1), queues(other_family, 1)],
            };
            let push = vk::KHR_PUSH_DESCRIPTOR_NAME;
            let available = instance.enumerate_device_extension_properties(physical)?;
            let pushes = available.iter().any(|extension| extension.extension_name_as_c_str() == Ok(push));
            let names = requirements.device_extensions().iter().copied().chain(pushes.then_some(push));
            let names: Vec<_> = names.map(CStr::as_ptr).collect();
            // The features of vksort, merged into those of a renderer for Vulkan 1.2.
            let features = requirements.features();
            let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
            let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
            let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
            features.add_to(&mut v11, &mut v12, &mut v13);
            requirements.check_enabled(requirements.device_extensions(), &v11, &v12, &v13)?;
            let mut control = features.subgroup_size_control;
            let mut info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut v11)
                .push_next(&mut v12);
            if let Some(control) = &mut control {
                info = info.push_next(control);
            }
            let raw = instance.create_device(physical, &info, None)?.handle();
            let device = ash::Device::load_with(|name| counting(&instance, raw, name), raw);
            let push = pushes.then(|| ash::khr::push_descriptor::Device::new(&instance, &device));
            let queue = |family, index| Queue { raw: device.get_device_queue(family, index), family };
            let (sorting, consuming) = (queue(family, index), queue(other_family, other_index));
            let memory = instance.get_physical_device_memory_properties(physical);
            let made = RefCell::default();
            Ok(Vulkan {
                device,
                push,
                requirements,
                sorting,
                consuming,
                physical,
                instance,
                messenger,
                messages,
                memory,
                made,
                entry,
            })
        })
    }

    /// What programs with another binding have: `vkGetInstanceProcAddr`, and instance, physical device and device as numbers.
    pub fn raw(&self) -> (*const c_void, [u64; 3]) {
        let get = self.entry.static_fn().get_instance_proc_addr as *const c_void;
        (get, [self.instance.handle().as_raw(), self.physical.as_raw(), self.device.handle().as_raw()])
    }

    /// Messages of the validation layer so far, which are then forgotten.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Compute pipelines that the device has created.
    pub fn pipelines_created(&self) -> usize {
        CREATED.lock().unwrap_or_else(PoisonError::into_inner)[&self.device.handle()].1
    }

    /// A buffer for elements and scratch.
    pub fn local_buffer(&self, bytes: usize, usage: Usage) -> Result<Buffer, Failed> {
        self.buffer(bytes, usage | Usage::TRANSFER_SRC | Usage::TRANSFER_DST, Memory::DEVICE_LOCAL)
    }

    /// A buffer that the host writes and reads.
    pub fn host_buffer(&self, bytes: usize) -> Result<Buffer, Failed> {
        let seen = Memory::HOST_VISIBLE | Memory::HOST_COHERENT;
        self.buffer(bytes, Usage::TRANSFER_SRC | Usage::TRANSFER_DST, seen)
    }

    fn buffer(&self, bytes: usize, usage: Usage, wanted: Memory) -> Result<Buffer, Failed> {
        let info = vk::BufferCreateInfo::default().size(bytes as u64).usage(usage);
        vulkan!({
            let raw = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(raw);
            let flags = |kind: u32| self.memory.memory_types[kind as usize].property_flags;
            let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1 && flags(*kind).contains(wanted);
            let kind = (0..self.memory.memory_type_count).find(fits).ok_or("no memory fits a buffer")?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let addressed = match usage.contains(Usage::SHADER_DEVICE_ADDRESS) {
                true => vk::MemoryAllocateFlags::DEVICE_ADDRESS,
                false => vk::MemoryAllocateFlags::empty(),
            };
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(addressed);
            let info = info.push_next(&mut flags);
            let memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_buffer_memory(raw, memory, 0)?;
            let mapped = match wanted.contains(Memory::HOST_VISIBLE) {
                true => self.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default())?.cast(),
                false => std::ptr::null_mut(),
            };
            let buffer = Buffer { raw, bytes, memory, usage, mapped };
            self.made.borrow_mut().buffers.push(buffer);
            Ok(buffer)
        })
    }

    /// Destroys a buffer that no pending commands use.
    pub fn destroy(&self, buffer: Buffer) {
        self.made.borrow_mut().buffers.retain(|other| other.raw != buffer.raw);
        self.free(buffer);
    }

    fn free(&self, buffer: Buffer) {
        vulkan!({
            self.device.destroy_buffer(buffer.raw, None);
            self.device.free_memory(buffer.memory, None);
        });
    }

    /// A command buffer of a pool of its own.
    pub fn commands(&self, queue: Queue, level: vk::CommandBufferLevel) -> Result<vk::CommandBuffer, Failed> {
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family).flags(flags);
        let pool = vulkan!(self.device.create_command_pool(&info, None))?;
        self.made.borrow_mut().pools.push(pool);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).level(level).command_buffer_count(1);
        Ok(vulkan!(self.device.allocate_command_buffers(&info))?[0])
    }

    pub fn fence(&self) -> Result<vk::Fence, Failed> {
        let fence = vulkan!(self.device.create_fence(&Default::default(), None))?;
        self.made.borrow_mut().fences.push(fence);
        Ok(fence)
    }

    /// A timeline semaphore, at 0.
    pub fn timeline(&self) -> Result<vk::Semaphore, Failed> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let semaphore = vulkan!(self.device.create_semaphore(&info, None))?;
        self.made.borrow_mut().semaphores.push(semaphore);
        Ok(semaphore)
    }

    /// Submits commands with a fence.
    pub fn submit(&self, queue: Queue, commands: &[vk::CommandBuffer], done: vk::Fence) -> Result<(), Failed> {
        let submits = [vk::SubmitInfo::default().command_buffers(commands)];
        Ok(vulkan!(self.device.queue_submit(queue.raw, &submits, done))?)
    }

    /// Submits commands whose copies wait for a value of a timeline, if one is given, and that raise another.
    pub fn submit_between(
        &self,
        queue: Queue,
        commands: vk::CommandBuffer,
        wait: Option<(vk::Semaphore, u64)>,
        signal: (vk::Semaphore, u64),
    ) -> Result<(), Failed> {
        let (waits, values): (Vec<_>, Vec<_>) = wait.into_iter().unzip();
        let stages = vec![vk::PipelineStageFlags::TRANSFER; waits.len()];
        let (signals, raised) = ([signal.0], [signal.1]);
        let mut timeline =
            vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values).signal_semaphore_values(&raised);
        let commands = [commands];
        let submit = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        Ok(vulkan!(self.device.queue_submit(queue.raw, &[submit], vk::Fence::null()))?)
    }

    /// Waits for a fence, and resets it.
    pub fn wait(&self, done: vk::Fence) -> Result<(), Failed> {
        gives_up(vulkan!(self.device.wait_for_fences(&[done], true, PATIENCE)))?;
        Ok(vulkan!(self.device.reset_fences(&[done]))?)
    }

    /// Waits until a timeline has a value.
    pub fn wait_until(&self, (semaphore, value): (vk::Semaphore, u64)) -> Result<(), Failed> {
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        gives_up(vulkan!(self.device.wait_semaphores(&info, PATIENCE)))
    }

    /// Records commands, submits them and waits.
    pub fn at_once(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Failed> {
        let commands = self.commands(self.sorting, vk::CommandBufferLevel::PRIMARY)?;
        let done = self.fence()?;
        vulkan!(self.device.begin_command_buffer(commands, &Default::default()))?;
        record(commands);
        vulkan!(self.device.end_command_buffer(commands))?;
        self.submit(self.sorting, &[commands], done)?;
        self.wait(done)
    }

    pub fn barrier(&self, commands: vk::CommandBuffer, from: AccessScope, to: AccessScope) {
        vulkan!(from.record_barrier(to, &self.device, commands));
    }

    /// Copies as many bytes as the range has, to an offset of another buffer.
    pub fn copy(&self, commands: vk::CommandBuffer, from: BufferRange, to: Buffer, dst_offset: usize) {
        let region = [vk::BufferCopy { src_offset: from.offset, dst_offset: dst_offset as u64, size: from.size }];
        vulkan!(self.device.cmd_copy_buffer(commands, from.buffer, to.raw, &region));
    }

    /// What waits for both queues when it is dropped. Declared after sorts, it makes every way out of a test wait for them.
    pub fn idle_on_drop(&self) -> Idle<'_> {
        Idle(self)
    }

    /// Destroys the device, and returns the messages of the validation layer.
    pub fn close(self) -> Vec<String> {
        drop(self.idle_on_drop());
        let Made { buffers, pools, fences, semaphores } = self.made.take();
        buffers.into_iter().for_each(|buffer| self.free(buffer));
        vulkan!({
            pools.into_iter().for_each(|pool| self.device.destroy_command_pool(pool, None));
            fences.into_iter().for_each(|fence| self.device.destroy_fence(fence, None));
            semaphores.into_iter().for_each(|semaphore| self.device.destroy_semaphore(semaphore, None));
            self.device.destroy_device(None);
            if let Some((functions, messenger)) = &self.messenger {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.instance.destroy_instance(None);
        });
        CREATED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.device.handle());
        self.take_messages()
    }
}

/// The name of the device that the environment chooses for all suites.
fn device_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| gpu().profile().name.clone())
}

/// Waits for both queues on drop.
pub struct Idle<'a>(&'a Vulkan);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        for queue in [self.0.sorting, self.0.consuming] {
            let done = self.0.fence().expect("a fence");
            self.0.submit(queue, &[], done).expect("the queue takes an empty submission");
            self.0.wait(done).expect("the queue ends");
        }
    }
}

/// Ends the process after a timeout: nothing may be destroyed that the device still uses.
fn gives_up(waited: Result<(), vk::Result>) -> Result<(), Failed> {
    if waited == Err(vk::Result::TIMEOUT) {
        eprintln!("error: the device has not finished after {} s", PATIENCE / 1_000_000_000);
        std::process::abort();
    }
    Ok(waited?)
}

/// Family and index of the queue that sorts, and of the queue that takes the result.
pub fn roles(families: &[vk::QueueFamilyProperties]) -> Result<[(u32, u32); 2], Failed> {
    let find = |wanted: &dyn Fn(vk::QueueFlags) -> bool| {
        (0..).zip(families).find(|(_, family)| wanted(family.queue_flags)).map(|(index, _)| index)
    };
    let graphics = find(&|flags| flags.contains(vk::QueueFlags::GRAPHICS));
    let alone = find(&|flags| flags.contains(vk::QueueFlags::COMPUTE) && !flags.contains(vk::QueueFlags::GRAPHICS));
    let compute = alone.or_else(|| find(&|flags| flags.contains(vk::QueueFlags::COMPUTE)));
    let compute = compute.ok_or("the device has no compute queue")?;
    let second = u32::from(families[compute as usize].queue_count > 1);
    Ok([(compute, 0), graphics.filter(|&family| family != compute).map_or((compute, second), |family| (family, 0))])
}

/// The function of each open device that creates compute pipelines, and the number that it has created.
static CREATED: Mutex<BTreeMap<vk::Device, (vk::PFN_vkCreateComputePipelines, usize)>> = Mutex::new(BTreeMap::new());

/// A function of the device; [`create_compute_pipelines`] in the place of the device's.
///
/// # Safety
///
/// The device is one of the instance.
unsafe fn counting(instance: &ash::Instance, device: vk::Device, name: &CStr) -> *const c_void {
    // SAFETY: by this function's contract; a function of this name has this type.
    unsafe {
        let Some(function) = (instance.fp_v1_0().get_device_proc_addr)(device, name.as_ptr()) else {
            return std::ptr::null();
        };
        if name != c"vkCreateComputePipelines" {
            return function as *const c_void;
        }
        let function = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateComputePipelines>(function);
        CREATED.lock().unwrap_or_else(PoisonError::into_inner).insert(device, (function, 0));
        create_compute_pipelines as *const c_void
    }
}

unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let function = {
        let mut created = CREATED.lock().unwrap_or_else(PoisonError::into_inner);
        let (function, made) = created.get_mut(&device).expect("the device was loaded by `counting`");
        *made += count as usize;
        *function
    };
    // SAFETY: the arguments are the caller's.
    unsafe { function(device, cache, count, infos, allocator, pipelines) }
}

unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data, whose message is null or a text, and the messages, which outlive the messenger.
    let (message, messages) = unsafe { ((*data).message_as_c_str(), &*user.cast::<Mutex<Vec<String>>>()) };
    let message = message.unwrap_or_default().to_string_lossy().into_owned();
    messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    vk::FALSE
}
