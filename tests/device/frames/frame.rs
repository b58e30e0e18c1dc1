//! What a frame sorts, where it lies on the device, and how it comes there and back.

use ash::vk::{self, BufferUsageFlags as Usage};
use fastrand::Rng;
use vksort::{
    Access, AccessScope, BoundSort, BufferRange, Count, KeyType, Order, SortBuffers, SortRequest, Sorter,
    SorterOptions, ValueType,
};
use vksort_testing::Failed;

use super::vulkan::{Buffer, Queue, Vulkan};
use vksort_testing::{oracle, patterns, seed, suite};

const GUARD: u8 = 0xA7;
const GARBAGE: u8 = 0xC5;
/// Guard bytes around each range; every offset of storage buffers is allowed to be a multiple of it.
const GAP: usize = 256;

/// Splats from back to front, with the index of each.
pub fn pairs() -> SortRequest {
    SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending)
}

/// Few items an invocation: a few thousand elements are many tiles.
pub fn small_blocks(vulkan: &Vulkan) -> SorterOptions {
    let tuning = suite::small_blocks_of(vulkan.requirements.profile());
    SorterOptions::default().tuning(tuning).access(Access::Descriptors)
}

pub fn sorter(vulkan: &Vulkan, request: &SortRequest, options: &SorterOptions) -> Result<Sorter, Failed> {
    Ok(vulkan!(Sorter::new(&vulkan.device, &vulkan.requirements, request, options))?)
}

/// The random numbers of a test.
pub fn rng(test: u64) -> Rng {
    Rng::with_seed(seed().wrapping_mul(31).wrapping_add(test))
}

/// Where keys, values and count are in a buffer, each between guard bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    capacity: usize,
    keys: usize,
    values: usize,
    count: usize,
    pub bytes: usize,
}

impl Layout {
    pub fn new(capacity: u32) -> Layout {
        let capacity = capacity as usize;
        let behind = |start: usize, bytes: usize| (start + bytes).next_multiple_of(GAP) + GAP;
        let keys = GAP;
        let values = behind(keys, 4 * capacity);
        // Between other words, as in the arguments of a draw.
        let count = behind(values, 4 * capacity) + 4;
        Layout { capacity, keys, values, count, bytes: behind(count, 4) }
    }
}

/// The elements of a frame: the bytes of the whole buffer before the sort, and the count.
pub struct Job {
    layout: Layout,
    before: Vec<u8>,
    pub count: Count,
    sorted: usize,
}

impl Job {
    /// Any pattern of keys. With a count on the device, keys fill the capacity, and the count may be above it.
    pub fn new(layout: Layout, rng: &mut Rng, count: u32, on_device: bool) -> Job {
        let sorted = layout.capacity.min(count as usize);
        let given = if on_device { layout.capacity } else { sorted };
        let mut before = vec![GUARD; layout.bytes];
        let pattern = patterns::ALL[rng.usize(..patterns::ALL.len())];
        let keys = patterns::generate(pattern, KeyType::F32, given, rng.u64(..));
        before[layout.keys..][..4 * given].copy_from_slice(&keys);
        let values: Vec<u32> = (0..given as u32).collect();
        before[layout.values..][..4 * given].copy_from_slice(bytemuck::cast_slice(&values));
        if on_device {
            before[layout.count..][..4].copy_from_slice(&count.to_le_bytes());
        }
        let count = if on_device { Count::Device } else { Count::Host(count) };
        Job { layout, before, count, sorted }
    }

    /// Compares the whole buffer after the sort with a stable sort on the host: keys, values, and all bytes that the sort
    /// must leave alone.
    pub fn check(&self, after: &[u8], request: &SortRequest) -> Result<(), Failed> {
        let Layout { keys, values, .. } = self.layout;
        let mut expected = self.before.clone();
        let given = &self.before[keys..][..4 * self.sorted];
        let indices = oracle::argsort(request, given);
        expected[keys..][..given.len()].copy_from_slice(&oracle::gather(given, 4, &indices));
        expected[values..][..given.len()].copy_from_slice(bytemuck::cast_slice(&indices));
        match oracle::difference("words of keys, values, count and guards", 4, after, &expected) {
            Some(difference) => Err(format!("{difference}; {} elements, {:?}", self.sorted, self.layout).into()),
            None => Ok(()),
        }
    }
}

/// Scratch between guard bytes.
pub struct Scratch {
    buffer: Buffer,
    bytes: usize,
}

impl Scratch {
    /// Scratch that begins as garbage.
    pub fn filled(vulkan: &Vulkan, sorter: &Sorter, capacity: u32) -> Result<Scratch, Failed> {
        let scratch = Scratch::new(vulkan, sorter, capacity)?;
        vulkan.at_once(|commands| scratch.fill(vulkan, commands))?;
        Ok(scratch)
    }

    /// Scratch whose bytes, guards among them, are not set yet.
    pub fn new(vulkan: &Vulkan, sorter: &Sorter, capacity: u32) -> Result<Scratch, Failed> {
        Scratch::of(vulkan, sorter.scratch_size(capacity)?, sorter.scratch_usage())
    }

    /// The same with so many bytes.
    pub fn of(vulkan: &Vulkan, bytes: u64, usage: Usage) -> Result<Scratch, Failed> {
        let bytes = bytes as usize;
        let buffer = vulkan.local_buffer(bytes + 2 * GAP, usage)?;
        Ok(Scratch { buffer, bytes })
    }

    /// Fills the buffer on the device, before its first sort. The sort's first barrier waits for it.
    pub fn fill(&self, vulkan: &Vulkan, commands: vk::CommandBuffer) {
        let fill = |start: usize, bytes: u64, byte: u8| {
            let (word, start) = (u32::from_ne_bytes([byte; 4]), start as u64);
            vulkan!(vulkan.device.cmd_fill_buffer(commands, self.buffer.raw, start, bytes, word));
        };
        fill(0, GAP as u64, GUARD);
        if self.bytes > 0 {
            fill(GAP, self.bytes as u64, GARBAGE);
        }
        fill(GAP + self.bytes, vk::WHOLE_SIZE, GUARD);
    }

    /// Fails if a guard byte has changed.
    pub fn check(&self, vulkan: &Vulkan) -> Result<(), Failed> {
        let host = vulkan.host_buffer(self.buffer.bytes)?;
        vulkan.at_once(|commands| {
            vulkan.barrier(
                commands,
                AccessScope::COMPUTE_WRITE | AccessScope::TRANSFER_WRITE,
                AccessScope::TRANSFER_READ,
            );
            vulkan.copy(commands, self.buffer.range(0, self.buffer.bytes), host, 0);
            vulkan.barrier(commands, AccessScope::TRANSFER_WRITE, AccessScope::HOST_READ);
        })?;
        let found = host.read(0, host.bytes);
        vulkan.destroy(host);
        match found[..GAP].iter().chain(&found[GAP + self.bytes..]).all(|byte| *byte == GUARD) {
            true => Ok(()),
            false => Err("a sort has written around its scratch".into()),
        }
    }
}

/// The elements on the device, and the sort that is bound to them.
pub struct Bound {
    pub sort: BoundSort,
    pub layout: Layout,
    pub buffers: SortBuffers,
    elements: Buffer,
}

impl Bound {
    pub fn new(vulkan: &Vulkan, sorter: &Sorter, scratch: &Scratch, capacity: u32) -> Result<Bound, Failed> {
        let layout = Layout::new(capacity);
        let elements = vulkan.local_buffer(layout.bytes, Usage::STORAGE_BUFFER)?;
        let range = |start: usize| elements.range(start, 4 * layout.capacity);
        let buffers = SortBuffers::new(capacity)
            .keys(range(layout.keys))
            .values(range(layout.values))
            .scratch(scratch.buffer.range(GAP, scratch.bytes))
            .count(elements.range(layout.count, 4));
        Ok(Bound { sort: vulkan!(sorter.bind(&buffers))?, layout, buffers, elements })
    }

    /// Copies a frame's elements to where they are sorted.
    pub fn upload(&self, vulkan: &Vulkan, commands: vk::CommandBuffer, host: Buffer) {
        vulkan.copy(commands, host.range(0, self.layout.bytes), self.elements, 0);
        vulkan.barrier(commands, AccessScope::TRANSFER_WRITE, BoundSort::INPUT_SCOPE);
    }

    /// Copies keys of the host to where they are sorted.
    pub fn copy_keys(&self, vulkan: &Vulkan, commands: vk::CommandBuffer, keys: BufferRange) {
        vulkan.copy(commands, keys, self.elements, self.layout.keys);
    }

    pub fn record(&self, commands: vk::CommandBuffer, count: Count) -> Result<(), Failed> {
        Ok(vulkan!(self.sort.record(commands, count))?)
    }

    /// Everything of a frame: copies the elements, sorts them, and copies them back.
    pub fn sort_at_once(
        &self,
        vulkan: &Vulkan,
        commands: vk::CommandBuffer,
        host: Buffer,
        count: Count,
    ) -> Result<(), Failed> {
        self.upload(vulkan, commands, host);
        self.record(commands, count)?;
        self.take(vulkan, commands, host);
        Ok(())
    }

    /// The last accesses to the elements before the result is taken. The copy wrote the bytes that the sort leaves alone.
    pub const SORTED: AccessScope = BoundSort::OUTPUT_SCOPE.union(AccessScope::TRANSFER_WRITE);

    /// Copies the elements behind those that were given, for the host to read.
    pub fn download(&self, vulkan: &Vulkan, commands: vk::CommandBuffer, host: Buffer) {
        vulkan.copy(commands, self.elements.range(0, self.layout.bytes), host, self.layout.bytes);
        vulkan.barrier(commands, AccessScope::TRANSFER_WRITE, AccessScope::HOST_READ);
    }

    /// Waits for the sort, and copies its result.
    pub fn take(&self, vulkan: &Vulkan, commands: vk::CommandBuffer, host: Buffer) {
        vulkan.barrier(commands, Bound::SORTED, AccessScope::TRANSFER_READ);
        self.download(vulkan, commands, host);
    }

    /// Hands the elements from one queue family to another; recorded once on each.
    pub fn hand_over(&self, vulkan: &Vulkan, commands: vk::CommandBuffer, from: AccessScope, to: AccessScope) {
        let transfer = [vk::BufferMemoryBarrier::default()
            .buffer(self.elements.raw)
            .size(vk::WHOLE_SIZE)
            .src_access_mask(from.access)
            .dst_access_mask(to.access)
            .src_queue_family_index(vulkan.sorting.family)
            .dst_queue_family_index(vulkan.consuming.family)];
        let none = Default::default();
        vulkan!(vulkan.device.cmd_pipeline_barrier(commands, from.stages, to.stages, none, &[], &transfer, &[]));
    }

    /// Drops the sort, and destroys the buffer of the elements.
    pub fn destroy(self, vulkan: &Vulkan) {
        drop(self.sort);
        vulkan.destroy(self.elements);
    }
}

/// What a frame in flight has for itself.
pub struct Slot {
    pub commands: vk::CommandBuffer,
    pub done: vk::Fence,
    /// The elements as they are given, and behind them as they come back.
    pub host: Buffer,
    job: Option<Job>,
}

impl Slot {
    /// A slot for elements of some layouts, none with more than so many bytes.
    pub fn new(vulkan: &Vulkan, queue: Queue, bytes: usize) -> Result<Slot, Failed> {
        let commands = vulkan.commands(queue, vk::CommandBufferLevel::PRIMARY)?;
        Ok(Slot { commands, done: vulkan.fence()?, host: vulkan.host_buffer(2 * bytes)?, job: None })
    }

    /// So many slots, for commands of the queue that sorts.
    pub fn several(vulkan: &Vulkan, slots: usize, bytes: usize) -> Result<Vec<Slot>, Failed> {
        (0..slots).map(|_| Slot::new(vulkan, vulkan.sorting, bytes)).collect()
    }

    /// Writes a frame's elements to where the device copies them from.
    pub fn give(&mut self, job: Job) {
        self.host.write(0, &job.before);
        self.job = Some(job);
    }

    /// Begins the slot's commands, has them recorded and ends them.
    pub fn record(
        &self,
        vulkan: &Vulkan,
        flags: vk::CommandBufferUsageFlags,
        record: impl FnOnce(vk::CommandBuffer) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        record_into(vulkan, self.commands, flags, record)
    }

    /// Compares the slot's frame, if it has one that the device has finished.
    pub fn check(&mut self) -> Result<(), Failed> {
        let Some(job) = self.job.take() else { return Ok(()) };
        job.check(&self.host.read(job.layout.bytes, job.layout.bytes), &pairs())
    }

    /// Waits for the slot's frame and compares it, if it has one.
    pub fn finish(&mut self, vulkan: &Vulkan) -> Result<(), Failed> {
        if self.job.is_some() {
            vulkan.wait(self.done)?;
        }
        self.check()
    }
}

/// Begins primary commands, has them recorded and ends them.
pub fn record_into(
    vulkan: &Vulkan,
    commands: vk::CommandBuffer,
    flags: vk::CommandBufferUsageFlags,
    record: impl FnOnce(vk::CommandBuffer) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let info = vk::CommandBufferBeginInfo::default().flags(flags);
    vulkan!(vulkan.device.begin_command_buffer(commands, &info))?;
    record(commands)?;
    Ok(vulkan!(vulkan.device.end_command_buffer(commands))?)
}

/// Frames that take turns in the slots: each waits for the frame that had its slot before, and is started.
pub fn frames(
    vulkan: &Vulkan,
    slots: &mut [Slot],
    frames: usize,
    mut start: impl FnMut(usize, &mut Slot) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let in_flight = slots.len();
    for frame in 0..frames + in_flight {
        let slot = &mut slots[frame % in_flight];
        slot.finish(vulkan).map_err(|failed| {
            let reason = failed.message().unwrap_or_default();
            Failed::from(format!("frame {} of {frames}: {reason}", frame - in_flight.min(frame)))
        })?;
        if frame < frames {
            start(frame, slot)?;
        }
    }
    Ok(())
}
