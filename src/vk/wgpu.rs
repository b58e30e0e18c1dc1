//! Sorts of wgpu's buffers, on its Vulkan backend.

mod device;
mod times;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ash::vk;
use wgpu::hal::api::Vulkan;
use wgpu::{BindGroup, Buffer, BufferSlice, BufferUsages, CommandBuffer, ErrorFilter, Queue, SubmissionIndex};

pub use self::device::WgpuDevice;
#[cfg(feature = "testing")]
pub use self::device::refusal;
use self::times::Queries;
pub use self::times::WgpuStepTimes;
use super::bind::{BoundSort, BufferRange, SortBuffers};
use super::sorter::{Sorter, SorterOptions};
use crate::error::Error;
use crate::request::{Algorithm, Count, SortRequest};
use crate::tuning::Tuning;

/// The pipelines of one kind of sort on a device of wgpu, for every element count.
///
/// A sorter is built once per request. [`bind`](Self::bind) binds it to buffers, and [`WgpuSort::record`] records the sort.
///
/// ```no_run
/// use vksort::wgpu::{BufferUsages, Device, Queue};
/// use vksort::{KeyType, Order, SortBuffers, SortRequest, ValueType, WgpuCommands, WgpuDevice, WgpuSorter};
///
/// # fn frame(device: &Device, queue: &Queue, buffer: impl Fn(u64) -> vksort::wgpu::Buffer) -> Result<(), vksort::Error> {
/// // Once. Depths with the index of their splat, farthest first; both buffers have the usage STORAGE.
/// let request = SortRequest { value: ValueType::U32, order: Order::Descending, ..SortRequest::new(KeyType::F32) };
/// let sorter = WgpuSorter::new(&WgpuDevice::new(device)?, &request, None)?;
/// let (depths, indices) = (buffer(4 * 10_000), buffer(4 * 10_000));
/// let in_place = SortBuffers::in_place(depths.slice(..), 10_000);
/// // SAFETY: device and buffers are of one instance, and nothing destroys the buffers meanwhile.
/// let sort = unsafe { sorter.bind(&SortBuffers { values: Some(indices.slice(..)), ..in_place })? };
///
/// // Every frame, with as many elements as there are then.
/// let (cull, draw) = (device.create_command_encoder(&Default::default()), device.create_command_encoder(&Default::default()));
/// // ... passes that write depths and indices are recorded into `cull`, passes that read them into `draw`.
/// WgpuCommands::submit(queue, [cull.finish().into(), sort.record(9_000)?, draw.finish().into()]);
/// # Ok(()) }
/// ```
pub struct WgpuSorter {
    // Fields are dropped in this order: the pipelines before the device.
    sorter: Sorter,
    device: WgpuDevice,
}

impl fmt::Debug for WgpuSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sorter.fmt(f)
    }
}

impl WgpuSorter {
    /// Usage flags of a scratch buffer that the caller gives. They are [`Sorter::SCRATCH_USAGE`] in wgpu's words.
    pub const SCRATCH_USAGE: BufferUsages =
        BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::INDIRECT);

    /// Builds the pipelines for a request. Sorters of one [`WgpuDevice`] share pipelines.
    ///
    /// `tuning` replaces the built-in row of the device.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for a request out of range, [`Error::MissingFeature`] for keys that this build lacks.
    /// * [`Error::UnsuitableDevice`] when the device cannot serve the request.
    /// * [`Error::Vulkan`] when the driver fails.
    pub fn new(device: &WgpuDevice, request: &SortRequest, tuning: Option<&Tuning>) -> Result<WgpuSorter, Error> {
        let inner = &device.inner;
        let options = SorterOptions {
            pipelines: Some(Arc::clone(&inner.pipelines)),
            tuning: tuning.cloned(),
            debug_utils: inner.debug_utils.clone(),
            ..SorterOptions::default()
        };
        // SAFETY: the device was created with what the requirements name, by the contract of `WgpuDevice`. The sorter and its
        // sorts hold it, and a recorded sort is held until wgpu has seen its commands complete. Shared pipelines and label
        // functions are those of this device.
        let sorter = unsafe { Sorter::new(&inner.raw, &inner.requirements, request, &options)? };
        Ok(WgpuSorter { sorter, device: device.clone() })
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        self.sorter.request()
    }

    /// Most elements that this sorter can sort on its device. Limits of wgpu on the size of a buffer are not part of it.
    pub fn max_count(&self) -> u32 {
        self.sorter.max_count()
    }

    /// Bytes of scratch that a sort of up to `capacity` elements needs; 0 when it needs none.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        self.sorter.scratch_size(capacity)
    }

    /// Binds the sorter to buffers. The result can be recorded any number of times.
    ///
    /// * Every buffer needs the usage `STORAGE`, the scratch buffer [`SCRATCH_USAGE`](Self::SCRATCH_USAGE).
    /// * Without a scratch buffer, the sort makes one of its own. Sorts of one queue may share a buffer.
    /// * The sort keeps the buffers alive. After [`Buffer::destroy`], wgpu refuses submissions with the sort.
    ///
    /// # Errors
    ///
    /// * [`Error::BufferTooSmall`], [`Error::MisalignedOffset`], [`Error::MissingUsage`] (in Vulkan's words) or
    ///   [`Error::Overlap`] for a range.
    /// * [`Error::BufferPresence`] for a buffer that is missing or not used, [`Error::Unsupported`] for a destroyed one.
    /// * [`Error::TooManyElements`] for the capacity.
    /// * [`Error::Wgpu`] when wgpu refuses a buffer, as it is another device's, or cannot make the scratch buffer.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * The buffers come from the same `wgpu::Instance` as the sorter's device. wgpu finds resources by number, and the
    ///   instances count separately, so it cannot tell a buffer of another instance.
    /// * No buffer is destroyed ([`Buffer::destroy`]) during the call.
    pub unsafe fn bind(&self, buffers: &SortBuffers<BufferSlice<'_>>) -> Result<WgpuSort, Error> {
        let inner = &self.device.inner;
        let needed = self.sorter.scratch_size(buffers.capacity)?;
        let own = match buffers.scratch {
            None if needed > 0 => Some(self.device.create_scratch(needed)?),
            _ => None,
        };
        let sizes = self.sorter.request().buffers(buffers.capacity);
        let caller = [
            ("keys", Some(buffers.keys), sizes.keys),
            ("values", buffers.values, sizes.values.unwrap_or_default()),
            ("keys_out", buffers.keys_out, sizes.keys_out.unwrap_or_default()),
            ("values_out", buffers.values_out, sizes.values_out.unwrap_or_default()),
            ("scratch", buffers.scratch, needed),
            ("count", buffers.count, 4),
        ];
        let given = |name, slice: Option<BufferSlice<'_>>| slice.map(|slice| raw_range(name, slice)).transpose();
        let raw = SortBuffers {
            keys: raw_range("keys", buffers.keys)?,
            values: given("values", buffers.values)?,
            keys_out: given("keys_out", buffers.keys_out)?,
            values_out: given("values_out", buffers.values_out)?,
            scratch: given("scratch", buffers.scratch.or(own.as_ref().map(|buffer| buffer.slice(..))))?,
            count: given("count", buffers.count)?,
            capacity: buffers.capacity,
        };
        // wgpu's own check comes behind these, as its message names neither the range nor its role.
        drop(BoundSort::placed(Arc::clone(&self.sorter.inner), &raw)?);
        let caller = caller.into_iter().filter_map(|(name, slice, bytes)| Some((name, slice?, bytes)));
        let caller: Vec<_> = caller.filter(|_| buffers.capacity > 0).collect();
        let tracked = guarded(&inner.device, "Device::create_bind_group", || {
            let groups = caller.iter().map(|(_, slice, bytes)| (slice.buffer(), slice.offset(), *bytes));
            groups.flat_map(|(buffer, offset, bytes)| self.device.bind_groups(buffer, offset, bytes)).collect()
        })?;
        // SAFETY: wgpu has just bound the buffers on this device, where wgpu's memory lies behind all of each buffer. The
        // result holds them, and their usage was checked.
        let sort = unsafe { self.sorter.bind(&raw)? };
        let scratch = own.or(buffers.scratch.map(|slice| slice.buffer().clone()));
        let buffers = caller.iter().map(|(name, slice, _)| (*name, slice.buffer().clone())).collect();
        let device = self.device.clone();
        Ok(WgpuSort { inner: Arc::new(SortInner { sort, buffers, tracked, scratch, device }) })
    }
}

/// A sort bound to buffers of wgpu.
///
/// One bound sort serves every frame, also several frames in flight. Bind again when buffers or capacity change.
///
/// Owners and lifetimes:
///
/// * The sort holds device, buffers and pipelines.
/// * Recorded commands hold the sort until they are dropped or have completed. wgpu notices completion in `Device::poll` and
///   in `Queue::submit`, so a program that calls neither keeps the memory.
/// * If the thread that submits them panics, what they hold is leaked, as they may be running.
pub struct WgpuSort {
    inner: Arc<SortInner>,
}

/// What recorded commands hold until they have completed. Fields are dropped in this order: the device last.
struct SortInner {
    sort: BoundSort,
    /// The caller's buffers, with their names.
    buffers: Vec<(&'static str, Buffer)>,
    /// Bind groups over all bytes of them that the sort uses.
    tracked: Vec<BindGroup>,
    scratch: Option<Buffer>,
    device: WgpuDevice,
}

impl fmt::Debug for WgpuSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.sort.fmt(f)
    }
}

impl WgpuSort {
    /// Most elements that the sort can be recorded with.
    pub fn capacity(&self) -> u32 {
        self.inner.sort.capacity()
    }

    /// The algorithm that sorts `count` elements.
    pub fn algorithm(&self, count: u32) -> Algorithm {
        self.inner.sort.algorithm(count)
    }

    /// Records the sort of the first `count` elements. With [`Count::Device`] the count buffer holds their number.
    ///
    /// The sort takes two command encoders of its own, as wgpu panics when its own commands and those of Vulkan share one.
    /// [`WgpuCommands::submit`] submits the result between the caller's command buffers. No barriers are needed: the first
    /// encoder tells wgpu that the sort reads and writes the buffers.
    ///
    /// # Errors
    ///
    /// * [`Error::TooManyElements`]: the count is over the capacity.
    /// * [`Error::BufferPresence`]: the count is on the device, and no count buffer was bound.
    /// * [`Error::Unsupported`]: a buffer was destroyed.
    /// * [`Error::Wgpu`]: the device is lost.
    pub fn record(&self, count: impl Into<Count>) -> Result<WgpuCommands, Error> {
        self.record_with(self.inner.sort.check_count(count.into())?, None)
    }

    /// Records with timestamps, if there are queries. The count was checked.
    fn record_with(&self, count: Count, queries: Option<&Arc<Queries>>) -> Result<WgpuCommands, Error> {
        for (name, buffer) in &self.inner.buffers {
            raw_range(name, buffer.slice(..))?;
        }
        let device = &self.inner.device.inner;
        let encoder =
            |label| device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });

        let mut before = encoder("vksort: state of the buffers");
        let mut pass = before.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&device.nothing);
        for group in &self.inner.tracked {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(0, 0, 0);
        }
        drop(pass);

        let mut sort = encoder("vksort");
        let held = Held(Some((Arc::clone(&self.inner), queries.map(Arc::clone))));
        sort.on_submitted_work_done(move || held.release());
        // SAFETY: the command buffer is not ended or destroyed here, and wgpu is not called with this encoder meanwhile.
        unsafe {
            sort.as_hal_mut::<Vulkan, _, _>(|encoder| {
                let lost = || Error::Wgpu { call: "CommandEncoder::as_hal_mut", reason: "the device is lost".into() };
                let encoder = encoder.ok_or_else(lost)?;
                // While the handle is held, no buffer can be destroyed. Another thread may have destroyed one since the check
                // above. wgpu refuses the commands then, and of all buffers they name this one alone; the others are named
                // by descriptors.
                let scratch = self.inner.scratch.as_ref().map(|buffer| buffer.as_hal::<Vulkan>());
                if let Some(None) = scratch {
                    return Err(destroyed("scratch"));
                }
                // The command buffer is recording, on wgpu's queue, which has compute. Before it runs `before`, whose barrier
                // makes writes of all buffers visible to shaders, and tells wgpu to do the same behind the sort. The
                // commands hold sort and buffers.
                self.inner.sort.record(encoder.raw_handle(), count, queries.and_then(|queries| queries.range()))
            })?;
        }
        Ok(WgpuCommands { buffers: [Some(before.finish()), Some(sort.finish())] })
    }
}

/// What commands hold until they have completed. A panic within wgpu's `Queue::submit` drops the callbacks of commands that are
/// submitted already, so it leaks them.
struct Held(Option<(Arc<SortInner>, Option<Arc<Queries>>)>);

impl Held {
    fn release(mut self) {
        if let Some((_, Some(queries))) = self.0.take() {
            queries.set_done();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::mem::forget(self.0.take());
        }
    }
}

/// Recorded commands, in the order of their submission: a sort, or a command buffer of the caller.
#[derive(Debug)]
#[must_use = "commands do nothing before they are submitted"]
pub struct WgpuCommands {
    buffers: [Option<CommandBuffer>; 2],
}

impl From<CommandBuffer> for WgpuCommands {
    fn from(commands: CommandBuffer) -> WgpuCommands {
        WgpuCommands { buffers: [Some(commands), None] }
    }
}

impl WgpuCommands {
    /// Submits commands in order, by one [`Queue::submit`].
    ///
    /// Sorts see what earlier commands wrote, and later commands see sorted elements, as between any commands of wgpu.
    ///
    /// # Panics
    ///
    /// wgpu refuses the whole submission if a buffer was destroyed or is mapped, and reports this as for `Queue::submit`: to the
    /// device's error handler, which panics unless the program has set another one.
    pub fn submit(queue: &Queue, commands: impl IntoIterator<Item = WgpuCommands>) -> SubmissionIndex {
        queue.submit(commands.into_iter().flat_map(|commands| commands.buffers).flatten())
    }

    /// The command buffers, for a framework that submits by itself: two of a sort, or one of the caller.
    ///
    /// # Safety
    ///
    /// All of them are submitted by one [`Queue::submit`], in this order, with no command buffer between them.
    pub unsafe fn into_command_buffers(self) -> impl Iterator<Item = CommandBuffer> {
        self.buffers.into_iter().flatten()
    }
}

/// The range of Vulkan's buffer behind a slice.
fn raw_range(name: &'static str, slice: BufferSlice<'_>) -> Result<BufferRange, Error> {
    // SAFETY: the handle is not destroyed here.
    let buffer = unsafe { slice.buffer().as_hal::<Vulkan>().map(|buffer| buffer.raw_handle()) };
    let buffer = buffer.ok_or_else(|| destroyed(name))?;
    let usage = Some(vulkan_usage(slice.buffer().usage()));
    Ok(BufferRange { buffer, offset: slice.offset(), size: slice.size(), usage })
}

fn destroyed(name: &str) -> Error {
    let given = "destroyed, invalid or of another backend";
    Error::unsupported(format!("buffer {name}"), given, "a live buffer of the sorter's device")
}

/// The flags of Vulkan that wgpu creates a buffer with, of those that sorts need.
fn vulkan_usage(usage: BufferUsages) -> vk::BufferUsageFlags {
    let flags = [
        (BufferUsages::STORAGE, vk::BufferUsageFlags::STORAGE_BUFFER),
        (BufferUsages::COPY_DST, vk::BufferUsageFlags::TRANSFER_DST),
        (BufferUsages::INDIRECT, vk::BufferUsageFlags::INDIRECT_BUFFER),
    ];
    flags
        .into_iter()
        .filter(|(theirs, _)| usage.contains(*theirs))
        .fold(Default::default(), |all, (_, flag)| all | flag)
}

/// Runs calls of wgpu, and returns its first error instead of letting it reach the device's handler, which panics unless the
/// program has set another one.
fn guarded<T>(device: &wgpu::Device, call: &'static str, work: impl FnOnce() -> T) -> Result<T, Error> {
    let filters = [ErrorFilter::Validation, ErrorFilter::OutOfMemory, ErrorFilter::Internal];
    let scopes = filters.map(|filter| device.push_error_scope(filter));
    let made = work();
    // The last scope is the innermost. Natively, the answer is there at once.
    let errors = scopes.into_iter().rev().filter_map(|scope| {
        match pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(error) => error,
            Poll::Pending => None,
        }
    });
    // Every scope is popped.
    match errors.last() {
        Some(error) => Err(Error::Wgpu { call, reason: one_line(&error.to_string()) }),
        None => Ok(made),
    }
}

/// wgpu's messages are trees over several lines.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
