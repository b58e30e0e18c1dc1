//! The pipelines of a frame, with the layout that they share.

use std::io::Cursor;
use std::rc::Rc;

use anyhow::{Context, Result};
use ash::vk;

use vksort_programs::common::vk::device::Device;

/// Colours while splats are blended: every device can blend them, and 8 bits would round off at every splat.
pub const BLENDED: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Storage buffers of the shaders, by binding.
pub const BINDINGS: usize = 12;
/// Size of the description of a frame in bytes, which is pushed.
pub const FRAME_BYTES: u32 = 80;
/// Stages that read the description of the frame.
pub const STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::VERTEX.as_raw());

/// A handle is null until it is made.
pub struct Pipelines {
    pub layout: vk::PipelineLayout,
    pub set_layout: vk::DescriptorSetLayout,
    pub pass: vk::RenderPass,
    pub cull: vk::Pipeline,
    pub scan: vk::Pipeline,
    pub keys: vk::Pipeline,
    pub draw: vk::Pipeline,
    device: Rc<Device>,
}

impl Pipelines {
    pub fn new(device: &Rc<Device>) -> Result<Pipelines> {
        let mut made = Pipelines {
            layout: vk::PipelineLayout::null(),
            set_layout: vk::DescriptorSetLayout::null(),
            pass: vk::RenderPass::null(),
            cull: vk::Pipeline::null(),
            scan: vk::Pipeline::null(),
            keys: vk::Pipeline::null(),
            draw: vk::Pipeline::null(),
            device: Rc::clone(device),
        };
        made.make_layout().context("creating the layout of pipelines")?;
        made.pass = render_pass(device).context("creating a render pass")?;
        made.cull = made.compute(include_bytes!("../shaders/cull.spv")).context("creating the pipeline cull")?;
        made.scan = made.compute(include_bytes!("../shaders/scan.spv")).context("creating the pipeline scan")?;
        made.keys = made.compute(include_bytes!("../shaders/keys.spv")).context("creating the pipeline keys")?;
        made.draw = made.graphics().context("creating the pipeline of the draw")?;
        Ok(made)
    }

    fn make_layout(&mut self) -> Result<()> {
        let binding = |binding: usize| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(binding as u32).descriptor_count(1);
            binding.descriptor_type(vk::DescriptorType::STORAGE_BUFFER).stage_flags(STAGES)
        };
        let bindings: [_; BINDINGS] = std::array::from_fn(binding);
        let push = [vk::PushConstantRange::default().stage_flags(STAGES).size(FRAME_BYTES)];
        // SAFETY: the device is alive; `self` owns the handles.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            self.set_layout = self.device.raw.create_descriptor_set_layout(&info, None)?;
            let layouts = [self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            self.layout = self.device.raw.create_pipeline_layout(&info, None)?;
        }
        Ok(())
    }

    fn compute(&self, module: &[u8]) -> Result<vk::Pipeline> {
        let module = Module::new(&self.device, module)?;
        let infos = [vk::ComputePipelineCreateInfo::default()
            .stage(module.stage(vk::ShaderStageFlags::COMPUTE))
            .layout(self.layout)];
        // SAFETY: the module is one of this program's shaders, whose bindings and push constants the layout has.
        let made = unsafe { self.device.raw.create_compute_pipelines(vk::PipelineCache::null(), &infos, None) };
        Ok(made.map_err(|(_, result)| result)?[0])
    }

    fn graphics(&self) -> Result<vk::Pipeline> {
        let vertex = Module::new(&self.device, include_bytes!("../shaders/quad.spv"))?;
        let fragment = Module::new(&self.device, include_bytes!("../shaders/splat.spv"))?;
        let stages = [vertex.stage(vk::ShaderStageFlags::VERTEX), fragment.stage(vk::ShaderStageFlags::FRAGMENT)];
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let strip = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_STRIP);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        // The shader multiplies colours by alpha.
        let over = (vk::BlendFactor::ONE, vk::BlendFactor::ONE_MINUS_SRC_ALPHA);
        let attachments = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(true)
            .src_color_blend_factor(over.0)
            .dst_color_blend_factor(over.1)
            .src_alpha_blend_factor(over.0)
            .dst_alpha_blend_factor(over.1)
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let infos = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&strip)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout)
            .render_pass(self.pass)];
        // SAFETY: as for `compute`; outputs and inputs of the two stages are the same, and the pass has one attachment.
        let made = unsafe { self.device.raw.create_graphics_pipelines(vk::PipelineCache::null(), &infos, None) };
        Ok(made.map_err(|(_, result)| result)?[0])
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        // SAFETY: submissions that use the pipelines were waited for; each handle is null or goes once.
        unsafe {
            for pipeline in [self.cull, self.scan, self.keys, self.draw] {
                self.device.raw.destroy_pipeline(pipeline, None);
            }
            self.device.raw.destroy_render_pass(self.pass, None);
            self.device.raw.destroy_pipeline_layout(self.layout, None);
            self.device.raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// A pass that clears the picture, and leaves it to be copied.
fn render_pass(device: &Device) -> Result<vk::RenderPass> {
    let attachments = [vk::AttachmentDescription::default()
        .format(BLENDED)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let colors = [vk::AttachmentReference { attachment: 0, layout }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let output = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let written = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let dependencies = [
        // The previous frame's picture may still be copied.
        vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(vk::PipelineStageFlags::TRANSFER | output)
            .src_access_mask(written)
            .dst_stage_mask(output)
            .dst_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_READ | written),
        vk::SubpassDependency::default()
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(output)
            .src_access_mask(written)
            .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ),
    ];
    let info =
        vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses).dependencies(&dependencies);
    // SAFETY: the device is alive; every reference is to something in the description.
    Ok(unsafe { device.raw.create_render_pass(&info, None)? })
}

/// A shader, for as long as pipelines are made of it.
struct Module<'a> {
    raw: vk::ShaderModule,
    device: &'a Device,
}

impl Module<'_> {
    fn new<'a>(device: &'a Device, bytes: &[u8]) -> Result<Module<'a>> {
        let words = ash::util::read_spv(&mut Cursor::new(bytes))?;
        // SAFETY: the module is compiled from a shader of this program.
        let raw =
            unsafe { device.raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)? };
        Ok(Module { raw, device })
    }

    fn stage(&self, stage: vk::ShaderStageFlags) -> vk::PipelineShaderStageCreateInfo<'static> {
        vk::PipelineShaderStageCreateInfo::default().module(self.raw).name(c"main").stage(stage)
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: it goes once; pipelines do not need it any more.
        unsafe { self.device.raw.destroy_shader_module(self.raw, None) };
    }
}
