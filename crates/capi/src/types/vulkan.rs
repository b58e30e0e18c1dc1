//! Types of Vulkan's headers, which vksort's include.

/// Vulkan's function, or null. Pass the loader's `vkGetInstanceProcAddr`, volk's, or your own.
pub type PFN_vkGetInstanceProcAddr = Option<ash::vk::PFN_vkGetInstanceProcAddr>;
/// As in Vulkan.
pub type VkDeviceSize = u64;
/// As in Vulkan.
pub type VkFlags = u32;
