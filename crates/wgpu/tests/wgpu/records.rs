//! Sorts of records by their fields: all of them in one order, and within segments.

use std::ops::Range;

use libtest_mimic::Failed;
use vksort::{Capacity, Count, IndexFrom, KeyField, KeyType, Placement, Segments, SortBuffers, SortRequest, ValueType};
use vksort_testing::records::{Bytes, bytes, sorted, stride};
use vksort_testing::{expect, oracle, seed};
use vksort_wgpu::Commands;
use vksort_wgpu::wgpu::{BufferUsages, PollType};

use crate::memory::{Memory, read};
use crate::{Named, bench, bind};

pub const TRIALS: [Named; 4] = [
    ("records/arrays", arrays),
    ("records/only_written_by_the_sort", only_written_by_the_sort),
    ("records/segments", segments),
    ("records/refused", refused),
];

/// Records of 24 bytes by 48 bits, of which 16 lie across words.
fn wide() -> SortRequest {
    SortRequest::records(24, [KeyField::new(7, KeyType::U16), KeyField::new(12, KeyType::F32).descending()])
}

fn records(request: &SortRequest, count: u32) -> Vec<u8> {
    bytes(Bytes::Few, stride(request) * count as usize, &mut fastrand::Rng::with_seed(seed()))
}

/// The bytes that hold the results of a range of records.
fn place(request: &SortRequest, memory: &Memory, range: &Range<u32>) -> Range<usize> {
    let [keys_to, values_to] = memory.results();
    let (to, size) = if request.value == ValueType::Index { (values_to, 4) } else { (keys_to, stride(request)) };
    to.start + range.start as usize * size..to.start + range.end as usize * size
}

/// Every output, of records by composed keys and of those that are a key, with counts from the host and from the device.
fn arrays() -> Result<(), Failed> {
    let bench = bench();
    let as_key = SortRequest::records(8, [KeyField::new(4, KeyType::F32)]);
    for (request, capacity, composed) in [
        (wide(), 30_000, true),
        (wide().placement(Placement::OutOfPlace), 30_000, true),
        (wide().value(ValueType::Index), 400, true),
        (as_key, 30_000, false),
    ] {
        let sorter = bench.sorter(&request)?;
        let memory = Memory::new(&bench, sorter.buffer_sizes(capacity));
        let sort = bind(&sorter, memory.buffers(capacity))?;
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
    let (request, count) = (wide().placement(Placement::OutOfPlace), 1000);
    let sorter = bench.sorter(&request)?;
    let given = records(&request, count);
    let keys = bench.buffer(given.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_DST);
    let keys_out = bench.buffer(given.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    bench.queue.write_buffer(&keys, 0, &given);
    let sort = bind(&sorter, SortBuffers::new(count).keys(keys.slice(..)).keys_out(keys_out.slice(..)))?;
    let (copy, after) = bench.copy(&keys_out);
    Commands::submit(&bench.queue, [sort.record(count)?, copy]);
    let expected = sorted(&request, &given, 0..count, 0);
    oracle::difference("records", stride(&request), &read(&bench, &after)?, &expected)
        .map_or(Ok(()), |difference| Err(difference.into()))
}

/// Records of each segment by themselves, moved and as indices from the begin of their segment.
fn segments() -> Result<(), Failed> {
    let bench = bench();
    let capacity = Capacity::new(1000).segments(4);
    let indices = wide().value(ValueType::Index).segments(Segments::RowsOf { stride: 250 });
    for (request, words, ranges, count) in [
        (
            wide().segments(Segments::Ranges),
            vec![5, 205, 205, 205, 300, 301, 490, 730],
            [5..205, 205..205, 300..301],
            Count::Device,
        ),
        (indices.indices_from(IndexFrom::Segment), vec![250, 0, 77, 9], [0..250, 250..250, 500..577], Count::Host(3)),
    ] {
        let sorter = bench.sorter(&request)?;
        let memory = Memory::new(&bench, sorter.buffer_sizes(capacity));
        let sort = bind(&sorter, memory.buffers(capacity))?;
        let given = records(&request, capacity.elements);
        let before = memory.filled(&[
            (&memory.keys, &given),
            (&memory.words, bytemuck::cast_slice::<u32, u8>(&words)),
            (&memory.count, &3u32.to_le_bytes()),
        ]);
        let results = ranges.map(|range: Range<u32>| {
            let first =
                if request.segments.is_some_and(|of| of.indices_from == IndexFrom::Segment) { range.start } else { 0 };
            (place(&request, &memory, &range), sorted(&request, &given, range, first))
        });
        let results: Vec<_> = results.iter().map(|(place, result)| (place, &result[..])).collect();
        memory.check(&bench, &before, sort.record(count)?, &results)?;
    }
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let bench = bench();
    let beyond = SortRequest::records(24, [KeyField::new(22, KeyType::F32)]);
    expect(bench.sorter(&beyond), &["field ", "22..26", "0..24"])?;
    let sorter = bench.sorter(&wide())?;
    let buffer = bench.buffer(240 + 256, BufferUsages::STORAGE);
    let elements = SortBuffers::new(10).keys(buffer.slice(..240));
    let sort = bind(&sorter, elements)?;
    expect(sort.record(11), &["11", "10"])?;
    let short = elements.keys(buffer.slice(..236));
    expect(bind(&sorter, short), &["keys", "236 bytes", "240"])?;
    let out = elements.keys_out(buffer.slice(256..));
    expect(bind(&sorter, out), &["buffer keys_out is present"])?;
    let permutation = wide().value(ValueType::Index);
    let sorter = bench.sorter(&permutation)?;
    expect(bind(&sorter, elements), &["buffer values_out is absent"])
}
