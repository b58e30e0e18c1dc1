//! Inspectors of bound sorts.

use ash::vk::CommandBuffer as VkCommandBuffer;
use vksort::Inspector;

use super::handles::Register;
use super::outcome::run_unit;
use super::record::{SORTS, count_of, report_of};
use super::structs::{check_handle, put};
use super::types::*;

static INSPECTORS: Register<Inspector> = Register::new("VksortInspector");

/// Builds an inspector: it reports what a sort with a count or segments on the device was asked for, and what it left out, because a
/// sort clamps its count to the capacity, and begins and ends of segments too.
///
/// - sort: of vksortBind or vksortBindSegments.
/// - report: sizeof(VksortInspection) bytes, at a multiple of minStorageBufferOffsetAlignment, in a buffer with
///   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT and VK_BUFFER_USAGE_TRANSFER_DST_BIT, apart from all ranges of the sort. The buffer belongs to
///   the caller and must outlive the inspector; nothing else of it is kept.
/// - inspector: a handle is written, which belongs to the caller until vksortDestroyInspector. It outlives the sort's handle.
/// - It compiles a pipeline. Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_BUFFER for the report, or with the VkResult of the driver.
///
/// # Safety
///
/// * `report` is null, or points to a range whose buffer belongs to the sort's device and is bound to memory.
/// * The sort's buffers and its device outlive the inspector.
/// * `inspector` is null or writable.
#[unsafe(export_name = "vksortCreateInspector")]
pub unsafe extern "C" fn create_inspector(
    sort: VksortSort,
    report: *const VksortBufferRange,
    inspector: *mut VksortInspector,
) -> VksortResult {
    run_unit("vksortCreateInspector", || {
        // SAFETY: it is null or writable, by this function's contract.
        unsafe { put(inspector, std::ptr::null_mut())? };
        // SAFETY: by this function's contract.
        let report = unsafe { report_of(report)? };
        let sort = SORTS.get("sort", sort)?;
        // SAFETY: by this function's contract; it is writable, as it was above.
        unsafe { put(inspector, INSPECTORS.add(sort.sort().inspector(report)?)) }
    })
}

/// Destroys an inspector.
///
/// - inspector: a handle, or null, which is a no-op.
/// - Its device must be alive, and no command buffer with the inspector pending.
/// - Any thread may call it at any time. If another thread is in a call with the handle, the inspector is destroyed when that call
///   returns.
#[unsafe(export_name = "vksortDestroyInspector")]
pub extern "C" fn destroy_inspector(inspector: VksortInspector) -> VksortResult {
    run_unit("vksortDestroyInspector", || INSPECTORS.remove("inspector", inspector))
}

/// Records an inspection, before or after vksortCmdSort: it clears the report, and writes a VksortInspection there.
///
/// - commandBuffer: as for vksortCmdSort. The compute pipeline, descriptor set 0 of the compute bind point, and the push constants
///   are changed.
/// - count: that of the sort.
/// - Barriers are the caller's. Before it: from the writes of the count and of the words of segments to VKSORT_INPUT_STAGES with
///   VKSORT_INPUT_ACCESS, and from the last accesses to the report to VK_PIPELINE_STAGE_TRANSFER_BIT with
///   VK_ACCESS_TRANSFER_WRITE_BIT. After it: from VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS to the reads of the report, such as those
///   of the host.
/// - Any thread may call it. Inspector and buffers must live until the commands have completed.
///
/// When it fails, nothing is recorded: VKSORT_ERROR_TOO_MANY_ELEMENTS, VKSORT_ERROR_BUFFER for a count on the device without a count
/// buffer, or VKSORT_ERROR_VALUE for too many segments.
///
/// # Safety
///
/// * The command buffer is null, or recording, outside a render pass, on a queue family with compute.
/// * Barriers are as above, and inspector and buffers live until the commands have completed.
#[unsafe(export_name = "vksortCmdInspect")]
pub unsafe extern "C" fn cmd_inspect(
    command_buffer: VkCommandBuffer,
    inspector: VksortInspector,
    count: u64,
) -> VksortResult {
    run_unit("vksortCmdInspect", || {
        check_handle(command_buffer, "commandBuffer", "VkCommandBuffer")?;
        let (inspector, count) = (INSPECTORS.get("inspector", inspector)?, count_of(count)?);
        // SAFETY: by this function's contract.
        unsafe { inspector.record(command_buffer, count)? };
        Ok(())
    })
}
