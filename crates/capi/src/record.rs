//! Sorts that are bound to their buffers, and their recording.

use std::ffi::c_char;

use ash::vk::{self, CommandBuffer as VkCommandBuffer};

use vksort::{BoundSort, BufferRange, Capacity, Count, Error, MAX_COUNT, QueryRange, SortBuffers, VisitorResources};

use super::fault::Fault;
use super::handles::Register;
use super::names::{check_flags, number_of};
use super::outcome::{Failure, run, run_unit};
use super::sorter::SORTERS;
use super::structs::{bytes, check_handle, check_pointer, put, read};
use super::types::*;

/// The object of a sort's handle.
pub(super) struct Bound {
    sort: BoundSort,
    of_segments: bool,
}

pub(super) static SORTS: Register<Bound> = Register::new("VksortSort");

impl Bound {
    /// The sort.
    pub fn sort(&self) -> &BoundSort {
        &self.sort
    }

    /// The sort, if it is not one of segments.
    pub fn elements(&self) -> Result<&BoundSort, Failure> {
        if self.of_segments {
            let given = "a VksortSort of segments, which has no algorithm, verifier or visitor".into();
            return Err(Fault::Handle { what: "sort", given, kind: "VksortSort of vksortBind" }.into());
        }
        Ok(&self.sort)
    }

    /// The count that a number says, if a recording takes it.
    fn check_count(&self, number: u64) -> Result<Count, Failure> {
        Ok(self.sort.check_count(count_of(number)?)?)
    }
}

/// The count that a number says.
pub(super) fn count_of(number: u64) -> Result<Count, Failure> {
    match u32::try_from(number) {
        Ok(count) => Ok(Count::Host(count)),
        Err(_) if number == VKSORT_COUNT_ON_DEVICE => Ok(Count::Device),
        Err(_) => {
            let limit = "or VKSORT_COUNT_ON_DEVICE".into();
            Err(Error::TooManyElements { given: number, allowed: MAX_COUNT.into(), limit }.into())
        }
    }
}

/// A range, if there is one.
fn range_of(range: &VksortBufferRange) -> Result<Option<BufferRange>, Failure> {
    let VksortBufferRange { buffer, offset, size, usage, reserved } = *range;
    check_flags("reserved of VksortBufferRange", reserved, 0)?;
    let usage = (usage != 0).then_some(vk::BufferUsageFlags::from_raw(usage));
    Ok((buffer != vk::Buffer::null()).then(|| BufferRange::new(buffer, size).offset(offset).usage(usage)))
}

/// The range of a report, which whoever takes it refuses if it has no buffer.
///
/// # Safety
///
/// The pointer is null, or leads to a range.
pub(super) unsafe fn report_of(report: *const VksortBufferRange) -> Result<BufferRange, Failure> {
    check_pointer(report, "the pointer to report")?;
    // SAFETY: it is aligned, and leads to a range by this function's contract.
    Ok(range_of(unsafe { &*report })?.unwrap_or(BufferRange::new(vk::Buffer::null(), 0)))
}

/// Binds a sorter to buffers. The result can be recorded any number of times, in any number of command buffers.
///
/// - buffers: the ranges, in bytes, and the capacity, in elements; nothing of it is kept but the handles of the buffers,
///   which belong to the caller and must outlive the sort.
/// - sort: a handle is written, which belongs to the caller until vksortDestroySort.
/// - With capacity 0 the buffers may be null, and the sort has no steps. It takes only the count 0: a count buffer is refused here, and
///   VKSORT_COUNT_ON_DEVICE by vksortCmdSort.
/// - Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_BUFFER, VKSORT_ERROR_TOO_MANY_ELEMENTS, VKSORT_ERROR_VALUE for a count buffer with capacity 0,
/// VKSORT_ERROR_HANDLE for a sorter of segments, or the VkResult of the driver.
///
/// # Safety
///
/// * `buffers` is null, or points to a structure whose size is in its first field.
/// * The buffers belong to the sorter's device, are bound to memory over the given ranges, have the usage that
///   vksortGetBufferRequirements says, and outlive the sort.
/// * With the usage VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, a buffer's memory has VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
/// * `sort` is null or writable.
#[unsafe(export_name = "vksortBind")]
pub unsafe extern "C" fn bind(
    sorter: VksortSorter,
    buffers: *const VksortBuffers,
    sort: *mut VksortSort,
) -> VksortResult {
    // SAFETY: by this function's contract; no segments are given.
    run_unit("vksortBind", || unsafe { bind_to(sorter, buffers, None, sort) })
}

/// Binds a sorter to buffers, and to those of segments if it is one of segments.
///
/// # Safety
///
/// As for [`bind`], and for `bind_segments` with segments.
pub(super) unsafe fn bind_to(
    sorter: VksortSorter,
    buffers: *const VksortBuffers,
    segments: Option<VksortSegmentBuffers>,
    sort: *mut VksortSort,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract, here and below.
    let given = unsafe { read(buffers)? };
    // SAFETY: as above.
    unsafe { put(sort, std::ptr::null_mut())? };
    let made = SORTERS.get("sorter", sorter)?;
    let mut buffers = SortBuffers::new(given.capacity)
        .keys(range_of(&given.keys)?)
        .values(range_of(&given.values)?)
        .keys_out(range_of(&given.keys_out)?)
        .values_out(range_of(&given.values_out)?)
        .scratch(range_of(&given.scratch)?)
        .count(range_of(&given.count)?);
    if let Some(VksortSegmentBuffers { segment_capacity, segments, .. }) = segments {
        let capacity = Capacity::new(given.capacity).segments(segment_capacity);
        buffers = buffers.segments(range_of(&segments)?).capacity(capacity);
    }
    let of_segments = segments.is_some();
    // SAFETY: as above.
    let bound = unsafe { made.sorter(of_segments)?.bind(&buffers)? };
    // SAFETY: as above.
    unsafe { put(sort, SORTS.add(Bound { sort: bound, of_segments })) }
}

/// Destroys a bound sort.
///
/// - sort: a handle, or null, which is a no-op.
/// - Its device must be alive, and no command buffer with the sort pending.
/// - Any thread may call it at any time. If another thread is in a call with the handle, the sort is destroyed when that call
///   returns.
#[unsafe(export_name = "vksortDestroySort")]
pub extern "C" fn destroy_sort(sort: VksortSort) -> VksortResult {
    run_unit("vksortDestroySort", || SORTS.remove("sort", sort))
}

/// Records a sort of the first `count` elements. Nothing is allocated or submitted, and no work of the device is waited for; handles
/// are looked up under a lock that other calls hold for less than a microsecond.
///
/// - commandBuffer: recording, outside a render pass, on a queue family with compute. The compute
///   pipeline, descriptor set 0 of the compute bind point, and the push constants are changed.
/// - count: elements, up to the capacity; or VKSORT_COUNT_ON_DEVICE to read their number from the bound count buffer when
///   the sort runs. For a sort of vksortBindSegments these are segments, or elements for VKSORT_SEGMENTS_WHOLE.
/// - timestamps: null, or queries of the command buffer's device, as many as vksortGetQueryCount says. They are reset and
///   written: one before the first step and one after each. It is not kept.
/// - Barriers around the sort are the caller's. Before it: from the writes of keys, values and count to VKSORT_INPUT_STAGES
///   with VKSORT_INPUT_ACCESS. Also before it: from the last accesses to the buffers that the sort writes to
///   VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS; if these were reads, the stages alone are enough. Such buffers are keysOut
///   and valuesOut, and the values of a sort in place that makes indices. After the sort: from VKSORT_OUTPUT_STAGES with
///   VKSORT_OUTPUT_ACCESS to the uses of the result, and to later writes of any of the buffers.
/// - Sorts on one queue may share a scratch buffer without a barrier of the caller's. If other resources use its memory between
///   sorts, the barrier before the sort goes from their last accesses to VKSORT_INPUT_STAGES and VK_PIPELINE_STAGE_TRANSFER_BIT
///   with VKSORT_INPUT_ACCESS and VK_ACCESS_TRANSFER_WRITE_BIT. The barrier after the sort goes from VKSORT_OUTPUT_STAGES with
///   VKSORT_OUTPUT_ACCESS to their first accesses.
/// - Any thread may call it. One sort may be recorded by several threads at once, into a command buffer each.
/// - Sort, sorter and buffers must live until the commands have completed.
///
/// When it fails, nothing is recorded: VKSORT_ERROR_TOO_MANY_ELEMENTS, VKSORT_ERROR_BUFFER for a count on the device without
/// a count buffer, VKSORT_ERROR_TOO_FEW_QUERIES, VKSORT_ERROR_VALUE for a sorter with a visitor, or a count on the device with
/// capacity 0.
///
/// # Safety
///
/// * The command buffer is null, or recording, outside a render pass, on a queue family with compute.
/// * Barriers are as above; nothing else accesses the buffers while the sort runs.
/// * `timestamps` is null, or leads to a range of queries that are not in use, and the queue family supports timestamps.
/// * Sort, sorter and buffers live until the commands have completed.
#[unsafe(export_name = "vksortCmdSort")]
pub unsafe extern "C" fn cmd_sort(
    command_buffer: VkCommandBuffer,
    sort: VksortSort,
    count: u64,
    timestamps: *const VksortQueryRange,
) -> VksortResult {
    // SAFETY: by this function's contract; no resources are given.
    run_unit("vksortCmdSort", || unsafe { record(command_buffer, sort, count, timestamps, None) })
}

/// Records a sort whose sorter has a visitor, with the visitor's resources.
///
/// - commandBuffer, count and timestamps: as for vksortCmdSort. Descriptor set 1 of the compute bind point is changed too.
/// - resources: the descriptor set, which is bound as set 1, and the push constants; both before the first step. The push
///   constants are not kept. The set is not changed until the commands have completed.
/// - Barriers around the sort are as for vksortCmdSort. The visitor reads and writes in compute shaders, so
///   VKSORT_INPUT_STAGES, VKSORT_INPUT_ACCESS, VKSORT_OUTPUT_STAGES and VKSORT_OUTPUT_ACCESS hold for its buffers too. A step
///   does not see what the visitor has written in an earlier step.
/// - Any thread may call it. One sort may be recorded by several threads at once, into a command buffer each.
/// - Sort, sorter, buffers and set must live until the commands have completed.
///
/// When it fails, nothing is recorded: as for vksortCmdSort; VKSORT_ERROR_VALUE for a sorter without a visitor, push constants
/// of another size, a set where the sorter was given no layout, or none where it was given one.
///
/// # Safety
///
/// * As for vksortCmdSort; the visitor's resources are treated as buffers of the sort.
/// * `resources` is null, or points to a structure whose size is in its first field. Its push is null, or leads to as
///   many bytes as pushSize says.
/// * The set is null, or was allocated with a layout like that of the sorter, and its descriptors are valid.
/// * The visitor writes no memory that the sort or the visitor reads.
#[unsafe(export_name = "vksortCmdSortVisited")]
pub unsafe extern "C" fn cmd_sort_visited(
    command_buffer: VkCommandBuffer,
    sort: VksortSort,
    count: u64,
    timestamps: *const VksortQueryRange,
    resources: *const VksortVisitorResources,
) -> VksortResult {
    run_unit("vksortCmdSortVisited", || {
        // SAFETY: by this function's contract.
        unsafe { record(command_buffer, sort, count, timestamps, Some(resources_of(resources)?)) }
    })
}

/// Records every kernel of a sort with nothing to do, so that a driver which compiles kernels at their first dispatch does so now, and
/// not in a frame. It reads and writes no elements, whatever the buffers hold. Submit it while the program loads.
///
/// - commandBuffer and barriers: as for vksortCmdSort, or vksortCmdSortVisited with resources.
/// - resources: those of the visitor if the sorter has one, as for vksortCmdSortVisited, else null.
/// - Any thread may call it. Sort, sorter, buffers and set must live until the commands have completed.
///
/// When it fails, nothing is recorded: VKSORT_ERROR_VALUE for resources that vksortCmdSortVisited refuses.
///
/// # Safety
///
/// * As for vksortCmdSort, or vksortCmdSortVisited with resources.
#[unsafe(export_name = "vksortCmdWarmUp")]
pub unsafe extern "C" fn cmd_warm_up(
    command_buffer: VkCommandBuffer,
    sort: VksortSort,
    resources: *const VksortVisitorResources,
) -> VksortResult {
    run_unit("vksortCmdWarmUp", || {
        check_handle(command_buffer, "commandBuffer", "VkCommandBuffer")?;
        let bound = SORTS.get("sort", sort)?;
        // SAFETY: by this function's contract.
        let resources = unsafe { (!resources.is_null()).then(|| resources_of(resources)).transpose()? };
        // SAFETY: as above.
        unsafe { bound.sort.record_warm_up(command_buffer, resources)? };
        Ok(())
    })
}

/// The resources of a visitor.
///
/// # Safety
///
/// As for [`cmd_sort_visited`].
unsafe fn resources_of<'a>(resources: *const VksortVisitorResources) -> Result<VisitorResources<'a>, Failure> {
    // SAFETY: it is null or a structure, by this function's contract.
    let given = unsafe { read(resources)? };
    // SAFETY: the push constants have as many bytes, by this function's contract.
    let push = unsafe { bytes(given.push, given.push_size as usize, "push of VksortVisitorResources")? };
    Ok(VisitorResources::default().set(given.set).push(push))
}

/// Records a sort, with resources if there are any.
///
/// # Safety
///
/// As for [`cmd_sort`], and for [`cmd_sort_visited`] with resources.
unsafe fn record(
    command_buffer: VkCommandBuffer,
    sort: VksortSort,
    count: u64,
    timestamps: *const VksortQueryRange,
    resources: Option<VisitorResources<'_>>,
) -> Result<(), Failure> {
    check_handle(command_buffer, "commandBuffer", "VkCommandBuffer")?;
    let timestamps = match timestamps.is_null() {
        true => None,
        false => {
            check_pointer(timestamps, "timestamps")?;
            // SAFETY: it is aligned, and leads to a range by this function's contract.
            let VksortQueryRange { pool, first, count } = unsafe { *timestamps };
            if pool == vk::QueryPool::null() || first.checked_add(count).is_none() {
                let given = format!("pool {pool:?}, queries {first} and {count} from there on");
                return Err(Failure::value("timestamps", given, "a VkQueryPool with queries below 2^32"));
            }
            Some(QueryRange::new(pool, first, count))
        }
    };
    let (bound, count) = (SORTS.get("sort", sort)?, count_of(count)?);
    // SAFETY: command buffer, barriers, queries and resources are as both functions ask, by this function's contract.
    unsafe {
        match (timestamps, resources) {
            (None, None) => bound.sort.record(command_buffer, count)?,
            (Some(queries), None) => bound.sort.record_timed(command_buffer, count, queries)?,
            (queries, Some(resources)) => {
                bound.elements()?.record_visited(command_buffer, count, queries, resources)?;
            }
        }
    }
    Ok(())
}

/// Returns how many timestamp queries a recording with this count writes.
///
/// - count: as for vksortCmdSort.
/// - queries: written.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `queries` is null or writable.
#[unsafe(export_name = "vksortGetQueryCount")]
pub unsafe extern "C" fn get_query_count(sort: VksortSort, count: u64, queries: *mut u32) -> VksortResult {
    run_unit("vksortGetQueryCount", || {
        let bound = SORTS.get("sort", sort)?;
        let count = bound.check_count(count)?;
        // SAFETY: by this function's contract.
        unsafe { put(queries, bound.sort.query_count(count)) }
    })
}

/// Returns which algorithm sorts `count` elements. A sort of segments has none.
///
/// - count: elements, or VKSORT_COUNT_ON_DEVICE.
/// - algorithm: written; one of VKSORT_ALGORITHM_... but VKSORT_ALGORITHM_AUTO.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `algorithm` is null or writable.
#[unsafe(export_name = "vksortGetAlgorithm")]
pub unsafe extern "C" fn get_algorithm(sort: VksortSort, count: u64, algorithm: *mut VksortAlgorithm) -> VksortResult {
    run_unit("vksortGetAlgorithm", || {
        let bound = SORTS.get("sort", sort)?;
        let sort = bound.elements()?;
        let elements = match bound.check_count(count)? {
            Count::Host(count) => count,
            // A count that the host does not know is sorted as the capacity is.
            _ => sort.capacity().elements,
        };
        // SAFETY: by this function's contract.
        unsafe { put(algorithm, sort.algorithm(elements).map_or(VKSORT_ALGORITHM_AUTO, number_of)) }
    })
}

/// Turns the ticks of a recording's queries into the time of each step.
///
/// - count: the count that the sort was recorded with.
/// - tickCount, ticks: one 64-bit result per query, in order.
/// - validBits: timestampValidBits of the queue family.
/// - stepCount: the length of `steps` on entry; the number of steps on return. One less than the number of queries is enough.
/// - steps: written; null to learn stepCount alone. Names end with a zero.
/// - Any thread may call it at any time.
///
/// Returns VKSORT_INCOMPLETE when `steps` is too short for all; it then holds the first ones. Fails with VKSORT_ERROR_TOO_FEW_QUERIES
/// for fewer ticks than queries.
///
/// # Safety
///
/// * `ticks` is null, or leads to `tick_count` numbers.
/// * `step_count` is null or writable; `steps` is null, or writable for as many as `step_count` says.
#[unsafe(export_name = "vksortGetStepTimes")]
pub unsafe extern "C" fn get_step_times(
    sort: VksortSort,
    count: u64,
    tick_count: u32,
    ticks: *const u64,
    valid_bits: u32,
    step_count: *mut u32,
    steps: *mut VksortStepTime,
) -> VksortResult {
    run("vksortGetStepTimes", || {
        let bound = SORTS.get("sort", sort)?;
        let count = bound.check_count(count)?;
        check_pointer(step_count, "the pointer to stepCount")?;
        let needed = bound.sort.query_count(count);
        if steps.is_null() {
            // SAFETY: it is writable by this function's contract.
            unsafe { put(step_count, needed - 1)? };
            return Ok(VKSORT_SUCCESS);
        }
        check_pointer(steps, "the pointer to steps")?;
        check_pointer(ticks, "the pointer to ticks")?;
        // SAFETY: there are as many by this function's contract.
        let ticks = unsafe { std::slice::from_raw_parts(ticks, needed.min(tick_count) as usize) };
        // SAFETY: it is readable by this function's contract.
        let room = unsafe { *step_count } as usize;
        let times = bound.sort.step_times(count, ticks, valid_bits)?;
        for (index, time) in times.iter().take(room).enumerate() {
            let mut name = [0; VKSORT_STEP_NAME_SIZE];
            // The last byte stays zero; a longer name would be cut.
            for (to, from) in name[..VKSORT_STEP_NAME_SIZE - 1].iter_mut().zip(time.name.to_string().bytes()) {
                *to = from as c_char;
            }
            // SAFETY: there is room for it by this function's contract.
            unsafe { steps.add(index).write(VksortStepTime { nanoseconds: time.nanoseconds, name, reserved: 0 }) };
        }
        // SAFETY: as above.
        unsafe { put(step_count, times.len().min(room) as u32)? };
        Ok(if times.len() > room { VKSORT_INCOMPLETE } else { VKSORT_SUCCESS })
    })
}
