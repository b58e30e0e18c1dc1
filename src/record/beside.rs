//! A kernel that is recorded beside a sort, and writes a report into a range of the caller's.

use std::sync::Arc;

use ash::vk;

use super::bind::{BoundSort, Sets};
use super::inner::SorterInner;
use super::memory::{Checked, Info, Report};
use super::pipelines::{PipelineDesc, Pipelines};
use crate::abi::{self, Push};
use crate::error::Error;
use crate::kernels::Kernel;
use crate::plan::Plan;
use crate::request::Count;
use crate::specialize::specialize;

/// The kernel's pipeline and its descriptors.
pub(super) struct Beside {
    pub sorter: Arc<SorterInner>,
    pub plan: Plan,
    pub report: Info,
    kernel: Kernel,
    pipelines: Pipelines,
    sets: Sets,
    /// For each set the addresses of keys and values; zeros when descriptors are used.
    addresses: [[u64; 2]; 2],
    count_word: Option<u32>,
}

impl Beside {
    /// The kernel with descriptor sets for the elements before the sort and after it.
    ///
    /// # Safety
    ///
    /// As for [`BoundSort::verifier`].
    pub unsafe fn new(sort: &BoundSort, kernel: Kernel, report: Report) -> Result<Beside, Error> {
        let (sorter, shape, device) = (&sort.sorter, &sort.plan.shape, &sort.sorter.pipelines.layouts.device);
        let memory = Checked::new(sorter, &sort.plan, &sort.buffers, Some(report))?;
        // SAFETY: the buffers are alive and of the device, by this function's contract.
        unsafe { memory.check_ends(device)? };
        let report = memory.report.unwrap_or_default();
        // An inspector reads no elements, so it needs no descriptors of them, as if they were accessed by address.
        let segmented = kernel == Kernel::Inspect;
        let addressed = shape.addressed || segmented;
        let desc = PipelineDesc {
            kernels: &[specialize(kernel, shape, &sorter.sort)],
            required_subgroup_size: false,
            addressed,
            segmented,
            pushed: false,
            cache: vk::PipelineCache::null(),
            shared: &sorter.shared,
            visitor: None,
        };
        // SAFETY: the device is that of the sorter, and outlives the result by this function's contract.
        let pipelines = unsafe { Pipelines::new(device, &desc)? };
        let descriptors = |[keys, values]: [Option<Info>; 2]| {
            let of = |binding| match binding {
                abi::BINDING_KEYS_FROM => keys,
                abi::BINDING_VALUES_FROM => values,
                abi::BINDING_COUNT => memory.count.map(|(info, _)| info),
                abi::BINDING_SEGMENTS => memory.segments,
                _ => Some(report),
            };
            // A descriptor that is not used is a word of the report, because every descriptor must be valid.
            let stand_in = Info { range: 4, ..report };
            Pipelines::bindings(addressed, segmented)
                .map(|binding| (binding, of(binding).unwrap_or(stand_in)))
                .collect()
        };
        let ends = sort.memory.ends();
        // SAFETY: the ranges are checked, and their buffers alive by this function's contract.
        let sets = unsafe { Sets::new(&pipelines.layouts, &ends.map(descriptors))? };
        let address = |info: Option<Info>| {
            // SAFETY: as above; elements that are accessed by address have the usage.
            info.filter(|_| shape.addressed).map_or(0, |info| unsafe { sort.address(info) })
        };
        Ok(Beside {
            sorter: Arc::clone(sorter),
            plan: sort.plan,
            report,
            kernel,
            pipelines,
            sets,
            addresses: ends.map(|pair| pair.map(address)),
            count_word: memory.count.map(|(_, word)| word),
        })
    }

    pub fn device(&self) -> &ash::Device {
        &self.pipelines.layouts.device
    }

    /// Refuses a count that the sort refuses.
    pub fn check_count(&self, count: Count) -> Result<Count, Error> {
        self.sorter.check_count(&self.plan, count, self.count_word.is_some())
    }

    /// Records a dispatch with one of the sets.
    ///
    /// # Safety
    ///
    /// `commands` is recording, outside a render pass, on a queue family with compute.
    pub unsafe fn record(&self, commands: vk::CommandBuffer, count: Count, set: usize, push: Push, groups: u32) {
        let [keys_from, values_from] = self.addresses[set];
        let count_word = self.count_word.filter(|_| count == Count::Device).map_or(0, |word| word + 1);
        let addresses = [keys_from, 0, values_from, 0];
        let push = Push { count_word, addresses, ..push };
        let words = push.words(None);
        let bytes = &bytemuck::cast_slice(&words)[..Push::SIZE_BYTES as usize];
        let limit = self.plan.shape.max_workgroups;
        // SAFETY: by this function's contract; the set is one of this pipeline's, and the push constants are the whole block of its layout.
        unsafe {
            self.pipelines.bind(commands, self.kernel, Some(self.sets.all[set]), (0, bytes));
            self.pipelines.dispatch(commands, groups, limit);
        }
    }
}
