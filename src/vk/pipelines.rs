//! The compute pipelines of one sorter: SPIR-V modules, specialized by its shape.

use ash::vk;

use crate::abi::{self, Push, spec};
use crate::error::{Context, Error};
use crate::modules;
use crate::plan::Kernel;
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, SortRequest};
use crate::shape::Shape;
use crate::tuning::{RankMethod, Tuning};
use crate::turns;

/// Descriptor bindings of the one set layout, with the number of descriptors in each.
const BINDINGS: [(u32, u32); 5] = [
    (abi::BINDING_KEYS, abi::PLACES),
    (abi::BINDING_VALUES, abi::PLACES),
    (abi::BINDING_COUNTERS, 1),
    (abi::BINDING_TABLE, 1),
    (abi::BINDING_COUNT, 1),
];

/// The bindings of keys and values.
const ELEMENTS: [u32; 2] = [abi::BINDING_KEYS, abi::BINDING_VALUES];

/// What the pipelines are made from.
pub(crate) struct PipelineDesc<'a> {
    pub profile: &'a DeviceProfile,
    /// Whether pipelines name the subgroup size they need.
    pub required_subgroup_size: bool,
    pub shape: &'a Shape,
    pub request: &'a SortRequest,
    pub algorithm: Algorithm,
    pub tuning: &'a Tuning,
    /// Whether keys and values are reached by address.
    pub addressed: bool,
    pub withhold: u32,
    pub cache: vk::PipelineCache,
}

/// Pipelines with their layouts; destroyed on drop.
pub(crate) struct Pipelines {
    pub device: ash::Device,
    pub set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    addressed: bool,
    pipelines: [vk::Pipeline; Kernel::ALL.len()],
}

impl Pipelines {
    /// Creates the pipelines of some kernels.
    ///
    /// # Safety
    ///
    /// * `device` was created with what the requirements behind `desc.profile` name, and outlives the result.
    /// * `desc.cache` is null or a cache of the device that no other thread uses meanwhile.
    pub unsafe fn new(device: &ash::Device, desc: &PipelineDesc<'_>, kernels: &[Kernel]) -> Result<Self, Error> {
        let mut result = Pipelines {
            device: device.clone(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            addressed: desc.addressed,
            pipelines: [vk::Pipeline::null(); Kernel::ALL.len()],
        };
        let binding = |(binding, descriptors)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(descriptors)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = result.bindings().map(binding).collect();
        let set_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the device is valid by this function's contract; `Drop` destroys whatever was made, once.
        result.set_layout =
            unsafe { device.create_descriptor_set_layout(&set_info, None) }.context("vkCreateDescriptorSetLayout")?;
        let set_layouts = [result.set_layout];
        let push_ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(Push::SIZE_BYTES)];
        let layout_info =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_ranges);
        // SAFETY: as above; the set layout is alive.
        result.layout =
            unsafe { device.create_pipeline_layout(&layout_info, None) }.context("vkCreatePipelineLayout")?;
        for &kernel in kernels {
            // SAFETY: device, cache and layout are valid by this function's contract.
            result.pipelines[kernel as usize] = unsafe { create(device, desc, kernel, result.layout)? };
        }
        Ok(result)
    }

    /// Descriptors that the layout has.
    pub fn descriptors(addressed: bool) -> u32 {
        let reached = |binding| !addressed || !ELEMENTS.contains(&binding);
        BINDINGS.iter().filter(|(binding, _)| reached(*binding)).map(|(_, descriptors)| descriptors).sum()
    }

    /// Bindings of the layout, with the number of descriptors in each. What is reached by address has none.
    pub fn bindings(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let addressed = self.addressed;
        BINDINGS.into_iter().filter(move |(binding, _)| !addressed || !ELEMENTS.contains(binding))
    }

    /// The pipeline of a kernel that was asked for at creation.
    pub fn get(&self, kernel: Kernel) -> vk::Pipeline {
        let pipeline = self.pipelines[kernel as usize];
        debug_assert_ne!(pipeline, vk::Pipeline::null(), "{} was not created", kernel.name());
        pipeline
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        // SAFETY: every handle is null or was created here; the caller of `Sorter::new` promised that the device
        // outlives the sorter and that no recorded sort is pending when it goes.
        unsafe {
            for pipeline in self.pipelines {
                self.device.destroy_pipeline(pipeline, None);
            }
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// The module that holds a kernel in the variant for a request, and its index.
fn module(desc: &PipelineDesc<'_>, kernel: Kernel) -> (usize, abi::Module) {
    let key_words = desc.request.key.bits().div_ceil(32);
    let narrow = |bytes: u64| (1..4).contains(&bytes);
    let small = narrow(desc.request.key.size_bytes()) || narrow(desc.request.value.size_bytes());
    let module = abi::Module {
        kernel: kernel.name(),
        key_words,
        small: small && desc.profile.small_storage,
        emulated: desc.shape.subgroup.emulated,
        ranking: match desc.shape.rank {
            RankMethod::Partition => abi::Ranking::Partitioned,
            RankMethod::Private => abi::Ranking::Private,
            RankMethod::Ballot | RankMethod::Match => abi::Ranking::Chosen,
        },
        addressed: desc.addressed,
    };
    let module = module.closest();
    let index = abi::modules().iter().position(|built| *built == module);
    (index.expect("the closest module is one of them"), module)
}

/// Turns the wish to unroll into the wish not to, in every loop that has it.
fn keep_loops(words: &mut [u32]) {
    const HEADER_WORDS: usize = 5;
    const OP_LOOP_MERGE: u32 = 246;
    const LOOP_CONTROL: usize = 3;
    const UNROLL: u32 = 1;
    const DONT_UNROLL: u32 = 2;
    let mut at = HEADER_WORDS;
    while at < words.len() {
        // The first word of an instruction has its length above its opcode.
        let (length, opcode) = (words[at] >> 16, words[at] & 0xFFFF);
        if opcode == OP_LOOP_MERGE && words[at + LOOP_CONTROL] == UNROLL {
            words[at + LOOP_CONTROL] = DONT_UNROLL;
        }
        at += length.max(1) as usize;
    }
}

fn specialization(desc: &PipelineDesc<'_>, kernel: Kernel) -> [u32; spec::LEN] {
    let (shape, request) = (desc.shape, desc.request);
    let (workgroup_size, items) = match kernel {
        Kernel::Arguments => (1, 1),
        Kernel::Histogram | Kernel::Bounds | Kernel::Mend | Kernel::Move | Kernel::Gather => {
            (shape.histogram_workgroup_size, 1)
        }
        Kernel::Ties => (shape.histogram_workgroup_size, shape.tie_items()),
        Kernel::Scan => (shape.scan_workgroup_size, 1),
        Kernel::Finish | Kernel::SingleWorkgroup => (shape.workgroup_size, shape.single_items),
        _ => (shape.workgroup_size, shape.items),
    };
    let staged = shape.staged || matches!(kernel, Kernel::Finish | Kernel::SingleWorkgroup);
    // Values that are gathered do not travel with the keys: their index does.
    let (value_bytes, index) = match kernel == Kernel::Gather {
        true => (request.value.size_bytes(), false),
        false => (request.value.sorted_bytes(), request.value.sorts_index()),
    };
    let code = request.key.code(request.order);
    let top = 32 * (request.key.bits().div_ceil(32) - 1);

    let mut values = abi::SPECIALIZATION.map(|(_, default)| default);
    values[spec::WORKGROUP_SIZE] = workgroup_size;
    values[spec::SUBGROUP_SIZE] = shape.subgroup.size;
    values[spec::ITEMS] = items;
    values[spec::POOL_WORDS] = shape.pool_words(if staged { workgroup_size * items } else { 0 });
    values[spec::EARLY_COUNTS] = shape.early_counts.into();
    values[spec::STAGED] = staged.into();
    values[spec::RANK_METHOD] = match shape.rank {
        RankMethod::Ballot | RankMethod::Partition | RankMethod::Private => abi::RANK_BALLOT,
        RankMethod::Match if shape.small_match() => abi::RANK_MATCH_SMALL,
        RankMethod::Match => abi::RANK_MATCH,
    };
    values[spec::PACKED] = shape.packed.into();
    // What a finish ranks digit by digit was too crowded for one counter a digit. Counters of an invocation's own keep the
    // order at no cost.
    let in_order = kernel == Kernel::Finish || shape.rank == RankMethod::Private;
    values[spec::UNORDERED] = (desc.tuning.ranks_unordered(request) && !in_order).into();
    values[spec::MERGE_RUNS] = desc.tuning.merge_runs.into();
    values[spec::LOOK_BACK_WORDS] = desc.tuning.look_back_words.clamp(1, abi::MOST_LOOK_BACK_WORDS);
    values[spec::RADIX_BITS] = shape.digit_bits;
    values[spec::PASSES] = shape.passes.max(1);
    values[spec::WINDOW_LOW] = shape.window.low;
    values[spec::WINDOW_BITS] = shape.window.len();
    values[spec::KEY_BITS] = request.key.bits();
    values[spec::KEY_FLIP] = (code.flip >> top) as u32;
    values[spec::KEY_FLIP_NEGATIVE] = (code.flip_negative >> top) as u32;
    // Every lower word of a key is flipped alike.
    values[spec::LOW_FLIP] = code.flip as u32;
    values[spec::LOW_FLIP_NEGATIVE] = code.flip_negative as u32;
    values[spec::VALUE_BITS] = 8 * value_bytes as u32;
    values[spec::INDEX_VALUES] = index.into();
    values[spec::IN_PLACE] = request.in_place().into();
    values[spec::DISCARD_KEYS] = request.discards_keys().into();
    values[spec::JOIN_INDEX] = desc.tuning.joins_index(request).into();
    values[spec::SKIP] = desc.tuning.skip.into();
    values[spec::REACH] = if desc.algorithm == Algorithm::Hybrid { shape.reach() } else { 0 };
    values[spec::BUCKET_BITS] = shape.bucket_bits();
    values[spec::LEADING] = (desc.algorithm == Algorithm::Leading).into();
    values[spec::GATHER_SPLITS] = shape.gather_splits(request.value);
    values[spec::MOST_TILES] = shape.most_tiles;
    values[spec::POLLS] =
        desc.tuning.polls.clamp(1, if desc.profile.is_cpu { turns::most_polls(shape) } else { u32::MAX });
    values[spec::MAX_WORKGROUPS] = desc.profile.max_workgroups;
    values[spec::WITHHOLD] = desc.withhold;
    values
}

/// # Safety
///
/// As for [`Pipelines::new`]; `layout` belongs to the device.
unsafe fn create(
    device: &ash::Device,
    desc: &PipelineDesc<'_>,
    kernel: Kernel,
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline, Error> {
    let (index, module) = module(desc, kernel);
    let name = module.name();
    let mut words = modules::words(index)?;
    // The histogram's loop is over digits, of which there are few.
    if !desc.tuning.unroll && kernel != Kernel::Histogram {
        keep_loops(&mut words);
    }
    // SAFETY: the module is SPIR-V of this crate's kernels, for Vulkan 1.2.
    let module = unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
        .context("vkCreateShaderModule")?;

    let values = specialization(desc, kernel);
    let entries: [vk::SpecializationMapEntry; spec::LEN] = std::array::from_fn(|id| {
        vk::SpecializationMapEntry::default().constant_id(id as u32).offset(4 * id as u32).size(4)
    });
    let info = vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&values));
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main")
        .specialization_info(&info);
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
        .required_subgroup_size(desc.shape.subgroup.size);
    if kernel.ranks() && !desc.shape.subgroup.emulated && desc.profile.full_subgroups {
        stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        if desc.required_subgroup_size {
            stage = stage.push_next(&mut size);
        }
    }
    let infos = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    let started = std::time::Instant::now();
    // SAFETY: stage, layout and cache are valid; the subgroup size was checked against the device's range.
    let created = unsafe { device.create_compute_pipelines(desc.cache, &infos, None) };
    // SAFETY: the module is not needed once the pipeline exists or has failed.
    unsafe { device.destroy_shader_module(module, None) };
    log::debug!("pipeline {name}: {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    created.map(|pipelines| pipelines[0]).map_err(|(_, result)| result).context("vkCreateComputePipelines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loop_controls_change_when_loops_are_kept() {
        for (index, module) in abi::modules().iter().enumerate() {
            let before = modules::words(index).unwrap();
            let mut after = before.clone();
            keep_loops(&mut after);
            let changed: Vec<(u32, u32)> =
                before.iter().copied().zip(after).filter(|(before, after)| before != after).collect();
            assert!(changed.iter().all(|change| *change == (1, 2)), "{}: {changed:?}", module.name());
            let loops_over_items = ["onesweep", "finish", "scatter", "single_workgroup", "histogram"];
            assert_eq!(!changed.is_empty(), loops_over_items.contains(&module.kernel), "{}", module.name());
        }
    }
}
