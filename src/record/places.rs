//! The memory of a bound sort by place, with the checks of the caller's ranges.

use std::ops::Range;

use ash::vk;

use super::buffers::{BufferRange, SortBuffers};
use super::inner::SorterInner;
use super::pipelines::Pipelines;
use super::sorter::Sorter;
use crate::abi;
use crate::error::Error;
use crate::plan::{Ends, Memory, Plan, ScratchRange};

type Info = vk::DescriptorBufferInfo;

/// The checked memory of a sort.
pub(super) struct Places {
    /// Keys by [`Ends`]: from and to; `None` for what no step uses.
    pub keys: [[Option<Info>; 2]; Ends::ALL.len()],
    /// Values likewise.
    pub values: [[Option<Info>; 2]; Ends::ALL.len()],
    /// The counters; the table lies behind them. A plan that has none does not use them.
    pub counters: Info,
    table: Option<Info>,
    /// The caller's count, with its word in the range.
    pub count: Option<(Info, u32)>,
    /// The range for descriptors that the sort does not use, as every descriptor must be valid. It is the keys, which every
    /// step waits for in any case, or the buffer that takes their place beside a visitor.
    stand_in: Info,
}

impl Places {
    pub fn check(sorter: &SorterInner, plan: &Plan, buffers: &SortBuffers) -> Result<Places, Error> {
        let request = &sorter.request;
        let (sizes, visits) = (sorter.buffers(plan.capacity), plan.shape.visits);
        let key_bytes = request.buffers(plan.capacity).keys;
        let value_bytes = sizes.values.or(sizes.values_out).unwrap_or_default();
        let layout = plan.scratch();

        let (storage, elements) = (vk::BufferUsageFlags::STORAGE_BUFFER, sorter.element_usage());
        // Kernels read whole words, also where a caller's profile asks for less.
        let alignment = sorter.profile.storage_alignment_bytes.max(4);
        let keys = Some(buffers.keys).filter(|keys| keys.buffer != vk::Buffer::null());
        let needs_scratch = (layout.size > 0).then_some(true);
        // Behind a range is whether it is needed, unless that is the caller's choice.
        let ranges = [
            ("keys", keys, Some(!visits.keys), key_bytes, elements, alignment),
            ("values", buffers.values, Some(sizes.values.is_some()), value_bytes, elements, alignment),
            ("keys_out", buffers.keys_out, Some(sizes.keys_out.is_some()), key_bytes, elements, alignment),
            ("values_out", buffers.values_out, Some(sizes.values_out.is_some()), value_bytes, elements, alignment),
            ("scratch", buffers.scratch, needs_scratch, layout.size, elements | Sorter::SCRATCH_USAGE, alignment),
            ("count", buffers.count, None, 4, storage, 4),
        ];
        for (buffer, range, needed, ..) in ranges {
            let given = range.is_some();
            // Of no elements, every range may be left out.
            if needed.is_some_and(|needed| given != needed) && (given || plan.capacity > 0) {
                let present = |some: bool| if some { "present" } else { "absent" };
                return Err(Error::BufferPresence { buffer, given: present(given), needed: present(!given) });
            }
        }
        for (name, range, _, bytes, usage, alignment) in ranges {
            if let Some(range) = range {
                check_range(name, &range, bytes, usage, alignment)?;
            }
        }
        // The bytes that the sort uses, without the rest of the given ranges.
        let used = ranges.iter().filter_map(|&(name, range, _, bytes, ..)| {
            range.map(|range| (name, range.buffer, range.offset..range.offset + bytes))
        });
        check_overlaps(&used.collect::<Vec<_>>())?;

        let info = |range: Option<BufferRange>, offset: u64, size: u64| {
            let range = range.filter(|_| size > 0)?;
            Some(Info { buffer: range.buffer, offset: range.offset + offset, range: size })
        };
        let scratch = |part: ScratchRange| info(buffers.scratch, part.offset, part.size);
        let resolve = |memory: Option<Memory>| match memory? {
            Memory::Keys => info(keys, 0, key_bytes),
            Memory::Values => info(buffers.values, 0, value_bytes),
            Memory::KeysOut => info(buffers.keys_out, 0, key_bytes),
            Memory::ValuesOut => info(buffers.values_out, 0, value_bytes),
            Memory::Scratch(part) => scratch(part),
        };
        let given_keys = keys;
        let keys = Ends::ALL.map(|ends| plan.places(ends).keys.map(resolve));
        let values = Ends::ALL.map(|ends| plan.places(ends).values.map(resolve));
        // A descriptor's offset is a multiple of the alignment; the count is a word behind it.
        let count = buffers.count.map(|range| {
            let before = range.offset % alignment;
            let info = Info { buffer: range.buffer, offset: range.offset - before, range: before + 4 };
            (info, (before / 4) as u32)
        });
        let counters = scratch(layout.counters);
        // With a visitor, scratch is there where no other buffer is.
        let others = [resolve(Some(Memory::Values)), resolve(Some(Memory::ValuesOut)), counters];
        let whole = scratch(ScratchRange { offset: 0, size: layout.size });
        let first = info(given_keys, 0, key_bytes);
        let stand_in = [first].into_iter().chain(others).chain([whole]).flatten().next();
        // A word of it, as buffers that are used by address may be longer than a descriptor.
        let stand_in = stand_in.map(|info| Info { range: info.range.min(4), ..info }).unwrap_or_default();
        Ok(Places {
            keys,
            values,
            counters: counters.unwrap_or(stand_in),
            table: scratch(layout.table),
            count,
            stand_in,
        })
    }

    /// The descriptor of each binding for a step.
    pub fn descriptors(&self, addressed: bool, ends: Ends) -> Vec<(u32, Info)> {
        Pipelines::bindings(addressed).map(|binding| (binding, self.of_binding(binding, ends))).collect()
    }

    fn of_binding(&self, binding: u32, ends: Ends) -> Info {
        let ([keys_from, keys_to], [values_from, values_to]) = (self.keys[ends as usize], self.values[ends as usize]);
        let wanted = match binding {
            abi::BINDING_KEYS_FROM => keys_from,
            abi::BINDING_KEYS_TO => keys_to,
            abi::BINDING_VALUES_FROM => values_from,
            abi::BINDING_VALUES_TO => values_to,
            abi::BINDING_COUNTERS => Some(self.counters),
            abi::BINDING_TABLE => self.table,
            _ => self.count.map(|(info, _)| info),
        };
        wanted.unwrap_or(self.stand_in)
    }
}

/// The writes of descriptors to a set; null where they are pushed.
pub(super) fn writes(set: vk::DescriptorSet, descriptors: &[(u32, Info)]) -> Vec<vk::WriteDescriptorSet<'_>> {
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
    descriptors
        .iter()
        .map(|(binding, info)| write.dst_binding(*binding).buffer_info(std::slice::from_ref(info)))
        .collect()
}

fn check_overlaps(used: &[(&'static str, vk::Buffer, Range<u64>)]) -> Result<(), Error> {
    for (index, (first, buffer, first_bytes)) in used.iter().enumerate() {
        for (second, other, second_bytes) in &used[index + 1..] {
            if buffer == other && first_bytes.start < second_bytes.end && second_bytes.start < first_bytes.end {
                let (first_bytes, second_bytes) = (format!("{first_bytes:?}"), format!("{second_bytes:?}"));
                return Err(Error::Overlap { first, second, first_bytes, second_bytes });
            }
        }
    }
    Ok(())
}

fn check_range(
    buffer: &'static str,
    range: &BufferRange,
    needed: u64,
    usage: vk::BufferUsageFlags,
    alignment: u64,
) -> Result<(), Error> {
    if range.offset.checked_add(range.size).is_none() {
        let BufferRange { offset, size, .. } = *range;
        return Err(Error::OutOfBounds { buffer, offset, size, allowed: u64::MAX });
    }
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
