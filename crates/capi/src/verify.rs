//! Verifiers of bound sorts.

use ash::vk::CommandBuffer as VkCommandBuffer;
use vksort::Verifier;

use super::handles::Register;
use super::outcome::run_unit;
use super::record::{SORTS, count_of, report_of};
use super::structs::{check_handle, put};
use super::types::*;

static VERIFIERS: Register<Verifier> = Register::new("VksortVerifier");

/// Returns how many bytes the report of a verifier of this sort has.
///
/// - size: written, in bytes.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `size` is null or writable.
#[unsafe(export_name = "vksortGetReportSize")]
pub unsafe extern "C" fn get_report_size(sort: VksortSort, size: *mut u64) -> VksortResult {
    run_unit("vksortGetReportSize", || {
        let sort = SORTS.get("sort", sort)?;
        // SAFETY: by this function's contract.
        unsafe { put(size, sort.elements()?.report_size()) }
    })
}

/// Builds a verifier: it finds on the device whether a recorded sort is right, and whether something else has changed its elements
/// meanwhile. vksortCmdVerifyBefore is recorded before the sort, and vksortCmdVerifyAfter after it. The answer is the first word of the
/// report: 0 if the sort is right, otherwise bits of VKSORT_WRONG_...
///
/// - The elements are compared by sums of 64 bits, and the order of keys by the sort's request. The order of equal keys is checked in
///   stable sorts with indices. Without sorted keys, their order is checked only if the request makes indices out of place.
/// - report: as many bytes as vksortGetReportSize says, at a multiple of minStorageBufferOffsetAlignment, in a buffer with
///   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, apart from all ranges of the sort. The buffer belongs to the caller and must outlive the
///   verifier; nothing else of it is kept.
/// - verifier: a handle is written, which belongs to the caller until vksortDestroyVerifier. It outlives the sort's handle.
/// - It compiles a pipeline. Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_BUFFER for the report, with VKSORT_ERROR_VALUE for a sort with a visitor or of records whose keys are composed
/// of their fields, with VKSORT_ERROR_HANDLE for a sort of segments, of which vksortCreateInspector tells whether all
/// were sorted, or with the VkResult of the driver.
///
/// # Safety
///
/// * `report` is null, or points to a range whose buffer belongs to the sort's device and is bound to memory.
/// * The sort's buffers and its device outlive the verifier.
/// * `verifier` is null or writable.
#[unsafe(export_name = "vksortCreateVerifier")]
pub unsafe extern "C" fn create_verifier(
    sort: VksortSort,
    report: *const VksortBufferRange,
    verifier: *mut VksortVerifier,
) -> VksortResult {
    run_unit("vksortCreateVerifier", || {
        // SAFETY: it is null or writable, by this function's contract.
        unsafe { put(verifier, std::ptr::null_mut())? };
        // SAFETY: by this function's contract.
        let report = unsafe { report_of(report)? };
        let sort = SORTS.get("sort", sort)?;
        // SAFETY: by this function's contract; it is writable, as it was above.
        unsafe { put(verifier, VERIFIERS.add(sort.elements()?.verifier(report)?)) }
    })
}

/// Destroys a verifier.
///
/// - verifier: a handle, or null, which is a no-op.
/// - Its device must be alive, and no command buffer with the verifier pending.
/// - Any thread may call it at any time. If another thread is in a call with the handle, the verifier is destroyed when that call
///   returns.
#[unsafe(export_name = "vksortDestroyVerifier")]
pub extern "C" fn destroy_verifier(verifier: VksortVerifier) -> VksortResult {
    run_unit("vksortDestroyVerifier", || VERIFIERS.remove("verifier", verifier))
}

/// Records the first half of a verifier, directly before vksortCmdSort, after the barriers for it.
///
/// - commandBuffer: as for vksortCmdSort. The compute pipeline, descriptor set 0 of the compute bind point, and the push constants
///   are changed.
/// - count: that of the sort.
/// - It records no barrier before it reads keys, values and count, so that one of the caller's that is missing is not hidden. Barriers
///   are the caller's, as before vksortCmdSort. The report is a buffer that it writes: its earlier accesses end before
///   VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS.
/// - Any thread may call it. Verifier and buffers must live until the commands have completed.
///
/// When it fails, nothing is recorded: VKSORT_ERROR_TOO_MANY_ELEMENTS, or VKSORT_ERROR_BUFFER for a count on the device without a
/// count buffer.
///
/// # Safety
///
/// * The command buffer is null, or recording, outside a render pass, on a queue family with compute.
/// * Barriers are as above, and verifier and buffers live until the commands have completed.
#[unsafe(export_name = "vksortCmdVerifyBefore")]
pub unsafe extern "C" fn cmd_verify_before(
    command_buffer: VkCommandBuffer,
    verifier: VksortVerifier,
    count: u64,
) -> VksortResult {
    run_unit("vksortCmdVerifyBefore", || {
        check_handle(command_buffer, "commandBuffer", "VkCommandBuffer")?;
        let (verifier, count) = (VERIFIERS.get("verifier", verifier)?, count_of(count)?);
        // SAFETY: by this function's contract.
        unsafe { verifier.record_before(command_buffer, count)? };
        Ok(())
    })
}

/// Records the second half of a verifier, after vksortCmdSort, and the answer.
///
/// - commandBuffer, count: as for vksortCmdVerifyBefore, which is recorded before the sort.
/// - Barriers are the caller's. Before it: from VKSORT_OUTPUT_STAGES with VKSORT_OUTPUT_ACCESS to
///   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT with VK_ACCESS_SHADER_READ_BIT. After it: from VKSORT_OUTPUT_STAGES with
///   VKSORT_OUTPUT_ACCESS to the reads of the answer, such as those of the host.
/// - Any thread may call it. Verifier and buffers must live until the commands have completed.
///
/// When it fails, nothing is recorded: as for vksortCmdVerifyBefore.
///
/// # Safety
///
/// * As for vksortCmdVerifyBefore.
#[unsafe(export_name = "vksortCmdVerifyAfter")]
pub unsafe extern "C" fn cmd_verify_after(
    command_buffer: VkCommandBuffer,
    verifier: VksortVerifier,
    count: u64,
) -> VksortResult {
    run_unit("vksortCmdVerifyAfter", || {
        check_handle(command_buffer, "commandBuffer", "VkCommandBuffer")?;
        let (verifier, count) = (VERIFIERS.get("verifier", verifier)?, count_of(count)?);
        // SAFETY: by this function's contract.
        unsafe { verifier.record_after(command_buffer, count)? };
        Ok(())
    })
}
