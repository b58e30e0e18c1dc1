//! [`Verifier`]: whether a recorded sort is right, found on the device.

use std::fmt;

use ash::vk;

use super::beside::Beside;
use super::bind::BoundSort;
use super::buffers::BufferRange;
use super::inner::SorterInner;
use crate::abi;
use crate::error::Error;
use crate::kernels::Kernel;
use crate::plan::Plan;
use crate::request::{Count, ValueType};
use crate::shape::most_verified;

/// Elements that a workgroup takes for each of its invocations, if there are not too many workgroups for that.
const ITEMS: u32 = 64;
const MOST_WORKGROUPS: u32 = 4096;

/// Finds on the device whether a recorded sort is right, and whether something else has changed its elements meanwhile.
///
/// It is recorded in two halves around the sort. [`record_before`](Self::record_before) adds up a hash of every element, and
/// [`record_after`](Self::record_after) does so again, compares each element with the one before it, and writes an answer of one word
/// at the start of the *report*, a range of the caller's. The answer is 0 if the sort is right, otherwise the sum of
/// [`ELEMENTS`](Self::ELEMENTS), [`ORDER`](Self::ORDER) and [`STABILITY`](Self::STABILITY); [`explain`](Self::explain) puts it in words.
/// It is [`UNFINISHED`](Self::UNFINISHED) while the second half has not run.
///
/// What it checks depends on the request:
///
/// | request | elements | order of keys | order of equal keys |
/// |---|---|---|---|
/// | sorted keys, alone or with values | keys with their values | yes | with [`ValueType::Index`] |
/// | [`ValueType::Index`] without sorted keys, out of place | indices | the keys at the indices | yes |
/// | [`ValueType::Index`] without sorted keys, in place | indices | no, because the keys are gone | no |
/// | values without sorted keys | values | no | no |
///
/// The order of equal keys is not checked if the request is not stable. The sum has 64 bits, so a lost or changed element goes
/// unnoticed once in 2^64, and the same change of 2^k equal elements once in 2^(64 - k).
///
/// # Missing barriers
///
/// Neither half records a barrier before it reads, so that it does not hide that one of yours is missing. If the first half
/// reads before a pass of yours has written, the elements after the sort are others, which is reported. That needs a device on which
/// the missing barrier has an effect, and keys that are not those of the frame before. Behind `record_before` there is a barrier, which
/// the sort needs and which waits for your pass too, so a sort with a verifier may be right that is wrong without one.
///
/// It costs about as much as three reads of all elements. Use it in tests and when looking for a fault.
///
/// ```
/// use vksort::ash::vk;
/// use vksort::{AccessScope, BoundSort, Count, Error, Verifier};
///
/// /// # Safety
/// ///
/// /// As for [`BoundSort::record`], but for the barriers.
/// unsafe fn frame(
///     device: &vksort::ash::Device,
///     commands: vk::CommandBuffer,
///     (sort, verifier): (&BoundSort, &Verifier),
/// ) -> Result<(), Error> {
///     // SAFETY: the command buffer is recording, by this function's contract.
///     unsafe {
///         AccessScope::COMPUTE_WRITE.record_barrier(BoundSort::INPUT_SCOPE, device, commands);
///         verifier.record_before(commands, Count::Device)?;
///         sort.record(commands, Count::Device)?;
///         BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::COMPUTE_READ, device, commands);
///         verifier.record_after(commands, Count::Device)?;
///         // The host reads the first word of the report once the fence has been signalled.
///         BoundSort::OUTPUT_SCOPE.record_barrier(AccessScope::HOST_READ, device, commands);
///     }
///     Ok(())
/// }
/// ```
pub struct Verifier {
    /// With the elements before the sort, and those after it.
    beside: Beside,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (request, capacity) = (&self.beside.sorter.sort, self.beside.plan.capacity);
        f.debug_struct("Verifier").field("request", request).field("capacity", &capacity).finish_non_exhaustive()
    }
}

impl BoundSort {
    /// Bytes of a [`Verifier`]'s report for this sort.
    pub fn report_size(&self) -> u64 {
        // The answer, the sums before and after the sort, and those of the last dispatch.
        4 * u64::from(1 + (2 * workgroups(&self.sorter, &self.plan) + 1) * abi::REPORT_WORDS)
    }

    /// Builds a verifier of this sort. Its pipeline is compiled now, unless [`SorterOptions::pipelines`](crate::SorterOptions)
    /// has it.
    ///
    /// * `report`: [`report_size`](Self::report_size) bytes with the usage `STORAGE_BUFFER`, at a multiple of the device's
    ///   `minStorageBufferOffsetAlignment`, apart from all ranges of the sort. The first word is the answer.
    ///
    /// # Errors
    ///
    /// * [`Error::BufferTooSmall`], [`Error::MisalignedOffset`], [`Error::Overlap`], [`Error::OutOfBounds`], [`Error::MissingUsage`]
    ///   or [`Error::BufferPresence`] for the report.
    /// * [`Error::Unsupported`] for a sort with a [`Visitor`](crate::Visitor), whose elements are not in buffers, for one of records by
    ///   keys that are composed of their fields, for one of segments, and for a capacity of billions of elements on a CPU, whose loops have a limit.
    ///   Of segments an [`inspector`](BoundSort::inspector) says whether all were sorted, and the self-test of the program `devices` whether
    ///   they are in order on a device.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * As for [`Sorter::bind`](crate::Sorter::bind); the report's buffer is one of the buffers.
    /// * The device outlives the verifier, and when it is dropped, no command buffer with it is pending.
    pub unsafe fn verifier(&self, report: BufferRange) -> Result<Verifier, Error> {
        let (sorter, shape) = (&self.sorter, &self.plan.shape);
        let given = match (sorter.visitor, shape.fields, shape.windows) {
            (Some(_), ..) => Some("one with a visitor"),
            (_, Some(_), _) => Some("one of records by composed keys"),
            (.., Some(_)) => Some("one of segments"),
            _ => None,
        };
        if let Some(given) = given {
            return Err(Error::unsupported("the sort of a verifier", given, "one whose keys are in a buffer"));
        }
        let most = most_elements(sorter, &self.plan);
        if u64::from(self.plan.capacity) > most {
            return Err(Error::unsupported("the capacity of a verifier", self.plan.capacity, format!("up to {most}")));
        }
        let asked = (report, self.report_size(), vk::BufferUsageFlags::empty());
        // SAFETY: the same contract.
        Ok(Verifier { beside: unsafe { Beside::new(self, Kernel::Verify, asked)? } })
    }
}

impl Verifier {
    /// A bit of the answer: the elements after the sort are not those before it.
    pub const ELEMENTS: u32 = abi::WRONG_ELEMENTS;
    /// A bit of the answer: a key comes before one that it has to follow.
    pub const ORDER: u32 = abi::WRONG_ORDER;
    /// A bit of the answer: equal keys are not in the order that they had.
    pub const STABILITY: u32 = abi::WRONG_STABILITY;
    /// The answer while the second half has not run.
    pub const UNFINISHED: u32 = abi::WRONG_UNFINISHED;

    /// An answer in words.
    ///
    /// ```
    /// use vksort::Verifier;
    /// assert_eq!(Verifier::explain(0), "right");
    /// assert_eq!(Verifier::explain(Verifier::ELEMENTS | Verifier::ORDER), "elements are lost or changed, keys are not in order");
    /// ```
    pub fn explain(answer: u32) -> String {
        let bits = [
            (Verifier::ELEMENTS, "elements are lost or changed"),
            (Verifier::ORDER, "keys are not in order"),
            (Verifier::STABILITY, "equal keys are not in the order that they had"),
            (Verifier::UNFINISHED, "the second half has not run"),
        ];
        let set = bits.iter().filter(|(bit, _)| answer & bit != 0);
        if answer == 0 { "right".into() } else { set.map(|(_, words)| *words).collect::<Vec<_>>().join(", ") }
    }

    /// Records the first half: adds up the elements before the sort.
    ///
    /// Record it directly before the sort, after your barriers for it. It changes the bound compute pipeline, descriptor set 0 of
    /// compute, and the push constants.
    ///
    /// # Errors
    ///
    /// After an error nothing has been recorded.
    ///
    /// * [`Error::TooManyElements`]: the count exceeds the capacity.
    /// * [`Error::BufferPresence`]: the count is on the device, and no count buffer was bound.
    ///
    /// # Safety
    ///
    /// * `commands` is recording, outside a render pass, on a queue family with compute.
    /// * Writes to keys, values and count before it are made available and visible to [`BoundSort::INPUT_SCOPE`]. If they are not, the
    ///   answer may say so, and the values read are undefined.
    /// * It waits, in the stages of [`BoundSort::OUTPUT_SCOPE`], for earlier accesses to the report, whose writes are made available and
    ///   visible to that scope.
    /// * Verifier and buffers stay alive until the commands have completed.
    pub unsafe fn record_before(&self, commands: vk::CommandBuffer, count: impl Into<Count>) -> Result<(), Error> {
        let count = self.beside.check_count(count.into())?;
        // SAFETY: by this function's contract. The sort may write to what was read.
        unsafe { self.record(commands, count, abi::VERIFY_BEFORE, self.workgroups()) };
        Ok(())
    }

    /// Records the second half: adds up the elements after the sort, looks at their order, and writes the answer.
    ///
    /// The count is that of the first half. The state that it changes is that of [`record_before`](Self::record_before).
    ///
    /// # Errors
    ///
    /// As for [`record_before`](Self::record_before).
    ///
    /// # Safety
    ///
    /// * As for [`record_before`](Self::record_before), which is recorded before it with the same count.
    /// * The sort is made available and visible to [`AccessScope::COMPUTE_READ`](super::AccessScope::COMPUTE_READ), by a barrier from
    ///   [`BoundSort::OUTPUT_SCOPE`].
    /// * Later reads of the report wait for [`BoundSort::OUTPUT_SCOPE`].
    pub unsafe fn record_after(&self, commands: vk::CommandBuffer, count: impl Into<Count>) -> Result<(), Error> {
        let count = self.beside.check_count(count.into())?;
        let groups = self.workgroups();
        // SAFETY: by this function's contract.
        unsafe {
            self.record(commands, count, abi::VERIFY_AFTER, groups);
            self.record(commands, Count::Host(groups), abi::VERIFY_ANSWER, 1);
        }
        Ok(())
    }

    /// What can be checked of the result.
    fn checks(&self) -> u32 {
        let request = &self.beside.sorter.sort;
        let index = request.value == ValueType::Index;
        let by_index = request.discards_keys() && index && !request.in_place();
        let keys = !request.discards_keys() || by_index;
        let bit = |checked: bool, bit: u32| if checked { bit } else { 0 };
        bit(keys, abi::CHECKS_KEYS)
            | bit(by_index, abi::CHECKS_BY_INDEX)
            | bit(keys && index && request.stable, abi::CHECKS_STABILITY)
    }

    fn workgroups(&self) -> u32 {
        workgroups(&self.beside.sorter, &self.beside.plan)
    }

    /// Records a dispatch, followed by a barrier unless it is the last.
    ///
    /// # Safety
    ///
    /// As for [`record_before`](Self::record_before).
    unsafe fn record(&self, commands: vk::CommandBuffer, count: Count, stage: u32, groups: u32) {
        let own = abi::Own::Verify { workgroups: self.workgroups(), checks: self.checks(), verify_stage: stage };
        let after = usize::from(stage != abi::VERIFY_BEFORE);
        // SAFETY: the command buffer is recording, by this function's contract.
        unsafe {
            self.beside.record(commands, count, after, self.beside.plan.push(count, 0, own), groups);
            if stage != abi::VERIFY_ANSWER {
                BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, self.beside.device(), commands);
            }
        }
    }
}

/// Elements that an invocation can take, and the most workgroups.
fn limits(sorter: &SorterInner, plan: &Plan) -> (u32, u32) {
    match sorter.profile.is_cpu {
        true => (most_verified(&sorter.sort), plan.shape.max_workgroups),
        false => (u32::MAX, MOST_WORKGROUPS.min(plan.shape.max_workgroups)),
    }
}

/// Workgroups of a verifier. They depend on the capacity alone, so no dispatch is indirect.
fn workgroups(sorter: &SorterInner, plan: &Plan) -> u32 {
    let (items, groups) = limits(sorter, plan);
    let each = plan.shape.histogram.block.invocations.saturating_mul(ITEMS.min(items));
    plan.capacity.div_ceil(each).clamp(1, groups)
}

/// The most elements that so many workgroups can take.
fn most_elements(sorter: &SorterInner, plan: &Plan) -> u64 {
    let (items, groups) = limits(sorter, plan);
    u64::from(groups) * u64::from(plan.shape.histogram.block.invocations) * u64::from(items)
}
