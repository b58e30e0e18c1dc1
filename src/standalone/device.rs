//! A device with one compute queue and its allocator, which runs recorded work to completion.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ash::{ext, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};

use super::cache;
use super::instance::{Instance, PhysicalDevice};
use crate::error::{Context, Error};
use crate::record::{PipelineSet, Requirements, SorterOptions};

/// How often the log says that the device is still at work.
const REMINDER: Duration = Duration::from_secs(5);

/// A logical device with one compute queue.
#[allow(missing_debug_implementations, reason = "tests alone see it")]
pub struct Device {
    /// Its handle and functions.
    pub raw: ash::Device,
    /// What it was made from.
    pub requirements: Requirements,
    pub(crate) instance: Arc<Instance>,
    allocator: ManuallyDrop<Mutex<Allocator>>,
    handles: ManuallyDrop<Handles>,
    cache_file: Option<PathBuf>,
    pub(crate) pipelines: Arc<PipelineSet>,
    /// For labels, if the instance has the extension.
    pub debug_utils: Option<ext::debug_utils::Device>,
    /// Bits of a timestamp; 0 where the queue has none.
    pub timestamp_bits: u32,
    queue: Mutex<Queue>,
    /// Longest time that submitted work may take.
    timeout: Duration,
    /// A submission has timed out. Objects that it may use are never destroyed.
    lost: AtomicBool,
}

pub(super) struct Queue {
    raw: vk::Queue,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
}

/// A device and its objects, destroyed together. A handle that does not exist yet is null.
struct Handles {
    device: ash::Device,
    pool: vk::CommandPool,
    fence: vk::Fence,
    /// Locked while pipelines are created, because only one thread may use a cache at a time.
    pipeline_cache: Mutex<vk::PipelineCache>,
}

impl Drop for Handles {
    fn drop(&mut self) {
        let pipeline_cache = *self.pipeline_cache.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: whoever drops this has waited for all submissions and destroyed everything else of the device; each
        // handle is null or was created once, and the device goes last.
        unsafe {
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_pipeline_cache(pipeline_cache, None);
            self.device.destroy_device(None);
        }
    }
}

impl Device {
    /// Creates the logical device with only the extensions and features that vksort needs. Its pipeline cache starts with
    /// the content of the file, and is written back in the end.
    pub(crate) fn new(
        instance: &Arc<Instance>,
        physical: &PhysicalDevice,
        cache_file: Option<&Path>,
        timeout: Duration,
    ) -> Result<Arc<Device>, Error> {
        let requirements = physical.requirements.clone()?.with_everything();
        // SAFETY: the physical device belongs to the instance.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical.raw) };
        let kept = cache_file.map(|path| cache::load(path, &properties)).transpose()?.unwrap_or_default();
        // SAFETY: the physical device belongs to the instance.
        let families = unsafe { instance.raw.get_physical_device_queue_family_properties(physical.raw) };
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .expect("requirements were met, so there is a compute queue") as u32;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let extensions: Vec<_> = requirements.device_extensions.iter().map(|name| name.as_ptr()).collect();
        let mut features = requirements.features();
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        let info = features.chain(info);
        // SAFETY: extensions and features were found on this device by `Requirements::query`.
        let raw = unsafe { instance.raw.create_device(physical.raw, &info, None) }.context("vkCreateDevice")?;
        // From here on, a failure destroys the device and its objects.
        let mut handles = Handles {
            device: raw.clone(),
            pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            pipeline_cache: Mutex::default(),
        };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: raw.clone(),
            physical_device: physical.raw,
            debug_settings: Default::default(),
            buffer_device_address: requirements.profile.buffer_addresses,
            allocation_sizes: Default::default(),
        })
        .map_err(|error| Error::Allocation { what: "the allocator", bytes: 0, source: Arc::new(error) })?;
        // SAFETY: the device was just created with one queue of this family; `handles` destroys what is made from it.
        let queue = unsafe {
            let pool_info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            handles.pool = raw.create_command_pool(&pool_info, None).context("vkCreateCommandPool")?;
            let commands_info =
                vk::CommandBufferAllocateInfo::default().command_pool(handles.pool).command_buffer_count(1);
            let commands = raw.allocate_command_buffers(&commands_info).context("vkAllocateCommandBuffers")?[0];
            handles.fence = raw.create_fence(&vk::FenceCreateInfo::default(), None).context("vkCreateFence")?;
            let cache_info = vk::PipelineCacheCreateInfo::default().initial_data(&kept);
            let pipeline_cache = raw.create_pipeline_cache(&cache_info, None).context("vkCreatePipelineCache")?;
            handles.pipeline_cache = Mutex::new(pipeline_cache);
            Queue { raw: raw.get_device_queue(family, 0), commands, fence: handles.fence }
        };
        Ok(Arc::new(Device {
            debug_utils: instance.debug_utils.then(|| ext::debug_utils::Device::new(&instance.raw, &raw)),
            raw,
            requirements,
            instance: Arc::clone(instance),
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            handles: ManuallyDrop::new(handles),
            cache_file: cache_file.map(Path::to_path_buf),
            pipelines: Arc::default(),
            timestamp_bits: families[family as usize].timestamp_valid_bits,
            queue: Mutex::new(queue),
            timeout,
            lost: AtomicBool::new(false),
        }))
    }

    pub(super) fn allocator(&self) -> MutexGuard<'_, Allocator> {
        self.allocator.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The pipeline cache, locked.
    pub fn pipeline_cache(&self) -> MutexGuard<'_, vk::PipelineCache> {
        self.handles.pipeline_cache.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The options of a sorter on this device, which builds its pipelines with a locked cache.
    pub(super) fn options(&self, pipeline_cache: vk::PipelineCache, options: &SorterOptions) -> SorterOptions {
        options
            .clone()
            .pipeline_cache(pipeline_cache)
            // The caller's set may be of another device.
            .pipelines(Arc::clone(&self.pipelines))
            .debug_utils(self.debug_utils.clone())
    }

    /// Writes the pipeline cache to its file, if it has one. A failure is only logged, because sorts do not need the cache.
    pub(crate) fn save_pipelines(&self) {
        let Some(path) = &self.cache_file else { return };
        let cache = self.pipeline_cache();
        // SAFETY: the cache is this device's, and no other thread uses it under the lock.
        let data = unsafe { self.raw.get_pipeline_cache_data(*cache) };
        let stored = data.map_err(|result| result.to_string()).and_then(|data| {
            // Under the lock, so that the larger cache of two threads is written last.
            cache::store(path, &data).map_err(|error| error.to_string())
        });
        if let Err(reason) = stored {
            log::warn!("pipeline cache {} could not be written: {reason}", path.display());
        }
    }

    /// Writes the pipeline cache to its file, then empties it.
    pub(crate) fn forget_pipelines(&self) -> Result<(), Error> {
        self.save_pipelines();
        let mut cache = self.pipeline_cache();
        let info = vk::PipelineCacheCreateInfo::default();
        // SAFETY: the device is alive.
        let empty = unsafe { self.raw.create_pipeline_cache(&info, None) }.context("vkCreatePipelineCache")?;
        // SAFETY: no other thread uses the cache under the lock, and pipelines do not need it once they are made.
        unsafe { self.raw.destroy_pipeline_cache(std::mem::replace(&mut *cache, empty), None) };
        Ok(())
    }

    /// Whether a submission has timed out, so that nothing may be destroyed.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Records commands anew; returns the queue that may take them.
    ///
    /// # Safety
    ///
    /// `record` records valid commands.
    pub(super) unsafe fn record(
        &self,
        record: impl FnOnce(vk::CommandBuffer) -> Result<(), Error>,
    ) -> Result<MutexGuard<'_, Queue>, Error> {
        let queue = self.queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.is_lost() {
            return Err(Error::Vulkan { call: "an earlier submission", result: vk::Result::ERROR_DEVICE_LOST });
        }
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: nothing is pending, because every submission is waited for under the lock; beginning resets what was recorded.
        unsafe { self.raw.begin_command_buffer(queue.commands, &begin) }.context("vkBeginCommandBuffer")?;
        let recorded = record(queue.commands);
        // SAFETY: the command buffer is recording.
        unsafe { self.raw.end_command_buffer(queue.commands) }.context("vkEndCommandBuffer")?;
        recorded.map(|()| queue)
    }

    /// Records commands, submits them and waits until they are done.
    ///
    /// # Errors
    ///
    /// Those of `record`; [`Error::Timeout`], [`Error::Vulkan`].
    ///
    /// # Safety
    ///
    /// `record` records valid commands, and their objects stay alive during the call.
    pub unsafe fn execute(
        &self,
        what: &'static str,
        record: impl FnOnce(vk::CommandBuffer) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        let queue = unsafe { self.record(record)? };
        let commands = [queue.commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: the commands are complete and valid by this function's contract. Nothing waits for the fence, which is reset
        // before it is used, so that a failure leaves nothing behind.
        unsafe {
            self.raw.reset_fences(&[queue.fence]).context("vkResetFences")?;
            self.raw.queue_submit(queue.raw, &submits, queue.fence).context("vkQueueSubmit")?;
        }
        let started = Instant::now();
        let finished = loop {
            let left = self.timeout.saturating_sub(started.elapsed());
            // SAFETY: the fence was submitted.
            match unsafe { self.raw.wait_for_fences(&[queue.fence], true, left.min(REMINDER).as_nanos() as u64) } {
                Err(vk::Result::TIMEOUT) if left > REMINDER => {
                    log::info!(
                        "{}: {what} has taken {} s",
                        self.requirements.profile.name,
                        started.elapsed().as_secs()
                    );
                }
                finished => break finished,
            }
        };
        finished.map_err(|result| {
            self.lost.store(true, Ordering::Relaxed);
            match result {
                vk::Result::TIMEOUT => Error::Timeout { what, allowed: self.timeout },
                result => Error::Vulkan { call: "vkWaitForFences", result },
            }
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.is_lost() {
            log::error!("{}: work may still be running, its device is left alone", self.requirements.profile.name);
            // An instance must outlive its devices, and the Vulkan library its instances.
            std::mem::forget(Arc::clone(&self.instance));
            return;
        }
        self.save_pipelines();
        // SAFETY: all submissions were waited for; buffers, sorters and runs hold an `Arc` of the device, so none is
        // left; the allocator goes before the device it frees memory of, and neither is used again.
        unsafe {
            ManuallyDrop::drop(&mut self.allocator);
            ManuallyDrop::drop(&mut self.handles);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    fn open() -> Arc<Device> {
        let instance = Instance::new(false).unwrap();
        let physical = instance.devices().unwrap().into_iter().find(|device| device.requirements.is_ok());
        Device::new(&instance, &physical.expect("a device to test on"), None, Duration::from_secs(60)).unwrap()
    }

    /// Submissions that the test below has seen.
    static SUBMITTED: AtomicU32 = AtomicU32::new(0);

    unsafe extern "system" fn fail_to_reset(_: vk::Device, _: u32, _: *const vk::Fence) -> vk::Result {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
    }

    unsafe extern "system" fn count_submissions(
        _: vk::Queue,
        _: u32,
        _: *const vk::SubmitInfo<'_>,
        _: vk::Fence,
    ) -> vk::Result {
        SUBMITTED.fetch_add(1, Ordering::Relaxed);
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
    }

    /// A submission with a fence that is signalled already would not be waited for.
    #[test]
    fn nothing_is_submitted_with_a_fence_that_could_not_be_reset() {
        let mut device = open();
        // SAFETY: the commands are none.
        let execute = |device: &Device| unsafe { device.execute("nothing", |_| Ok(())) };
        execute(&device).unwrap();
        let working = device.raw.clone();
        let functions = ash::DeviceFnV1_0 {
            reset_fences: fail_to_reset,
            queue_submit: count_submissions,
            ..working.fp_v1_0().clone()
        };
        let (v11, v12, v13) = (working.fp_v1_1().clone(), working.fp_v1_2().clone(), working.fp_v1_3().clone());
        Arc::get_mut(&mut device).unwrap().raw =
            ash::Device::from_parts_1_3(working.handle(), functions, v11, v12, v13);
        for _ in 0..2 {
            let refused = execute(&device).unwrap_err().to_string();
            assert!(refused.contains("vkResetFences"), "{refused}");
        }
        assert_eq!(SUBMITTED.load(Ordering::Relaxed), 0);
        Arc::get_mut(&mut device).unwrap().raw = working;
        execute(&device).unwrap();
        assert!(!device.is_lost());
    }

    /// What was logged.
    static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    struct Keep;

    impl log::Log for Keep {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &log::Record<'_>) {
            LOGGED.lock().unwrap().push(record.args().to_string());
        }

        fn flush(&self) {}
    }

    /// Work that waits for an event of the host.
    #[test]
    fn the_log_says_that_long_work_goes_on() {
        log::set_logger(&Keep).unwrap();
        log::set_max_level(log::LevelFilter::Info);
        let device = open();
        // SAFETY: the device is alive; the event is waited for in the commands and set once, and goes when they are done.
        unsafe {
            let event = device.raw.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            let stages = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::ALL_COMMANDS);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(REMINDER + REMINDER / 5);
                    device.raw.set_event(event).unwrap();
                });
                device.execute("the test", |commands| {
                    device.raw.cmd_wait_events(commands, &[event], stages.0, stages.1, &[], &[], &[]);
                    Ok(())
                })
            })
            .unwrap();
            device.raw.destroy_event(event, None);
        }
        let logged = LOGGED.lock().unwrap();
        // On a busy machine it takes longer.
        let times: Vec<u64> = logged
            .iter()
            .filter_map(|line| line.split_once("the test has taken "))
            .map(|(_, time)| time.strip_suffix(" s").expect("it is in seconds").parse().expect("it is a number"))
            .collect();
        assert!(!times.is_empty() && times.iter().all(|time| *time >= REMINDER.as_secs()), "{logged:?}");
    }

    #[test]
    fn a_lost_device_keeps_its_instance() {
        for lost in [false, true] {
            let device = open();
            let instance = Arc::downgrade(&device.instance);
            device.lost.store(lost, Ordering::Relaxed);
            drop(device);
            assert_eq!(instance.upgrade().is_some(), lost, "lost: {lost}");
        }
    }
}
