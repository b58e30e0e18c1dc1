//! What is refused, by name, with what is given and what is allowed.

use vksort::ash::vk;
use vksort::standalone::{DeviceBuffer, DeviceChoice, Gpu, GpuOptions, SortRanges};
use vksort::{
    Access, Algorithm, BufferRange, Count, Error, KeyOutput, KeyType, Order, Placement, QueryRange, SortBuffers,
    SortRequest, SorterOptions, SubgroupChoice, ValueType,
};
use vksort_testing::Failed;

use super::pairs;
use vksort_testing::{self, assert_valid, expect, gpu};

pub fn bad_buffers() -> Result<(), Failed> {
    let sorter = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?;
    let capacity = 10_000;
    let bytes = 4 * u64::from(capacity);
    let alignment = gpu().profile().storage_alignment_bytes;
    let room = bytes.next_multiple_of(256);
    let buffer = gpu().buffer(4 * room)?;
    let scratch_bytes = sorter.scratch_size(capacity)?;
    let scratch = gpu().buffer(scratch_bytes)?;
    let good = SortRanges::new(capacity)
        .keys(buffer.range(0, bytes))
        .values(buffer.range(room, bytes))
        .scratch(scratch.range(0, scratch_bytes));
    let sort = sorter.prepare_on(good.clone())?;
    expect(sort.run(Count::Device), &["count", "absent", "present"])?;
    expect(sort.write_count(1), &["count", "absent", "present"])?;
    let counts = gpu().buffer(64)?;
    for (offset, size, words) in [(2, 4, ["count", "2", "4"]), (60, 2, ["count", "2 bytes", "4 bytes"])] {
        let crooked = good.clone().count(counts.range(offset, size));
        expect(sorter.prepare_on(crooked), &words)?;
    }
    let inside = good.clone().count(buffer.range(4, 4));
    expect(sorter.prepare_on(inside), &["keys", "count", "0..40000", "4..8"])?;
    let short = good.clone().keys(buffer.range(0, bytes - 4));
    expect(sorter.prepare_on(short), &["keys", "39996", "40000"])?;
    let short = good.clone().scratch(scratch.range(0, scratch_bytes - 1));
    expect(sorter.prepare_on(short), &["scratch", &(scratch_bytes - 1).to_string(), &scratch_bytes.to_string()])?;
    let past_the_end = good.clone().values(buffer.range(4 * room - 256, bytes));
    expect(sorter.prepare_on(past_the_end), &["values", "40000"])?;
    let crooked = good.clone().values(buffer.range(room + 2, bytes));
    expect(sorter.prepare_on(crooked), &["values", &(room + 2).to_string(), &alignment.to_string()])?;
    let overlapping = good.clone().values(buffer.range(256, bytes));
    expect(sorter.prepare_on(overlapping), &["keys", "values", "0..40000", "256..40256"])?;
    expect(sorter.prepare_on(good.clone().values(None)), &["values", "absent", "present"])?;
    expect(sorter.prepare_on(good.clone().scratch(None)), &["scratch", "absent", "present"])?;
    let both = good.clone().keys_out(buffer.range(2 * room, bytes));
    expect(sorter.prepare_on(both), &["keys_out", "present", "absent"])?;
    let request = pairs(Some(Algorithm::OneSweep)).placement(Placement::OutOfPlace);
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let half = good.clone().keys_out(buffer.range(2 * room, bytes));
    expect(sorter.prepare_on(half.clone()), &["values_out", "absent", "present"])?;
    sorter.prepare_on(half.values_out(buffer.range(3 * room, bytes)))?;
    // Indices are made, not read.
    let request = request.value(ValueType::Index).key_output(KeyOutput::Discarded);
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let out = good.values_out(buffer.range(3 * room, bytes));
    expect(sorter.prepare_on(out.clone()), &["values", "present", "absent"])?;
    let scratch_bytes = sorter.scratch_size(capacity)?;
    let scratch = gpu().buffer(scratch_bytes)?.range(0, scratch_bytes);
    let sort = sorter.prepare_on(out.values(None).scratch(scratch))?;
    expect(sort.read_keys::<u8>(&mut []), &["discarded keys", "sorted keys"])?;
    expect(sort.write_values(&[0u8; 4]), &["no values to read"])?;
    assert_valid(&gpu());
    Ok(())
}

/// A range of another device's buffer is refused by name, whichever of the sort's buffers it is given as.
pub fn foreign_buffers() -> Result<(), Failed> {
    let other = vksort_testing::open();
    let request = pairs(Some(Algorithm::OneSweep)).placement(Placement::OutOfPlace);
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let capacity = 1000;
    let scratch = sorter.scratch_size(capacity)?;
    let ranges = |gpu: &Gpu| -> Result<SortRanges, Error> {
        let elements = || Ok::<_, Error>(gpu.buffer(4000)?.range(0, 4000));
        Ok(SortRanges::new(capacity)
            .keys(elements()?)
            .values(elements()?)
            .keys_out(elements()?)
            .values_out(elements()?)
            .scratch(gpu.buffer(scratch)?.range(0, scratch))
            .count(gpu.buffer(4)?.range(0, 4)))
    };
    let (own, foreign) = (ranges(&gpu())?, ranges(&other)?);
    sorter.prepare_on(own.clone())?;
    for (name, mixed) in [
        ("keys", own.clone().keys(foreign.keys)),
        ("values", own.clone().values(foreign.values)),
        ("keys_out", own.clone().keys_out(foreign.keys_out)),
        ("values_out", own.clone().values_out(foreign.values_out)),
        ("scratch", own.clone().scratch(foreign.scratch)),
        ("count", own.clone().count(foreign.count)),
    ] {
        expect(sorter.prepare_on(mixed), &[&format!("buffer {name} "), "another device"])?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// Ranges that are not within their buffer are refused with what they are, wherever they start.
pub fn ranges_out_of_bounds() -> Result<(), Failed> {
    let buffer = gpu().buffer(4096)?;
    let sorter = gpu().sorter(&SortRequest::new(KeyType::U32), &SorterOptions::default())?;
    let scratch = sorter.scratch_size(1000)?;
    for (offset, size) in [(256, 4000), (4096, 4), (1 << 40, 4000), (u64::MAX - 3, 4), (0, u64::MAX), (256, u64::MAX)] {
        let ranges =
            SortRanges::new(1000).keys(buffer.range(offset, size)).scratch(gpu().buffer(scratch)?.range(0, scratch));
        let words = ["keys".into(), format!("{size} bytes"), format!("byte {offset} "), "4096 bytes".to_string()];
        expect(sorter.prepare_on(ranges.clone()), &words.each_ref().map(String::as_str))?;
        let elsewhere = ranges.keys(gpu().buffer(4096)?.range(offset, size));
        expect(sorter.prepare_on(elsewhere), &["4096 bytes"])?;
    }
    expect(buffer.write(u64::MAX, &[0u8; 4]), &["4 bytes", &format!("byte {} ", u64::MAX), "4096 bytes"])?;
    expect(buffer.read(4094, &mut [0u8; 4]), &["4 bytes", "byte 4094 ", "4096 bytes"])?;
    assert_valid(&gpu());
    Ok(())
}

pub fn bad_counts() -> Result<(), Failed> {
    let sorter = gpu().sorter(&pairs(Some(Algorithm::OneSweep)), &SorterOptions::default())?;
    let most = sorter.max_count();
    expect(sorter.prepare(1000)?.run(1001), &["1001", "1000", "bound"])?;
    if most < u32::MAX {
        expect(sorter.scratch_size(most + 1), &[&(most + 1).to_string(), &most.to_string()])?;
    }
    sorter.scratch_size(most)?;
    let single = gpu().sorter(&pairs(Some(Algorithm::SingleWorkgroup)), &SorterOptions::default())?;
    let block = single.shape().single.elements();
    expect(single.prepare(block + 1).map(|_| ()), &[&(block + 1).to_string(), &block.to_string(), "block"])?;
    expect(gpu().sort_pairs(&mut [1u32, 2], &mut [1], Order::Ascending), &["1 values", "2"])
}

/// Times of steps take as many queries as the recording has steps and one more, whatever count it is recorded with.
#[allow(unsafe_code, reason = "what is refused is of the recording API")]
pub fn too_few_queries() -> Result<(), Failed> {
    let (gpu, capacity) = (gpu(), 1000);
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let sorter = gpu.sorter(&request, &SorterOptions::default())?;
    let (keys, scratch, count) = (gpu.buffer(4000)?, gpu.buffer(sorter.scratch_size(capacity)?)?, gpu.buffer(4)?);
    let range = |buffer: &DeviceBuffer| BufferRange::new(buffer.raw(), buffer.size());
    let buffers = SortBuffers::new(capacity).keys(range(&keys)).scratch(range(&scratch)).count(range(&count));
    // SAFETY: the buffers are the device's, have every usage flag, and outlive the sort.
    let sort = unsafe { sorter.recording().bind(&buffers)? };
    for count in [Count::Host(capacity), Count::Host(1), Count::Host(0), Count::Device] {
        let needed = sort.query_count(count);
        let few = QueryRange::new(vk::QueryPool::null(), 7, needed - 1);
        // SAFETY: what is refused records nothing.
        let refused = unsafe { sort.record_timed(vk::CommandBuffer::null(), count, few) };
        expect(refused, &[&format!("has {} queries", needed - 1), &format!("needed are {needed}")])?;
    }
    Ok(())
}

pub fn bad_requests() -> Result<(), Failed> {
    let huge = pairs(None).value(ValueType::Bytes(1 << 29));
    expect(gpu().sorter(&huge, &SorterOptions::default()).map(|_| ()), &["value size", "536870912", "65536"])?;
    let options = SorterOptions::default().subgroup(SubgroupChoice::Emulated(24));
    expect(gpu().sorter(&pairs(None), &options).map(|_| ()), &["24", "4 to 128"])?;
    let nowhere = GpuOptions::default().device(DeviceChoice::Name("no such device".into()));
    expect(Gpu::new(&nowhere).map(|_| ()), &["no such device", &gpu().profile().name])?;
    expect(gpu().sort(&mut [1u16], Order::Ascending.by_bits(3..17)), &["bit window", "3..17", "16"])?;
    expect(
        gpu().sort_pairs(&mut [1u16], &mut [[0u8; 3]], Order::Ascending),
        &["value size", "3 bytes", "multiple of 4"],
    )?;
    let emulated = SorterOptions::default().access(Access::Addresses).subgroup(SubgroupChoice::Emulated(32));
    let reason = if gpu().profile().buffer_addresses { "subgroup" } else { "bufferDeviceAddress is absent" };
    expect(gpu().sorter(&pairs(None), &emulated).map(|_| ()), &[reason])
}
