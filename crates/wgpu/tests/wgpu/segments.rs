//! Sorts of segments between passes of wgpu: their words and their number come from a pass.

use libtest_mimic::Failed;
use vksort::{
    Count, IndexFrom, KeyOutput, KeyType, Order, Placement, SegmentBuffers, SegmentedRequest, Segments, SortBuffers,
    SortRequest, ValueType,
};
use vksort_testing::patterns::{Pattern, generate};
use vksort_testing::segmented::Case;
use vksort_testing::{expect, seed};
use vksort_wgpu::wgpu::{BufferSlice, BufferUsages, PollType};
use vksort_wgpu::{Error, WgpuCommands, WgpuSegmentedSorter, WgpuSegments};

use crate::memory::{Memory, read, words};
use crate::{Bench, Named, bench, expect_words, pairs, written};

pub const TRIALS: [Named; 4] = [
    ("segments/layouts", layouts),
    ("segments/frames", frames),
    ("segments/first", first_elements),
    ("segments/refused", refused),
];

/// Writes keys with their indices, offsets of segments of 0 to 96 elements, and the number of segments, which the host gives.
const WRITE: &str = "
    @group(0) @binding(0) var<storage, read_write> keys: array<u32>;
    @group(0) @binding(1) var<storage, read_write> values: array<u32>;
    @group(0) @binding(2) var<storage, read_write> offsets: array<u32>;
    @group(0) @binding(3) var<storage, read_write> frame: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&keys) {
            keys[id.x] = ((id.x + frame[0] * 77u) * 0x9E3779B9u) >> 3u;
            values[id.x] = id.x;
        }
        if id.x + 1u < arrayLength(&offsets) { offsets[id.x] = id.x / 2u * 97u + id.x % 2u * (id.x % 97u); }
        if id.x == 0u { offsets[arrayLength(&offsets) - 1u] = 200u - frame[0]; }
    }";

fn offset(segment: u32) -> usize {
    (segment / 2 * 97 + segment % 2 * (segment % 97)) as usize
}

fn bind(sorter: &WgpuSegmentedSorter, buffers: SegmentBuffers<BufferSlice<'_>>) -> Result<WgpuSegments, Error> {
    // SAFETY: the buffers are of the device's instance, and live during the call.
    unsafe { sorter.bind(&buffers) }
}

/// Sorts segments, and compares every byte of the buffer.
pub fn sort(bench: &Bench, case: &Case) -> Result<(), Failed> {
    let sorter = WgpuSegmentedSorter::new(&bench.sorts, &case.request, None)?;
    let (capacity, segment_capacity) = (case.capacity(), case.segment_capacity);
    assert!(sorter.max_segments(capacity)? >= segment_capacity && sorter.max_count() >= capacity, "{sorter:?}");
    let memory = Memory::new(bench, sorter.buffers(capacity, segment_capacity), case.words.len());
    let (elements, segments) = (memory.elements(capacity), memory.slice(&memory.words));
    let sort = bind(&sorter, SegmentBuffers { elements, segments, segment_capacity })?;
    let number = case.counted.unwrap_or_default().to_le_bytes();
    let before = memory.filled(&[
        (&memory.keys, &case.keys),
        (&memory.values, &case.values()),
        (&memory.words, bytemuck::cast_slice(&case.words)),
        (&memory.count, &number),
    ]);
    let [keys_to, values_to] = memory.results();
    let (keys, values) = case.expected(before[keys_to.clone()].to_vec(), before[values_to.clone()].to_vec());
    let count = if case.counted.is_some() { Count::Device } else { Count::Host(case.segments) };
    memory.check(bench, &before, sort.record(count)?, &[(&keys_to, &keys), (&values_to, &values)])
}

/// Segments of each layout, with their number from the host or from the device.
fn layouts() -> Result<(), Failed> {
    let bench = bench();
    let out = Placement::OutOfPlace;
    let columns = SortRequest {
        value: ValueType::Index,
        placement: out,
        key_output: KeyOutput::Discarded,
        ..SortRequest::new(KeyType::U16)
    };
    let wide = SortRequest { value: ValueType::Bytes(12), placement: out, ..SortRequest::new(KeyType::U64) };
    let (offsets, ranges) = (SegmentedRequest::new(pairs(), Segments::Offsets), Segments::Ranges);
    let ranges = SegmentedRequest::new(SortRequest { order: Order::Descending, ..wide }, ranges).up_to(200);
    let rows = SegmentedRequest::new(SortRequest::new(KeyType::I32), Segments::Rows { stride: 100 });
    let parts = SegmentedRequest::new(columns, Segments::RowsOf { stride: 90 }).indices_from(IndexFrom::Segment);
    for (request, words, segments, counted) in [
        (offsets, vec![3, 3, 200, 201, 450, 451, 980], 6, Some(5)),
        (ranges, vec![0, 200, 200, 200, 210, 350, 400, 401, 500, 690], 5, None),
        (ranges.top(70), vec![0, 200, 200, 200, 210, 350, 400, 401, 500, 690], 5, Some(9)),
        (rows, vec![], 10, Some(9)),
        (parts, (0..11).map(|row| row * 10).collect(), 11, None),
    ] {
        let keys = generate(Pattern::Uniform, request.sort.key, 1000, seed());
        sort(&bench, &Case { counted, ..Case::new(request, u32::MAX, words, segments, keys) })?;
    }
    Ok(())
}

/// Several frames in flight, each with another number of segments, which lies behind the offsets in one buffer.
fn frames() -> Result<(), Failed> {
    let bench = bench();
    let (count, most, frames) = (20_000u32, 250, 6);
    let pairs = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::U32) };
    let sorter = WgpuSegmentedSorter::new(&bench.sorts, &SegmentedRequest::new(pairs, Segments::Offsets), None)?;
    assert!(sorter.longest() >= 97, "{sorter:?}");
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let [keys, values, offsets, frame] =
        [count, count, most + 2, 1].map(|words| bench.buffer(u64::from(words) * 4, usage));
    let elements = SortBuffers {
        values: Some(values.slice(..)),
        count: Some(offsets.slice(u64::from(most + 1) * 4..)),
        ..SortBuffers::in_place(keys.slice(..), count)
    };
    let segments = Some(offsets.slice(..u64::from(most + 1) * 4));
    let sort = bind(&sorter, SegmentBuffers { elements, segments, segment_capacity: most })?;
    assert_eq!(sort.segment_capacity(), most);
    drop(sorter);
    let mut results = Vec::new();
    for index in 0..frames {
        bench.queue.write_buffer(&frame, 0, &u32::to_le_bytes(index));
        let write = bench.pass(WRITE, &[&keys, &values, &offsets, &frame], count.div_ceil(64));
        let (copy_keys, keys_after) = bench.copy(&keys);
        let (copy_values, values_after) = bench.copy(&values);
        let (commands, times) = sort.record_timed(Count::Device)?;
        WgpuCommands::submit(&bench.queue, [write, commands, copy_keys, copy_values]);
        results.push((index, keys_after, values_after, times));
    }
    drop((sort, keys, values, offsets, frame));
    bench.device.poll(PollType::wait_indefinitely())?;
    for (index, keys_after, values_after, times) in results {
        let input = written(count, index);
        let mut order: Vec<u32> = (0..count).collect();
        for segment in 0..200 - index {
            let (begin, end) = (offset(segment), offset(segment + 1));
            order[begin..end.max(begin)].sort_by_key(|at| input[*at as usize]);
        }
        let sorted: Vec<u32> = order.iter().map(|at| input[*at as usize]).collect();
        expect_words(&format!("keys of frame {index}"), &words(&read(&bench, &keys_after)?), &sorted)?;
        expect_words(&format!("values of frame {index}"), &words(&read(&bench, &values_after)?), &order)?;
        assert!(times.read()?.is_some_and(|steps| !steps.is_empty()), "the steps of frame {index} have times");
    }
    Ok(())
}

/// The first elements of rows, of the same given by offsets, and of the whole array with a count from the device. Results that only the sort writes are not filled
/// with zeros afterwards.
fn first_elements() -> Result<(), Failed> {
    let bench = bench();
    let (rows, stride, top) = (3u32, 20_000u32, 5u32);
    let count = rows * stride;
    let largest = SortRequest {
        order: Order::Descending,
        value: ValueType::Index,
        placement: Placement::OutOfPlace,
        ..SortRequest::new(KeyType::U32)
    };
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let (keys, number) = (bench.buffer(4 * u64::from(count), usage), bench.buffer(4, usage));
    let input = written(count, 2);
    bench.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&input));
    bench.queue.write_buffer(&number, 0, &u32::to_le_bytes(count - 7));
    let of_rows = SegmentedRequest::new(largest, Segments::Rows { stride }).indices_from(IndexFrom::Segment).top(top);
    let of_all = SegmentedRequest::new(largest, Segments::Whole).top(top);
    let by_offsets = SegmentedRequest::new(largest, Segments::Offsets).indices_from(IndexFrom::Segment).top(top);
    let offsets = bench.buffer(4 * u64::from(rows + 1), usage);
    let begins: Vec<u32> = (0..=rows).map(|row| row * stride).collect();
    bench.queue.write_buffer(&offsets, 0, bytemuck::cast_slice(&begins));
    for (request, segments, recorded, length) in [
        (of_rows, rows, Count::Host(rows), stride),
        (by_offsets, rows, Count::Host(rows), stride),
        (of_all, 1, Count::Device, count - 7),
    ] {
        let sorter = WgpuSegmentedSorter::new(&bench.sorts, &request, None)?;
        assert!(sorter.max_top() >= top && sorter.scratch_size(count, segments)? > 0);
        let result = || bench.buffer(4 * u64::from(segments * top), BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let (keys_out, values_out) = (result(), result());
        let elements = SortBuffers {
            keys_out: Some(keys_out.slice(..)),
            values_out: Some(values_out.slice(..)),
            count: Some(number.slice(..)),
            ..SortBuffers::in_place(keys.slice(..), count)
        };
        let given = (request.segments == Segments::Offsets).then(|| offsets.slice(..));
        let sort = bind(&sorter, SegmentBuffers { elements, segments: given, segment_capacity: segments })?;
        let (copy_keys, keys_after) = bench.copy(&keys_out);
        let (copy_values, values_after) = bench.copy(&values_out);
        WgpuCommands::submit(&bench.queue, [sort.record(recorded)?, copy_keys, copy_values]);
        let (mut firsts, mut places) = (Vec::new(), Vec::new());
        for row in 0..segments {
            let part = &input[(row * stride) as usize..][..length as usize];
            let mut order: Vec<u32> = (0..length).collect();
            order.sort_by_key(|at| u32::MAX - part[*at as usize]);
            order.truncate(top as usize);
            firsts.extend(order.iter().map(|at| part[*at as usize]));
            places.extend(order);
        }
        expect_words(&format!("keys of {request}"), &words(&read(&bench, &keys_after)?), &firsts)?;
        expect_words(&format!("indices of {request}"), &words(&read(&bench, &values_after)?), &places)?;
    }
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let bench = bench();
    let keys_alone = SortRequest::new(KeyType::U32);
    let request = SegmentedRequest::new(keys_alone, Segments::Offsets);
    let sorter = WgpuSegmentedSorter::new(&bench.sorts, &request, None)?;
    assert_eq!(sorter.request(), &request);
    let (keys, offsets) = (bench.buffer(4000, BufferUsages::STORAGE), bench.buffer(44, BufferUsages::STORAGE));
    let elements = SortBuffers::in_place(keys.slice(..), 1000);
    let all = SegmentBuffers { elements, segments: Some(offsets.slice(..)), segment_capacity: 10 };
    let sort = bind(&sorter, all)?;
    expect(sort.record(11), &["number of segments is 11", "up to 10"])?;
    expect(sort.record(Count::Device), &["buffer count is absent"])?;
    expect(bind(&sorter, SegmentBuffers { segments: None, ..all }), &["buffer segments is absent"])?;
    expect(bind(&sorter, SegmentBuffers { segment_capacity: 11, ..all }), &["segments", "44 bytes", "48"])?;
    let given = Some(keys.slice(..));
    expect(bind(&sorter, SegmentBuffers { segments: given, ..all }), &["keys and segments overlap"])?;
    let other = bench.buffer(44, BufferUsages::COPY_DST);
    let given = Some(other.slice(..));
    expect(bind(&sorter, SegmentBuffers { segments: given, ..all }), &["buffer segments", "STORAGE_BUFFER"])?;
    let rows = SegmentedRequest::new(keys_alone, Segments::Rows { stride: 0 });
    expect(WgpuSegmentedSorter::new(&bench.sorts, &rows, None), &["stride of rows is 0"])?;
    let recorded = sort.record(10)?;
    offsets.destroy();
    expect(sort.record(10), &["buffer segments is destroyed"])?;
    drop(recorded);
    Ok(())
}
