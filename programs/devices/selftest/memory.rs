//! The memory of a sort of the self-test, with guard bytes around each range, and what is sorted in it.

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, Instant};

use vksort::standalone::{DeviceBuffer, DeviceRange, Gpu, PreparedSort, SortRanges, Sorter};
use vksort::{
    Capacity, Count, Error, IndexFrom, KeyField, KeyOutput, Placement, SegmentOptions, Segments, SortRequest,
    ValueType, Verifier,
};

/// What the keys look like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pattern {
    Uniform,
    FewDistinct,
    AllEqual,
    Descending,
}

/// The structure of records, which are sorted instead of keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub bytes: u32,
    pub fields: &'static [KeyField],
}

/// The bytes around each range, and in scratch before the sort.
const GUARD: u8 = 0xA7;

/// A range of the memory in bytes.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    len: usize,
}

impl Part {
    /// An element of so many bytes.
    fn element(self, index: usize, size: usize) -> Range<usize> {
        self.start + index * size..self.start + (index + 1) * size
    }
}

/// The memory of a sort: all its ranges in one buffer, apart from each other.
pub(super) struct Memory {
    request: SortRequest,
    record: Option<Record>,
    capacity: Capacity,
    buffer: DeviceBuffer,
    sort: PreparedSort,
    keys: Part,
    values: Option<Part>,
    keys_out: Option<Part>,
    values_out: Option<Part>,
    segments: Option<Part>,
    scratch: Part,
    count: Part,
    /// How long the host has waited for the device.
    pub waited: Cell<Duration>,
}

impl Memory {
    pub fn new(gpu: &Gpu, sorter: &Sorter, record: Option<Record>, capacity: Capacity) -> Result<Memory, Error> {
        let request = *sorter.request();
        let alignment = gpu.profile().storage_alignment_bytes.max(256) as usize;
        let mut bytes = 0;
        let mut part = |len: u64| {
            let part = Part { start: bytes + alignment, len: len as usize };
            bytes = (part.start + part.len).next_multiple_of(alignment);
            part
        };
        let sizes = request.buffer_sizes(capacity);
        let keys = part(sizes.keys.unwrap_or(0));
        let [values, keys_out, values_out, segments] =
            [sizes.values, sizes.keys_out, sizes.values_out, sizes.segments].map(|size| size.map(&mut part));
        let (scratch, count) = (part(sorter.scratch_size(capacity)?), part(4));
        let buffer = gpu.buffer((bytes + alignment) as u64)?;
        let range = |part: Part| -> DeviceRange { buffer.range(part.start as u64, part.len as u64) };
        let ranges = SortRanges::new(capacity)
            .keys(range(keys))
            .values(values.map(range))
            .keys_out(keys_out.map(range))
            .values_out(values_out.map(range))
            .segments(segments.map(range))
            .scratch((scratch.len > 0).then(|| range(scratch)))
            .count(range(count));
        let sort = sorter.prepare_on(ranges)?;
        let waited = Cell::default();
        #[rustfmt::skip]
        let memory = Memory { request, record, capacity, buffer, sort, keys, values, keys_out, values_out, segments, scratch, count, waited };
        Ok(memory)
    }

    /// The most that may be counted: elements, or segments.
    pub fn most(&self) -> u32 {
        if self.of().is_some() { self.capacity.segments } else { self.capacity.elements }
    }

    /// How the request divides the elements, unless they are one segment.
    fn of(&self) -> Option<SegmentOptions> {
        self.request.segments.filter(|of| of.layout != Segments::Whole)
    }

    /// Bytes of what is sorted, and of a value.
    fn sizes(&self) -> [usize; 2] {
        let element = self.record.map_or(self.request.key.size_bytes(), |record| record.bytes.into());
        [element, self.request.value.size_bytes()].map(|size| size as usize)
    }

    /// Sorts so many elements, or segments; says what is wrong with the result.
    pub fn sort(
        &self,
        count: u32,
        on_device: bool,
        data: (Pattern, u64),
        spoils: bool,
    ) -> Result<Option<String>, Error> {
        let request = &self.request;
        let [size, value_size] = self.sizes();
        let elements = elements(8 * size as u32, self.capacity.elements, data);
        let (ranges, words) = self.segments(count, data.1);
        let mut before = vec![GUARD; self.buffer.size() as usize];
        for (index, element) in elements.iter().enumerate() {
            before[self.keys.element(index, size)].copy_from_slice(&element.to_le_bytes()[..size]);
        }
        if let Some(part) = self.values.filter(|_| request.value.is_read()) {
            for index in 0..self.capacity.elements {
                before[part.element(index as usize, value_size)].copy_from_slice(&value(index, value_size));
            }
        }
        if let Some(part) = self.segments {
            before[part.start..][..part.len].copy_from_slice(bytemuck::cast_slice(&words));
        }
        before[self.count.start..][..4].copy_from_slice(&count.to_le_bytes());
        self.buffer.write(0, &before)?;
        let recorded = if on_device { Count::Device } else { Count::Host(count.min(self.most())) };
        let started = Instant::now();
        // Verifiers look at sorts of keys in one array.
        let answer = match request.segments.is_none() && self.record.is_none() {
            true => Some(self.sort.run_verified(recorded)?),
            false => self.sort.run(recorded).map(|_| None)?,
        };
        self.waited.set(self.waited.get() + started.elapsed());
        if spoils {
            // Another command of a program, whose barrier is missing.
            self.buffer.write(self.keys_out.unwrap_or(self.keys).start as u64, &[!GUARD; 4])?;
        }
        let mut after = vec![0u8; before.len()];
        self.buffer.read(0, &mut after)?;

        // A permutation of records leaves them where they are.
        let permutes = self.record.is_some() && request.value == ValueType::Index;
        let in_place = request.placement == Placement::InPlace && !permutes;
        let keys_target = self.keys_out.or(in_place.then_some(self.keys));
        let wanted_keys = keys_target.filter(|_| request.key_output == KeyOutput::Sorted);
        let values_target = self.values_out.or(self.values);
        let top = request.segments.and_then(|of| of.top);
        let from_segment = request.segments.is_some_and(|of| of.indices_from == IndexFrom::Segment);
        for (segment, range) in ranges.into_iter().enumerate() {
            let mut order: Vec<u32> = range.clone().collect();
            order.sort_by_cached_key(|index| self.codes(elements[*index as usize]));
            if !request.stable {
                self.follow(&mut order, &elements, |place| {
                    values_target.map(|part| &after[part.element(place, value_size)])
                });
            }
            order.truncate(top.unwrap_or(u32::MAX) as usize);
            let first = top.map_or(range.start as usize, |top| segment * top as usize);
            for (place, &index) in (first..).zip(&order) {
                let element = &elements[index as usize].to_le_bytes()[..size];
                if wanted_keys.is_some_and(|part| after[part.element(place, size)] != *element) {
                    return Ok(Some(self.wrong("key", place, answer)));
                }
                let told = if from_segment { index - range.start } else { index };
                let value = value(told, value_size);
                if values_target.is_some_and(|part| after[part.element(place, value_size)] != *value) {
                    return Ok(Some(self.wrong("value", place, answer)));
                }
                // What is right may be anything else before.
                for (part, size) in [(keys_target, size), (values_target, value_size)] {
                    if let Some(part) = part {
                        let bytes = part.element(place, size);
                        before[bytes.clone()].copy_from_slice(&after[bytes]);
                    }
                }
            }
        }
        // All but the results and the scratch is as it was.
        let scratch = self.scratch.start..self.scratch.start + self.scratch.len;
        before[scratch.clone()].copy_from_slice(&after[scratch]);
        Ok(match (0..before.len()).find(|byte| before[*byte] != after[*byte]) {
            Some(byte) => Some(self.wrong("byte outside the sort's ranges", byte, answer)),
            None => answer
                .filter(|answer| *answer != 0)
                .map(|answer| format!("right, but the verifier says: {}", Verifier::explain(answer))),
        })
    }

    /// The segments of a count, and the words of all that there are: empty ones, short ones, and a long one in the middle. Those that are
    /// promised to be short are.
    fn segments(&self, count: u32, seed: u64) -> (Vec<Range<u32>>, Vec<u32>) {
        let Capacity { elements, segments, .. } = self.capacity;
        let Some(of) = self.of() else { return (std::iter::once(0..count.min(elements)).collect(), Vec::new()) };
        let mut rng = fastrand::Rng::with_seed(seed);
        let stride = match of.layout {
            Segments::Rows { stride } | Segments::RowsOf { stride } => Some(stride),
            _ => None,
        };
        let most = of.up_to.unwrap_or(elements / 2).min(stride.unwrap_or(u32::MAX));
        let (mut at, mut words, mut ranges) = (0, Vec::new(), Vec::new());
        for segment in 0..segments {
            let length = match (of.layout, segment * 2 == segments) {
                (Segments::Rows { stride }, _) => stride,
                (_, true) => most,
                _ => rng.u32(0..=(elements / 2 / segments).min(most)),
            };
            let begin = stride.map_or(at, |stride| segment * stride);
            at = begin + length;
            ranges.push(begin..at);
            match of.layout {
                Segments::Offsets => words.push(begin),
                Segments::Ranges => words.extend([begin, at]),
                Segments::RowsOf { .. } => words.push(length),
                _ => {}
            }
        }
        if of.layout == Segments::Offsets {
            words.push(at);
        }
        ranges.truncate(count as usize);
        (ranges, words)
    }

    /// What an element is sorted by, most significant first.
    fn codes(&self, element: u128) -> Vec<u128> {
        let request = &self.request;
        let mask = |bits: u32| if bits == 0 { 0 } else { u128::MAX >> (128 - bits) };
        match self.record {
            None => {
                let code = request.key.sortable(element, request.order);
                vec![code.checked_shr(request.bits.low).unwrap_or(0) & mask(request.bits.len())]
            }
            Some(record) => {
                let field = |field: &KeyField| {
                    field.key.sortable(element >> (8 * field.offset) & mask(field.key.bits()), field.order)
                };
                record.fields.iter().map(field).collect()
            }
        }
    }

    /// Equal keys come in any order, which their values tell: each begins with its index.
    fn follow<'a>(&self, order: &mut [u32], elements: &[u128], value: impl Fn(usize) -> Option<&'a [u8]>) {
        let mut rest = (0..order.len()).map(|place| value(place).map_or(0, index_in));
        let code = |index: u32| self.codes(elements[index as usize]);
        for run in order.chunk_by_mut(|one, other| code(*one) == code(*other)) {
            let found: Vec<u32> = rest.by_ref().take(run.len()).collect();
            let mut ascending = found.clone();
            ascending.sort_unstable();
            if ascending == run {
                run.copy_from_slice(&found);
            }
        }
    }

    fn wrong(&self, what: &str, place: usize, answer: Option<u32>) -> String {
        let passes = match self.sort.passes() {
            Ok(Some(passes)) => format!("; {} passes ran, {} were skipped", passes.ran, passes.skipped),
            _ => String::new(),
        };
        let says = answer.map(|answer| format!("; the verifier says: {}", Verifier::explain(answer)));
        format!("{what} {place} is wrong{}{passes}", says.unwrap_or_default())
    }
}

/// So many elements of so many bits.
fn elements(bits: u32, count: u32, (pattern, seed): (Pattern, u64)) -> Vec<u128> {
    let (ones, mut rng) = (u128::MAX >> (128 - bits), fastrand::Rng::with_seed(seed));
    let few: [u128; 7] = std::array::from_fn(|_| rng.u128(..) & ones);
    let bits = |index: u32| match pattern {
        Pattern::Uniform => rng.u128(..) & ones,
        Pattern::FewDistinct => few[rng.usize(..few.len())],
        Pattern::AllEqual => few[0],
        Pattern::Descending => ones - (u128::from(index) & ones),
    };
    (0..count).map(bits).collect()
}

/// The value of an element: its index as far as it fits, then something that follows from it.
fn value(index: u32, size: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(index.into());
    index.to_le_bytes().into_iter().chain(std::iter::repeat_with(|| rng.u8(..))).take(size).collect()
}

/// The index in a value of at least four bytes.
fn index_in(value: &[u8]) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| value.get(byte).copied().unwrap_or_default()))
}
