//! [`BoundSort`]: a sorter bound to buffers, with its checks and descriptor sets.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::buffers::SortBuffers;
use super::inner::SorterInner;
use super::memory::{Checked, check_counted, given, writes};
use super::pipelines::Layouts;
use super::sorter::Sorter;
use crate::error::{Context, Error};
use crate::plan::{Ends, Memory, Places, Plan};

/// A sort bound to its buffers. Recording it allocates nothing and changes no descriptor.
///
/// One bound sort is enough for all frames: it may be recorded into several command buffers, and these may be in flight at
/// once, as long as they run on one queue. Bind again when buffers or capacity change.
///
/// ```
/// use vksort::ash::vk;
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
///     unsafe { sort.record(commands, Count::Device)? };
///     barrier(BoundSort::OUTPUT_SCOPE, AccessScope::VERTEX_SHADER_READ);
///     Ok(())
/// }
/// ```
///
/// It may be dropped before or after its [`Sorter`], but not while a command buffer with the recorded sort is
/// pending.
pub struct BoundSort {
    pub(crate) sorter: Arc<SorterInner>,
    pub(crate) plan: Plan,
    pub(super) buffers: SortBuffers,
    pub(super) memory: Checked,
    /// The addresses of push constants by [`Ends`]; zeros when descriptors are used.
    pub(super) addresses: [[u64; 4]; Ends::ALL.len()],
    /// The descriptor sets by [`Ends`]; none where descriptors are pushed.
    pub(super) sets: Option<Sets>,
}

/// Descriptor sets of one pool, which is destroyed with them.
pub(super) struct Sets {
    layouts: Arc<Layouts>,
    pool: vk::DescriptorPool,
    pub all: Vec<vk::DescriptorSet>,
}

impl fmt::Debug for BoundSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (request, capacity) = (&self.sorter.request, self.buffers.capacity);
        f.debug_struct("BoundSort").field("request", request).field("capacity", &capacity).finish_non_exhaustive()
    }
}

impl Sorter {
    /// Binds the sorter to buffers. The result can be recorded any number of times, in any number of command buffers.
    ///
    /// # Errors
    ///
    /// * [`Error::BufferTooSmall`], [`Error::MisalignedOffset`] or [`Error::Overlap`] for a range, [`Error::OutOfBounds`] for a
    ///   range whose end overflows, or that ends beyond the memory that its buffer needs.
    /// * [`Error::MissingUsage`] for a known usage. Vulkan does not tell the usage of a buffer, so a usage that
    ///   [`BufferRange`](crate::BufferRange) does not give is not checked.
    /// * [`Error::BufferPresence`] for a buffer that is missing or not used. A null handle is a missing buffer.
    /// * [`Error::TooManyElements`] for the elements of the capacity, [`Error::Unsupported`] for its segments: with the elements there may
    ///   be 2^32 - 1, of rows as many as the elements have, and as many as have words within the device's `maxStorageBufferRange`.
    /// * [`Error::Unsupported`] for a count buffer of a sort whose capacity, of elements or of segments, is 0.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * The buffers belong to the sorter's device, are bound to memory over the given ranges, and outlive the result.
    /// * They have the usage `STORAGE_BUFFER`, and the scratch buffer has [`scratch_usage`](Self::scratch_usage).
    /// * Where [`access`](Self::access) is [`Access::Addresses`](crate::Access::Addresses), all but those of the count and of segments
    ///   have `SHADER_DEVICE_ADDRESS` too, and their memory was allocated with the flag `DEVICE_ADDRESS`.
    pub unsafe fn bind(&self, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        let mut bound = BoundSort::placed(self, buffers)?;
        // SAFETY: by this function's contract.
        unsafe { bound.complete()? };
        Ok(bound)
    }

    /// Refuses buffers that [`bind`](Self::bind) refuses for what is known without the device: sizes, offsets, usage, and
    /// ranges that overlap, are missing or are not used.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind), but for [`Error::Vulkan`].
    pub fn check_buffers(&self, buffers: &SortBuffers) -> Result<(), Error> {
        BoundSort::placed(self, buffers).map(drop)
    }
}

impl BoundSort {
    /// The checked sort, before its descriptors.
    pub(super) fn placed(sorter: &Sorter, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        let sorter = Arc::clone(&sorter.inner);
        let plan = sorter.plan(buffers.capacity)?;
        if given(buffers.count).is_some() {
            check_counted(&plan)?;
        }
        Ok(BoundSort {
            memory: Checked::new(&sorter, &plan, buffers, None)?,
            buffers: *buffers,
            plan,
            addresses: [[0; 4]; Ends::ALL.len()],
            sets: None,
            sorter,
        })
    }

    /// Makes the descriptors of a checked sort.
    ///
    /// # Safety
    ///
    /// As for [`Sorter::bind`].
    pub(super) unsafe fn complete(&mut self) -> Result<(), Error> {
        if self.plan.capacity > 0 {
            // SAFETY: the buffers are alive and on this device by this function's contract.
            unsafe {
                self.memory.check_ends(&self.sorter.pipelines.layouts.device)?;
                if self.sorter.shape.addressed {
                    self.take_addresses()?;
                }
                self.create_sets()?;
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// The buffer is alive, belongs to the sorter's device, and has `SHADER_DEVICE_ADDRESS`.
    pub(super) unsafe fn address(&self, info: vk::DescriptorBufferInfo) -> u64 {
        let buffer = vk::BufferDeviceAddressInfo::default().buffer(info.buffer);
        // SAFETY: by this function's contract.
        unsafe { self.sorter.pipelines.layouts.device.get_buffer_device_address(&buffer) + info.offset }
    }

    /// # Safety
    ///
    /// The buffers are alive, belong to the sorter's device, and have `SHADER_DEVICE_ADDRESS`.
    unsafe fn take_addresses(&mut self) -> Result<(), Error> {
        let sort = &*self;
        let address = |memory: Option<Memory>| {
            // SAFETY: by this function's contract.
            memory.and_then(|memory| sort.memory.of(memory)).map_or(0, |info| unsafe { sort.address(info) })
        };
        let addresses = Ends::ALL.map(|ends| {
            let Places { keys: [keys_from, keys_to], values: [values_from, values_to] } = self.plan.places(ends);
            [keys_from, keys_to, values_from, values_to].map(address)
        });
        self.addresses = addresses;
        let alignment = self.sorter.sort.key.size_bytes().max(4);
        let is_scratch = self.sorter.sort.discards_keys() || self.plan.shape.visits.output;
        let target = if is_scratch { "scratch" } else { "keys_out" };
        let [[keys, to, ..], [alternate, ..]] = [Ends::Direct, Ends::Back].map(|ends| self.addresses[ends as usize]);
        let source = if self.plan.shape.fields.is_some() { "scratch" } else { "keys" };
        let found = [(source, keys), (target, to), ("scratch", alternate)];
        match found.into_iter().find(|(_, at)| !at.is_multiple_of(alignment)) {
            Some((buffer, given)) => Err(Error::MisalignedOffset { buffer, given, allowed: alignment }),
            None => Ok(()),
        }
    }

    /// # Safety
    ///
    /// The buffers are alive and belong to the sorter's device.
    unsafe fn create_sets(&mut self) -> Result<(), Error> {
        let gathers = self.sorter.sort.value.is_gathered() && self.plan.shape.windows.is_none();
        let end = match (self.plan.shape.fields.is_some(), gathers) {
            (true, _) => Ends::ALL.len(),
            (false, true) => Ends::Compose as usize,
            (false, false) => Ends::Gather as usize,
        };
        let wanted = &Ends::ALL[..end];
        let descriptors: Vec<_> = wanted.iter().map(|ends| self.memory.descriptors(&self.plan, *ends)).collect();
        // SAFETY: by this function's contract; ranges were checked against alignment and limits.
        self.sets = Some(unsafe { Sets::new(&self.sorter.pipelines.layouts, &descriptors)? });
        Ok(())
    }
}

impl Sets {
    /// A set for each list of descriptors.
    ///
    /// # Safety
    ///
    /// The lists have all bindings of the layout, and their buffers are alive, belong to its device and are as descriptors ask.
    pub unsafe fn new(
        layouts: &Arc<Layouts>,
        descriptors: &[Vec<(u32, vk::DescriptorBufferInfo)>],
    ) -> Result<Sets, Error> {
        let Layouts { device, set: layout, .. } = &**layouts;
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: descriptors.iter().map(|of_set| of_set.len() as u32).sum(),
        }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(descriptors.len() as u32).pool_sizes(&sizes);
        // SAFETY: the device is alive by the contract of `Sorter::new`; `Drop` destroys the pool, once.
        let pool = unsafe { device.create_descriptor_pool(&info, None) }.context("vkCreateDescriptorPool")?;
        let mut sets = Sets { layouts: Arc::clone(layouts), pool, all: Vec::new() };
        let wanted = vec![*layout; descriptors.len()];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&wanted);
        // SAFETY: the pool has room for exactly these sets.
        sets.all = unsafe { device.allocate_descriptor_sets(&info) }.context("vkAllocateDescriptorSets")?;
        for (set, of_set) in sets.all.iter().zip(descriptors) {
            // SAFETY: the set is new and in no command buffer; its buffers are valid by this function's contract.
            unsafe { device.update_descriptor_sets(&writes(*set, of_set), &[]) };
        }
        Ok(sets)
    }
}

impl Drop for Sets {
    fn drop(&mut self) {
        // SAFETY: the pool was created in `new`; by the contract of `Sorter::new` the device is alive and no command buffer
        // with the sets is pending.
        unsafe { self.layouts.device.destroy_descriptor_pool(self.pool, None) };
    }
}
