//! Inspectors of sorts that are bound to buffers of wgpu.

use std::fmt;
use std::sync::Arc;

use vksort::Count;
#[cfg(doc)]
use vksort::Inspection;
use wgpu::BufferSlice;

use super::commands::Commands;
use super::error::Error;
use super::guarded::guarded;
use super::held::{InspectorInner, Recorded};
use super::range::raw_range;
use super::sort::{BoundSort, record};

/// Reports what a sort with a count or segments on the device was asked for, and what it left out: a [`vksort::Inspector`].
///
/// It holds the sort and the report.
///
/// ```no_run
/// use vksort_wgpu::vksort::{Count, Inspection, Inspector as Report};
/// use vksort_wgpu::wgpu::{self, Buffer, BufferUsages, Queue};
/// use vksort_wgpu::{BoundSort, Commands, Error};
///
/// # fn frame(device: &wgpu::Device, queue: &Queue, sort: &BoundSort, download: impl Fn(&Buffer) -> [u32; Report::WORDS]) -> Result<(), Error> {
/// // Once.
/// let report = device.create_buffer(&wgpu::BufferDescriptor {
///     label: Some("report"),
///     size: 4 * Report::WORDS as u64,
///     usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
///     mapped_at_creation: false,
/// });
/// // SAFETY: sort and report are of one instance, and nothing destroys the report meanwhile.
/// let inspector = unsafe { sort.inspector(report.slice(..))? };
///
/// // Every frame; the words are copied and read as those of any buffer.
/// Commands::submit(queue, [sort.record(Count::Device)?, inspector.record(Count::Device)?]);
/// let found = Inspection::from(download(&report));
/// if !found.is_complete() {
///     println!("the sort left something out: {found:?}");
/// }
/// # Ok(()) }
/// ```
pub struct Inspector {
    inner: Arc<InspectorInner>,
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.inspector.fmt(f)
    }
}

impl BoundSort {
    /// Builds an inspector of this sort.
    ///
    /// * `report`: [`vksort::Inspector::WORDS`] words with the usage `STORAGE` and `COPY_DST`. [`Inspection::from`] takes them.
    ///
    /// # Errors
    ///
    /// * As for [`Sorter::bind`](crate::Sorter::bind), for the report.
    ///
    /// # Safety
    ///
    /// * As for [`Sorter::bind`](crate::Sorter::bind), for the report's buffer.
    pub unsafe fn inspector(&self, report: BufferSlice<'_>) -> Result<Inspector, Error> {
        let (sort, range) = (Arc::clone(&self.inner), raw_range("report", report)?);
        let (label, needed) = (format!("{}: the report", sort.label), 4 * vksort::Inspector::WORDS as u64);
        // vksort then refuses a report that is too short.
        let bytes = needed.min(report.size());
        let tracked = guarded(&sort.device.inner.device, "Device::create_bind_group", || {
            sort.device.bind_groups(&label, report.buffer(), report.offset(), bytes)
        })?;
        // SAFETY: wgpu has just bound the report on this device, and the sort's buffers live as long as the sort. The result holds both.
        let inspector = unsafe { sort.sort.inspector(range)? };
        let report = report.buffer().clone();
        Ok(Inspector { inner: Arc::new(InspectorInner { inspector, report, tracked, sort }) })
    }
}

impl Inspector {
    /// Records an inspection, before or after the sort: it clears the report, and writes it. As for a sort, no barriers are needed.
    ///
    /// # Errors
    ///
    /// As for [`BoundSort::record`].
    pub fn record(&self, count: impl Into<Count>) -> Result<Commands, Error> {
        let sort = &self.inner.sort;
        raw_range("report", self.inner.report.slice(..))?;
        record(sort, sort.sort.check_count(count)?, Recorded::Inspection(Arc::clone(&self.inner)))
    }
}
