//! [`BoundSort`]: a sorter tied to buffers, with its checks and descriptor sets.

use std::sync::Arc;

use ash::vk;

use super::pipelines::BINDINGS;
use super::sorter::SorterInner;
use crate::abi;
use crate::error::{Context, Error};
use crate::plan::{Place, Plan, Route, ScratchRange, Work};

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferRange {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Where the range starts, in bytes.
    pub offset: u64,
    /// Length of the range in bytes.
    pub size: u64,
    /// The buffer's usage flags if they are known, to have them checked.
    pub usage: Option<vk::BufferUsageFlags>,
}

impl BufferRange {
    /// The first `size` bytes of a buffer whose usage is not known.
    pub fn new(buffer: vk::Buffer, size: u64) -> Self {
        BufferRange { buffer, offset: 0, size, usage: None }
    }
}

/// The buffers of one sort. Ranges must not overlap; each has room for `capacity` elements.
#[derive(Clone, Copy, Debug)]
pub struct SortBuffers {
    /// The keys, sorted in place unless `keys_out` is given.
    pub keys: BufferRange,
    /// The values, if the request has any.
    pub values: Option<BufferRange>,
    /// Where the sorted keys go; `keys` is then left untouched.
    pub keys_out: Option<BufferRange>,
    /// Where the sorted values go, together with `keys_out`.
    pub values_out: Option<BufferRange>,
    /// At least [`Sorter::scratch_size`](crate::Sorter::scratch_size) bytes; not needed when that is 0.
    pub scratch: Option<BufferRange>,
    /// Most elements that the sort will be recorded with.
    pub capacity: u32,
}

impl SortBuffers {
    /// Keys sorted in place, without values or scratch.
    pub fn in_place(keys: BufferRange, capacity: u32) -> Self {
        SortBuffers { keys, values: None, keys_out: None, values_out: None, scratch: None, capacity }
    }
}

/// A sort tied to its buffers. Recording it allocates nothing and touches no descriptor.
///
/// May be dropped before the [`Sorter`](crate::Sorter) it came from or after it, but not while a command buffer that
/// it was recorded into is pending.
pub struct BoundSort {
    pub(super) sorter: Arc<SorterInner>,
    pub(super) plan: Plan,
    pub(super) in_place: bool,
    /// Where the counters start; the table lies behind them.
    pub(super) counters: Option<(vk::Buffer, u64)>,
    pool: vk::DescriptorPool,
    sets: [vk::DescriptorSet; Route::ALL.len()],
}

impl BoundSort {
    /// # Safety
    ///
    /// As for [`Sorter::bind`](crate::Sorter::bind).
    pub(super) unsafe fn new(sorter: Arc<SorterInner>, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        let plan = sorter.plan(buffers.capacity)?;
        let places = Places::check(&sorter, &plan, buffers)?;
        let mut bound = BoundSort {
            plan,
            in_place: buffers.keys_out.is_none(),
            counters: places.scratch.map(|(buffer, offset)| (buffer, offset + places.layout.counters.offset)),
            pool: vk::DescriptorPool::null(),
            sets: [vk::DescriptorSet::null(); Route::ALL.len()],
            sorter,
        };
        if buffers.capacity > 0 {
            // SAFETY: the buffers are alive and on this device by the contract of `bind`.
            unsafe { bound.create_sets(&places)? };
        }
        Ok(bound)
    }

    /// The descriptor set of a route.
    pub(super) fn set(&self, route: Route) -> vk::DescriptorSet {
        self.sets[route_index(route)]
    }

    /// # Safety
    ///
    /// The buffers behind `places` are alive and belong to the sorter's device.
    unsafe fn create_sets(&mut self, places: &Places) -> Result<(), Error> {
        let device = &self.sorter.pipelines.device;
        // A count may take fewer steps than the capacity, never other routes than these.
        let counts = [self.plan.capacity, self.plan.capacity.min(self.plan.shape.block())];
        let mut routes: Vec<Route> = Vec::new();
        for step in counts.into_iter().flat_map(|count| self.plan.steps(count)) {
            if let Work::Dispatch { route, .. } = step.work
                && !routes.contains(&route)
            {
                routes.push(route);
            }
        }
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: (BINDINGS.len() * routes.len()) as u32,
        }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(routes.len() as u32).pool_sizes(&sizes);
        // SAFETY: the device is alive by the contract of `Sorter::new`; `Drop` destroys the pool, once.
        self.pool = unsafe { device.create_descriptor_pool(&info, None) }.context("vkCreateDescriptorPool")?;
        let layouts = vec![self.sorter.pipelines.set_layout; routes.len()];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        // SAFETY: the pool has room for exactly these sets.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }.context("vkAllocateDescriptorSets")?;
        for (route, set) in routes.into_iter().zip(sets) {
            let buffers = places.of_route(route);
            let infos: Vec<(u32, [vk::DescriptorBufferInfo; 1])> = BINDINGS
                .into_iter()
                .zip(buffers)
                .filter_map(|(binding, range)| range.map(|range| (binding, [range])))
                .collect();
            let writes: Vec<vk::WriteDescriptorSet<'_>> = infos
                .iter()
                .map(|(binding, info)| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(*binding)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .buffer_info(info)
                })
                .collect();
            // SAFETY: the set is new and in no command buffer; ranges were checked against alignment and limits.
            unsafe { device.update_descriptor_sets(&writes, &[]) };
            self.sets[route_index(route)] = set;
        }
        Ok(())
    }
}

fn route_index(route: Route) -> usize {
    Route::ALL.iter().position(|known| *known == route).expect("plans use known routes only")
}

impl Drop for BoundSort {
    fn drop(&mut self) {
        // SAFETY: the pool is null or was created in `create_sets`; by the contract of `Sorter::new` the device is
        // alive and no command buffer with the sets is pending.
        unsafe { self.sorter.pipelines.device.destroy_descriptor_pool(self.pool, None) };
    }
}

/// The checked memory of each place.
struct Places {
    keys: [Option<(vk::Buffer, u64)>; 3],
    values: [Option<(vk::Buffer, u64)>; 3],
    scratch: Option<(vk::Buffer, u64)>,
    layout: crate::plan::ScratchLayout,
    keys_bytes: u64,
    values_bytes: u64,
}

impl Places {
    fn check(sorter: &SorterInner, plan: &Plan, buffers: &SortBuffers) -> Result<Places, Error> {
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let value_words = sorter.request.value.words();
        let capacity = u64::from(plan.capacity);
        let keys_bytes = capacity * sorter.request.key.size_bytes();
        let values_bytes = capacity * sorter.request.value.size_bytes();
        let layout = plan.scratch(value_words);

        let present = |some: bool| if some { "present" } else { "absent" };
        let presence = |buffer, given: bool, needed: bool| match given == needed {
            true => Ok(()),
            false => Err(Error::BufferPresence { buffer, given: present(given), needed: present(needed) }),
        };
        let out_of_place = buffers.keys_out.is_some();
        presence("values", buffers.values.is_some(), value_words > 0)?;
        presence("values_out", buffers.values_out.is_some(), value_words > 0 && out_of_place)?;
        if layout.size > 0 {
            presence("scratch", buffers.scratch.is_some(), true)?;
        }

        let ranges = [
            ("keys", Some(buffers.keys), keys_bytes, storage),
            ("values", buffers.values, values_bytes, storage),
            ("keys_out", buffers.keys_out, keys_bytes, storage),
            ("values_out", buffers.values_out, values_bytes, storage),
            ("scratch", buffers.scratch, layout.size, storage | vk::BufferUsageFlags::TRANSFER_DST),
        ];
        for (name, range, needed, usage) in ranges {
            if let Some(range) = range {
                check_range(name, &range, needed, usage, sorter.profile.storage_alignment_bytes)?;
            }
        }
        // What is compared are the bytes that the sort uses, not what may lie behind them in the given range.
        let used: Vec<(&'static str, vk::Buffer, u64, u64)> = ranges
            .iter()
            .filter_map(|(name, range, needed, _)| {
                range.map(|range| (*name, range.buffer, range.offset, range.offset + needed))
            })
            .collect();
        for (index, first) in used.iter().enumerate() {
            for second in &used[index + 1..] {
                if first.1 == second.1 && first.2 < second.3 && second.2 < first.3 {
                    return Err(Error::Overlap {
                        first: first.0,
                        second: second.0,
                        first_bytes: format!("{}..{}", first.2, first.3),
                        second_bytes: format!("{}..{}", second.2, second.3),
                    });
                }
            }
        }

        let start = |range: BufferRange| (range.buffer, range.offset);
        let source = [Some(buffers.keys), buffers.values].map(|range| range.map(start));
        let target = match out_of_place {
            true => [buffers.keys_out, buffers.values_out].map(|range| range.map(start)),
            false => source,
        };
        let scratch = buffers.scratch.filter(|_| layout.size > 0).map(start);
        let within = |range: ScratchRange| scratch.map(|(buffer, offset)| (buffer, offset + range.offset));
        Ok(Places {
            keys: [source[0], target[0], within(layout.keys)],
            values: [source[1], target[1], within(layout.values)],
            scratch,
            layout,
            keys_bytes,
            values_bytes,
        })
    }

    /// What each binding of [`BINDINGS`] is on a route; nothing for those that the request does not use.
    fn of_route(&self, route: Route) -> [Option<vk::DescriptorBufferInfo>; BINDINGS.len()] {
        let slot = |place: Place| match place {
            Place::Source => 0,
            Place::Target => 1,
            Place::Alternate => 2,
        };
        let info = |start: Option<(vk::Buffer, u64)>, size: u64| {
            let (buffer, offset) = start.filter(|_| size > 0)?;
            Some(vk::DescriptorBufferInfo { buffer, offset, range: size })
        };
        let scratch = |range: ScratchRange| {
            info(self.scratch.map(|(buffer, offset)| (buffer, offset + range.offset)), range.size)
        };
        BINDINGS.map(|binding| match binding {
            abi::BINDING_KEYS_IN => info(self.keys[slot(route.from)], self.keys_bytes),
            abi::BINDING_KEYS_OUT => info(self.keys[slot(route.to)], self.keys_bytes),
            abi::BINDING_VALUES_IN => info(self.values[slot(route.from)], self.values_bytes),
            abi::BINDING_VALUES_OUT => info(self.values[slot(route.to)], self.values_bytes),
            abi::BINDING_COUNTERS => scratch(self.layout.counters),
            _ => scratch(self.layout.table),
        })
    }
}

fn check_range(
    buffer: &'static str,
    range: &BufferRange,
    needed: u64,
    usage: vk::BufferUsageFlags,
    alignment: u64,
) -> Result<(), Error> {
    if range.size < needed {
        return Err(Error::BufferTooSmall { buffer, given: range.size, needed });
    }
    if !range.offset.is_multiple_of(alignment) {
        return Err(Error::MisalignedOffset { buffer, given: range.offset, allowed: alignment });
    }
    match range.usage {
        Some(given) if !given.contains(usage) => Err(Error::MissingUsage { buffer, given, needed: usage }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::STORAGE_BUFFER;

    fn check(range: BufferRange, needed: u64, usage: vk::BufferUsageFlags) -> Result<(), String> {
        check_range("scratch", &range, needed, usage, 64).map_err(|error| error.to_string())
    }

    #[test]
    fn ranges_are_refused_by_name_with_what_is_given_and_needed() {
        let range = BufferRange { offset: 128, usage: Some(STORAGE), ..BufferRange::new(vk::Buffer::null(), 100) };
        assert_eq!(check(range, 100, STORAGE), Ok(()));
        assert_eq!(check(BufferRange { usage: None, ..range }, 100, vk::BufferUsageFlags::TRANSFER_DST), Ok(()));
        let message = check(range, 101, STORAGE).unwrap_err();
        assert_eq!(message, "buffer range scratch has 100 bytes, needed are 101 bytes");
        let message = check(BufferRange { offset: 32, ..range }, 100, STORAGE).unwrap_err();
        assert_eq!(message, "buffer range scratch starts at byte 32, allowed are multiples of 64");
        let message = check(range, 100, STORAGE | vk::BufferUsageFlags::TRANSFER_DST).unwrap_err();
        assert_eq!(message, "buffer scratch has usage STORAGE_BUFFER, needed is TRANSFER_DST | STORAGE_BUFFER");
    }
}
