//! Descriptor sets of storage buffers, for the resources of visitors.
#![allow(unsafe_code)]

use vksort::ash::{self, vk};

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

/// A layout with so many storage buffers, for the device's owner to destroy.
pub fn layout_of(device: &ash::Device, buffers: u32) -> vk::DescriptorSetLayout {
    let binding = |binding| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(STORAGE)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings: Vec<_> = (0..buffers).map(binding).collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the device is alive.
    unsafe { device.create_descriptor_set_layout(&info, None).unwrap() }
}

/// A set with these ranges, which stay, and its pool, for the device's owner to destroy.
pub fn set_of(
    device: &ash::Device,
    layout: vk::DescriptorSetLayout,
    ranges: &[vk::DescriptorBufferInfo],
) -> (vk::DescriptorPool, vk::DescriptorSet) {
    let sizes = [vk::DescriptorPoolSize { ty: STORAGE, descriptor_count: ranges.len() as u32 }];
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
    // SAFETY: the device is alive, the set is new, and its buffers stay.
    unsafe {
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = device.allocate_descriptor_sets(&info).unwrap()[0];
        for (binding, range) in ranges.iter().enumerate() {
            let range = [*range];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
            device.update_descriptor_sets(&[write.descriptor_type(STORAGE).buffer_info(&range)], &[]);
        }
        (pool, set)
    }
}
