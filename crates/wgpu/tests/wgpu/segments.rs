//! Sorts of segments between passes of wgpu: their words and their number come from a pass.

use libtest_mimic::Failed;
use vksort::{
    Capacity, Count, IndexFrom, KeyOutput, KeyType, Order, Placement, Segments, SortBuffers, SortRequest, ValueType,
};
use vksort_testing::inspected::Asked;
use vksort_testing::patterns::{Pattern, generate};
use vksort_testing::segmented::Case;
use vksort_testing::{expect, seed};
use vksort_wgpu::Commands;
use vksort_wgpu::wgpu::{BufferUsages, PollType};

use crate::memory::{Memory, read, words};
use crate::{Bench, Named, bench, bind, expect_words, pairs, written};

pub const TRIALS: [Named; 5] = [
    ("segments/layouts", layouts),
    ("segments/frames", frames),
    ("segments/first", first_elements),
    ("segments/inspected", inspected),
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

/// Sorts segments, and compares every byte of the buffer.
pub fn sort(bench: &Bench, case: &Case) -> Result<(), Failed> {
    let sorter = bench.sorter(&case.request)?;
    let limits = sorter.segments().expect("a sorter of segments");
    assert!(limits.max_segments(case.capacity())? >= case.segment_capacity, "{sorter:?}");
    assert!(sorter.max_count() >= case.capacity(), "{sorter:?}");
    let capacity = Capacity::new(case.capacity()).segments(case.segment_capacity);
    let memory = Memory::new(bench, sorter.buffer_sizes(capacity));
    let sort = bind(&sorter, memory.buffers(capacity))?;
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
    let columns =
        SortRequest::new(KeyType::U16).value(ValueType::Index).placement(out).key_output(KeyOutput::Discarded);
    let wide = SortRequest::new(KeyType::U64).value(ValueType::Bytes(12)).placement(out);
    let offsets = pairs().segments(Segments::Offsets);
    let ranges = wide.order(Order::Descending).segments(Segments::Ranges).up_to(200);
    let rows = SortRequest::new(KeyType::I32).segments(Segments::Rows { stride: 100 });
    let parts = columns.segments(Segments::RowsOf { stride: 90 }).indices_from(IndexFrom::Segment);
    for (request, words, segments, counted) in [
        (offsets, vec![3, 3, 200, 201, 450, 451, 980], 6, Some(5)),
        (ranges, vec![0, 200, 200, 200, 210, 350, 400, 401, 500, 690], 5, None),
        (ranges.top(70), vec![0, 200, 200, 200, 210, 350, 400, 401, 500, 690], 5, Some(9)),
        (rows, vec![], 10, Some(9)),
        (parts, (0..11).map(|row| row * 10).collect(), 11, None),
    ] {
        let keys = generate(Pattern::Uniform, request.key, 1000, seed());
        sort(&bench, &Case { counted, ..Case::new(request, u32::MAX, words, segments, keys) })?;
    }
    Ok(())
}

/// Several frames in flight, each with another number of segments, which lies behind the offsets in one buffer.
fn frames() -> Result<(), Failed> {
    let bench = bench();
    let (count, most, frames) = (20_000u32, 250, 6);
    let pairs = SortRequest::new(KeyType::U32).value(ValueType::U32);
    let sorter = bench.sorter(&pairs.segments(Segments::Offsets))?;
    assert!(sorter.segments().is_some_and(|limits| limits.longest() >= 97), "{sorter:?}");
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let [keys, values, offsets, frame] =
        [count, count, most + 2, 1].map(|words| bench.buffer(u64::from(words) * 4, usage));
    let capacity = Capacity::new(count).segments(most);
    let elements = SortBuffers::new(capacity).keys(keys.slice(..)).values(values.slice(..));
    let end = u64::from(most + 1) * 4;
    let sort = bind(&sorter, elements.segments(offsets.slice(..end)).count(offsets.slice(end..)))?;
    assert_eq!(sort.capacity(), capacity);
    drop(sorter);
    let mut results = Vec::new();
    Commands::submit(&bench.queue, [sort.record_warm_up()?]);
    for index in 0..frames {
        bench.queue.write_buffer(&frame, 0, &u32::to_le_bytes(index));
        let write = bench.pass(WRITE, &[&keys, &values, &offsets, &frame], count.div_ceil(64));
        let (copy_keys, keys_after) = bench.copy(&keys);
        let (copy_values, values_after) = bench.copy(&values);
        let (commands, times) = sort.record_timed(Count::Device)?;
        Commands::submit(&bench.queue, [write, commands, copy_keys, copy_values]);
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

/// The first elements of rows, of the same given by offsets, and of the whole array with a count from the device. Results that only
/// the sort writes are not filled with zeros afterwards.
fn first_elements() -> Result<(), Failed> {
    let bench = bench();
    let (rows, stride, top) = (3u32, 20_000u32, 5u32);
    let count = rows * stride;
    let largest = SortRequest::new(KeyType::U32)
        .order(Order::Descending)
        .value(ValueType::Index)
        .placement(Placement::OutOfPlace);
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let (keys, number) = (bench.buffer(4 * u64::from(count), usage), bench.buffer(4, usage));
    let input = written(count, 2);
    bench.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&input));
    bench.queue.write_buffer(&number, 0, &u32::to_le_bytes(count - 7));
    let of_rows = largest.segments(Segments::Rows { stride }).indices_from(IndexFrom::Segment).top(top);
    let of_all = largest.top(top);
    let by_offsets = largest.segments(Segments::Offsets).indices_from(IndexFrom::Segment).top(top);
    let offsets = bench.buffer(4 * u64::from(rows + 1), usage);
    let begins: Vec<u32> = (0..=rows).map(|row| row * stride).collect();
    bench.queue.write_buffer(&offsets, 0, bytemuck::cast_slice(&begins));
    for (request, segments, recorded, length) in [
        (of_rows, rows, Count::Host(rows), stride),
        (by_offsets, rows, Count::Host(rows), stride),
        (of_all, 1, Count::Device, count - 7),
    ] {
        let sorter = bench.sorter(&request)?;
        let capacity = Capacity::new(count).segments(segments);
        assert!(sorter.segments().is_some_and(|limits| limits.max_top() >= top) && sorter.scratch_size(capacity)? > 0);
        let result = || bench.buffer(4 * u64::from(segments * top), BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let (keys_out, values_out) = (result(), result());
        let results = SortBuffers::new(capacity).keys_out(keys_out.slice(..)).values_out(values_out.slice(..));
        let given = sorter.buffer_sizes(capacity).segments.map(|_| offsets.slice(..));
        let sort = bind(&sorter, results.keys(keys.slice(..)).count(number.slice(..)).segments(given))?;
        let (copy_keys, keys_after) = bench.copy(&keys_out);
        let (copy_values, values_after) = bench.copy(&values_out);
        Commands::submit(&bench.queue, [sort.record(recorded)?, copy_keys, copy_values]);
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

/// Frames whose words come from a pass: the inspector waits for it, before the sort or after it, and for the copy of the frame before.
fn inspected() -> Result<(), Failed> {
    let bench = bench();
    let (count, most) = (9_000u32, 150);
    let request = SortRequest::new(KeyType::U32).value(ValueType::U32).segments(Segments::Offsets).up_to(60);
    let sorter = bench.sorter(&request)?;
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let [keys, values, offsets, frame, report] =
        [count, count, most + 2, 1, 70].map(|words| bench.buffer(u64::from(words) * 4, usage));
    let capacity = Capacity::new(7_000).segments(most);
    let elements = SortBuffers::new(capacity).keys(keys.slice(..28_000)).values(values.slice(..28_000));
    let end = u64::from(most + 1) * 4;
    let sort = bind(&sorter, elements.segments(offsets.slice(..end)).count(offsets.slice(end..)))?;
    // SAFETY: everything is of one instance, and nothing is destroyed meanwhile.
    let inspector = |slice| unsafe { sort.inspector(slice) };
    let of_frames = inspector(report.slice(256..))?;
    let mut reports = Vec::new();
    for index in 0..6u32 {
        bench.queue.write_buffer(&frame, 0, &u32::to_le_bytes(index));
        let write = bench.pass(WRITE, &[&keys, &values, &offsets, &frame], count.div_ceil(64));
        let (copy, after) = bench.copy(&report);
        let (sorted, inspection) = (sort.record(Count::Device)?, of_frames.record(Count::Device)?);
        let both = if index % 2 == 0 { [sorted, inspection] } else { [inspection, sorted] };
        Commands::submit(&bench.queue, [write].into_iter().chain(both).chain([copy]));
        reports.push(after);
    }
    let words_of = |segment: u32| offset(segment) as u32;
    let given: Vec<u32> = (0..=most).map(words_of).collect();
    for (index, after) in (0u32..).zip(reports) {
        let asked = Asked { request, capacity, words: given.clone(), count: 200 - index, on_device: true };
        let expected = asked.report();
        assert!(expected[2..5].iter().all(|word| *word > 0), "{expected:?}");
        expect_words(&format!("frame {index}"), &words(&read(&bench, &after)?)[64..], &expected)?;
    }
    let short = &report;
    expect(inspector(short.slice(256..276)), &["report", "20 bytes", "24"])?;
    expect(inspector(offsets.slice(..)), &["segments and report overlap"])?;
    let storage = bench.buffer(24, BufferUsages::STORAGE);
    expect(inspector(storage.slice(..)), &["report", "STORAGE_BUFFER", "TRANSFER_DST"])?;
    let copied = bench.buffer(24, BufferUsages::COPY_DST);
    expect(inspector(copied.slice(..)), &["report", "STORAGE"])?;
    expect(of_frames.record(151), &["number of segments is 151", "up to 150"])?;
    report.destroy();
    expect(of_frames.record(1), &["buffer report is destroyed"])?;
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let bench = bench();
    let keys_alone = SortRequest::new(KeyType::U32);
    let request = keys_alone.segments(Segments::Offsets);
    let sorter = bench.sorter(&request)?;
    assert_eq!(sorter.request(), &request);
    let (keys, offsets) = (bench.buffer(4000, BufferUsages::STORAGE), bench.buffer(44, BufferUsages::STORAGE));
    let capacity = Capacity::new(1000);
    let all = SortBuffers::new(capacity.segments(10)).keys(keys.slice(..)).segments(offsets.slice(..));
    let sort = bind(&sorter, all)?;
    expect(sort.record(11), &["number of segments is 11", "up to 10"])?;
    expect(sort.record(Count::Device), &["buffer count is absent"])?;
    expect(bind(&sorter, all.segments(None)), &["buffer segments is absent"])?;
    expect(bind(&sorter, all.capacity(capacity.segments(11))), &["segments", "44 bytes", "48"])?;
    expect(bind(&sorter, all.segments(keys.slice(..))), &["keys and segments overlap"])?;
    let other = bench.buffer(44, BufferUsages::COPY_DST);
    expect(bind(&sorter, all.segments(other.slice(..))), &["buffer segments", "STORAGE_BUFFER"])?;
    let rows = keys_alone.segments(Segments::Rows { stride: 0 });
    expect(bench.sorter(&rows), &["stride of rows is 0"])?;
    let recorded = sort.record(10)?;
    offsets.destroy();
    expect(sort.record(10), &["buffer segments is destroyed"])?;
    drop(recorded);
    Ok(())
}
