//! The visitors for depths that come with vksort: their requests and push constants.

use vksort::{DepthKeys, DepthPush};

use super::names::{described, one_of};
use super::outcome::{Failure, run_unit};
use super::structs::{put, read, write};
use super::types::*;

/// The keys that a number says.
fn depth_keys(number: VksortDepthKeys) -> Result<DepthKeys, Failure> {
    let all = [DepthKeys::F32, DepthKeys::Bits16, DepthKeys::Bits24];
    one_of("keys", "VKSORT_DEPTH_", VKSORT_DEPTH_F32, &all, number)
}

/// Returns a request for the indices of positions, farthest first, without keys. Every field but key, lowBit, highBit and
/// placement may be changed. `vksort-compile-visitor --depth` makes the visitor for it.
///
/// - keys: one of VKSORT_DEPTH_...
/// - request: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// `request` is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetDepthRequest")]
pub unsafe extern "C" fn get_depth_request(keys: VksortDepthKeys, request: *mut VksortSortRequest) -> VksortResult {
    run_unit("vksortGetDepthRequest", || {
        let value = described(&depth_keys(keys)?.request());
        // SAFETY: it is null or a writable structure, by this function's contract.
        unsafe { write(request, &value) }
    })
}

/// Returns the push constants of a visitor for depths.
///
/// - info: the row, the range of depths where keys are steps, and the places of the positions in floats; it is not kept.
/// - push: written. It is the push of VksortVisitorResources, and its size is the pushSize.
/// - Any thread may call it at any time.
///
/// Fails with VKSORT_ERROR_VALUE for a range of depths that is not finite.
///
/// # Safety
///
/// * `info` is null, or points to a structure whose size is in its first field.
/// * `push` is null or writable.
#[unsafe(export_name = "vksortGetDepthPush")]
pub unsafe extern "C" fn get_depth_push(info: *const VksortDepthInfo, push: *mut VksortDepthPush) -> VksortResult {
    run_unit("vksortGetDepthPush", || {
        // SAFETY: it is null or a structure, by this function's contract.
        let VksortDepthInfo { keys, row, near_depth, far_depth, stride, first, .. } = unsafe { read(info)? };
        let push_of = match depth_keys(keys)? {
            DepthKeys::F32 => DepthPush::new(row, stride, first),
            _ => {
                if !(far_depth - near_depth).is_finite() {
                    let given = format!("{near_depth} to {far_depth}");
                    return Err(Failure::value("the range from nearDepth to farDepth", given, "a finite range"));
                }
                DepthPush::quantized(row, near_depth..far_depth, stride, first)
            }
        };
        let DepthPush { row, stride, first, .. } = push_of;
        // SAFETY: it is null or writable, by this function's contract.
        unsafe { put(push, VksortDepthPush { row, stride, first }) }
    })
}
