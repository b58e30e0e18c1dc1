//! Sorts bound to buffers of wgpu, and their recording.

use std::fmt;
use std::sync::Arc;

use vksort::{Algorithm, Capacity, Count};
use wgpu::hal::api::Vulkan;

use super::commands::Commands;
use super::error::Error;
use super::held::{Held, Recorded, SortInner};
use super::range::{destroyed, raw_range};

/// A sort bound to buffers of wgpu.
///
/// One bound sort is enough for all frames in flight. Bind again when buffers or capacity change.
///
/// Owners and lifetimes:
///
/// * The sort holds device, buffers and pipelines.
/// * Recorded commands hold the sort until they are dropped or have completed. wgpu notices completion in
///   `wgpu::Device::poll` and in `Queue::submit`, so the memory is kept if you call neither.
/// * If the thread that submits them panics, what they hold is leaked, because they may be running.
pub struct BoundSort {
    pub(super) inner: Arc<SortInner>,
}

impl fmt::Debug for BoundSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.sort.fmt(f)
    }
}

impl BoundSort {
    /// The most that the sort can be recorded with.
    pub fn capacity(&self) -> Capacity {
        self.inner.sort.capacity()
    }

    /// The algorithm that sorts `count` elements; `None` for segments and first elements, which are sorted by other kernels.
    pub fn algorithm(&self, count: u32) -> Option<Algorithm> {
        self.inner.sort.algorithm(count)
    }

    /// Records the sort of the first `count` elements, or of the first `count` segments if the request has segments and they are
    /// not the whole array. With [`Count::Device`] the count buffer holds their number.
    ///
    /// The sort has two command encoders of its own, because wgpu panics if its own commands and raw Vulkan commands share one.
    /// [`Commands::submit`] submits the result between your command buffers. No barriers are needed: the first
    /// encoder tells wgpu that the sort reads and writes the buffers.
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::TooManyElements`]: the count exceeds the capacity; of segments, [`vksort::Error::Unsupported`].
    /// * [`vksort::Error::BufferPresence`]: the count is on the device, and no count buffer was bound.
    /// * [`vksort::Error::Unsupported`]: a buffer was destroyed.
    /// * [`Error::Wgpu`]: the device is lost.
    pub fn record(&self, count: impl Into<Count>) -> Result<Commands, Error> {
        record(&self.inner, self.inner.sort.check_count(count.into())?, Recorded::Sort)
    }

    /// Records every kernel of the sort with nothing to do: [`vksort::BoundSort::record_warm_up`]. Submit it while the program loads, so
    /// that no frame waits for a driver that compiles kernels at their first dispatch.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record).
    pub fn record_warm_up(&self) -> Result<Commands, Error> {
        record(&self.inner, Count::Host(0), Recorded::WarmUp)
    }
}

/// Records a sort, what is beside it, or what warms it up. The count was checked.
pub(super) fn record(inner: &Arc<SortInner>, count: Count, recorded: Recorded) -> Result<Commands, Error> {
    for (name, buffer) in &inner.buffers {
        raw_range(name, buffer.slice(..))?;
    }
    // The buffer that the commands name, and more to be tracked.
    let (named, more) = match &recorded {
        Recorded::Inspection(of) => (Some(("report", &of.report)), &of.tracked[..]),
        _ => (inner.scratch.as_ref().map(|scratch| ("scratch", scratch)), &[][..]),
    };
    let device = &inner.device.inner;
    let encoder =
        |label: &str| device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });

    let mut before = encoder(&format!("{}: state of the buffers", inner.label));
    let mut pass = before.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&device.nothing);
    for group in inner.tracked.iter().chain(more) {
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(0, 0, 0);
    }
    drop(pass);

    let mut sort = encoder(&inner.label);
    let held = Held(Some((Arc::clone(inner), recorded.clone())));
    sort.on_submitted_work_done(move || held.release());
    // SAFETY: the command buffer is not ended or destroyed here, and wgpu is not called with this encoder meanwhile.
    unsafe {
        sort.as_hal_mut::<Vulkan, _, _>(|encoder| {
            let lost = || Error::Wgpu { call: "CommandEncoder::as_hal_mut", reason: "the device is lost".into() };
            let encoder = encoder.ok_or_else(lost)?;
            // While the handle is held, no buffer can be destroyed. Another thread may have destroyed one since the check
            // above. wgpu refuses the commands then, and of all buffers they name this one alone; the others are named
            // by descriptors.
            let held = named.map(|(name, buffer)| (name, buffer.as_hal::<Vulkan>()));
            if let Some((name, None)) = held {
                return Err(destroyed(name));
            }
            // The command buffer is recording, on wgpu's queue, which has compute. Before it runs `before`, whose barrier
            // makes writes of all buffers visible to shaders, and tells wgpu to do the same after the sort. The
            // commands hold sort and buffers.
            let commands = encoder.raw_handle();
            let queries = match &recorded {
                Recorded::Inspection(of) => return Ok(of.inspector.record(commands, count)?),
                Recorded::WarmUp => return Ok(inner.sort.record_warm_up(commands, None)?),
                Recorded::Timed(queries) => queries.range,
                Recorded::Sort => None,
            };
            match queries {
                Some(queries) => inner.sort.record_timed(commands, count, queries)?,
                None => inner.sort.record(commands, count)?,
            }
            Ok(())
        })?;
    }
    Ok(Commands { buffers: [Some(before.finish()), Some(sort.finish())] })
}
