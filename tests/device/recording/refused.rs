//! What is refused, by name, with what is given and what is allowed.

use vksort::standalone::{Gpu, GpuOptions, SortRanges};
use vksort::{
    Access, Algorithm, Error, KeyOutput, KeyType, Order, Placement, SortRequest, SorterOptions, SubgroupChoice,
    ValueType,
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
    let good = SortRanges {
        keys: buffer.range(0, bytes),
        values: Some(buffer.range(room, bytes)),
        keys_out: None,
        values_out: None,
        scratch: Some(scratch.range(0, scratch_bytes)),
        count: None,
        capacity,
    };
    let sort = sorter.prepare_on(good.clone())?;
    expect(sort.run(vksort::Count::Device), &["count", "absent", "present"])?;
    expect(sort.write_count(1), &["count", "absent", "present"])?;
    let counts = gpu().buffer(64)?;
    for (offset, size, words) in [(2, 4, ["count", "2", "4"]), (60, 2, ["count", "2 bytes", "4 bytes"])] {
        let crooked = SortRanges { count: Some(counts.range(offset, size)), ..good.clone() };
        expect(sorter.prepare_on(crooked), &words)?;
    }
    let inside = SortRanges { count: Some(buffer.range(4, 4)), ..good.clone() };
    expect(sorter.prepare_on(inside), &["keys", "count", "0..40000", "4..8"])?;
    let short = SortRanges { keys: buffer.range(0, bytes - 4), ..good.clone() };
    expect(sorter.prepare_on(short), &["keys", "39996", "40000"])?;
    let short = SortRanges { scratch: Some(scratch.range(0, scratch_bytes - 1)), ..good.clone() };
    expect(sorter.prepare_on(short), &["scratch", &(scratch_bytes - 1).to_string(), &scratch_bytes.to_string()])?;
    let past_the_end = SortRanges { values: Some(buffer.range(4 * room - 256, bytes)), ..good.clone() };
    expect(sorter.prepare_on(past_the_end), &["values", "40000"])?;
    let crooked = SortRanges { values: Some(buffer.range(room + 2, bytes)), ..good.clone() };
    expect(sorter.prepare_on(crooked), &["values", &(room + 2).to_string(), &alignment.to_string()])?;
    let overlapping = SortRanges { values: Some(buffer.range(256, bytes)), ..good.clone() };
    expect(sorter.prepare_on(overlapping), &["keys", "values", "0..40000", "256..40256"])?;
    expect(sorter.prepare_on(SortRanges { values: None, ..good.clone() }), &["values", "absent", "present"])?;
    expect(sorter.prepare_on(SortRanges { scratch: None, ..good.clone() }), &["scratch", "absent", "present"])?;
    let both = SortRanges { keys_out: Some(buffer.range(2 * room, bytes)), ..good.clone() };
    expect(sorter.prepare_on(both), &["keys_out", "present", "absent"])?;
    let request = SortRequest { placement: Placement::OutOfPlace, ..pairs(Some(Algorithm::OneSweep)) };
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let half = SortRanges { keys_out: Some(buffer.range(2 * room, bytes)), ..good.clone() };
    expect(sorter.prepare_on(half.clone()), &["values_out", "absent", "present"])?;
    sorter.prepare_on(SortRanges { values_out: Some(buffer.range(3 * room, bytes)), ..half })?;
    // Indices are made, not read.
    let request = SortRequest { value: ValueType::Index, key_output: KeyOutput::Discarded, ..request };
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let out = SortRanges { values_out: Some(buffer.range(3 * room, bytes)), ..good };
    expect(sorter.prepare_on(out.clone()), &["values", "present", "absent"])?;
    let scratch_bytes = sorter.scratch_size(capacity)?;
    let scratch = Some(gpu().buffer(scratch_bytes)?.range(0, scratch_bytes));
    let sort = sorter.prepare_on(SortRanges { values: None, scratch, ..out })?;
    expect(sort.read_keys::<u8>(&mut []), &["discarded keys", "sorted keys"])?;
    expect(sort.write_values(&[0u8; 4]), &["no values to read"])?;
    assert_valid(&gpu());
    Ok(())
}

/// A range of another device's buffer is refused by name, whichever of the sort's buffers it is given as.
pub fn foreign_buffers() -> Result<(), Failed> {
    let other = vksort_testing::open();
    let request = SortRequest { placement: Placement::OutOfPlace, ..pairs(Some(Algorithm::OneSweep)) };
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let capacity = 1000;
    let scratch = sorter.scratch_size(capacity)?;
    let ranges = |gpu: &Gpu| -> Result<SortRanges, Error> {
        let elements = || Ok::<_, Error>(gpu.buffer(4000)?.range(0, 4000));
        Ok(SortRanges {
            keys: elements()?,
            values: Some(elements()?),
            keys_out: Some(elements()?),
            values_out: Some(elements()?),
            scratch: Some(gpu.buffer(scratch)?.range(0, scratch)),
            count: Some(gpu.buffer(4)?.range(0, 4)),
            capacity,
        })
    };
    let (own, foreign) = (ranges(&gpu())?, ranges(&other)?);
    sorter.prepare_on(own.clone())?;
    for (name, mixed) in [
        ("keys", SortRanges { keys: foreign.keys, ..own.clone() }),
        ("values", SortRanges { values: foreign.values, ..own.clone() }),
        ("keys_out", SortRanges { keys_out: foreign.keys_out, ..own.clone() }),
        ("values_out", SortRanges { values_out: foreign.values_out, ..own.clone() }),
        ("scratch", SortRanges { scratch: foreign.scratch, ..own.clone() }),
        ("count", SortRanges { count: foreign.count, ..own.clone() }),
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
        let mut ranges = SortRanges {
            keys: buffer.range(offset, size),
            values: None,
            keys_out: None,
            values_out: None,
            scratch: Some(gpu().buffer(scratch)?.range(0, scratch)),
            count: None,
            capacity: 1000,
        };
        let words = ["keys".into(), format!("{size} bytes"), format!("byte {offset} "), "4096 bytes".to_string()];
        expect(sorter.prepare_on(ranges.clone()), &words.each_ref().map(String::as_str))?;
        ranges.keys.buffer = gpu().buffer(4096)?;
        expect(sorter.prepare_on(ranges), &["4096 bytes"])?;
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

pub fn bad_requests() -> Result<(), Failed> {
    let huge = SortRequest { value: ValueType::Bytes(1 << 29), ..pairs(None) };
    expect(gpu().sorter(&huge, &SorterOptions::default()).map(|_| ()), &["value size", "536870912", "65536"])?;
    let options = SorterOptions { subgroup: SubgroupChoice::Emulated(24), ..SorterOptions::default() };
    expect(gpu().sorter(&pairs(None), &options).map(|_| ()), &["24", "4 to 128"])?;
    let nowhere = GpuOptions { device: Some("no such device".parse().unwrap()), ..GpuOptions::default() };
    expect(Gpu::new(&nowhere).map(|_| ()), &["no such device", &gpu().profile().name])?;
    expect(gpu().sort(&mut [1u16], Order::Ascending.by_bits(3..17)), &["bit window", "3..17", "16"])?;
    expect(
        gpu().sort_pairs(&mut [1u16], &mut [[0u8; 3]], Order::Ascending),
        &["value size", "3 bytes", "multiple of 4"],
    )?;
    let access = SorterOptions { access: Access::Addresses, ..SorterOptions::default() };
    let emulated = SorterOptions { subgroup: SubgroupChoice::Emulated(32), ..access };
    let reason = if gpu().profile().buffer_addresses { "subgroup" } else { "bufferDeviceAddress is absent" };
    expect(gpu().sorter(&pairs(None), &emulated).map(|_| ()), &[reason])
}
