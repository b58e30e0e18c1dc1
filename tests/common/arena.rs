//! Guarded memory: every range of a sort lies between guard bytes in one buffer, and scratch starts as garbage.

use vksort::standalone::{DeviceBuffer, DeviceRange, Gpu, PreparedSort, SortRanges, StandaloneSorter};

const GUARD: u32 = 0xDEAD_BEA7;
const GARBAGE: u32 = 0xC0DE_CAFE;

/// A range of the arena in words.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    len: usize,
}

/// The memory of one sort.
pub struct Arena {
    buffer: DeviceBuffer,
    sort: PreparedSort,
    words: usize,
    capacity: usize,
    keys: Part,
    values: Option<Part>,
    keys_out: Option<Part>,
    values_out: Option<Part>,
    scratch: Part,
}

/// What a sort left behind.
pub struct Sorted {
    pub keys: Vec<u32>,
    pub values: Option<Vec<u32>>,
}

impl Arena {
    /// Lays out and binds a sort of up to `capacity` elements.
    pub fn new(gpu: &Gpu, sorter: &StandaloneSorter, capacity: u32, in_place: bool) -> Arena {
        let alignment = gpu.profile().storage_alignment_bytes.max(256) as usize / 4;
        let mut words = 0;
        let mut part = |len: usize| {
            words += alignment; // the guard before it; the next part's guard is behind it
            let start = words;
            words = (start + len).next_multiple_of(alignment);
            Part { start, len }
        };
        let elements = capacity as usize;
        let has_values = sorter.request().value.words() > 0;
        let keys = part(elements);
        let values = has_values.then(|| part(elements));
        let keys_out = (!in_place).then(|| part(elements));
        let values_out = (!in_place && has_values).then(|| part(elements));
        let scratch = part(sorter.scratch_size(capacity).unwrap() as usize / 4);
        words += alignment;

        let buffer = gpu.buffer(4 * words as u64).unwrap();
        let range = |part: Part| -> DeviceRange { buffer.range(4 * part.start as u64, 4 * part.len as u64) };
        let ranges = SortRanges {
            keys: range(keys),
            values: values.map(range),
            keys_out: keys_out.map(range),
            values_out: values_out.map(range),
            scratch: (scratch.len > 0).then(|| range(scratch)),
            capacity,
        };
        let sort = sorter.prepare_on(ranges).unwrap();
        Arena { buffer, sort, words, capacity: elements, keys, values, keys_out, values_out, scratch }
    }

    /// Sorts `keys` with their indices as values, `times` times over, and checks that nothing else was touched.
    pub fn sort(&self, keys: &[u32], times: u32) -> Result<Sorted, String> {
        let count = keys.len();
        assert!(count <= self.capacity);
        let mut before = vec![GUARD; self.words];
        before[self.keys.start..][..count].copy_from_slice(keys);
        if let Some(values) = self.values {
            for (index, value) in before[values.start..][..count].iter_mut().enumerate() {
                *value = index as u32;
            }
        }
        before[self.scratch.start..][..self.scratch.len].fill(GARBAGE);
        self.buffer.write(0, bytemuck::cast_slice(&before)).map_err(|error| error.to_string())?;
        self.sort.run_repeatedly(count as u32, times).map_err(|error| error.to_string())?;
        let mut after = vec![0u32; self.words];
        self.buffer.read(0, bytemuck::cast_slice_mut(&mut after)).map_err(|error| error.to_string())?;

        let target = self.keys_out.unwrap_or(self.keys);
        let values = self.values_out.or(self.values);
        let sorted = Sorted {
            keys: after[target.start..][..count].to_vec(),
            values: values.map(|part| after[part.start..][..count].to_vec()),
        };
        // Everything but the results and the scratch must be as it was: guards, tails, and untouched sources.
        for (part, len) in [(Some(target), count), (values, count), (Some(self.scratch), self.scratch.len)] {
            if let Some(part) = part {
                after[part.start..][..len].copy_from_slice(&before[part.start..][..len]);
            }
        }
        match super::oracle::difference("bytes outside the sort's ranges", &after, &before) {
            Some(difference) => Err(format!("{difference}; {}", self.describe())),
            None => Ok(sorted),
        }
    }

    fn describe(&self) -> String {
        format!(
            "words of keys {:?}, values {:?}, keys_out {:?}, values_out {:?}, scratch {:?}",
            self.keys, self.values, self.keys_out, self.values_out, self.scratch
        )
    }
}
