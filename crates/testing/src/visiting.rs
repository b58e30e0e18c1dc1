//! Sorts with a visitor, recorded as a caller of the recording API records them.
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

use vksort::ash::vk;
use vksort::standalone::{Device, DeviceBuffer, DeviceRange, Gpu, SortRanges};
use vksort::{
    BoundSort, BufferRange, Count, Error, SortBuffers, SortRequest, Sorter, SorterOptions, Visitor, VisitorResources,
};

use crate::sets::{layout_of, set_of};

/// A sorter with a visitor, and the layout of the visitor's set.
pub struct VisitedSorter {
    sorter: ManuallyDrop<Sorter>,
    layout: vk::DescriptorSetLayout,
    resources: u32,
    device: Arc<Device>,
}

impl Deref for VisitedSorter {
    type Target = Sorter;

    fn deref(&self) -> &Sorter {
        &self.sorter
    }
}

impl VisitedSorter {
    /// A sorter whose visitor has this number of storage buffers.
    pub fn new(
        gpu: &Gpu,
        request: &SortRequest,
        options: &SorterOptions,
        visitor: &Visitor,
        resources: u32,
    ) -> Result<VisitedSorter, Error> {
        let device = gpu.device();
        let tuning = options.tuning.clone().unwrap_or_else(|| gpu.tuning().clone());
        let (cache, debug_utils) = (device.pipeline_cache(), device.debug_utils.clone());
        let options = options.clone().tuning(tuning).pipeline_cache(*cache).pipelines(None).debug_utils(debug_utils);
        let raw = &device.raw;
        let layout = if resources > 0 { layout_of(raw, resources) } else { vk::DescriptorSetLayout::null() };
        // SAFETY: the device is alive; `Drop` or the branch below destroys the layout, once. Tests have visitors that keep to
        // the rules.
        unsafe {
            let options = options.visitor(visitor.clone(), layout);
            match Sorter::new(raw, &device.requirements, request, &options) {
                Ok(sorter) => {
                    let (sorter, device) = (ManuallyDrop::new(sorter), Arc::clone(device));
                    Ok(VisitedSorter { sorter, layout, resources, device })
                }
                Err(error) => {
                    raw.destroy_descriptor_set_layout(layout, None);
                    Err(error)
                }
            }
        }
    }

    /// Binds a sort, and makes the visitor's set of its storage buffers: set 1, binding 0 and so on.
    pub fn prepare(&self, ranges: &SortRanges, resources: &[DeviceBuffer]) -> Result<VisitedSort, Error> {
        let device = &self.device;
        let raw = |range: &Option<DeviceRange>| {
            let range = range.as_ref()?;
            assert!(range.offset + range.size <= range.buffer.size(), "{range:?} exceeds its buffer");
            Some(BufferRange::new(range.buffer.raw(), range.size).offset(range.offset))
        };
        let buffers = SortBuffers::new(ranges.capacity)
            .keys(raw(&ranges.keys))
            .values(raw(&ranges.values))
            .keys_out(raw(&ranges.keys_out))
            .values_out(raw(&ranges.values_out))
            .scratch(raw(&ranges.scratch))
            .count(raw(&ranges.count));
        // SAFETY: the buffers are this device's, kept alive by the ranges, and have every usage flag.
        let bound = ManuallyDrop::new(unsafe { self.sorter.bind(&buffers)? });
        let resource =
            |buffer: &DeviceBuffer| vk::DescriptorBufferInfo { buffer: buffer.raw(), offset: 0, range: buffer.size() };
        let infos: Vec<_> = resources.iter().map(resource).collect();
        let (pool, set) = match self.resources {
            0 => (vk::DescriptorPool::null(), vk::DescriptorSet::null()),
            _ => set_of(&device.raw, self.layout, &infos),
        };
        let alive = (ranges.clone(), resources.to_vec());
        Ok(VisitedSort { bound, pool, set, _alive: alive, device: Arc::clone(device) })
    }
}

impl Drop for VisitedSorter {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: every run was waited for; each goes once, before the device that `self` still holds.
            unsafe {
                ManuallyDrop::drop(&mut self.sorter);
                self.device.raw.destroy_descriptor_set_layout(self.layout, None);
            }
        }
    }
}

/// A sort with a visitor, bound to its buffers.
pub struct VisitedSort {
    bound: ManuallyDrop<BoundSort>,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    _alive: (SortRanges, Vec<DeviceBuffer>),
    device: Arc<Device>,
}

impl Deref for VisitedSort {
    type Target = BoundSort;

    fn deref(&self) -> &BoundSort {
        &self.bound
    }
}

impl VisitedSort {
    /// Sorts `times` times over, and waits.
    pub fn run(&self, count: impl Into<Count>, push: &[u8], times: u32) -> Result<(), Error> {
        let (count, resources) = (count.into(), VisitorResources::default().set(self.set).push(push));
        let record = |commands| {
            for time in 0..2 * times {
                // SAFETY: the command buffer is recording on a compute queue; earlier transfers were waited for on the host;
                // buffers and set are kept alive by `self`.
                unsafe {
                    BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &self.device.raw, commands);
                    // What warms the kernels up in front of each sort calls no visitor and changes nothing.
                    match time % 2 {
                        0 => self.bound.record_warm_up(commands, resources)?,
                        _ => self.bound.record_visited(commands, count, None, resources)?,
                    }
                }
            }
            Ok(())
        };
        // SAFETY: see above; `execute` waits until the commands are done.
        unsafe { self.device.execute("the sort", record) }
    }
}

impl Drop for VisitedSort {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: every run was waited for; each goes once, before the device that `self` still holds.
            unsafe {
                ManuallyDrop::drop(&mut self.bound);
                self.device.raw.destroy_descriptor_pool(self.pool, None);
            }
        }
    }
}
