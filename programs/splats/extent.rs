//! The size of a window's images.

use ash::vk;

/// The size of images for a window of this size. Where the surface leaves it to the swapchain, its own size is the greatest
/// number, and it has bounds.
pub fn extent_of(of_surface: &vk::SurfaceCapabilitiesKHR, (width, height): (u32, u32)) -> vk::Extent2D {
    let vk::SurfaceCapabilitiesKHR { current_extent, min_image_extent: least, max_image_extent: most, .. } =
        *of_surface;
    if current_extent.width != u32::MAX {
        return current_extent;
    }
    // A surface of no size may have 0 as its most.
    let within = |side: u32, least: u32, most: u32| side.max(least).min(most);
    vk::Extent2D { width: within(width, least.width, most.width), height: within(height, least.height, most.height) }
}
