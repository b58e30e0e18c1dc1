//! What `vksort_vrdx_calls.h` has.

use std::ffi::c_char;

use ash::vk::{
    Buffer as VkBuffer, Device as VkDevice, DeviceCreateInfo as VkDeviceCreateInfo, Instance as VkInstance,
    PhysicalDevice as VkPhysicalDevice, PipelineCache as VkPipelineCache, QueryPool as VkQueryPool,
};

use super::vulkan::{PFN_vkGetInstanceProcAddr, VkDeviceSize};

/// For vksortVrdxCreate.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortVrdxInfo {
    /// sizeof(VksortVrdxInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// Finds the functions of Vulkan; it is called with `instance`.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// The instance, or null where getInstanceProcAddr needs none.
    pub instance: VkInstance,
    /// The physical device.
    pub physical_device: VkPhysicalDevice,
    /// The device, with VK_KHR_push_descriptor or Vulkan 1.4's pushDescriptor enabled.
    pub device: VkDevice,
    /// A cache of the device for the pipelines, or null.
    pub pipeline_cache: VkPipelineCache,
    /// The structure that the device was created with, or null when it is not known: then no other extension or feature is used,
    /// which costs speed.
    pub device_create_info: *const VkDeviceCreateInfo<'static>,
    /// VkApplicationInfo::apiVersion of the instance, Vulkan 1.2 or newer, or 0 if it is not known. From 1.3 on, many
    /// devices sort with their own subgroups even where full ones are not enabled.
    pub api_version: u32,
    /// 0.
    pub reserved: u32,
    /// Null, or written: a text when sorts are several times slower than they could be on the device, with what the program can do,
    /// else null. Only the first sorter of a device has it, and only if the process has no logger
    /// (vksortSetLogCallback), which gets it otherwise. It lives as long as a sorter of the device.
    pub warning: *mut *const c_char,
}

/// One recording of a sort of 32-bit keys, for vksortVrdxCmdSort.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortVrdxSort {
    /// sizeof(VksortVrdxSort).
    pub struct_size: u32,
    /// The number of elements, or the most that indirectBuffer may hold.
    pub element_count: u32,
    /// A buffer with the number of elements, or null.
    pub indirect_buffer: VkBuffer,
    /// Where in indirectBuffer, in bytes.
    pub indirect_offset: VkDeviceSize,
    /// The keys, 32-bit unsigned integers.
    pub keys_buffer: VkBuffer,
    /// Where the keys start, in bytes.
    pub keys_offset: VkDeviceSize,
    /// The values of 32 bits, or null.
    pub values_buffer: VkBuffer,
    /// Where the values start, in bytes.
    pub values_offset: VkDeviceSize,
    /// The storage.
    pub storage_buffer: VkBuffer,
    /// Where the storage starts, in bytes.
    pub storage_offset: VkDeviceSize,
    /// A pool for timestamps, or null.
    pub query_pool: VkQueryPool,
    /// The first of VKSORT_VRDX_QUERIES queries.
    pub query: u32,
    /// 0.
    pub reserved: u32,
}

/// Timestamps that vksortVrdxCmdSort writes.
pub const VKSORT_VRDX_QUERIES: u32 = 15;

/// A sorter that takes its buffers with each recording. Programs that use vk_radix_sort.h forward-declare it by this name.
#[derive(Debug)]
pub struct VrdxSorter_T;
/// A handle: a sorter that takes its buffers with each recording.
pub type VksortVrdx = *mut VrdxSorter_T;
