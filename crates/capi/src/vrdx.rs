//! What `include/vksort_vrdx.h` is made of: sorts of 32-bit keys whose buffers come with each recording.
//!
//! Buffers are pushed descriptors. A cache by handles would save less than a microsecond, and would be wrong: a new buffer may
//! have the handle of a destroyed one, and no Vulkan call tells.

use std::ffi::CString;
use std::sync::Arc;

use ash::vk::{self, CommandBuffer as VkCommandBuffer};

use vksort::__private::PushedSorter;
use vksort::__private::seams::Remedies;
use vksort::{
    AccessScope, BufferRange, Count, Error, KeyType, Requirements, SortBuffers, SortRequest, SorterOptions, StepName,
    ValueType,
};

use super::device::{self, query};
use super::fault::Fault;
use super::handles::Register;
use super::names::check_flags;
use super::outcome::{Failure, c_text, run_unit};
use super::structs::{check_handle, put, read};
use super::types::*;

/// What the sorters of a device share: while one of them lives, the device does, and another one needs no pipelines of its own.
/// Nothing outlives the last of them, because Vulkan does not tell when a device is destroyed.
struct Vrdx {
    device: ash::Device,
    requirements: Requirements,
    keys: PushedSorter,
    pairs: PushedSorter,
    /// What makes sorts slow on the device, if nothing has said so yet.
    _warning: Option<CString>,
}

/// What a program does against emulated subgroups.
const REMEDIES: Remedies = Remedies {
    features: "and pass the device's VkDeviceCreateInfo to vrdxCreateSorterForDevice",
    version: "define VKSORT_VRDX_VULKAN as its apiVersion",
};

static SORTERS: Register<Vrdx> = Register::new("VksortVrdx");

/// Bytes at the start of the storage that hold the count: as many as the most that a device asks of an offset.
const COUNT_BYTES: u64 = 256;

/// Passes that have timestamps of their own.
const PASSES: u32 = 4;

/// Builds the pipelines that sort 32-bit unsigned keys, alone and with values of 32 bits. Programs call it through
/// vksort_vrdx.h.
///
/// Sorters of one device share the pipelines, which live as long as one of the sorters. So a sorter that is created while another
/// one lives builds none.
///
/// - info: the device and its properties; nothing that it points to is kept.
/// - sorter: a handle is written, which belongs to the caller until vksortVrdxDestroy.
/// - Any thread may call it. Several threads may create sorters at once, with a pipeline cache each.
/// - The instance lives until the call returns. No other function uses it.
///
/// Fails with VKSORT_ERROR_MISSING_FUNCTION when the device has no function that pushes descriptors, and with
/// VKSORT_ERROR_NOT_ENABLED when deviceCreateInfo has neither VK_KHR_push_descriptor nor Vulkan 1.4's pushDescriptor. A device of
/// Vulkan 1.4 has the function in any case, so without deviceCreateInfo a missing feature is not seen.
///
/// # Safety
///
/// * `info` is null, or points to a structure whose size is in its first field; its pointers are null or valid.
/// * The device is of the physical device, and outlives the sorter: another device may get its handle. Where `device_create_info` is null, it was created with
///   VK_KHR_push_descriptor or Vulkan 1.4's pushDescriptor.
/// * The pipeline cache is null or the device's, and no other thread uses it during the call.
/// * `warning` of `info` is null or writable. `sorter` is null or writable.
#[unsafe(export_name = "vksortVrdxCreate")]
pub unsafe extern "C" fn create(info: *const VksortVrdxInfo, sorter: *mut VksortVrdx) -> VksortResult {
    run_unit("vksortVrdxCreate", || {
        // SAFETY: by this function's contract, here and below.
        let info = unsafe { read(info)? };
        check_flags("flags of VksortVrdxInfo", info.flags, 0)?;
        // SAFETY: as above.
        unsafe { put(sorter, std::ptr::null_mut())? };
        check_flags("reserved of VksortVrdxInfo", info.reserved, 0)?;
        let VksortVrdxInfo { get_instance_proc_addr, physical_device, api_version, warning, .. } = info;
        if !warning.is_null() {
            // SAFETY: as above.
            unsafe { put(warning, std::ptr::null())? };
        }
        // SAFETY: as above.
        let (instance, requirements, enabled) = unsafe {
            query(get_instance_proc_addr, info.instance, physical_device, api_version, info.device_create_info)?
        };
        let requirements = match enabled {
            None => requirements.least(),
            Some(enabled) if enabled.push_descriptors => requirements,
            // A device of Vulkan 1.4 has the function in any case.
            Some(_) => {
                return Err(Fault::PushDescriptors.into());
            }
        };
        let requirements = requirements.with_remedies(REMEDIES);
        let alike = |made: &Vrdx| made.device.handle() == info.device && made.requirements == requirements;
        if let Some(made) = SORTERS.find(alike) {
            // SAFETY: as above.
            return unsafe { put(sorter, SORTERS.add(made)) };
        }
        // SAFETY: the device is of the physical device, by this function's contract, here and below.
        let device = unsafe { device::load_device(&instance, info.device)? };
        let names = [c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSet"];
        // SAFETY: as above.
        let found = names.map(|name| unsafe { device::function(&instance, info.device, name) });
        let Some(push) = found.into_iter().find(|function| !function.is_null()) else {
            let (through, needed) = ("vkGetDeviceProcAddr", "VK_KHR_push_descriptor or Vulkan 1.4");
            return Err(Fault::AbsentFunction { name: "vkCmdPushDescriptorSetKHR".into(), through, needed }.into());
        };
        // SAFETY: both names are of functions of this type, because the extension was promoted unchanged.
        let push: vk::PFN_vkCmdPushDescriptorSetKHR = unsafe { std::mem::transmute(push) };
        let options = SorterOptions::default().pipeline_cache(info.pipeline_cache).pipelines(Arc::default());
        let build = |value| {
            let request = SortRequest::new(KeyType::U32).value(value);
            // SAFETY: device, cache and function are as `PushedSorter::new` asks, by this function's contract.
            unsafe { PushedSorter::new(&device, &requirements, &request, &options, push) }
        };
        let (keys, pairs) = (build(ValueType::None)?, build(ValueType::U32)?);
        // Without a logger nobody has heard of it.
        let unheard = keys.warning().filter(|_| log::max_level() == log::LevelFilter::Off);
        let unheard = unheard.map(|text| c_text(text.into()));
        if let Some(text) = unheard.as_deref().filter(|_| !warning.is_null()) {
            // SAFETY: as above. The text lives as long as the sorter that has it.
            unsafe { put(warning, text.as_ptr())? };
        }
        // SAFETY: as above.
        unsafe { put(sorter, SORTERS.add(Vrdx { device, requirements, keys, pairs, _warning: unheard })) }
    })
}

/// Destroys a sorter of vksortVrdxCreate, and with the last one of a device the pipelines that they share.
///
/// - sorter: a handle, or null, which is a no-op.
/// - Its device must be alive, and no command buffer with one of its sorts pending.
/// - Any thread may call it at any time. If another thread is in a call with the handle, the sorter is destroyed when that call
///   returns.
#[unsafe(export_name = "vksortVrdxDestroy")]
pub extern "C" fn destroy(sorter: VksortVrdx) -> VksortResult {
    run_unit("vksortVrdxDestroy", || SORTERS.remove("sorter", sorter))
}

/// Returns the size of a storage buffer that is enough for every sort of up to `maxElementCount` elements.
///
/// - keyValue: 0 for keys alone, 1 for keys with values. The storage for keys with values is enough for keys alone, too.
/// - size: written, in bytes.
/// - usage: written, VkBufferUsageFlags: STORAGE_BUFFER and TRANSFER_DST, as in vk_radix_sort.h.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// Both pointers are null or writable.
#[unsafe(export_name = "vksortVrdxGetStorageRequirements")]
pub unsafe extern "C" fn get_storage_requirements(
    sorter: VksortVrdx,
    max_element_count: u32,
    key_value: u32,
    size: *mut VkDeviceSize,
    usage: *mut VkFlags,
) -> VksortResult {
    run_unit("vksortVrdxGetStorageRequirements", || {
        let made = SORTERS.get("sorter", sorter)?;
        if key_value > 1 {
            return Err(Failure::value("keyValue", key_value, "0 or 1"));
        }
        let mut bytes = made.keys.scratch_size_up_to(max_element_count)?;
        if key_value != 0 {
            bytes = bytes.max(made.pairs.scratch_size_up_to(max_element_count)?);
        }
        // SAFETY: by this function's contract.
        unsafe {
            put(size, COUNT_BYTES + bytes)?;
            put(usage, PushedSorter::SCRATCH_USAGE.as_raw())
        }
    })
}

/// Records a sort in place.
///
/// - info: the buffers and the count; it is not kept. Buffers and storage live until the commands have completed.
/// - With a count in a buffer, dispatches have the workgroups for elementCount, and those beyond the count leave at once. A count
///   above elementCount is clamped to it.
/// - The queries are not reset. All VKSORT_VRDX_QUERIES of them are written: one at the start, one after clearing, three for
///   each of four passes (after counting, scanning and moving), one at the end. The query of a step that the sort does not have
///   is written with the next one.
/// - Any thread may call it. One sorter may be recorded by several threads at once, into a command buffer each.
///
/// When it fails, nothing is recorded.
///
/// # Safety
///
/// * The command buffer is null, or recording, outside a render pass, on a queue family with compute.
/// * `info` is null, or points to a structure whose size is in its first field.
/// * The buffers belong to the device and hold that many elements. Keys and values have the usage STORAGE_BUFFER, the
///   indirect buffer has TRANSFER_SRC, and the storage is as vksortVrdxGetStorageRequirements says.
/// * Writes before the sort are made visible to reads of compute shaders; those of the indirect count may be made visible to
///   reads of transfers instead. Uses after it wait for writes of compute shaders.
/// * While the sort runs nothing else accesses its buffers.
#[unsafe(export_name = "vksortVrdxCmdSort")]
pub unsafe extern "C" fn cmd_sort(
    command_buffer: VkCommandBuffer,
    sorter: VksortVrdx,
    info: *const VksortVrdxSort,
) -> VksortResult {
    run_unit("vksortVrdxCmdSort", || {
        check_handle(command_buffer, "commandBuffer", "VkCommandBuffer")?;
        let made = SORTERS.get("sorter", sorter)?;
        // SAFETY: by this function's contract, here and below.
        let given = unsafe { read(info)? };
        check_flags("reserved of VksortVrdxSort", given.reserved, 0)?;
        for (name, buffer) in [("keysBuffer", given.keys_buffer), ("storageBuffer", given.storage_buffer)] {
            if buffer == vk::Buffer::null() {
                return Err(Error::BufferPresence { buffer: name, given: "absent", needed: "present" }.into());
            }
        }
        if given.query_pool != vk::QueryPool::null() && given.query.checked_add(VKSORT_VRDX_QUERIES).is_none() {
            return Err(Failure::value("query", given.query, "a number with VKSORT_VRDX_QUERIES queries below 2^32"));
        }
        let (has_values, capacity) = (given.values_buffer != vk::Buffer::null(), given.element_count);
        // Of no elements, nothing is counted.
        let indirect = given.indirect_buffer != vk::Buffer::null() && capacity > 0;
        let sorter = if has_values { &made.pairs } else { &made.keys };
        let range = |buffer, offset: u64, size| BufferRange::new(buffer, size).offset(offset);
        let bytes = 4 * u64::from(capacity);
        let scratch = sorter.scratch_size(capacity)?;
        let (storage, start) = (given.storage_buffer, given.storage_offset);
        let behind = start.checked_add(COUNT_BYTES);
        let behind = behind.ok_or_else(|| Failure::value("storageOffset", start, "an offset in the buffer"))?;
        let buffers = SortBuffers::new(capacity)
            .keys(range(given.keys_buffer, given.keys_offset, bytes))
            .values(has_values.then(|| range(given.values_buffer, given.values_offset, bytes)))
            .scratch((scratch > 0).then(|| range(storage, behind, scratch)))
            .count(indirect.then(|| range(storage, start, 4)));
        let count = if indirect { Count::Device } else { Count::Host(capacity) };
        let sort = sorter.prepare(&buffers, count)?;
        let device = &made.device;
        let (pool, mut stamped) = (given.query_pool, 0);
        // Writes each of the timestamps once, in order, for any number of steps.
        let mut stamp_to = |last: u32, stage| {
            for index in stamped..=last {
                if pool != vk::QueryPool::null() {
                    // SAFETY: pool and queries are as this function's contract says.
                    unsafe { device.cmd_write_timestamp(command_buffer, stage, pool, given.query + index) };
                }
            }
            stamped = stamped.max(last + 1);
        };
        let end = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        stamp_to(0, vk::PipelineStageFlags::TOP_OF_PIPE);
        let compute = AccessScope::COMPUTE_READ.union(AccessScope::COMPUTE_WRITE);
        let transfer = AccessScope::TRANSFER_READ.union(AccessScope::TRANSFER_WRITE);
        let both = compute.union(transfer);
        // A caller's barrier may end at reads of compute shaders, as is allowed for the library that this replaces. This
        // barrier continues to the sort's own accesses. It also orders the count after an earlier sort on this storage.
        // SAFETY: the command buffer is recording, by this function's contract.
        unsafe { both.record_barrier(both, device, command_buffer) };
        if indirect {
            let region = vk::BufferCopy { src_offset: given.indirect_offset, dst_offset: start, size: 4 };
            // SAFETY: buffers and command buffer are as this function's contract says.
            unsafe {
                device.cmd_copy_buffer(command_buffer, given.indirect_buffer, storage, &[region]);
                transfer.record_barrier(compute, device, command_buffer);
            }
        }
        // SAFETY: by this function's contract, and the barriers.
        unsafe { sort.record(command_buffer, &mut |name| stamp_to(last_of(name), end)) };
        stamp_to(VKSORT_VRDX_QUERIES - 1, end);
        Ok(())
    })
}

/// The last timestamp after a step. A pass has three: after counting, after scanning, after moving. The histogram counts
/// for all passes.
fn last_of(name: StepName) -> u32 {
    let counted = 2 + 3 * name.pass.unwrap_or_default().min(PASSES - 1);
    match name.kernel {
        "clear" | "sample" | "arguments" => 1,
        "histogram" | "decide" | "count" => counted,
        "scan" => counted + 1,
        _ => counted + 2,
    }
}

#[cfg(test)]
mod tests {
    use vksort::__private::ShapeDesc;
    use vksort::__private::steps::{self, HostStep};
    use vksort::{Algorithm, DeviceProfile, Tuning};

    use super::*;

    /// A step's timestamps come before those of later steps, whatever a sort is made of.
    #[test]
    fn timestamps_follow_the_steps() {
        let profile = DeviceProfile { subgroup_size: 32, subgroup_range: (32, 32), ..DeviceProfile::default() };
        for (algorithm, finish_tiles) in
            [(Algorithm::OneSweep, None), (Algorithm::OneSweep, Some(1)), (Algorithm::ReduceThenScan, None)]
        {
            let tuning = Tuning { finish_tiles, ..Tuning::for_device(&profile) };
            for value in [ValueType::None, ValueType::U32] {
                let request = SortRequest::new(KeyType::U32).value(value);
                let desc = ShapeDesc::new(&profile, &tuning, &request, algorithm);
                let capacity = 1 << 20;
                for count in [Count::Host(capacity), Count::Device] {
                    let sort = steps::of(&desc, capacity, count).unwrap();
                    assert_eq!(sort.shape.finish.is_some(), finish_tiles.is_some());
                    let dispatched = sort.steps.iter().filter_map(|step| match step {
                        HostStep::Clear { .. } => None,
                        HostStep::Dispatch(dispatch) => Some(dispatch.name),
                    });
                    let names: Vec<StepName> = dispatched.filter(|name| name.kernel != "runs").collect();
                    assert!(names.is_sorted_by_key(|name| last_of(*name)), "{names:?}");
                }
            }
        }
    }
}
