//! The memory of a sort of the self-test, with guard bytes around each range, and what is sorted in it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use vksort::standalone::{DeviceBuffer, DeviceRange, Gpu, PreparedSort, SortRanges, Sorter};
use vksort::{Count, Error, KeyOutput, KeyType, Placement, SortRequest, Verifier};

/// What the keys look like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pattern {
    Uniform,
    FewDistinct,
    AllEqual,
    Descending,
}

/// The bytes around each range, and in scratch before the sort.
const GUARD: u8 = 0xA7;

/// A range of the memory in bytes.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    len: usize,
}

/// The memory of a sort: all its ranges in one buffer, apart from each other.
pub(super) struct Memory {
    request: SortRequest,
    capacity: u32,
    buffer: DeviceBuffer,
    sort: PreparedSort,
    keys: Part,
    values: Option<Part>,
    keys_out: Option<Part>,
    values_out: Option<Part>,
    scratch: Part,
    count: Part,
    /// How long the host has waited for the device.
    pub waited: Cell<Duration>,
}

impl Memory {
    pub fn new(gpu: &Gpu, sorter: &Sorter, capacity: u32) -> Result<Memory, Error> {
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
        let [values, keys_out, values_out] =
            [sizes.values, sizes.keys_out, sizes.values_out].map(|size| size.map(&mut part));
        let (scratch, count) = (part(sorter.scratch_size(capacity)?), part(4));
        let buffer = gpu.buffer((bytes + alignment) as u64)?;
        let range = |part: Part| -> DeviceRange { buffer.range(part.start as u64, part.len as u64) };
        let ranges = SortRanges::new(capacity)
            .keys(range(keys))
            .values(values.map(range))
            .keys_out(keys_out.map(range))
            .values_out(values_out.map(range))
            .scratch((scratch.len > 0).then(|| range(scratch)))
            .count(range(count));
        let sort = sorter.prepare_on(ranges)?;
        Ok(Memory {
            request,
            capacity,
            buffer,
            sort,
            keys,
            values,
            keys_out,
            values_out,
            scratch,
            count,
            waited: Cell::default(),
        })
    }

    /// Sorts so many elements; says what is wrong with the result.
    pub fn sort(
        &self,
        count: u32,
        on_device: bool,
        data: (Pattern, u64),
        spoils: bool,
    ) -> Result<Option<String>, Error> {
        let request = &self.request;
        let (key_size, value_size) = (request.key.size_bytes() as usize, request.value.size_bytes() as usize);
        let sorted = count.min(self.capacity);
        let keys: Vec<u128> = keys(request.key, self.capacity, data);
        let mut before = vec![GUARD; self.buffer.size() as usize];
        for (index, key) in keys.iter().enumerate() {
            before[self.keys.start + index * key_size..][..key_size].copy_from_slice(&key.to_le_bytes()[..key_size]);
        }
        if let Some(part) = self.values.filter(|_| request.value.is_read()) {
            for index in 0..self.capacity {
                let at = part.start + index as usize * value_size;
                before[at..][..value_size].copy_from_slice(&value(index, value_size));
            }
        }
        before[self.count.start..][..4].copy_from_slice(&count.to_le_bytes());
        self.buffer.write(0, &before)?;
        let recorded = if on_device { Count::Device } else { Count::Host(sorted) };
        let started = Instant::now();
        let answer = self.sort.run_verified(recorded)?;
        self.waited.set(self.waited.get() + started.elapsed());
        if spoils {
            // Another command of a program, whose barrier is missing.
            self.buffer.write(self.keys_out.unwrap_or(self.keys).start as u64, &[!GUARD; 4])?;
        }
        let mut after = vec![0u8; before.len()];
        self.buffer.read(0, &mut after)?;

        let keys_target = self.keys_out.or((request.placement == Placement::InPlace).then_some(self.keys));
        let values_target = self.values_out.or(self.values);
        let element = |part: Option<Part>, size: usize, index: u32| {
            part.map(|part| &after[part.start + index as usize * size..][..size])
        };
        let code = |index: u32| {
            let mask = if request.bits.is_empty() { 0 } else { u128::MAX >> (128 - request.bits.len()) };
            let code = request.key.sortable(keys[index as usize], request.order);
            code.checked_shr(request.bits.low).unwrap_or(0) & mask
        };
        let mut order: Vec<u32> = (0..sorted).collect();
        order.sort_by_cached_key(|index| code(*index));
        if !request.stable {
            // Equal keys come in any order, which their values tell: each begins with its index.
            let mut rest = (0..sorted).map(|place| element(values_target, value_size, place).map_or(0, index_in));
            for run in order.chunk_by_mut(|one, other| code(*one) == code(*other)) {
                let found: Vec<u32> = rest.by_ref().take(run.len()).collect();
                let mut ascending = found.clone();
                ascending.sort_unstable();
                if ascending == run {
                    run.copy_from_slice(&found);
                }
            }
        }
        let wanted_keys = keys_target.filter(|_| request.key_output == KeyOutput::Sorted);
        for (place, &index) in (0..).zip(&order) {
            let key = &keys[index as usize].to_le_bytes()[..key_size];
            if element(wanted_keys, key_size, place).is_some_and(|found| found != key) {
                return Ok(Some(self.wrong("key", place, answer)));
            }
            if element(values_target, value_size, place).is_some_and(|found| found != value(index, value_size)) {
                return Ok(Some(self.wrong("value", place, answer)));
            }
        }
        // All but the results and the scratch is as it was.
        let results = [(keys_target, sorted as usize * key_size), (values_target, sorted as usize * value_size)];
        for (part, len) in results.into_iter().chain([(Some(self.scratch), self.scratch.len)]) {
            if let Some(part) = part {
                after[part.start..][..len].copy_from_slice(&before[part.start..][..len]);
            }
        }
        Ok(match (0..before.len()).find(|byte| before[*byte] != after[*byte]) {
            Some(byte) => Some(self.wrong("byte outside the sort's ranges", byte as u32, answer)),
            None if answer != 0 => Some(format!("right, but the verifier says: {}", Verifier::explain(answer))),
            None => None,
        })
    }

    fn wrong(&self, what: &str, place: u32, answer: u32) -> String {
        let passes = match self.sort.passes() {
            Ok(Some(passes)) => format!("; {} passes ran, {} were skipped", passes.ran, passes.skipped),
            _ => String::new(),
        };
        format!("{what} {place} is wrong; the verifier says: {}{passes}", Verifier::explain(answer))
    }
}

/// The bits of so many keys.
fn keys(key: KeyType, count: u32, (pattern, seed): (Pattern, u64)) -> Vec<u128> {
    let (ones, mut rng) = (u128::MAX >> (128 - key.bits()), fastrand::Rng::with_seed(seed));
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
