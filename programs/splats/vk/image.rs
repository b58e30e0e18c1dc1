//! Images with memory and a view of their own.

use std::rc::Rc;

use anyhow::{Context, Result};
use ash::vk;

use vksort_programs::common::vk::buffer::{allocate, read_back};
use vksort_programs::common::vk::device::Device;

pub struct Image {
    pub raw: vk::Image,
    pub view: vk::ImageView,
    extent: vk::Extent2D,
    memory: vk::DeviceMemory,
    device: Rc<Device>,
}

impl Image {
    pub fn new(
        device: &Rc<Device>,
        extent: vk::Extent2D,
        format: vk::Format,
        usage: vk::ImageUsageFlags,
    ) -> Result<Image> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: the device is alive; `image` owns the handle from here on.
        let raw = unsafe { device.raw.create_image(&info, None)? };
        let (view, memory) = (vk::ImageView::null(), vk::DeviceMemory::null());
        let mut image = Image { raw, view, extent, memory, device: Rc::clone(device) };
        // SAFETY: the memory is of a type that the image allows, and bound once, before the view is made.
        unsafe {
            let needs = device.raw.get_image_memory_requirements(raw);
            image.memory =
                allocate(device, &needs, vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryAllocateFlags::empty())
                    .with_context(|| format!("allocating {} bytes for a picture", needs.size))?;
            device.raw.bind_image_memory(raw, image.memory, 0)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(raw)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(COLOR);
            image.view = device.raw.create_image_view(&info, None)?;
        }
        Ok(image)
    }

    /// The pixels of an image of four halves each, in the layout `TRANSFER_SRC_OPTIMAL`.
    pub fn read(&self) -> Result<Vec<[u16; 4]>> {
        let regions = [vk::BufferImageCopy::default().image_subresource(LAYER).image_extent(self.extent.into())];
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let pixels = self.extent.width as usize * self.extent.height as usize;
        // SAFETY: the image is alive and in this layout; the region is all of it.
        unsafe {
            read_back(&self.device, pixels, |raw, commands, to| {
                raw.cmd_copy_image_to_buffer(commands, self.raw, layout, to, &regions);
            })
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            // SAFETY: submissions that use the image were waited for; each handle is null or goes once.
            unsafe {
                self.device.raw.destroy_image_view(self.view, None);
                self.device.raw.destroy_image(self.raw, None);
                self.device.raw.free_memory(self.memory, None);
            }
        }
    }
}

/// The colours of an image without mip levels and layers.
pub const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};
pub const LAYER: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};
