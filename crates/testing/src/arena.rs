//! Guarded memory: every range of a sort lies between guard bytes in one buffer, and scratch starts as garbage.

use vksort::__private::abi;
use vksort::standalone::{DeviceBuffer, DeviceRange, Gpu, PreparedSort, SortRanges, Sorter};
use vksort::{KeyOutput, Placement, SortRequest, ValueType};

use crate::oracle;

const GUARD: u8 = 0xA7;
const GARBAGE: u8 = 0xC5;

/// A range of the arena in bytes.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    len: usize,
}

/// The memory of one sort.
pub struct Arena {
    buffer: DeviceBuffer,
    sort: PreparedSort,
    request: SortRequest,
    bytes: usize,
    capacity: usize,
    keys: Part,
    values: Option<Part>,
    keys_out: Option<Part>,
    values_out: Option<Part>,
    scratch: Part,
    count: Part,
}

/// Where the number of elements comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// From the host: all keys given.
    Host,
    /// From the device, where it is this.
    Device(u32),
}

/// What a sort left behind, as far as the request asks for it.
pub struct Sorted {
    /// The keys, unless they are discarded.
    pub keys: Option<Vec<u8>>,
    /// The values, if there are any.
    pub values: Option<Vec<u8>>,
}

/// The value of element `index`: the index itself in the first bytes, something derived from it in the others.
fn put_value(index: u32, bytes: &mut [u8]) {
    let mixed = u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match bytes.split_at_mut_checked(4) {
        None => bytes.copy_from_slice(&mixed.to_le_bytes()[5..][..bytes.len()]),
        Some((first, rest)) => {
            first.copy_from_slice(&index.to_le_bytes());
            for (word, bytes) in (1..).zip(rest.chunks_mut(8)) {
                let derived = mixed.wrapping_add(word).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                // The last bytes depend on most of what went in.
                bytes.copy_from_slice(&derived.to_be_bytes()[..bytes.len()]);
            }
        }
    }
}

/// The values of elements of these indices, of `size` bytes each.
pub fn values(indices: impl ExactSizeIterator<Item = u32>, size: usize) -> Vec<u8> {
    let mut values = vec![0; indices.len() * size];
    // Without bytes there are no chunks.
    indices.zip(values.chunks_exact_mut(size.max(1))).for_each(|(index, bytes)| put_value(index, bytes));
    values
}

impl Arena {
    /// Lays out and binds a sort of up to `capacity` elements.
    pub fn new(gpu: &Gpu, sorter: &Sorter, capacity: u32) -> Arena {
        let request = *sorter.request();
        let alignment = gpu.profile().storage_alignment_bytes.max(256) as usize;
        let mut bytes = 0;
        let mut part = |len: usize| {
            bytes += alignment; // the guard before it; the next part's guard follows it
            let start = bytes;
            bytes = (start + len).next_multiple_of(alignment);
            Part { start, len }
        };
        let sizes = request.buffer_sizes(capacity);
        let mut wanted = |size: Option<u64>| size.map(|size| part(size as usize));
        let keys = wanted(sizes.keys).expect("there are keys");
        let [values, keys_out, values_out] = [sizes.values, sizes.keys_out, sizes.values_out].map(&mut wanted);
        let scratch = part(sorter.scratch_size(capacity).unwrap() as usize);
        let count = part(12);
        bytes += alignment;

        let buffer = gpu.buffer(bytes as u64).unwrap();
        let range = |part: Part| -> DeviceRange { buffer.range(part.start as u64, part.len as u64) };
        let ranges = SortRanges::new(capacity)
            .keys(range(keys))
            .values(values.map(range))
            .keys_out(keys_out.map(range))
            .values_out(values_out.map(range))
            .scratch((scratch.len > 0).then(|| range(scratch)))
            // Somewhere in the middle of other words, as in the arguments of a draw.
            .count((capacity > 0).then(|| buffer.range(count.start as u64 + 4, 4)));
        let sort = sorter.prepare_on(ranges).unwrap();
        let capacity = capacity as usize;
        Arena { buffer, sort, request, bytes, capacity, keys, values, keys_out, values_out, scratch, count }
    }

    /// Sorts `keys` with values made by [`values`], `times` times over, and checks that nothing else was touched.
    ///
    /// With a count on the device the keys fill the whole capacity, and those past the count must stay as they are.
    pub fn sort(&self, keys: &[u8], count: Count, times: u32) -> Result<Sorted, String> {
        self.run(keys, count, &mut |sort, count| sort.run_repeatedly(count, times).map(drop))
    }

    /// The same for a sort that is run in another way, with the count that it is recorded with. A sort that fails changes nothing
    /// but the scratch.
    pub fn run(
        &self,
        keys: &[u8],
        count: Count,
        run: &mut dyn FnMut(&PreparedSort, vksort::Count) -> Result<(), vksort::Error>,
    ) -> Result<Sorted, String> {
        let (key_size, value_size) = (self.request.key.size_bytes() as usize, self.request.value.size_bytes() as usize);
        let given = keys.len() / key_size;
        let sorted = match count {
            Count::Host => given,
            Count::Device(count) => self.capacity.min(count as usize),
        };
        assert!(given <= self.capacity && sorted <= given);
        let mut before = vec![GUARD; self.bytes];
        before[self.keys.start..][..keys.len()].copy_from_slice(keys);
        if let Some(part) = self.values.filter(|_| matches!(self.request.value, ValueType::Bytes(_))) {
            let all = values(0..given as u32, value_size);
            before[part.start..][..all.len()].copy_from_slice(&all);
        }
        before[self.scratch.start..][..self.scratch.len].fill(GARBAGE);
        if let Count::Device(count) = count {
            before[self.count.start + 4..][..4].copy_from_slice(&count.to_le_bytes());
        }
        let text = |error: vksort::Error| error.to_string();
        self.buffer.write(0, &before).map_err(text)?;
        let recorded = match count {
            Count::Host => vksort::Count::Host(sorted as u32),
            Count::Device(_) => vksort::Count::Device,
        };
        let failed = run(&self.sort, recorded).map_err(text).err();
        let mut after = vec![0u8; self.bytes];
        self.buffer.read(0, &mut after).map_err(|error| failed.clone().unwrap_or(text(error)))?;

        let keys_target = self.keys_out.or((self.request.placement == Placement::InPlace).then_some(self.keys));
        let values_target = self.values_out.or(self.values);
        let take = |part: Part, size: usize| after[part.start..][..sorted * size].to_vec();
        let wanted = self.request.key_output == KeyOutput::Sorted;
        let result = Sorted {
            keys: keys_target.filter(|_| wanted).map(|part| take(part, key_size)),
            values: values_target.filter(|_| value_size > 0).map(|part| take(part, value_size)),
        };
        // Everything but the results and the scratch must be as it was: guards, tails, and untouched sources.
        let written = if failed.is_some() { 0 } else { sorted };
        let results = [
            (keys_target, written * key_size),
            (values_target, written * value_size),
            (Some(self.scratch), self.scratch.len),
        ];
        for (part, len) in results {
            if let Some(part) = part {
                after[part.start..][..len].copy_from_slice(&before[part.start..][..len]);
            }
        }
        match oracle::difference("bytes outside the sort's ranges", 1, &after, &before) {
            Some(difference) => Err(format!("{difference}; {}", self.describe())),
            None => failed.map_or(Ok(result), Err),
        }
    }

    /// The buffer, and the first bytes in it of the sorted keys, and of the sorted values if there are any.
    pub fn results(&self) -> (&DeviceBuffer, u64, Option<u64>) {
        let keys = self.keys_out.unwrap_or(self.keys).start as u64;
        (&self.buffer, keys, self.values_out.or(self.values).map(|part| part.start as u64))
    }

    /// The first byte of the keys before the sort.
    pub fn given_keys(&self) -> u64 {
        self.keys.start as u64
    }

    /// The first words of scratch as the last sort has left them: the counters.
    pub fn counters(&self) -> Vec<u32> {
        self.scratch(0, (self.scratch.len / 4).min(abi::COUNTERS_HISTOGRAM as usize))
    }

    /// So many words of scratch from a byte on, as the last sort has left them.
    pub fn scratch(&self, byte: u64, words: usize) -> Vec<u32> {
        let mut read = vec![0u32; words];
        self.buffer.read(self.scratch.start as u64 + byte, &mut read).unwrap();
        read
    }

    fn describe(&self) -> String {
        format!(
            "bytes of keys {:?}, values {:?}, keys_out {:?}, values_out {:?}, scratch {:?}, count {:?}",
            self.keys, self.values, self.keys_out, self.values_out, self.scratch, self.count
        )
    }
}
