//! The buffers of a sort in one buffer of wgpu, between guard bytes.

use std::ops::Range;

use libtest_mimic::Failed;
use vksort::{BufferSizes, Capacity, Count, KeyOutput, SortBuffers, SortRequest, ValueType};
use vksort_wgpu::wgpu::{self, Buffer, BufferSlice, BufferUsages};
use vksort_wgpu::{BoundSort, Commands, Sorter};

use crate::{Bench, bind};
use vksort_testing::arena::values;
use vksort_testing::oracle;

const GUARD: u8 = 0xA7;
/// Bytes between two ranges. The count lies at a multiple of 4 alone.
const APART: usize = 256;

/// A range of bytes. One that a sort does not have is empty.
type Part = Range<usize>;

/// The memory of one sort.
pub struct Memory {
    buffer: Buffer,
    bytes: usize,
    pub keys: Part,
    pub values: Part,
    pub keys_out: Part,
    pub values_out: Part,
    /// The words of segments.
    pub words: Part,
    pub count: Part,
}

impl Memory {
    pub fn new(bench: &Bench, sizes: BufferSizes) -> Memory {
        let mut bytes = 0;
        let mut part = |size: u64| {
            let start = bytes + APART;
            bytes = (start + size as usize).next_multiple_of(APART);
            start..start + size as usize
        };
        let [keys, values, keys_out, values_out, words] =
            [sizes.keys, sizes.values, sizes.keys_out, sizes.values_out, sizes.segments]
                .map(|size| size.map_or(0..0, &mut part));
        let count = part(8);
        let count = count.start + 4..count.end;
        bytes += APART;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let buffer = bench.buffer(bytes as u64, usage);
        Memory { buffer, bytes, keys, values, keys_out, values_out, words, count }
    }

    /// The slice of a part, if the sort has it.
    fn slice(&self, part: &Part) -> Option<BufferSlice<'_>> {
        (!part.is_empty()).then(|| self.buffer.slice(part.start as u64..part.end as u64))
    }

    /// All buffers but the scratch.
    pub fn buffers(&self, capacity: impl Into<Capacity>) -> SortBuffers<BufferSlice<'_>> {
        SortBuffers::new(capacity)
            .keys(self.slice(&self.keys))
            .values(self.slice(&self.values))
            .keys_out(self.slice(&self.keys_out))
            .values_out(self.slice(&self.values_out))
            .segments(self.slice(&self.words))
            .count(self.slice(&self.count))
    }

    /// Where sorted keys and values go.
    pub fn results(&self) -> [Part; 2] {
        let of = |out: &Part, given: &Part| if out.is_empty() { given.clone() } else { out.clone() };
        [of(&self.keys_out, &self.keys), of(&self.values_out, &self.values)]
    }

    /// All bytes, with contents from the begin of parts on.
    pub fn filled(&self, contents: &[(&Part, &[u8])]) -> Vec<u8> {
        with(vec![GUARD; self.bytes], contents)
    }

    /// Runs a recorded sort on these bytes, and compares every byte with what they should be.
    pub fn check(
        &self,
        bench: &Bench,
        before: &[u8],
        sort: Commands,
        results: &[(&Part, &[u8])],
    ) -> Result<(), Failed> {
        bench.queue.write_buffer(&self.buffer, 0, before);
        let (copy, after) = bench.copy(&self.buffer);
        Commands::submit(&bench.queue, [sort, copy]);
        let expected = with(before.to_vec(), results);
        match oracle::difference("bytes of the buffer", 1, &read(bench, &after)?, &expected) {
            Some(difference) => Err(difference.into()),
            None => Ok(()),
        }
    }
}

fn with(mut bytes: Vec<u8>, contents: &[(&Part, &[u8])]) -> Vec<u8> {
    for (part, content) in contents {
        bytes[(*part).clone()][..content.len()].copy_from_slice(content);
    }
    bytes
}

/// A sort of elements with its memory.
pub struct Elements {
    memory: Memory,
    sort: BoundSort,
    request: SortRequest,
    capacity: u32,
}

impl Elements {
    pub fn new(bench: &Bench, sorter: &Sorter, capacity: u32) -> Result<Elements, Failed> {
        let memory = Memory::new(bench, sorter.buffer_sizes(capacity));
        let sort = bind(sorter, memory.buffers(capacity))?;
        Ok(Elements { memory, sort, request: *sorter.request(), capacity })
    }

    /// Sorts, and compares every byte of the buffer. The count on the device is `on_device`.
    pub fn sort(&self, bench: &Bench, keys: &[u8], count: Count, on_device: u32) -> Result<(), Failed> {
        let (request, memory) = (&self.request, &self.memory);
        let (key_size, value_size) = (request.key.size_bytes() as usize, request.value.size_bytes() as usize);
        let given = match request.value {
            ValueType::Bytes(_) => values(0..self.capacity, value_size),
            _ => Vec::new(),
        };
        let number = on_device.to_le_bytes();
        let before = memory.filled(&[(&memory.keys, keys), (&memory.values, &given), (&memory.count, &number)]);
        let sorted = match count {
            Count::Host(count) => count as usize,
            Count::Device => on_device as usize,
            other => unreachable!("{other:?} is not tested"),
        };
        let indices = oracle::argsort(request, &keys[..sorted * key_size]);
        let sorted_keys = match request.key_output {
            KeyOutput::Sorted => oracle::gather(keys, key_size, &indices),
            _ => Vec::new(),
        };
        let sorted_values = match request.value {
            ValueType::Index => bytemuck::cast_slice(&indices).to_vec(),
            _ => values(indices.iter().copied(), value_size),
        };
        let [keys_to, values_to] = memory.results();
        let results = [(&keys_to, &sorted_keys[..]), (&values_to, &sorted_values[..])];
        memory.check(bench, &before, self.sort.record(count)?, &results)
    }
}

/// The bytes of a buffer that the host can read.
pub fn read(bench: &Bench, buffer: &Buffer) -> Result<Vec<u8>, Failed> {
    let (send, receive) = std::sync::mpsc::channel();
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| send.send(result).unwrap_or_default());
    let timeout = Some(std::time::Duration::from_secs(120));
    bench.device.poll(wgpu::PollType::Wait { submission_index: None, timeout })?;
    receive.recv()??;
    Ok(buffer.slice(..).get_mapped_range()?.to_vec())
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(bytes)
}
