//! [`BoundSort`]: a sorter bound to buffers, with its checks and descriptor sets.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::pipelines::Pipelines;
use super::places::Places;
use super::sorter::{Access, SorterInner};
use crate::error::{Context, Error};
use crate::plan::{Plan, ValueSet};

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferRange {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Where the range starts, in bytes.
    pub offset: u64,
    /// Length of the range in bytes.
    pub size: u64,
    /// The buffer's usage flags; `bind` checks them. `None` if they are not known.
    pub usage: Option<vk::BufferUsageFlags>,
}

impl BufferRange {
    /// The first `size` bytes of a buffer whose usage is not known.
    pub fn new(buffer: vk::Buffer, size: u64) -> Self {
        BufferRange { buffer, offset: 0, size, usage: None }
    }

    /// No buffer, for keys that a [`Visitor`](crate::Visitor) makes.
    pub const NONE: BufferRange = BufferRange { buffer: vk::Buffer::null(), offset: 0, size: 0, usage: None };

    pub(super) fn is_none(&self) -> bool {
        self.buffer == vk::Buffer::null()
    }
}

/// The buffers of one sort. Ranges must not overlap.
///
/// Keys and values take `capacity` elements each, rounded up to whole words of 4 bytes. Bytes behind the last element keep
/// their content.
///
/// `R` is the type of a range: a [`BufferRange`], or a range of a buffer that vksort owns.
#[derive(Clone, Copy, Debug)]
pub struct SortBuffers<R = BufferRange> {
    /// The keys. A request in place sorts them here. [`BufferRange::NONE`] if a visitor makes them.
    pub keys: R,
    /// The values, if the request reads any. A request in place writes sorted values or indices here.
    pub values: Option<R>,
    /// The sorted keys of a request out of place that does not discard them.
    pub keys_out: Option<R>,
    /// The sorted values or indices of a request out of place.
    pub values_out: Option<R>,
    /// At least [`Sorter::scratch_size`](crate::Sorter::scratch_size) bytes with the usage flags
    /// [`Sorter::SCRATCH_USAGE`](crate::Sorter::SCRATCH_USAGE); not needed when the size is 0.
    pub scratch: Option<R>,
    /// Four bytes with the number of elements, for sorts that are recorded with [`Count::Device`](crate::Count::Device).
    /// The offset may be any multiple of 4 bytes.
    pub count: Option<R>,
    /// Most elements that the sort will be recorded with.
    pub capacity: u32,
}

impl<R> SortBuffers<R> {
    /// Keys sorted in place, without values or scratch.
    pub fn in_place(keys: R, capacity: u32) -> Self {
        SortBuffers { keys, values: None, keys_out: None, values_out: None, scratch: None, count: None, capacity }
    }
}

/// A sort bound to its buffers. Recording it allocates nothing and changes no descriptor.
///
/// One bound sort serves every frame: it may be recorded into several command buffers, and these may be in flight at
/// once, as long as they run on one queue. Bind again when buffers or capacity change.
///
/// ```
/// use ash::vk;
/// use vksort::{AccessScope, BoundSort, Count, Error};
///
/// /// Records a frame's sort, between the pass that writes keys and count, and the draw that reads the sorted values.
/// ///
/// /// # Safety
/// ///
/// /// As for [`BoundSort::record`], but for the barriers.
/// unsafe fn frame(device: &ash::Device, commands: vk::CommandBuffer, sort: &BoundSort) -> Result<(), Error> {
///     let barrier = |from: AccessScope, to: AccessScope| {
///         let memory = [from.barrier_to(to)];
///         // SAFETY: the command buffer is recording, by this function's contract.
///         unsafe {
///             device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
///         }
///     };
///     barrier(AccessScope::COMPUTE_WRITE, BoundSort::INPUT_SCOPE);
///     // SAFETY: by this function's contract, and the barriers.
///     unsafe { sort.record(commands, Count::Device, None)? };
///     barrier(BoundSort::OUTPUT_SCOPE, AccessScope::VERTEX_SHADER_READ);
///     Ok(())
/// }
/// ```
///
/// It may be dropped before or after its [`Sorter`](crate::Sorter), but not while a command buffer with the recorded sort is
/// pending.
pub struct BoundSort {
    pub(super) sorter: Arc<SorterInner>,
    pub(super) plan: Plan,
    /// Buffer and offset of the counters; the table lies behind them.
    pub(super) counters: Option<(vk::Buffer, u64)>,
    /// The word of the count's descriptor that holds the count, if a count buffer was given.
    pub(super) count_word: Option<u32>,
    /// Addresses of keys and of values by place, for each set of values; zeros when descriptors are used.
    pub(super) keys_at: [u64; 3],
    pub(super) values_at: [[u64; 3]; ValueSet::ALL.len()],
    pool: vk::DescriptorPool,
    sets: [vk::DescriptorSet; ValueSet::ALL.len()],
}

impl fmt::Debug for BoundSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (request, capacity) = (&self.sorter.request, self.plan.capacity);
        f.debug_struct("BoundSort").field("request", request).field("capacity", &capacity).finish_non_exhaustive()
    }
}

impl BoundSort {
    /// # Safety
    ///
    /// As for [`Sorter::bind`](crate::Sorter::bind).
    pub(super) unsafe fn new(sorter: Arc<SorterInner>, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        let (mut bound, places) = BoundSort::placed(sorter, buffers)?;
        if buffers.capacity > 0 {
            // SAFETY: the buffers are alive and on this device by the contract of `bind`.
            unsafe {
                if bound.sorter.access == Access::Addresses {
                    bound.take_addresses(&places)?;
                }
                bound.create_sets(&places)?;
            }
        }
        Ok(bound)
    }

    /// The checked sort, before its descriptors.
    pub(super) fn placed(sorter: Arc<SorterInner>, buffers: &SortBuffers) -> Result<(BoundSort, Places), Error> {
        let plan = sorter.plan(buffers.capacity)?;
        let places = Places::check(&sorter, &plan, buffers)?;
        let bound = BoundSort {
            plan,
            counters: places.counters.map(|range| (range.buffer, range.offset)),
            count_word: places.count.map(|(_, word)| word),
            keys_at: [0; 3],
            values_at: [[0; 3]; ValueSet::ALL.len()],
            pool: vk::DescriptorPool::null(),
            sets: [vk::DescriptorSet::null(); ValueSet::ALL.len()],
            sorter,
        };
        Ok((bound, places))
    }

    /// The descriptor set that has these values; null where descriptors are pushed.
    pub(super) fn set(&self, values: ValueSet) -> vk::DescriptorSet {
        self.sets[values as usize]
    }

    /// # Safety
    ///
    /// The buffers behind `places` are alive, belong to the sorter's device, and have `SHADER_DEVICE_ADDRESS`.
    unsafe fn take_addresses(&mut self, places: &Places) -> Result<(), Error> {
        let device = &self.sorter.pipelines.device;
        let address = |info: Option<vk::DescriptorBufferInfo>| match info {
            None => 0,
            Some(info) => {
                let buffer = vk::BufferDeviceAddressInfo::default().buffer(info.buffer);
                // SAFETY: the buffer is alive and has the usage, by this function's contract.
                unsafe { device.get_buffer_device_address(&buffer) + info.offset }
            }
        };
        self.keys_at = places.keys.map(address);
        self.values_at = places.values.map(|set| set.map(address));
        let alignment = self.sorter.request.key.size_bytes().max(4);
        let target = if self.sorter.request.discards_keys() { "scratch" } else { "keys_out" };
        match ["keys", target, "scratch"].into_iter().zip(self.keys_at).find(|(_, at)| !at.is_multiple_of(alignment)) {
            Some((buffer, given)) => Err(Error::MisalignedOffset { buffer, given, allowed: alignment }),
            None => Ok(()),
        }
    }

    /// # Safety
    ///
    /// The buffers behind `places` are alive and belong to the sorter's device.
    unsafe fn create_sets(&mut self, places: &Places) -> Result<(), Error> {
        let device = &self.sorter.pipelines.device;
        let wanted: &[ValueSet] =
            if self.sorter.request.value.is_gathered() { &ValueSet::ALL } else { &[ValueSet::Sorted] };
        let addressed = self.sorter.access == Access::Addresses;
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: Pipelines::descriptors(addressed) * wanted.len() as u32,
        }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(wanted.len() as u32).pool_sizes(&sizes);
        // SAFETY: the device is alive by the contract of `Sorter::new`; `Drop` destroys the pool, once.
        self.pool = unsafe { device.create_descriptor_pool(&info, None) }.context("vkCreateDescriptorPool")?;
        let layouts = vec![self.sorter.pipelines.set_layout; wanted.len()];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        // SAFETY: the pool has room for exactly these sets.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }.context("vkAllocateDescriptorSets")?;
        for (&values, set) in wanted.iter().zip(sets) {
            let infos: Vec<_> = Pipelines::bindings(addressed)
                .map(|(binding, _)| (binding, places.of_binding(binding, values)))
                .collect();
            let writes: Vec<vk::WriteDescriptorSet<'_>> = infos
                .iter()
                .map(|(binding, infos)| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(*binding)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .buffer_info(infos)
                })
                .collect();
            // SAFETY: the set is new and in no command buffer; ranges were checked against alignment and limits.
            unsafe { device.update_descriptor_sets(&writes, &[]) };
            self.sets[values as usize] = set;
        }
        Ok(())
    }
}

impl Drop for BoundSort {
    fn drop(&mut self) {
        // SAFETY: the pool is null or was created in `create_sets`; by the contract of `Sorter::new` the device is
        // alive and no command buffer with the sets is pending.
        unsafe { self.sorter.pipelines.device.destroy_descriptor_pool(self.pool, None) };
    }
}
