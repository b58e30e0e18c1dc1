//! The caller's ranges, checked, as the memory of a sort's steps.

use std::ops::Range;

use ash::vk;

use super::buffers::{BufferRange, SortBuffers};
use super::inner::SorterInner;
use super::pipelines::Pipelines;
use crate::abi;
use crate::error::Error;
use crate::plan::{Ends, Memory, Plan, ScratchRange};
use crate::request::Capacity;

pub(super) type Info = vk::DescriptorBufferInfo;

/// Usage flags of scratch: kernels read and write it, a transfer clears it, and it holds the arguments of indirect dispatches.
pub(super) const SCRATCH_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

/// Usage flags of scratch where no dispatch is indirect.
pub(super) const DIRECT_SCRATCH_USAGE: vk::BufferUsageFlags =
    vk::BufferUsageFlags::from_raw(SCRATCH_USAGE.as_raw() & !vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw());

/// Whether a sort takes a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Forbidden,
    /// It is the caller's choice.
    Optional,
}

impl Need {
    fn of(required: bool) -> Need {
        if required { Need::Required } else { Need::Forbidden }
    }
}

/// A range that the caller gives, and what the sort asks of it.
struct Asked {
    name: &'static str,
    range: Option<BufferRange>,
    need: Need,
    bytes: u64,
    usage: vk::BufferUsageFlags,
    alignment: u64,
    /// How many elements, or what else, it is of. A range of none may be absent.
    count: u32,
}

/// A range for the report of a kernel beside the sort: its bytes, and its usage beside `STORAGE_BUFFER`.
pub(super) type Report = (BufferRange, u64, vk::BufferUsageFlags);

/// The checked memory of a sort: of each range the bytes that the sort uses; `None` for what it does not use.
pub(super) struct Checked {
    /// All of it by name.
    used: [(&'static str, Option<Info>); 8],
    keys: Option<Info>,
    values: Option<Info>,
    keys_out: Option<Info>,
    values_out: Option<Info>,
    scratch: Option<Info>,
    /// The counters; the table follows them. A plan that has none does not use them.
    pub counters: Info,
    /// The caller's count, with its word in the range.
    pub count: Option<(Info, u32)>,
    /// The words of segments.
    pub segments: Option<Info>,
    pub report: Option<Info>,
    /// The ranges for descriptors that the sort does not use, because every descriptor must be valid: of what kernels read, and of what
    /// they write. Layers take a descriptor for an access, so these are memory that has barriers in any case. It is the keys; if a
    /// visitor replaces the keys, another buffer of the caller's is read, and the counters are written.
    stand_ins: [Info; 2],
}

/// Refuses a capacity of 0 for a count on the device: whoever forgot it would sort nothing, without an error.
pub(super) fn check_counted(plan: &Plan) -> Result<(), Error> {
    let (what, given) = match (plan.capacity, plan.most()) {
        (0, _) => ("capacity", "0 elements"),
        (_, 0) => ("segment capacity", "0 segments"),
        _ => return Ok(()),
    };
    Err(Error::unsupported(format!("the {what} of a sort with a count on the device"), given, "at least 1"))
}

impl Checked {
    /// Checks the buffers of a sort, and perhaps a range for a report.
    pub fn new(
        sorter: &SorterInner,
        plan: &Plan,
        buffers: &SortBuffers,
        report: Option<Report>,
    ) -> Result<Checked, Error> {
        let sizes = sorter.buffer_sizes(Capacity { elements: plan.capacity, segments: plan.segment_capacity });
        let of = |size: Option<u64>| size.unwrap_or_default();
        let layout = plan.scratch();

        // Kernels read whole words, also where a caller's profile asks for less.
        let alignment = sorter.profile.storage_alignment_bytes.max(4);
        let (usage, storage) = (sorter.element_usage(), vk::BufferUsageFlags::STORAGE_BUFFER);
        let asked = |name, range, required: bool, bytes| {
            let need = Need::of(required);
            Asked { name, range: given(range), need, bytes, usage, alignment, count: plan.capacity }
        };
        let ranges = [
            asked("keys", buffers.keys, sizes.keys.is_some(), of(sizes.keys)),
            asked("values", buffers.values, sizes.values.is_some(), of(sizes.values)),
            asked("keys_out", buffers.keys_out, sizes.keys_out.is_some(), of(sizes.keys_out)),
            asked("values_out", buffers.values_out, sizes.values_out.is_some(), of(sizes.values_out)),
            Asked {
                need: if layout.size > 0 { Need::Required } else { Need::Optional },
                usage: usage | if sorter.indirect { SCRATCH_USAGE } else { DIRECT_SCRATCH_USAGE },
                ..asked("scratch", buffers.scratch, true, layout.size)
            },
            Asked { need: Need::Optional, usage: storage, alignment: 4, ..asked("count", buffers.count, true, 4) },
            Asked {
                usage: storage,
                count: if plan.capacity > 0 { plan.segment_capacity } else { 0 },
                ..asked("segments", buffers.segments, sizes.segments.is_some(), of(sizes.segments))
            },
            Asked {
                usage: storage | report.map_or(vk::BufferUsageFlags::empty(), |(.., usage)| usage),
                count: 1,
                ..asked(
                    "report",
                    report.map(|(range, ..)| range),
                    report.is_some(),
                    of(report.map(|(_, bytes, _)| bytes)),
                )
            },
        ];
        for asked in &ranges {
            asked.check_presence()?;
        }
        for asked in &ranges {
            asked.check_range()?;
        }
        check_overlaps(&ranges)?;

        let used = ranges.map(|asked| (asked.name, asked.used()));
        let [keys, values, keys_out, values_out, scratch, _, segments, report] = used.map(|(_, info)| info);
        // A descriptor's offset is a multiple of the alignment; the count is a word after it.
        let count = given(buffers.count).map(|range| {
            let before = range.offset % alignment;
            let info = Info { buffer: range.buffer, offset: range.offset - before, range: before + 4 };
            (info, (before / 4) as u32)
        });
        let counters = part(scratch, layout.counters);
        // A word of it, because buffers that are accessed by address may be longer than a descriptor.
        let stand_in = |ranges: [Option<Info>; 6]| {
            let first = ranges.into_iter().flatten().next();
            first.map(|info| Info { range: info.range.min(4), ..info }).unwrap_or_default()
        };
        let stand_ins = [
            stand_in([keys, keys_out, values, values_out, counters, scratch]),
            stand_in([keys, counters, scratch, keys_out, values, values_out]),
        ];
        let counters = counters.unwrap_or(stand_ins[1]);
        Ok(Checked { used, keys, values, keys_out, values_out, scratch, counters, count, segments, report, stand_ins })
    }

    /// Refuses ranges that end beyond their buffers. These have at most the bytes that they need memory for.
    ///
    /// # Safety
    ///
    /// The buffers are alive and belong to the device.
    pub unsafe fn check_ends(&self, device: &ash::Device) -> Result<(), Error> {
        for (buffer, info) in self.used {
            let Some(Info { buffer: raw, offset, range: size }) = info else { continue };
            // SAFETY: by this function's contract.
            let allowed = unsafe { device.get_buffer_memory_requirements(raw) }.size;
            if offset + size > allowed {
                return Err(Error::OutOfBounds { buffer, offset, size, allowed });
            }
        }
        Ok(())
    }

    /// The memory of keys and of values before the sort, and after it.
    pub fn ends(&self) -> [[Option<Info>; 2]; 2] {
        [[self.keys, self.values], [self.keys_out.or(self.keys), self.values_out.or(self.values)]]
    }

    /// A part of the memory.
    pub fn of(&self, memory: Memory) -> Option<Info> {
        match memory {
            Memory::Keys => self.keys,
            Memory::Values => self.values,
            Memory::KeysOut => self.keys_out,
            Memory::ValuesOut => self.values_out,
            Memory::Scratch(range) => part(self.scratch, range),
        }
    }

    /// The descriptor of each binding for a step of the plan.
    pub fn descriptors(&self, plan: &Plan, ends: Ends) -> Vec<(u32, Info)> {
        let places = plan.places(ends);
        let of = |memory: Option<Memory>| memory.and_then(|memory| self.of(memory));
        let wanted = |binding| match binding {
            abi::BINDING_KEYS_FROM => of(places.keys[0]),
            abi::BINDING_KEYS_TO => of(places.keys[1]),
            abi::BINDING_VALUES_FROM => of(places.values[0]),
            abi::BINDING_VALUES_TO => of(places.values[1]),
            abi::BINDING_COUNTERS => Some(self.counters),
            abi::BINDING_TABLE => part(self.scratch, plan.scratch().table),
            abi::BINDING_SEGMENTS => self.segments,
            _ => self.count.map(|(info, _)| info),
        };
        let bindings = Pipelines::bindings(plan.shape.addressed, plan.shape.windows.is_some());
        let is_written = |binding| [abi::BINDING_KEYS_TO, abi::BINDING_VALUES_TO].contains(&binding);
        let stand_in = |binding| self.stand_ins[usize::from(is_written(binding))];
        bindings.map(|binding| (binding, wanted(binding).unwrap_or_else(|| stand_in(binding)))).collect()
    }
}

/// A range, unless its buffer is null.
pub(super) fn given(range: Option<BufferRange>) -> Option<BufferRange> {
    range.filter(|range| range.buffer != vk::Buffer::null())
}

/// A range of the scratch.
fn part(scratch: Option<Info>, range: ScratchRange) -> Option<Info> {
    let scratch = scratch.filter(|_| range.size > 0)?;
    Some(Info { offset: scratch.offset + range.offset, range: range.size, ..scratch })
}

/// The writes of descriptors to a set; null where they are pushed.
pub(super) fn writes(set: vk::DescriptorSet, descriptors: &[(u32, Info)]) -> Vec<vk::WriteDescriptorSet<'_>> {
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
    descriptors
        .iter()
        .map(|(binding, info)| write.dst_binding(*binding).buffer_info(std::slice::from_ref(info)))
        .collect()
}

impl Asked {
    /// Of no elements, every range may be left out, and so may one of no bytes, for which Vulkan has no buffer.
    fn check_presence(&self) -> Result<(), Error> {
        let given = if self.range.is_some() { Need::Required } else { Need::Forbidden };
        if self.need == Need::Optional
            || self.need == given
            || given == Need::Forbidden && (self.count == 0 || self.bytes == 0)
        {
            return Ok(());
        }
        let present = |need| if need == Need::Required { "present" } else { "absent" };
        Err(Error::BufferPresence { buffer: self.name, given: present(given), needed: present(self.need) })
    }

    fn check_range(&self) -> Result<(), Error> {
        let Asked { name: buffer, range: Some(range), bytes: needed, alignment, .. } = *self else { return Ok(()) };
        let BufferRange { offset, size, .. } = range;
        if offset.checked_add(size).is_none() {
            return Err(Error::OutOfBounds { buffer, offset, size, allowed: u64::MAX });
        }
        if size < needed {
            return Err(Error::BufferTooSmall { buffer, given: size, needed });
        }
        if !offset.is_multiple_of(alignment) {
            return Err(Error::MisalignedOffset { buffer, given: offset, allowed: alignment });
        }
        match range.usage {
            Some(given) if !given.contains(self.usage) => {
                Err(Error::MissingUsage { buffer, given, needed: self.usage })
            }
            _ => Ok(()),
        }
    }

    /// The bytes that the sort uses of the given range.
    fn used(&self) -> Option<Info> {
        let range = self.range.filter(|_| self.bytes > 0)?;
        Some(Info { buffer: range.buffer, offset: range.offset, range: self.bytes })
    }
}

fn check_overlaps(ranges: &[Asked]) -> Result<(), Error> {
    let bytes = |asked: &Asked| asked.range.map(|range| (range.buffer, range.offset..range.offset + asked.bytes));
    for (index, first) in ranges.iter().enumerate() {
        for second in &ranges[index + 1..] {
            let (Some((buffer, one)), Some((other, two))) = (bytes(first), bytes(second)) else { continue };
            if buffer == other && one.start < two.end && two.start < one.end {
                let text = |bytes: Range<u64>| format!("{bytes:?}");
                return Err(Error::Overlap {
                    first: first.name,
                    second: second.name,
                    first_bytes: text(one),
                    second_bytes: text(two),
                });
            }
        }
    }
    Ok(())
}
