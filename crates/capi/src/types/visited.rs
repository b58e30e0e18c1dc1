//! Constants and structures of visitors.

use std::ffi::c_void;

use ash::vk::{DescriptorSet as VkDescriptorSet, DescriptorSetLayout as VkDescriptorSetLayout};

/// The caller's GLSL in place of buffers of a sort, compiled to bytes. For vksortCreateVisitedSorter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortVisitorInfo {
    /// sizeof(VksortVisitorInfo).
    pub struct_size: u32,
    /// 0 or VKSORT_VISITOR_DYNAMIC_INDEXING.
    pub flags: u32,
    /// The bytes that the program vksort-compile-visitor of a version of vksort with the same first two numbers has made, at any alignment.
    pub code: *const c_void,
    /// Their number.
    pub code_size: usize,
    /// The layout of the visitor's resources, set 1 in its code; null if it has none.
    pub set_layout: VkDescriptorSetLayout,
}

/// The resources of a visitor in one recording. For vksortCmdSortVisited.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortVisitorResources {
    /// sizeof(VksortVisitorResources).
    pub struct_size: u32,
    /// Bytes of the push constants, as many as the visitor was compiled with.
    pub push_size: u32,
    /// The push constants; null if there are none.
    pub push: *const c_void,
    /// The descriptor set of the layout that the sorter was given; null if it was given none.
    pub set: VkDescriptorSet,
}

/// The keys of a visitor that comes with vksort: depths of positions. 0 is none, so that it cannot be forgotten.
///
/// Positions are in a storage buffer at binding 0 of set 1. Each is three neighbouring floats. The depth is the product of a
/// position and a row of the view matrix.
pub type VksortDepthKeys = u32;
/// The depth as 32-bit float: four passes of 8 bits. Every NaN is the greatest key.
pub const VKSORT_DEPTH_F32: VksortDepthKeys = 1;
/// The depth between near and far in 2^16 - 1 steps, as 16-bit unsigned integer: two passes. NaN becomes near.
pub const VKSORT_DEPTH_BITS16: VksortDepthKeys = 2;
/// The depth between near and far in 2^24 - 1 steps, as 24 bits of a 32-bit unsigned integer: three passes. NaN becomes
/// near.
pub const VKSORT_DEPTH_BITS24: VksortDepthKeys = 3;

/// Depths and the places of their positions. For vksortGetDepthPush.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortDepthInfo {
    /// sizeof(VksortDepthInfo).
    pub struct_size: u32,
    /// The keys.
    pub keys: VksortDepthKeys,
    /// The depth is x * row[0] + y * row[1] + z * row[2] + row[3].
    pub row: [f32; 4],
    /// The depth of the first step; not used with VKSORT_DEPTH_F32.
    pub near_depth: f32,
    /// The depth of the last step; not used with VKSORT_DEPTH_F32. The distance from
    /// nearDepth is clamped to 1e-30 at least, and to more where depths are so large that the row would not be finite.
    pub far_depth: f32,
    /// Floats from one position to the next: 3 for packed positions, 4 for vec4.
    pub stride: u32,
    /// Floats before the first position.
    pub first: u32,
}

/// The push constants of the visitors for depths. Written by vksortGetDepthPush.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortDepthPush {
    /// The row, which maps nearDepth to 0 and farDepth to 1 where keys are steps.
    pub row: [f32; 4],
    /// Floats from one position to the next.
    pub stride: u32,
    /// Floats before the first position.
    pub first: u32,
}

const _: () = assert!(size_of::<VksortDepthPush>() == vksort::DepthPush::BYTES as usize);
