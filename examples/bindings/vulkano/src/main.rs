//! Sorts splats by depth on a device of vulkano, in two ways, and verifies the results.
//!
//! * `sort_beside`: a submission of its own, which vulkano knows nothing of.
//! * `sort_within`: one command buffer in a chain of vulkano's futures, which then keep buffers apart and alive.
//!
//! vulkano 0.35 has the handles of ash 0.38, as vksort does. With another version, make them from numbers (`Handle::from_raw`).

use std::ffi::c_void;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use parking_lot::MutexGuard;
use vksort::{AccessScope, BoundSort, BufferRange, KeyType, Order, Requirements};
use vksort::{SortBuffers, SortRequest, Sorter, SorterOptions, ValueType, ash};
use vulkano::buffer::{Buffer, BufferContents, BufferCreateInfo, BufferUsage, Subbuffer};
use vulkano::command_buffer::allocator::StandardCommandBufferAllocator;
use vulkano::command_buffer::{
    AutoCommandBufferBuilder, CommandBuffer, CommandBufferBeginInfo, CommandBufferLevel, CommandBufferResourcesUsage,
    CommandBufferState, CommandBufferUsage, CopyBufferInfo, PrimaryAutoCommandBuffer, PrimaryCommandBufferAbstract,
    RecordingCommandBuffer,
};
use vulkano::device::physical::PhysicalDevice;
use vulkano::device::{
    Device, DeviceCreateInfo, DeviceExtensions, DeviceFeatures, DeviceOwned, Queue, QueueCreateInfo, QueueFlags,
};
use vulkano::instance::{Instance, InstanceCreateFlags, InstanceCreateInfo};
use vulkano::memory::allocator::{AllocationCreateInfo, MemoryTypeFilter, StandardMemoryAllocator};
use vulkano::sync::GpuFuture;
use vulkano::{VulkanLibrary, VulkanObject};

/// Splats of the scene.
const COUNT: u32 = 1 << 17;

/// The functions of vulkano's instance, for vksort.
fn functions(instance: &Instance) -> Result<ash::Instance> {
    let name = c"vkGetInstanceProcAddr".as_ptr();
    // SAFETY: the instance is alive, and so is its library, which has the function.
    unsafe {
        let get = instance.library().get_instance_proc_addr(instance.handle(), name);
        let get = get.context("the library has no vkGetInstanceProcAddr")?;
        Ok(vksort::instance_from_raw(get as *const c_void, ash::vk::Handle::as_raw(instance.handle()))?)
    }
}

/// What vksort wants of a physical device.
fn query(physical_device: &PhysicalDevice) -> Result<Requirements> {
    let instance = physical_device.instance();
    // SAFETY: the physical device is of the instance. vulkano's instances are for Vulkan 1.2 or newer if the loader is.
    let needed = unsafe { Requirements::query(&functions(instance)?, physical_device.handle())? };
    let version = instance.max_api_version();
    Ok(needed.for_api_version(ash::vk::make_api_version(0, version.major, version.minor, version.patch))?)
}

/// What a new device has to enable for it.
fn enable(needed: &Requirements) -> Result<(DeviceExtensions, DeviceFeatures)> {
    let names: Vec<&str> = needed.device_extensions().iter().map(|name| name.to_str()).collect::<Result<_, _>>()?;
    let mut features = DeviceFeatures::empty();
    for name in needed.feature_names() {
        match name {
            "storageBuffer16BitAccess" => features.storage_buffer16_bit_access = true,
            "storageBuffer8BitAccess" => features.storage_buffer8_bit_access = true,
            "subgroupSizeControl" => features.subgroup_size_control = true,
            "computeFullSubgroups" => features.compute_full_subgroups = true,
            other => bail!("vksort needs the feature {other}, which this program does not know"),
        }
    }
    Ok((names.into_iter().collect(), features))
}

/// What vksort may use of a device that exists, whoever created it.
fn requirements(device: &Device) -> Result<Requirements> {
    let extensions = device.enabled_extensions().into_iter().filter(|(_, enabled)| *enabled);
    let features = device.enabled_features().into_iter().filter(|(_, enabled)| *enabled);
    let (extensions, features): (Vec<&str>, Vec<&str>) =
        (extensions.map(|(name, _)| name).collect(), features.map(|(name, _)| name).collect());
    Ok(query(device.physical_device())?.only_enabled_names(&extensions, &features))
}

/// A sorter with its buffers, and the sort that is bound to them.
struct Splats {
    depths: Subbuffer<[f32]>,
    indices: Subbuffer<[u32]>,
    scratch: Subbuffer<[u32]>,
    sort: BoundSort,
    /// The functions of the device, for vksort.
    functions: ash::Device,
}

impl Splats {
    fn new(device: &Arc<Device>, memory: &Arc<StandardMemoryAllocator>) -> Result<Splats> {
        let needed = requirements(device)?;
        let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
        // SAFETY: the device is alive.
        let functions = unsafe {
            vksort::device_from_raw(&functions(device.instance())?, ash::vk::Handle::as_raw(device.handle()))?
        };
        // SAFETY: the requirements name nothing that the device was created without. `main` holds the device for longer.
        let sorter = unsafe { Sorter::new(&functions, &needed, &request, &SorterOptions::default())? };
        let usage = BufferUsage::STORAGE_BUFFER | BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST;
        let depths = on_device(memory, usage, COUNT.into())?;
        let indices = on_device(memory, usage, COUNT.into())?;
        let words = sorter.scratch_size(COUNT)?.div_ceil(4).max(1);
        let scratch = on_device(memory, BufferUsage::from(sorter.scratch_usage()), words)?;
        let buffers = SortBuffers::new(COUNT).keys(range(&depths)).values(range(&indices)).scratch(range(&scratch));
        // SAFETY: the buffers are the device's. The subbuffers that `self` holds keep them alive.
        let sort = unsafe { sorter.bind(&buffers)? };
        Ok(Splats { depths, indices, scratch, sort, functions })
    }

    /// The sort with the barriers around it, in a command buffer that vulkano does not track.
    fn record(&self, queue: &Queue, commands: &Arc<StandardCommandBufferAllocator>) -> Result<CommandBuffer> {
        let info = CommandBufferBeginInfo { usage: CommandBufferUsage::OneTimeSubmit, ..Default::default() };
        let (family, level) = (queue.queue_family_index(), CommandBufferLevel::Primary);
        let recording = RecordingCommandBuffer::new(Arc::clone(commands) as _, family, level, info)?;
        let raw = recording.handle();
        // SAFETY: the command buffer is recording. The barriers join copies before the sort and after it.
        unsafe {
            AccessScope::TRANSFER_WRITE.record_barrier(BoundSort::INPUT_SCOPE, &self.functions, raw);
            self.sort.record(raw, COUNT)?;
            BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::TRANSFER_READ, &self.functions, raw);
            Ok(recording.end()?)
        }
    }
}

/// Way A: a submission of its own. vulkano's futures know nothing of it, so the caller waits for the commands before it, and this
/// function for the sort.
fn sort_beside(splats: &Splats, queue: &Arc<Queue>, commands: &Arc<StandardCommandBufferAllocator>) -> Result<()> {
    let recorded = splats.record(queue, commands)?;
    let raw = [recorded.handle()];
    let submits = [ash::vk::SubmitInfo::default().command_buffers(&raw)];
    // SAFETY: nothing else uses the queue within `with`, or the buffers until the queue is idle.
    queue.with(|_queue| unsafe {
        splats.functions.queue_submit(queue.handle(), &submits, ash::vk::Fence::null())?;
        splats.functions.queue_wait_idle(queue.handle())
    })?;
    Ok(())
}

/// Way B: a command buffer of vulkano's futures. Its resources are those of `shadow`, which is never submitted: it fills the buffers
/// that the sort writes, and so makes vulkano know them.
struct SortCommands {
    recorded: CommandBuffer,
    shadow: Arc<PrimaryAutoCommandBuffer>,
    /// Keeps the sort alive.
    _splats: Arc<Splats>,
}

impl SortCommands {
    fn new(
        splats: &Arc<Splats>,
        queue: &Queue,
        commands: &Arc<StandardCommandBufferAllocator>,
    ) -> Result<SortCommands> {
        let recorded = splats.record(queue, commands)?;
        let (family, usage) = (queue.queue_family_index(), CommandBufferUsage::OneTimeSubmit);
        let mut shadow = AutoCommandBufferBuilder::primary(Arc::clone(commands) as _, family, usage)?;
        shadow
            .fill_buffer(splats.depths.clone().reinterpret(), 0)?
            .fill_buffer(splats.indices.clone(), 0)?
            .fill_buffer(splats.scratch.clone(), 0)?;
        Ok(SortCommands { recorded, shadow: shadow.build()?, _splats: Arc::clone(splats) })
    }
}

// SAFETY: it is the handle of the commands that are submitted.
unsafe impl VulkanObject for SortCommands {
    type Handle = ash::vk::CommandBuffer;

    fn handle(&self) -> Self::Handle {
        self.recorded.handle()
    }
}

// SAFETY: both command buffers are of this device.
unsafe impl DeviceOwned for SortCommands {
    fn device(&self) -> &Arc<Device> {
        self.recorded.device()
    }
}

// SAFETY: the shadow uses every buffer of the sort, all of them exclusively, and its state is that of one command buffer.
unsafe impl PrimaryCommandBufferAbstract for SortCommands {
    fn as_raw(&self) -> &CommandBuffer {
        &self.recorded
    }

    fn queue_family_index(&self) -> u32 {
        self.recorded.queue_family_index()
    }

    fn usage(&self) -> CommandBufferUsage {
        self.recorded.usage()
    }

    fn state(&self) -> MutexGuard<'_, CommandBufferState> {
        self.shadow.state()
    }

    fn resources_usage(&self) -> &CommandBufferResourcesUsage {
        self.shadow.resources_usage()
    }
}

/// A buffer in the device's memory.
fn on_device<T: BufferContents>(
    memory: &Arc<StandardMemoryAllocator>,
    usage: BufferUsage,
    count: u64,
) -> Result<Subbuffer<[T]>> {
    let info = BufferCreateInfo { usage, ..Default::default() };
    Ok(Buffer::new_slice(Arc::clone(memory) as _, info, AllocationCreateInfo::default(), count)?)
}

/// A buffer that the host writes and reads.
fn on_host<T: BufferContents>(
    memory: &Arc<StandardMemoryAllocator>,
    content: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> Result<Subbuffer<[T]>> {
    let usage = BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST;
    let memory_type_filter = MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_RANDOM_ACCESS;
    let (info, allocation) = (
        BufferCreateInfo { usage, ..Default::default() },
        AllocationCreateInfo { memory_type_filter, ..Default::default() },
    );
    Ok(Buffer::from_iter(Arc::clone(memory) as _, info, allocation, content)?)
}

/// A subbuffer as vksort takes it. With its usage, flags that are missing are found when the sort is bound.
fn range<T: ?Sized>(part: &Subbuffer<T>) -> BufferRange {
    let usage: ash::vk::BufferUsageFlags = part.buffer().usage().into();
    BufferRange::new(part.buffer().handle(), part.size()).offset(part.offset()).usage(usage)
}

fn main() -> Result<()> {
    let library = VulkanLibrary::new().context("no Vulkan loader was found")?;
    let flags = InstanceCreateFlags::ENUMERATE_PORTABILITY;
    let instance = Instance::new(library, InstanceCreateInfo { flags, ..Default::default() })?;
    let physical_device = instance.enumerate_physical_devices()?.next().context("there is no Vulkan device")?;
    let families = physical_device.queue_family_properties().iter();
    let family = families.clone().position(|family| family.queue_flags.contains(QueueFlags::COMPUTE));
    let queue_family_index = family.context("the device has no compute queue")? as u32;
    let (enabled_extensions, enabled_features) = enable(&query(&physical_device)?)?;
    let queue_create_infos = vec![QueueCreateInfo { queue_family_index, ..Default::default() }];
    let info = DeviceCreateInfo { queue_create_infos, enabled_extensions, enabled_features, ..Default::default() };
    let (device, mut queues) = Device::new(physical_device, info)?;
    let queue = queues.next().context("the device has no queue")?;
    let memory = Arc::new(StandardMemoryAllocator::new_default(Arc::clone(&device)));
    let commands = Arc::new(StandardCommandBufferAllocator::new(Arc::clone(&device), Default::default()));

    let splats = Arc::new(Splats::new(&device, &memory)?);
    let depths: Vec<f32> = (0..COUNT).map(|splat| (splat.wrapping_mul(0x9E37_79B9) >> 18) as f32).collect();
    let (host_depths, host_indices) = (on_host(&memory, depths.clone())?, on_host(&memory, 0..COUNT)?);
    let copy = |pairs: [CopyBufferInfo; 2]| -> Result<Arc<PrimaryAutoCommandBuffer>> {
        let usage = CommandBufferUsage::OneTimeSubmit;
        let mut copying =
            AutoCommandBufferBuilder::primary(Arc::clone(&commands) as _, queue.queue_family_index(), usage)?;
        for pair in pairs {
            copying.copy_buffer(pair)?;
        }
        Ok(copying.build()?)
    };
    let upload = || {
        copy([
            CopyBufferInfo::buffers(host_depths.clone(), splats.depths.clone()),
            CopyBufferInfo::buffers(host_indices.clone(), splats.indices.clone()),
        ])
    };
    let download = || {
        copy([
            CopyBufferInfo::buffers(splats.depths.clone(), host_depths.clone()),
            CopyBufferInfo::buffers(splats.indices.clone(), host_indices.clone()),
        ])
    };
    let mut expected: Vec<u32> = (0..COUNT).collect();
    expected.sort_by(|a, b| depths[*b as usize].total_cmp(&depths[*a as usize]));
    let compare = |way: &str| -> Result<()> {
        ensure!(*host_indices.read()? == *expected, "{way}: the indices are not those of a stable sort");
        let (sorted, read) = (expected.iter().map(|splat| depths[*splat as usize]), host_depths.read()?);
        ensure!(sorted.eq(read.iter().copied()), "{way}: depths and indices differ in their order");
        Ok(())
    };

    upload()?.execute(Arc::clone(&queue))?.then_signal_fence_and_flush()?.wait(None)?;
    sort_beside(&splats, &queue, &commands)?;
    download()?.execute(Arc::clone(&queue))?.then_signal_fence_and_flush()?.wait(None)?;
    compare("beside vulkano's futures")?;

    host_depths.write()?.copy_from_slice(&depths);
    host_indices.write()?.iter_mut().zip(0..).for_each(|(index, splat)| *index = splat);
    let sort = Arc::new(SortCommands::new(&splats, &queue, &commands)?);
    upload()?
        .execute(Arc::clone(&queue))?
        .then_execute_same_queue(sort)?
        .then_execute_same_queue(download()?)?
        .then_signal_fence_and_flush()?
        .wait(None)?;
    compare("within vulkano's futures")?;
    println!("vulkano: {COUNT} depths and indices equal those of a stable sort, beside its futures and within them");
    Ok(())
}
