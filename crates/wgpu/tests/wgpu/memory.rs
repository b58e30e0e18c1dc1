//! The buffers of a sort in one buffer of wgpu, between guard bytes.

use libtest_mimic::Failed;
use vksort::{Count, KeyOutput, Placement, SortBuffers, SortRequest, ValueType};
use vksort_wgpu::wgpu::{self, Buffer, BufferSlice, BufferUsages};
use vksort_wgpu::{WgpuCommands, WgpuSort, WgpuSorter};

use crate::Bench;
use vksort_testing::arena::values;
use vksort_testing::oracle;

const GUARD: u8 = 0xA7;
/// Bytes between two ranges. The count lies at a multiple of 4 alone.
const APART: usize = 256;

type Part = std::ops::Range<usize>;

/// The memory of one sort.
pub struct Memory {
    buffer: Buffer,
    bytes: usize,
    sort: WgpuSort,
    request: SortRequest,
    capacity: usize,
    keys: Part,
    values: Option<Part>,
    keys_out: Option<Part>,
    values_out: Option<Part>,
    count: Part,
}

impl Memory {
    pub fn new(bench: &Bench, sorter: &WgpuSorter, capacity: u32) -> Result<Memory, Failed> {
        let request = *sorter.request();
        let sizes = request.buffers(capacity);
        let mut bytes = 0;
        let mut part = |size: u64| {
            let start = bytes + APART;
            bytes = (start + size as usize).next_multiple_of(APART);
            start..start + size as usize
        };
        let keys = part(sizes.keys);
        let [values, keys_out, values_out] =
            [sizes.values, sizes.keys_out, sizes.values_out].map(|size| size.map(&mut part));
        let count = part(8);
        let count = count.start + 4..count.end;
        bytes += APART;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let buffer = bench.buffer(bytes as u64, usage);
        let slice = |part: &Part| -> BufferSlice<'_> { buffer.slice(part.start as u64..part.end as u64) };
        let buffers = SortBuffers {
            keys: slice(&keys),
            values: values.as_ref().map(slice),
            keys_out: keys_out.as_ref().map(slice),
            values_out: values_out.as_ref().map(slice),
            scratch: None,
            count: Some(slice(&count)),
            capacity,
        };
        // SAFETY: the buffer is of the device's instance, and lives during the call.
        let sort = unsafe { sorter.bind(&buffers)? };
        Ok(Memory {
            buffer,
            bytes,
            sort,
            request,
            capacity: capacity as usize,
            keys,
            values,
            keys_out,
            values_out,
            count,
        })
    }

    /// Sorts, and compares every byte of the buffer. The count on the device is `on_device`.
    pub fn sort(&self, bench: &Bench, keys: &[u8], count: Count, on_device: u32) -> Result<(), Failed> {
        let request = &self.request;
        let (key_size, value_size) = (request.key.size_bytes() as usize, request.value.size_bytes() as usize);
        let mut before = vec![GUARD; self.bytes];
        before[self.keys.start..][..keys.len()].copy_from_slice(keys);
        before[self.count.clone()].copy_from_slice(&on_device.to_le_bytes());
        if let (Some(part), ValueType::Bytes(_)) = (&self.values, request.value) {
            let all = values(0..self.capacity as u32, value_size);
            before[part.start..][..all.len()].copy_from_slice(&all);
        }
        let sorted = match count {
            Count::Host(count) => count as usize,
            Count::Device => on_device as usize,
        };
        let indices = oracle::argsort(request, &keys[..sorted * key_size]);
        let mut expected = before.clone();
        let mut put = |part: &Option<Part>, bytes: &[u8]| {
            if let Some(part) = part {
                expected[part.start..][..bytes.len()].copy_from_slice(bytes);
            }
        };
        if request.key_output == KeyOutput::Sorted {
            let target =
                if request.placement == Placement::InPlace { &Some(self.keys.clone()) } else { &self.keys_out };
            put(target, &oracle::gather(keys, key_size, &indices));
        }
        let target = if request.placement == Placement::InPlace { &self.values } else { &self.values_out };
        let values: Vec<u8> = match request.value {
            ValueType::Index => bytemuck::cast_slice(&indices).to_vec(),
            _ => values(indices.iter().copied(), value_size),
        };
        put(target, &values);

        bench.queue.write_buffer(&self.buffer, 0, &before);
        let (copy, after) = bench.copy(&self.buffer);
        WgpuCommands::submit(&bench.queue, [self.sort.record(count)?, copy]);
        match oracle::difference("bytes of the buffer", 1, &read(bench, &after)?, &expected) {
            Some(difference) => Err(difference.into()),
            None => Ok(()),
        }
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
