//! The two ways to one result, on the device.

use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Result, ensure};
use ash::vk::{self, BufferUsageFlags as Usage};
use vksort::{
    AccessScope, Algorithm, BoundSort, DepthPush, KeyOutput, Placement, QueryRange, SortBuffers, SortRequest, Sorter,
    SorterOptions, ValueType, VisitorResources,
};

use crate::case::{Case, ROW, Replaced};
use crate::glsl;
use vksort_programs::common::vk::buffer::{self, Buffer};
use vksort_programs::common::vk::device::Device;

/// Storage buffers of the visitors: depths or positions, the output, the splats.
const RESOURCES: u32 = 3;
/// Timestamps of a way: more than its steps.
const QUERIES: u32 = 64;

/// Nanoseconds of one run: of each step on the device's clock if it has one, and from the first to the last.
pub struct Timed {
    pub steps: Vec<(String, f64)>,
    pub total: f64,
}

/// Both ways, which share buffers and the visitors' set.
pub struct Ways {
    pub visitor: Way,
    pub buffer: Way,
}

impl Ways {
    pub fn new(
        device: &Rc<Device>,
        case: &Case,
        floats: &[f32],
        splats: &[u32],
        algorithm: Option<Algorithm>,
    ) -> Result<Ways> {
        let shared = Rc::new(Shared::new(device, case, floats, splats)?);
        let part = |role| Part::new(&shared, case, algorithm, role);
        let sort = part(Role::Visited { output: case.replaces == Replaced::Output })?;
        let parts = match case.replaces {
            Replaced::Keys => vec![part(Role::StoreKeys)?, part(Role::Sort)?],
            Replaced::Pairs => vec![part(Role::StorePairs)?, part(Role::SortPairs)?],
            Replaced::Output => vec![part(Role::Visited { output: false })?, part(Role::TakeResult)?],
        };
        let visitor = Way { name: "with a visitor", parts: vec![sort], shared: Rc::clone(&shared) };
        Ok(Ways { visitor, buffer: Way { name: "with a buffer", parts, shared } })
    }

    /// The algorithm of the sort.
    pub fn algorithm(&self) -> Algorithm {
        let Way { parts, shared, .. } = &self.visitor;
        parts[0].sort.algorithm(shared.count).expect("a visitor is of one array")
    }
}

/// Buffers, the visitors' set, and the objects of a submission.
struct Shared {
    /// The keys that are stored before the sort.
    stored: Buffer,
    /// The sort's own result.
    result: Buffer,
    /// The visitor's.
    output: Buffer,
    _inputs: [Buffer; 2],
    layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    queries: vk::QueryPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    push: [u8; DepthPush::BYTES as usize],
    count: u32,
    /// Words of the result.
    words: usize,
    outputs: bool,
    device: Rc<Device>,
}

impl Shared {
    fn new(device: &Rc<Device>, case: &Case, floats: &[f32], splats: &[u32]) -> Result<Shared> {
        let (usage, count) = (Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | Usage::TRANSFER_DST, case.count as usize);
        let words = 4 * count as u64;
        let outputs = case.replaces == Replaced::Output;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let stage = vk::ShaderStageFlags::COMPUTE;
        let binding = |binding| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(kind);
            binding.descriptor_count(1).stage_flags(stage)
        };
        let bindings: Vec<_> = (0..RESOURCES).map(binding).collect();
        let mut shared = Shared {
            stored: Buffer::new(device, "keys", words, usage)?,
            result: Buffer::new(device, "the result", words, usage)?,
            output: Buffer::new(device, "the visitor's result", case.store.words() as u64 * words, usage)?,
            _inputs: [
                Buffer::with(device, "depths or positions", floats, usage)?,
                Buffer::with(device, "splats", splats, usage)?,
            ],
            layout: vk::DescriptorSetLayout::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            queries: vk::QueryPool::null(),
            commands: device.commands()?,
            fence: vk::Fence::null(),
            push: DepthPush::new(ROW, case.input.stride() as u32, 0).to_bytes(),
            count: case.count,
            words: match case.keys_only {
                true => (count * case.keys.depth().request().key.size_bytes() as usize).div_ceil(4),
                false if outputs => case.store.words() * count,
                false => count,
            },
            outputs,
            device: Rc::clone(device),
        };
        let raw = &device.raw;
        // SAFETY: everything is of the same device and alive; `shared` owns the handles.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            shared.layout = raw.create_descriptor_set_layout(&info, None)?;
            let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: RESOURCES }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            shared.pool = raw.create_descriptor_pool(&info, None)?;
            let layouts = [shared.layout];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(shared.pool).set_layouts(&layouts);
            shared.set = raw.allocate_descriptor_sets(&info)?[0];
            let [inputs, splats] = &shared._inputs;
            buffer::describe(raw, shared.set, [inputs, &shared.output, splats]);
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
            shared.queries = raw.create_query_pool(&info, None)?;
            shared.fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        Ok(shared)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.device.is_lost() {
            let raw = &self.device.raw;
            // SAFETY: submissions were waited for; each handle goes once.
            unsafe {
                raw.destroy_fence(self.fence, None);
                raw.destroy_query_pool(self.queries, None);
                raw.destroy_descriptor_pool(self.pool, None);
                raw.destroy_descriptor_set_layout(self.layout, None);
            }
        }
    }
}

/// A part of a way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The sort whose keys a visitor makes, and perhaps takes the output.
    Visited { output: bool },
    /// The sort of stored keys.
    Sort,
    /// The sort of stored pairs, in place.
    SortPairs,
    /// The dispatch that stores the keys of the visitor: a sort without bits.
    StoreKeys,
    /// The same with the index of each key.
    StorePairs,
    /// The dispatch that gives the sorted indices to the visitor of the output, likewise.
    TakeResult,
}

impl Role {
    /// The name of a dispatch. The steps of a sort have names of their own.
    fn name(self) -> Option<&'static str> {
        match self {
            Role::Visited { .. } | Role::Sort | Role::SortPairs => None,
            Role::StoreKeys => Some("store keys"),
            Role::StorePairs => Some("store pairs"),
            Role::TakeResult => Some("take result"),
        }
    }

    /// Whether a visitor makes the keys, and whether one takes the output.
    fn visits(self) -> [bool; 2] {
        match self {
            Role::Visited { output } => [true, output],
            Role::StoreKeys | Role::StorePairs => [true, false],
            Role::TakeResult => [false, true],
            Role::Sort | Role::SortPairs => [false; 2],
        }
    }

    fn request(self, case: &Case, algorithm: Option<Algorithm>) -> SortRequest {
        let indices = if case.keys_only { ValueType::None } else { ValueType::Index };
        let key_output = if case.keys_only { KeyOutput::Sorted } else { KeyOutput::Discarded };
        let placement = Placement::OutOfPlace;
        let usual =
            case.keys.depth().request().value(indices).key_output(key_output).placement(placement).algorithm(algorithm);
        let dispatch = usual.bits(0..0).algorithm(None);
        let key_output = KeyOutput::Sorted;
        match self {
            Role::Visited { .. } | Role::Sort => usual,
            Role::SortPairs => usual.value(ValueType::U32).key_output(key_output).placement(Placement::InPlace),
            Role::StoreKeys => dispatch.value(ValueType::None).key_output(key_output),
            Role::StorePairs => dispatch.key_output(key_output),
            Role::TakeResult => dispatch.value(ValueType::U32),
        }
    }

    /// The buffers but for the scratch.
    fn buffers(self, shared: &Shared, case: &Case) -> SortBuffers {
        let (stored, result) = (shared.stored.range(), shared.result.range());
        let none = SortBuffers::new(shared.count);
        let sorted = |buffers: SortBuffers| match case.keys_only {
            true => buffers.keys_out(result),
            false => buffers.values_out(result),
        };
        match self {
            Role::Visited { output: true } => none,
            Role::Visited { output: false } => sorted(none),
            Role::Sort => sorted(none.keys(stored)),
            Role::StoreKeys => none.keys_out(stored),
            Role::StorePairs => none.keys_out(stored).values_out(result),
            Role::SortPairs | Role::TakeResult => none.keys(stored).values(result),
        }
    }
}

/// A part with what it uses.
struct Part {
    role: Role,
    sort: ManuallyDrop<BoundSort>,
    _scratch: Option<Buffer>,
    shared: Rc<Shared>,
}

impl Part {
    fn new(shared: &Rc<Shared>, case: &Case, algorithm: Option<Algorithm>, role: Role) -> Result<Part> {
        let (device, count) = (&shared.device, case.count);
        let request = role.request(case, algorithm);
        let mut options = SorterOptions::default().capacity(count);
        let [keys, output] = role.visits();
        if keys || output {
            options = options.visitor(glsl::source(case, keys, output), shared.layout);
        }
        // SAFETY: the device was created with what the requirements name, and outlives the sorter; the layout has the bindings
        // of the visitors, whose keys are the same throughout a sort.
        let sorter = unsafe { Sorter::new(&device.raw, &device.requirements, &request, &options)? };
        let scratch = match sorter.scratch_size(count)? {
            0 => None,
            size => Some(Buffer::new(device, "the scratch of the sort", size, sorter.scratch_usage())?),
        };
        let buffers = role.buffers(shared, case);
        let bound = buffers.scratch(scratch.as_ref().map(Buffer::range));
        // SAFETY: the buffers are the device's, and live until the sort is dropped.
        let sort = ManuallyDrop::new(unsafe { sorter.bind(&bound)? });
        Ok(Part { role, sort, _scratch: scratch, shared: Rc::clone(shared) })
    }

    /// # Safety
    ///
    /// The command buffer is recording, and the queries are not in use.
    unsafe fn record(&self, commands: vk::CommandBuffer, queries: Option<QueryRange>) -> Result<()> {
        let Shared { set, push, count, .. } = &*self.shared;
        // SAFETY: by this function's contract; barriers are recorded around the parts, and what they use is alive.
        unsafe {
            match queries {
                _ if self.role.visits() != [false; 2] => {
                    let resources = VisitorResources::default().set(*set).push(push);
                    self.sort.record_visited(commands, *count, queries, resources)?;
                }
                Some(queries) => self.sort.record_timed(commands, *count, queries)?,
                None => self.sort.record(commands, *count)?,
            }
        }
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.shared.device.is_lost() {
            // SAFETY: submissions were waited for; it goes once.
            unsafe { ManuallyDrop::drop(&mut self.sort) };
        }
    }
}

/// One way: its parts run one behind the other.
pub struct Way {
    pub name: &'static str,
    parts: Vec<Part>,
    shared: Rc<Shared>,
}

impl Way {
    /// Runs it, and waits.
    pub fn run(&self) -> Result<Timed> {
        let Shared { device, commands, queries, fence, count, .. } = &*self.shared;
        let (raw, mut first, mut ranges) = (&device.raw, 0, Vec::new());
        // SAFETY: the last run was waited for, so that commands, queries and fence are free. The barriers order the parts,
        // whose writes are read by the next one.
        unsafe {
            raw.begin_command_buffer(*commands, &vk::CommandBufferBeginInfo::default())?;
            for part in &self.parts {
                let range = QueryRange::new(*queries, first, part.sort.query_count(*count));
                first += range.count;
                ensure!(first <= QUERIES, "the steps have {first} queries, allowed are {QUERIES}");
                buffer::barrier(raw, *commands, BoundSort::OUTPUT_SCOPE, BoundSort::INPUT_SCOPE);
                part.record(*commands, (device.timestamp_bits > 0).then_some(range))?;
                ranges.push(range);
            }
            raw.end_command_buffer(*commands)?;
            let started = Instant::now();
            device.submit(*commands, *fence, None)?;
            device.wait(*fence)?;
            let wall = started.elapsed().as_nanos() as f64;
            if device.timestamp_bits == 0 {
                return Ok(Timed { steps: Vec::new(), total: wall });
            }
            let mut ticks = vec![0u64; first as usize];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            raw.get_query_pool_results(*queries, 0, &mut ticks, flags)?;
            let (mut steps, bits) = (Vec::new(), device.timestamp_bits);
            for (part, range) in self.parts.iter().zip(ranges) {
                let ticks = &ticks[range.first as usize..][..range.count as usize];
                let named = |name: String| part.role.name().map_or(name, str::to_string);
                let times = part.sort.step_times(*count, ticks, bits)?;
                steps.extend(times.into_iter().map(|step| (named(step.name.to_string()), step.nanoseconds)));
            }
            // Software drivers have no gap between steps, and a GPU's clock leaves out the submission.
            let total = if device.requirements.profile().is_cpu { wall } else { steps.iter().map(|step| step.1).sum() };
            Ok(Timed { steps, total })
        }
    }

    /// Clears the result, which is the same buffer for both ways.
    pub fn clear(&self) -> Result<()> {
        let Shared { result, output, device, .. } = &*self.shared;
        // SAFETY: the last run was waited for, and the buffers are the device's.
        unsafe {
            device.run(|raw, commands| {
                for buffer in [result, output] {
                    raw.cmd_fill_buffer(commands, buffer.raw, 0, vk::WHOLE_SIZE, 0);
                }
                buffer::barrier(raw, commands, AccessScope::TRANSFER_WRITE, BoundSort::INPUT_SCOPE);
            })
        }
    }

    /// The words of the result.
    pub fn result(&self) -> Result<Vec<u32>> {
        let Shared { result, output, words, outputs, .. } = &*self.shared;
        if *outputs { output.read(*words) } else { result.read(*words) }
    }
}
