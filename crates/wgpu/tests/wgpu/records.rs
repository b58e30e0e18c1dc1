//! Sorts of records by their fields: all of them in one order, and within segments.

use std::ops::Range;

use libtest_mimic::Failed;
use vksort::{
    Count, IndexFrom, KeyField, KeyType, RecordOutput, RecordRequest, SegmentBuffers, SegmentedRequest, Segments,
    SortBuffers,
};
use vksort_testing::records::{Bytes, bytes, sorted};
use vksort_testing::{expect, oracle, seed};
use vksort_wgpu::wgpu::{BufferUsages, PollType};
use vksort_wgpu::{WgpuCommands, WgpuSegmentedSorter, WgpuSorter};

use crate::memory::{Memory, read};
use crate::{Named, bench};

pub const TRIALS: [Named; 4] = [
    ("records/arrays", arrays),
    ("records/only_written_by_the_sort", only_written_by_the_sort),
    ("records/segments", segments),
    ("records/refused", refused),
];

/// Records of 24 bytes by 48 bits, of which 16 lie across words.
fn wide() -> RecordRequest {
    RecordRequest::new(24, [KeyField::new(7, KeyType::U16), KeyField::new(12, KeyType::F32).descending()])
}

fn records(request: &RecordRequest, count: u32) -> Vec<u8> {
    bytes(Bytes::Few, (request.stride * count) as usize, &mut fastrand::Rng::with_seed(seed()))
}

/// The bytes that hold the results of a range of records.
fn place(request: &RecordRequest, memory: &Memory, range: &Range<u32>) -> Range<usize> {
    let [keys_to, values_to] = memory.results();
    let (to, size) = match request.output {
        RecordOutput::Permutation => (values_to, 4),
        _ => (keys_to, request.stride as usize),
    };
    to.start + range.start as usize * size..to.start + range.end as usize * size
}

/// Every output, of records by composed keys and of those that are a key, with counts from the host and from the device.
fn arrays() -> Result<(), Failed> {
    let bench = bench();
    let as_key = RecordRequest::new(8, [KeyField::new(4, KeyType::F32)]);
    for (request, capacity, composed) in [
        (wide(), 30_000, true),
        (wide().with_output(RecordOutput::OutOfPlace), 30_000, true),
        (wide().with_output(RecordOutput::Permutation), 400, true),
        (as_key, 30_000, false),
    ] {
        let sorter = WgpuSorter::of_records(&bench.sorts, &request, None)?;
        let memory = Memory::new(&bench, sorter.buffers(capacity), 0);
        // SAFETY: the buffer is of the device's instance, and lives during the call.
        let sort = unsafe { sorter.bind(&memory.elements(capacity))? };
        let (given, number) = (records(&request, capacity), capacity - 9);
        for (count, sorts) in [(Count::Host(capacity), capacity), (Count::Device, number), (Count::Host(1), 1)] {
            let before = memory.filled(&[(&memory.keys, &given), (&memory.count, &number.to_le_bytes())]);
            let (commands, times) = sort.record_timed(count)?;
            let expected = sorted(&request, &given, 0..sorts, 0);
            memory
                .check(&bench, &before, commands, &[(&place(&request, &memory, &(0..sorts)), &expected)])
                .map_err(|error| format!("{request}, {count:?}: {}", error.message().unwrap_or_default()))?;
            bench.device.poll(PollType::wait_indefinitely())?;
            let first = times.read()?.and_then(|steps| steps.first().map(|step| step.name.to_string()));
            assert_eq!(first.as_deref() == Some("compose"), composed, "{request}, {count:?}: {first:?}");
        }
    }
    Ok(())
}

/// wgpu knows all bytes of a result that only the sort writes, so it does not fill them with zeros afterwards.
fn only_written_by_the_sort() -> Result<(), Failed> {
    let bench = bench();
    let (request, count) = (wide().with_output(RecordOutput::OutOfPlace), 1000);
    let sorter = WgpuSorter::of_records(&bench.sorts, &request, None)?;
    let given = records(&request, count);
    let keys = bench.buffer(given.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_DST);
    let keys_out = bench.buffer(given.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    bench.queue.write_buffer(&keys, 0, &given);
    let buffers = SortBuffers { keys_out: Some(keys_out.slice(..)), ..SortBuffers::in_place(keys.slice(..), count) };
    // SAFETY: the buffers are of the device's instance, and live during the call.
    let sort = unsafe { sorter.bind(&buffers)? };
    let (copy, after) = bench.copy(&keys_out);
    WgpuCommands::submit(&bench.queue, [sort.record(count)?, copy]);
    let expected = sorted(&request, &given, 0..count, 0);
    oracle::difference("records", request.stride as usize, &read(&bench, &after)?, &expected)
        .map_or(Ok(()), |difference| Err(difference.into()))
}

/// Records of each segment by themselves, moved and as indices from the begin of their segment.
fn segments() -> Result<(), Failed> {
    let bench = bench();
    let (capacity, segment_capacity) = (1000, 4);
    let moved = SegmentedRequest::of_records(&wide(), Segments::Ranges)?;
    let permutation = wide().with_output(RecordOutput::Permutation);
    let indices = SegmentedRequest::of_records(&permutation, Segments::RowsOf { stride: 250 })?;
    for (request, segmented, words, ranges, count) in [
        (wide(), moved, vec![5, 205, 205, 205, 300, 301, 490, 730], [5..205, 205..205, 300..301], Count::Device),
        (
            permutation,
            indices.indices_from(IndexFrom::Segment),
            vec![250, 0, 77, 9],
            [0..250, 250..250, 500..577],
            Count::Host(3),
        ),
    ] {
        let sorter = WgpuSegmentedSorter::new(&bench.sorts, &segmented, None)?;
        let memory = Memory::new(&bench, sorter.buffers(capacity, segment_capacity), words.len());
        let (elements, segments) = (memory.elements(capacity), memory.slice(&memory.words));
        // SAFETY: the buffer is of the device's instance, and lives during the call.
        let sort = unsafe { sorter.bind(&SegmentBuffers { elements, segments, segment_capacity })? };
        let given = records(&request, capacity);
        let before = memory.filled(&[
            (&memory.keys, &given),
            (&memory.words, bytemuck::cast_slice::<u32, u8>(&words)),
            (&memory.count, &3u32.to_le_bytes()),
        ]);
        let results = ranges.map(|range: Range<u32>| {
            let first = if segmented.index_from == IndexFrom::Segment { range.start } else { 0 };
            (place(&request, &memory, &range), sorted(&request, &given, range, first))
        });
        let results: Vec<_> = results.iter().map(|(place, result)| (place, &result[..])).collect();
        memory.check(&bench, &before, sort.record(count)?, &results)?;
    }
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let bench = bench();
    let beyond = RecordRequest::new(24, [KeyField::new(22, KeyType::F32)]);
    expect(WgpuSorter::of_records(&bench.sorts, &beyond, None), &["field ", "22..26", "0..24"])?;
    let sorter = WgpuSorter::of_records(&bench.sorts, &wide(), None)?;
    let buffer = bench.buffer(240 + 256, BufferUsages::STORAGE);
    let elements = SortBuffers::in_place(buffer.slice(..240), 10);
    // SAFETY: the buffer is of the device's instance, and lives during the call.
    let bind = |sorter: &WgpuSorter, buffers| unsafe { sorter.bind(&buffers) };
    let sort = bind(&sorter, elements)?;
    expect(sort.record(11), &["11", "10"])?;
    let short = SortBuffers { keys: buffer.slice(..236), ..elements };
    expect(bind(&sorter, short), &["keys", "236 bytes", "240"])?;
    let out = SortBuffers { keys_out: Some(buffer.slice(256..)), ..elements };
    expect(bind(&sorter, out), &["buffer keys_out is present"])?;
    let permutation = wide().with_output(RecordOutput::Permutation);
    let sorter = WgpuSorter::of_records(&bench.sorts, &permutation, None)?;
    expect(bind(&sorter, elements), &["buffer values_out is absent"])
}
