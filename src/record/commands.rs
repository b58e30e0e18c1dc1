//! Recording: steps become commands, hazards become barriers, names become labels and timestamps.

use std::io::Write as _;

use ash::vk;

use super::bind::BoundSort;
use super::memory::writes;
use super::pipelines::Layouts;
use super::scopes::AccessScope;
use crate::abi;
use crate::error::Error;
use crate::plan::{Barrier, Ends, Groups, Hazards, Step, StepName, Work};
use crate::request::{Algorithm, Capacity, Count};

/// A range of timestamp queries.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct QueryRange {
    /// The pool, of type `TIMESTAMP`.
    pub pool: vk::QueryPool,
    /// First query to use.
    pub first: u32,
    /// Queries that may be used.
    pub count: u32,
}

impl QueryRange {
    /// `count` queries of a pool, from `first` on.
    pub fn new(pool: vk::QueryPool, first: u32, count: u32) -> Self {
        QueryRange { pool, first, count }
    }
}

/// The resources of a [`Visitor`](crate::Visitor) in one recording; none by default.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct VisitorResources<'a> {
    /// The descriptor set of the layout that [`SorterOptions::visitor`](crate::SorterOptions::visitor) was given; null for none.
    pub set: vk::DescriptorSet,
    /// The push constants, [`Visitor::push_bytes`](crate::Visitor::push_bytes) of them.
    pub push: &'a [u8],
}

impl<'a> VisitorResources<'a> {
    /// The same with this descriptor set.
    pub fn set(self, set: vk::DescriptorSet) -> Self {
        VisitorResources { set, ..self }
    }

    /// The same with these push constants.
    pub fn push(self, push: &'a [u8]) -> Self {
        VisitorResources { push, ..self }
    }
}

/// How long one step took on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepTime {
    /// The step.
    pub name: StepName,
    /// Nanoseconds.
    pub nanoseconds: f64,
}

/// Which steps are recorded.
#[derive(Clone, Copy)]
pub(super) enum Steps {
    /// Those of a count that was checked.
    Of(Count),
    /// Those of a count, with nothing to sort.
    Idle(Count),
}

impl BoundSort {
    /// The first accesses of the sort to keys, values, count and the words of segments: the destination scope of the barrier before the sort.
    pub const INPUT_SCOPE: AccessScope = AccessScope::COMPUTE_READ.union(AccessScope::COMPUTE_WRITE);

    /// The last accesses of the sort to keys, values, count and the words of segments: the source scope of the barrier after the sort.
    ///
    /// Before a write to a buffer that the sort only reads, such as the count, its stages alone are enough. They are also the
    /// destination of the barrier from the last reads of the buffers that the sort writes: see [`record`](Self::record).
    pub const OUTPUT_SCOPE: AccessScope = AccessScope::COMPUTE_WRITE;

    /// The most that the sort can be recorded with.
    pub fn capacity(&self) -> Capacity {
        self.buffers.capacity
    }

    /// The algorithm that sorts `count` elements; `None` for segments and first elements, which are sorted by other kernels.
    pub fn algorithm(&self, count: u32) -> Option<Algorithm> {
        self.plan.algorithm(count)
    }

    /// Names of the steps that sort `count` elements, in order.
    pub fn step_names(&self, count: impl Into<Count>) -> Vec<StepName> {
        let mut names = Vec::new();
        self.plan.each_step(count.into(), &mut |step| names.push(step.name));
        names
    }

    /// How many timestamp queries the recorded sort writes: one before the first step and one after each.
    pub fn query_count(&self, count: impl Into<Count>) -> u32 {
        let mut queries = 1;
        self.plan.each_step(count.into(), &mut |_| queries += 1);
        queries
    }

    /// Records the sort of the first `count` elements, or of the first `count` segments if the request has segments and they are not the
    /// whole array. With [`Count::Device`] the number is read from the count buffer, and clamped to the capacity.
    ///
    /// It allocates nothing, submits nothing and waits for nothing. It changes the bound compute pipeline, descriptor set 0 of compute,
    /// and the push constants.
    ///
    /// With a count on the device, dispatches are indirect, and the recorded steps depend on the capacity alone. The sort
    /// touches nothing outside the bound ranges, and no element outside of the segments, whatever the buffers of the count and of
    /// segments hold: see [`Segments`](crate::Segments).
    ///
    /// # Barriers
    ///
    /// Barriers between the sort's own steps are recorded with it. The caller records the barriers around the sort, and
    /// [`AccessScope::barrier_to`] makes them.
    ///
    /// * Before: from the writes to keys, values, count and the words of segments to [`INPUT_SCOPE`](Self::INPUT_SCOPE).
    /// * Before: from the last accesses to the buffers that the sort writes to [`OUTPUT_SCOPE`](Self::OUTPUT_SCOPE). These are
    ///   `keys_out` and `values_out`, the values of a sort in place that makes indices, and what a visitor's output function
    ///   writes. If the accesses were reads, the stages alone are enough.
    /// * After: from [`OUTPUT_SCOPE`](Self::OUTPUT_SCOPE) to the uses of the result, and to later writes of any of the buffers.
    ///
    /// The two before the sort have the same destination stage, so one call with the sources of both is enough.
    ///
    /// Validation layers do not report each of these that is missing. The guide's page about barriers says which settings find
    /// which, and a [`Verifier`](crate::Verifier) finds wrong results.
    ///
    /// The sort's first barrier protects the scratch, which an earlier sort on the same queue may still use. So several
    /// sorts on one queue may share a scratch buffer without further barriers, also with several frames in flight. This memory
    /// barrier waits for earlier compute shaders, transfers and reads of indirect arguments. In sorts of many elements it
    /// also orders earlier writes of keys by compute shaders and transfers. Do not rely on that: it does not cover writes by
    /// other stages (fragment shaders, the host) or on another queue, and a sort of few elements has no such barrier for its
    /// reads.
    ///
    /// Between sorts, the memory of the scratch may be aliased with other resources, as in a render graph. The caller then
    /// records a barrier before the sort, from the last accesses of the other resource to
    /// [`INPUT_SCOPE`](Self::INPUT_SCOPE) joined with [`AccessScope::TRANSFER_WRITE`], and one after it, from
    /// [`OUTPUT_SCOPE`](Self::OUTPUT_SCOPE) to the first accesses of the other resource. The sort does not need what the
    /// scratch held before.
    ///
    /// # Errors
    ///
    /// After an error nothing has been recorded.
    ///
    /// * [`Error::TooManyElements`]: the count exceeds the capacity; of segments, [`Error::Unsupported`].
    /// * [`Error::BufferPresence`]: the count is on the device, and no count buffer was bound.
    /// * [`Error::Unsupported`]: the sorter has a visitor, or the count is on the device and the capacity is 0.
    ///
    /// # Safety
    ///
    /// * `commands` is recording, outside a render pass, on a queue family with compute.
    /// * Writes to keys, values, count and the words of segments before the sort are made available and visible to [`Self::INPUT_SCOPE`].
    /// * The sort waits, in the stages of [`Self::OUTPUT_SCOPE`], for earlier reads of the buffers that it writes. Earlier writes
    ///   to them are made available and visible to that scope.
    /// * Accesses to its buffers after the sort wait for [`Self::OUTPUT_SCOPE`].
    /// * While the sort runs, nothing else accesses its buffers, and no other sort uses the same scratch.
    /// * Sorter, bound sort and buffers stay alive until the commands have completed.
    pub unsafe fn record(&self, commands: vk::CommandBuffer, count: impl Into<Count>) -> Result<(), Error> {
        // SAFETY: the same contract.
        unsafe { self.record_all(commands, count.into(), None, None) }
    }

    /// Records the sort as [`record`](Self::record) does, with a timestamp before the first step and after each. It resets and writes
    /// the queries, and [`step_times`](Self::step_times) reads them.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record); [`Error::TooFewQueries`] for fewer queries than [`query_count`](Self::query_count) says.
    ///
    /// # Safety
    ///
    /// * As for [`record`](Self::record).
    /// * The queries are of the type `TIMESTAMP` and not in use, and their queue family supports timestamps.
    pub unsafe fn record_timed(
        &self,
        commands: vk::CommandBuffer,
        count: impl Into<Count>,
        queries: QueryRange,
    ) -> Result<(), Error> {
        // SAFETY: the same contract.
        unsafe { self.record_all(commands, count.into(), Some(queries), None) }
    }

    /// Records a sort whose sorter has a [`Visitor`](crate::Visitor), with the visitor's resources.
    ///
    /// The set is bound as set 1, and the push constants are written, before the first step. The visitor reads and writes in
    /// compute shaders, so [`INPUT_SCOPE`](Self::INPUT_SCOPE) and [`OUTPUT_SCOPE`](Self::OUTPUT_SCOPE) are also the scopes of
    /// its buffers. All steps may call it. A step does not see the writes of the visitor in an earlier step.
    ///
    /// # Errors
    ///
    /// * [`Error::TooManyElements`] and [`Error::BufferPresence`] as for [`record`](Self::record); [`Error::TooFewQueries`] as for
    ///   [`record_timed`](Self::record_timed).
    /// * [`Error::Unsupported`]: the sorter has no visitor, the push constants have another size, there is a set and the visitor
    ///   has none, or the set is null and the visitor has one.
    ///
    /// # Safety
    ///
    /// * As for [`record`](Self::record); the visitor's resources are treated as buffers of the sort.
    /// * `resources.set` is null or was made with a layout like that of the sorter, its descriptors are valid, and it is not
    ///   changed until the commands have completed.
    /// * The visitor's output function writes no memory that the sort or the visitor's other functions read.
    pub unsafe fn record_visited(
        &self,
        commands: vk::CommandBuffer,
        count: impl Into<Count>,
        timestamps: Option<QueryRange>,
        resources: VisitorResources<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the same contract.
        unsafe { self.record_all(commands, count.into(), timestamps, Some(resources)) }
    }

    /// Refuses resources that do not fit the sorter's visitor.
    fn check_resources(&self, resources: Option<VisitorResources<'_>>) -> Result<(), Error> {
        match (resources, self.sorter.visitor) {
            (None, Some(_)) => {
                let (given, allowed) = ("without a visitor's resources", "with them, because the sorter has a visitor");
                Err(Error::unsupported("the recording", given, allowed))
            }
            (Some(_), None) => {
                let (given, allowed) =
                    ("with a visitor's resources", "without them, because the sorter has no visitor");
                Err(Error::unsupported("the recording", given, allowed))
            }
            (Some(given), Some((bytes, _))) if given.push.len() != bytes as usize => {
                let (given, allowed) = (format!("{} bytes", given.push.len()), format!("{bytes} bytes"));
                Err(Error::unsupported("the visitor's push constants", given, allowed))
            }
            (Some(given), Some((_, has_set))) if (given.set != vk::DescriptorSet::null()) != has_set => {
                let is = |set: bool| if set { "a set" } else { "null" };
                Err(Error::unsupported("the visitor's descriptor set", is(!has_set), is(has_set)))
            }
            _ => Ok(()),
        }
    }

    /// Records every kernel of the sort with nothing to do, so that a driver which compiles kernels at their first dispatch does so now,
    /// and not in a frame. Submit it on your own queue, while the program loads.
    ///
    /// It reads and writes no elements, whatever the buffers hold, and takes some microseconds for each kernel. Validation layers
    /// take it for a sort, so the barriers around it are those of one. The state that it changes is that of
    /// [`record`](Self::record).
    ///
    /// * `resources`: those of [`record_visited`](Self::record_visited) if the sorter has a visitor, else `None`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for resources, as in [`record_visited`](Self::record_visited). After an error nothing has been recorded.
    ///
    /// # Safety
    ///
    /// * As for [`record`](Self::record), or [`record_visited`](Self::record_visited).
    pub unsafe fn record_warm_up<'a>(
        &self,
        commands: vk::CommandBuffer,
        resources: impl Into<Option<VisitorResources<'a>>>,
    ) -> Result<(), Error> {
        let resources = resources.into();
        self.check_resources(resources)?;
        // SAFETY: the same contract; the set goes with the layout.
        unsafe {
            resources.iter().for_each(|resources| self.bind_resources(commands, *resources));
            for count in self.plan.idle_counts() {
                // Layers take each for a sort, and a visitor's buffers are known to the caller alone.
                let device = &self.sorter.pipelines.layouts.device;
                Self::OUTPUT_SCOPE.record_barrier(Self::INPUT_SCOPE, device, commands);
                self.record_steps(commands, Steps::Idle(count), None, &mut |_name| {});
            }
        }
        Ok(())
    }

    /// Records a sort, with the visitor's resources if its sorter has a visitor.
    ///
    /// # Safety
    ///
    /// As for [`record_visited`](Self::record_visited).
    unsafe fn record_all(
        &self,
        commands: vk::CommandBuffer,
        count: Count,
        timestamps: Option<QueryRange>,
        resources: Option<VisitorResources<'_>>,
    ) -> Result<(), Error> {
        self.check_resources(resources)?;
        let count = self.check_count(count)?;
        let device = &self.sorter.pipelines.layouts.device;
        if let Some(range) = timestamps {
            let needed = self.query_count(count);
            if range.count < needed {
                return Err(Error::TooFewQueries { given: range.count, needed });
            }
            // SAFETY: the pool is valid and the queries in range, by this function's contract and the check above; the command
            // buffer is outside a render pass.
            unsafe { device.cmd_reset_query_pool(commands, range.pool, range.first, needed) };
        }
        let stamp = |index: u32, stage: vk::PipelineStageFlags| {
            if let Some(range) = timestamps {
                // SAFETY: as above.
                unsafe { device.cmd_write_timestamp(commands, stage, range.pool, range.first + index) };
            }
        };
        stamp(0, vk::PipelineStageFlags::TOP_OF_PIPE);
        if let Some(resources) = resources {
            // SAFETY: the command buffer is recording; the set goes with the layout, by this function's contract.
            unsafe { self.bind_resources(commands, resources) };
        }
        let mut index = 0;
        // SAFETY: by this function's contract.
        unsafe {
            self.record_steps(commands, Steps::Of(count), None, &mut |_name| {
                index += 1;
                stamp(index, vk::PipelineStageFlags::BOTTOM_OF_PIPE);
            });
        }
        Ok(())
    }

    /// Records steps, and calls `after` after each.
    ///
    /// # Safety
    ///
    /// As for [`record`](Self::record).
    pub(super) unsafe fn record_steps(
        &self,
        commands: vk::CommandBuffer,
        steps: Steps,
        push: Option<vk::PFN_vkCmdPushDescriptorSetKHR>,
        after: &mut dyn FnMut(StepName),
    ) {
        // The push constant is the count's index plus 1, and 0 for a count from the host.
        let count_word = match (steps, self.memory.count) {
            (Steps::Of(Count::Device), Some((_, word))) => word + 1,
            _ => 0,
        };
        let device = &self.sorter.pipelines.layouts.device;
        let mut bound = None;
        let mut hazards = Hazards::new();
        let mut index = 0;
        let mut emit = |step: Step| {
            let barrier = hazards.before(&self.plan, &step);
            // SAFETY: the command buffer is recording, by this function's contract; compute and transfer stages exist on
            // every compute queue; a label that ends has begun.
            unsafe {
                if let Some(Barrier { from, to }) = barrier
                    && self.sorter.faults.skip_barrier != Some(index)
                {
                    AccessScope::of(from).record_barrier(AccessScope::of(to), device, commands);
                }
                if let Some(push) = push
                    && bound != Some(step.ends)
                {
                    bound = Some(step.ends);
                    self.push_descriptors(commands, step.ends, push);
                }
                self.begin_label(commands, step.name);
                self.record_step(commands, &step, count_word);
                if let Some(debug_utils) = &self.sorter.debug_utils {
                    debug_utils.cmd_end_debug_utils_label(commands);
                }
            }
            index += 1;
            after(step.name);
        };
        match steps {
            Steps::Of(count) => self.plan.each_step(count, &mut emit),
            Steps::Idle(count) => self.plan.each_step(count, &mut |step| emit(step.idle())),
        }
    }

    /// Refuses a count that [`record`](Self::record) refuses, and returns any other.
    ///
    /// # Errors
    ///
    /// * [`Error::TooManyElements`]: the count is over the capacity; of segments, [`Error::Unsupported`].
    /// * [`Error::BufferPresence`]: the count is on the device, and no count buffer was bound; [`Error::Unsupported`] with a capacity of 0.
    pub fn check_count(&self, count: impl Into<Count>) -> Result<Count, Error> {
        self.sorter.check_count(&self.plan, count.into(), self.memory.count.is_some())
    }

    /// Turns the ticks of a recording's queries into the time of each step.
    ///
    /// * `count`: the count that the sort was recorded with.
    /// * `ticks`: one 64-bit result per query of [`query_count`](Self::query_count), in order.
    /// * `valid_bits`: `timestampValidBits` of the queue family.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewTicks`]. More ticks than queries are not read.
    pub fn step_times(&self, count: impl Into<Count>, ticks: &[u64], valid_bits: u32) -> Result<Vec<StepTime>, Error> {
        let names = self.step_names(count);
        if ticks.len() <= names.len() {
            return Err(Error::TooFewTicks { given: ticks.len(), needed: names.len() + 1 });
        }
        let mask = if valid_bits >= 64 { u64::MAX } else { (1 << valid_bits) - 1 };
        let period = f64::from(self.sorter.profile.timestamp_period_ns);
        let time = |pair: &[u64]| (pair[1].wrapping_sub(pair[0]) & mask) as f64 * period;
        let times = names.into_iter().zip(ticks.windows(2).map(time));
        Ok(times.map(|(name, nanoseconds)| StepTime { name, nanoseconds }).collect())
    }

    /// Binds a visitor's resources for all steps: these disturb neither set 1 nor its push constants.
    ///
    /// # Safety
    ///
    /// `commands` is recording, on a queue family with compute, and the set goes with the sorter's layout.
    unsafe fn bind_resources(&self, commands: vk::CommandBuffer, resources: VisitorResources<'_>) {
        let Layouts { device, pipeline: layout, .. } = &*self.sorter.pipelines.layouts;
        let stage = vk::ShaderStageFlags::COMPUTE;
        // Push constants are whole words.
        let (words, rest) = resources.push.split_at(resources.push.len() / 4 * 4);
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        // SAFETY: by this function's contract; offsets and sizes are within the layout's range, which goes on after them.
        unsafe {
            if resources.set != vk::DescriptorSet::null() {
                let compute = vk::PipelineBindPoint::COMPUTE;
                device.cmd_bind_descriptor_sets(commands, compute, *layout, 1, &[resources.set], &[]);
            }
            if !words.is_empty() {
                device.cmd_push_constants(commands, *layout, stage, 0, words);
            }
            if !rest.is_empty() {
                device.cmd_push_constants(commands, *layout, stage, words.len() as u32, &last);
            }
        }
    }

    /// Pushes the descriptors of a step.
    ///
    /// # Safety
    ///
    /// `commands` is recording, the buffers are alive, and the layout was made for pushed descriptors.
    unsafe fn push_descriptors(
        &self,
        commands: vk::CommandBuffer,
        ends: Ends,
        push: vk::PFN_vkCmdPushDescriptorSetKHR,
    ) {
        let descriptors = self.memory.descriptors(&self.plan, ends);
        let writes = writes(vk::DescriptorSet::null(), &descriptors);
        let (layout, compute) = (self.sorter.pipelines.layouts.pipeline, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: by this function's contract; the layout was made for pushed descriptors, and the writes are all of its bindings.
        unsafe { push(commands, compute, layout, 0, writes.len() as u32, writes.as_ptr()) };
    }

    /// # Safety
    ///
    /// `commands` is recording, outside a render pass, on a queue family with compute.
    unsafe fn record_step(&self, commands: vk::CommandBuffer, step: &Step, count_word: u32) {
        let device = &self.sorter.pipelines.layouts.device;
        match step.work {
            Work::Clear { bytes } => {
                let counters = self.memory.counters;
                // SAFETY: the range lies in the scratch that `bind` checked, at a multiple of 4, and has TRANSFER_DST.
                unsafe { device.cmd_fill_buffer(commands, counters.buffer, counters.offset, bytes, 0) };
            }
            Work::Dispatch { kernel, groups, push } => {
                let pipelines = &self.sorter.pipelines;
                let set = self.sets.as_ref().map(|sets| sets.all[step.ends as usize]);
                let addresses = self.addresses[step.ends as usize];
                let push = abi::Push { addresses, count_word, ..push };
                let visitor_bytes = self.sorter.visitor.map(|(bytes, _)| bytes);
                let range = abi::Push::range(visitor_bytes, self.sorter.shape.addressed);
                let words = push.words(visitor_bytes);
                let bytes = &bytemuck::cast_slice(&words)[..range.len()];
                // SAFETY: pipelines, layout and sets belong together and are alive; the push constants are the whole
                // block of the layout; the dispatch is within the device's limits, or reads arguments that are from
                // scratch, with INDIRECT_BUFFER by the contract of `bind`.
                unsafe {
                    pipelines.bind(commands, kernel, set, (range.start, bytes));
                    match groups {
                        Groups::Direct(workgroups) => {
                            pipelines.dispatch(commands, workgroups, self.sorter.shape.max_workgroups);
                        }
                        Groups::Counted(slot) => {
                            let counters = self.memory.counters;
                            let word = abi::COUNTERS_ARGUMENTS + slot * abi::ARGUMENT_WORDS;
                            let offset = counters.offset + 4 * u64::from(word);
                            device.cmd_dispatch_indirect(commands, counters.buffer, offset);
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    ///
    /// `commands` is recording.
    unsafe fn begin_label(&self, commands: vk::CommandBuffer, name: StepName) {
        if let Some(debug_utils) = &self.sorter.debug_utils {
            let mut text = [0u8; 48];
            // One byte stays zero; a longer name would be cut, not overrun.
            let _ = write!(&mut text[..47], "vksort {name}");
            let label = std::ffi::CStr::from_bytes_until_nul(&text).unwrap_or_default();
            // SAFETY: the functions were loaded for this device, by the contract of `Sorter::new`.
            unsafe {
                debug_utils.cmd_begin_debug_utils_label(commands, &vk::DebugUtilsLabelEXT::default().label_name(label));
            }
        }
    }
}
