//! Compute pipelines, created from [`KernelSpec`]s, and their layouts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use ash::vk;

use crate::abi::{self, Push, spec};
use crate::error::{Context, Error};
use crate::kernels::{KERNELS, Kernel, Module};
use crate::modules;
use crate::specialize::KernelSpec;
use crate::spirv::Rewrite;

/// Descriptor bindings of the one set layout. The last is that of sorts of segments alone.
const BINDINGS: [u32; 8] = [
    abi::BINDING_KEYS_FROM,
    abi::BINDING_KEYS_TO,
    abi::BINDING_VALUES_FROM,
    abi::BINDING_VALUES_TO,
    abi::BINDING_COUNTERS,
    abi::BINDING_TABLE,
    abi::BINDING_COUNT,
    abi::BINDING_SEGMENTS,
];

/// The description of a sorter's pipelines.
pub(crate) struct PipelineDesc<'a> {
    pub kernels: &'a [KernelSpec],
    /// Whether pipelines require a subgroup size.
    pub required_subgroup_size: bool,
    /// Whether keys and values are accessed by address.
    pub addressed: bool,
    /// Whether segments are sorted.
    pub segmented: bool,
    /// Whether descriptors are pushed while recording, not bound.
    pub pushed: bool,
    pub cache: vk::PipelineCache,
    /// Pipelines of other sorters of the device; those of another device are refused. With a visitor there are none.
    pub shared: &'a PipelineSet,
    pub visitor: Option<VisitorDesc>,
}

/// What a visitor brings to the pipelines.
pub(crate) struct VisitorDesc {
    /// The module of each kernel.
    pub words: Vec<Vec<u32>>,
    /// The layout of the caller's resources; null for none.
    pub set_layout: vk::DescriptorSetLayout,
    pub push_bytes: u32,
}

/// Pipelines that several sorters of one device share. Each pipeline is created once.
///
/// Sorters share all pipelines if they differ only in the order of keys, or in the lowest bit of the window of keys of up to
/// 32 bits. Other sorters share some pipelines. A pipeline lives as long as a sorter that uses it.
///
/// A sorter of another device than that of the living pipelines is refused with [`Error::ForeignPipelines`].
///
/// ```
/// use std::sync::Arc;
/// use vksort::{PipelineSet, SorterOptions};
///
/// let pipelines = Arc::new(PipelineSet::default());
/// // Pass the same options to `Sorter::new` for each request.
/// let options = SorterOptions::default().pipelines(pipelines);
/// # let _ = options;
/// ```
#[derive(Default)]
pub struct PipelineSet {
    made: Mutex<Made>,
}

/// The pipelines of a set.
#[derive(Default)]
struct Made {
    /// The device of all of them.
    device: vk::Device,
    pipelines: HashMap<PipelineKey, Weak<Pipeline>>,
}

/// A specification, and whether the layout is for addresses, for segments and for pushed descriptors.
type PipelineKey = (KernelSpec, [bool; 3]);

impl PipelineSet {
    /// Number of pipelines that sorters use.
    pub fn len(&self) -> usize {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.pipelines.values().filter(|pipeline| pipeline.strong_count() > 0).count()
    }

    /// Whether no sorter uses a pipeline of the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pipelines, all of them this device's. A set without living pipelines goes over to the device.
    fn of(&self, device: vk::Device) -> Result<MutexGuard<'_, Made>, Error> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.pipelines.retain(|_, pipeline| pipeline.strong_count() > 0);
        if made.pipelines.is_empty() {
            made.device = device;
        }
        match made.device == device {
            true => Ok(made),
            false => Err(Error::ForeignPipelines { given: device, allowed: made.device }),
        }
    }
}

impl fmt::Debug for PipelineSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipelineSet").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A pipeline; destroyed on drop.
struct Pipeline {
    raw: vk::Pipeline,
    /// Without `maintenance4`, the layouts that a pipeline was created with have to live as long as it is used. Another
    /// sorter may use it longer than the sorter that made it.
    layouts: Arc<Layouts>,
}

/// The layouts of one sorter's pipelines; destroyed on drop.
pub(crate) struct Layouts {
    pub device: ash::Device,
    pub set: vk::DescriptorSetLayout,
    pub pipeline: vk::PipelineLayout,
}

impl Drop for Layouts {
    fn drop(&mut self) {
        // SAFETY: every handle is null or was created by this device; the callers of `Sorter::new` promised that the device
        // outlives every sorter that uses a pipeline of these layouts, and that no recorded sort is pending when they go.
        unsafe {
            self.device.destroy_pipeline_layout(self.pipeline, None);
            self.device.destroy_descriptor_set_layout(self.set, None);
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: it was created by this device; the callers of `Sorter::new` promised that the device outlives every sorter
        // that uses the pipeline, and that no recorded sort is pending when the last of them goes.
        unsafe { self.layouts.device.destroy_pipeline(self.raw, None) };
    }
}

/// The pipelines of one sorter with their layouts.
pub(crate) struct Pipelines {
    pub layouts: Arc<Layouts>,
    pipelines: [Option<Arc<Pipeline>>; KERNELS.len()],
}

impl Pipelines {
    /// Creates the pipelines of some kernels.
    ///
    /// # Safety
    ///
    /// * `device` was created with its requirements, the specifications were made for it, and it outlives the
    ///   result.
    ///   If descriptors are pushed, `VK_KHR_push_descriptor` or Vulkan 1.4's `pushDescriptor` is enabled.
    /// * `desc.cache` is null or a cache of the device that no other thread uses meanwhile.
    pub unsafe fn new(device: &ash::Device, desc: &PipelineDesc<'_>) -> Result<Self, Error> {
        let mut layouts = Layouts {
            device: device.clone(),
            set: vk::DescriptorSetLayout::null(),
            pipeline: vk::PipelineLayout::null(),
        };
        let binding = |binding| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = Self::bindings(desc.addressed, desc.segmented).map(binding).collect();
        let flags = match desc.pushed {
            true => vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
            false => vk::DescriptorSetLayoutCreateFlags::empty(),
        };
        let set_info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
        // SAFETY: the device is valid by this function's contract; `Drop` destroys the layout, once.
        layouts.set =
            unsafe { device.create_descriptor_set_layout(&set_info, None) }.context("vkCreateDescriptorSetLayout")?;
        let visited = desc.visitor.as_ref().map(|visitor| visitor.set_layout);
        let visited = visited.filter(|layout| *layout != vk::DescriptorSetLayout::null());
        let set_layouts: Vec<_> = [Some(layouts.set), visited].into_iter().flatten().collect();
        let push_bytes = desc.visitor.as_ref().map(|visitor| visitor.push_bytes);
        let push_bytes = Push::range(push_bytes, desc.addressed).end;
        let push_ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_bytes)];
        let layout_info =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_ranges);
        // SAFETY: as above; the set layout is alive.
        layouts.pipeline =
            unsafe { device.create_pipeline_layout(&layout_info, None) }.context("vkCreatePipelineLayout")?;
        let layouts = Arc::new(layouts);
        let mut pipelines = [const { None }; KERNELS.len()];
        let (started, mut compiled) = (Instant::now(), 0);
        // Several kernels may be in one module, which takes 3 to 36 ms to decode.
        let mut decoded: HashMap<Module, Vec<u32>> = HashMap::new();
        for (index, spec) in desc.kernels.iter().enumerate() {
            // Identically defined layouts are compatible, so every sorter can use the pipeline.
            let key = (spec.clone(), [desc.addressed, desc.segmented, desc.pushed]);
            let shared = desc.shared.of(device.handle())?.pipelines.get(&key).and_then(Weak::upgrade);
            let pipeline = match shared {
                Some(pipeline) => pipeline,
                None => {
                    let words = match (&desc.visitor, decoded.entry(spec.module)) {
                        (Some(visitor), _) => &visitor.words[index],
                        (None, Entry::Occupied(words)) => &*words.into_mut(),
                        (None, Entry::Vacant(place)) => &*place.insert(modules::words(&spec.module)?),
                    };
                    if compiled == 0 {
                        log::info!("compiling pipelines, the first is {}", spec.module.name());
                    }
                    compiled += 1;
                    // SAFETY: device, cache and layout are valid by this function's contract.
                    let raw = unsafe { create(device, desc, spec, words, layouts.pipeline)? };
                    let pipeline = Arc::new(Pipeline { raw, layouts: Arc::clone(&layouts) });
                    desc.shared.of(device.handle())?.pipelines.insert(key, Arc::downgrade(&pipeline));
                    pipeline
                }
            };
            pipelines[spec.kernel as usize] = Some(pipeline);
        }
        if compiled > 0 {
            let milliseconds = started.elapsed().as_secs_f64() * 1e3;
            log::info!(
                "{compiled} pipelines compiled in {milliseconds:.0} ms; some drivers go on at their first dispatch"
            );
        }
        Ok(Pipelines { layouts, pipelines })
    }

    /// Bindings of the layout. Buffers that are accessed by address have none.
    pub fn bindings(addressed: bool, segmented: bool) -> impl Iterator<Item = u32> {
        let first = if addressed { abi::BINDING_COUNTERS } else { 0 };
        let end = abi::BINDING_SEGMENTS + u32::from(segmented);
        BINDINGS.into_iter().filter(move |binding| (first..end).contains(binding))
    }

    /// Descriptors that the layout has.
    pub fn descriptors(addressed: bool, segmented: bool) -> u32 {
        Self::bindings(addressed, segmented).count() as u32
    }

    /// The pipeline of one of the kernels given to `new`.
    pub fn get(&self, kernel: Kernel) -> vk::Pipeline {
        let pipeline = &self.pipelines[kernel as usize];
        debug_assert!(pipeline.is_some(), "{} was not created", kernel.name());
        pipeline.as_ref().map_or(vk::Pipeline::null(), |pipeline| pipeline.raw)
    }

    /// Binds a kernel with its descriptor set, unless that is pushed, and its push constants from the byte `start` on.
    ///
    /// # Safety
    ///
    /// * `commands` is recording, on a queue family with compute.
    /// * The set is alive and of these layouts, and the push constants end within them.
    pub unsafe fn bind(
        &self,
        commands: vk::CommandBuffer,
        kernel: Kernel,
        set: Option<vk::DescriptorSet>,
        (start, push): (u32, &[u8]),
    ) {
        let Layouts { device, pipeline: layout, .. } = &*self.layouts;
        let (compute, stage) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: by this function's contract; pipeline and layout belong together and are alive.
        unsafe {
            device.cmd_bind_pipeline(commands, compute, self.get(kernel));
            if let Some(set) = set {
                device.cmd_bind_descriptor_sets(commands, compute, *layout, 0, &[set], &[]);
            }
            device.cmd_push_constants(commands, *layout, stage, start, push);
        }
    }

    /// Records so many workgroups of the bound kernel, over x and y if there are more than `limit`. Kernels ignore workgroups beyond their
    /// own.
    ///
    /// # Safety
    ///
    /// `commands` is recording, outside a render pass, with a kernel bound by [`bind`](Self::bind).
    pub unsafe fn dispatch(&self, commands: vk::CommandBuffer, workgroups: u32, limit: u32) {
        let (x, y) = dispatch_size(workgroups, limit);
        // SAFETY: by this function's contract.
        unsafe { self.layouts.device.cmd_dispatch(commands, x, y, 1) };
    }
}

fn dispatch_size(workgroups: u32, limit: u32) -> (u32, u32) {
    if workgroups <= limit { (workgroups, 1) } else { (limit, workgroups.div_ceil(limit)) }
}

/// The word of a module with its version, and that of 1.6, whose rules for compute shaders the kernels meet as they are.
const SPIRV_VERSION: usize = 1;
const SPIRV_1_6: u32 = 0x0001_0600;

/// # Safety
///
/// As for [`Pipelines::new`]; `layout` belongs to the device, and `words` are a kernel's SPIR-V.
unsafe fn create(
    device: &ash::Device,
    desc: &PipelineDesc<'_>,
    spec: &KernelSpec,
    words: &[u32],
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline, Error> {
    let constants = spec.specializes_on_host.then_some(&spec.constants[..]);
    let rewrite = Rewrite { constants, keep_loops: spec.keep_loops, declare_aliases: true };
    let mut words = rewrite
        .apply(words)
        .map_err(|error| Error::Module { module: spec.module.name(), reason: error.to_string() })?;
    if spec.spirv_1_6 {
        words[SPIRV_VERSION] = SPIRV_1_6;
    }
    // SAFETY: the module is SPIR-V of this crate's kernels, for Vulkan 1.2, or 1.3 where instance and device are of 1.3.
    let module = unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
        .context("vkCreateShaderModule")?;

    let entries: [vk::SpecializationMapEntry; spec::LEN] = std::array::from_fn(|id| {
        vk::SpecializationMapEntry::default().constant_id(id as u32).offset(4 * id as u32).size(4)
    });
    let info = vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&spec.constants));
    let mut stage =
        vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(module).name(c"main");
    if !spec.specializes_on_host {
        stage = stage.specialization_info(&info);
    }
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    if let Some(lanes) = spec.subgroup_size {
        stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        size = size.required_subgroup_size(lanes);
        if desc.required_subgroup_size {
            stage = stage.push_next(&mut size);
        }
    }
    let infos = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    let started = Instant::now();
    // SAFETY: stage, layout and cache are valid; the subgroup size was checked against the device's range.
    let created = unsafe { device.create_compute_pipelines(desc.cache, &infos, None) };
    // SAFETY: the module is not needed once the pipeline exists or has failed.
    unsafe { device.destroy_shader_module(module, None) };
    log::debug!("pipeline {}: {:.1} ms", spec.module.name(), started.elapsed().as_secs_f64() * 1e3);
    created.map(|pipelines| pipelines[0]).map_err(|(_, result)| result).context("vkCreateComputePipelines")
}

#[cfg(test)]
mod tests {
    use super::dispatch_size;

    #[test]
    fn dispatches_beyond_one_dimension_take_two() {
        assert_eq!(dispatch_size(7, 65535), (7, 1));
        assert_eq!(dispatch_size(65535, 65535), (65535, 1));
        let (x, y) = dispatch_size(65536, 65535);
        assert!(x <= 65535 && y <= 65535 && u64::from(x) * u64::from(y) >= 65536);
    }
}
