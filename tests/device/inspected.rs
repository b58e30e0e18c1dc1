//! Inspectors: their reports about drawn segments, counts and promises, compared with the CPU, and with guards around them.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use vksort::ash::vk;
use vksort::standalone::DeviceBuffer;
use vksort::{
    Access, BoundSort, BufferRange, Capacity, Count, Inspection, Inspector, KeyField, KeyType, SortBuffers,
    SortRequest, Sorter, SorterOptions, Tuning, ValueType,
};
use vksort_testing::inspected::{Asked, requests};
use vksort_testing::{Failed, Level, Trial, assert_valid, expect, gpu, level, seed, suite};

use super::segments::{pairs, sorter};

/// Bytes of a report.
const SIZE: u64 = 4 * Inspector::WORDS as u64;
/// Before and behind it.
const GUARD: u64 = 256;

/// The buffers of a sort, and those of what an inspector reads and writes.
struct Bound {
    sort: BoundSort,
    inspector: Inspector,
    /// The report between guards.
    report: DeviceBuffer,
    count: DeviceBuffer,
    /// Behind sort and inspector, which are dropped first.
    _others: Vec<DeviceBuffer>,
}

fn bind(sorter: &Sorter, asked: &Asked) -> Result<Bound, Failed> {
    let gpu = gpu();
    let sizes = sorter.buffer_sizes(asked.capacity);
    let scratch = Some(sorter.scratch_size(asked.capacity)?);
    let wanted = [sizes.keys, sizes.values, sizes.keys_out, sizes.values_out, sizes.segments, scratch];
    let others = wanted.map(|size| size.filter(|size| *size > 0).map(|size| gpu.buffer(size)).transpose());
    let [keys, values, keys_out, values_out, segments, scratch] = others;
    let (keys, values, keys_out, values_out) = (keys?, values?, keys_out?, values_out?);
    let (segments, scratch) = (segments?, scratch?);
    if let Some(segments) = &segments {
        segments.write(0, &asked.words)?;
    }
    let (count, report) = (gpu.buffer(4)?, gpu.buffer(2 * GUARD + SIZE)?);
    count.write(0, &[asked.count])?;
    let whole =
        |buffer: &Option<DeviceBuffer>| buffer.as_ref().map(|buffer| BufferRange::new(buffer.raw(), buffer.size()));
    let buffers = SortBuffers::new(asked.capacity)
        .keys(whole(&keys))
        .values(whole(&values))
        .keys_out(whole(&keys_out))
        .values_out(whole(&values_out))
        .segments(whole(&segments))
        .scratch(whole(&scratch))
        .count(BufferRange::new(count.raw(), 4));
    // SAFETY: the buffers are the device's, with every usage, and outlive sort and inspector.
    let (sort, inspector) = unsafe {
        let sort = sorter.bind(&buffers)?;
        let inspector = sort.inspector(BufferRange::new(report.raw(), SIZE).offset(GUARD))?;
        (sort, inspector)
    };
    let others = [keys, values, keys_out, values_out, segments, scratch].into_iter().flatten().collect();
    Ok(Bound { sort, inspector, report, count, _others: others })
}

/// The report about a recording. The words are full before, and with `sorts` the sort runs behind the inspector in the same commands.
fn report(bound: &Bound, asked: &Asked, sorts: bool) -> Result<[u32; Inspector::WORDS], Failed> {
    let gpu = gpu();
    let device = gpu.device();
    let filled = vec![0xA7A7_A7A7u32; (2 * GUARD + SIZE) as usize / 4];
    bound.report.write(0, &filled)?;
    bound.count.write(0, &[asked.count])?;
    let count = if asked.on_device { Count::Device } else { Count::Host(asked.count) };
    let record = |commands| {
        // SAFETY: the command buffer is recording, and everything in it is waited for; the inspector only reads what the sort reads.
        unsafe {
            bound.inspector.record(commands, count)?;
            if sorts { bound.sort.record(commands, count) } else { Ok(()) }
        }
    };
    // SAFETY: as above.
    unsafe { device.execute("an inspection", record)? };
    let mut found = filled.clone();
    bound.report.read(0, &mut found)?;
    let first = GUARD as usize / 4;
    let words: [u32; Inspector::WORDS] = found[first..][..Inspector::WORDS].try_into()?;
    found[first..][..Inspector::WORDS].copy_from_slice(&filled[..Inspector::WORDS]);
    assert!(found == filled, "words beside the report were written");
    Ok(words)
}

/// Every layout with drawn words, and one array, by descriptors and by addresses.
fn drawn(access: Access, turns: u64) -> Result<(), Failed> {
    let options = SorterOptions::default().tuning(suite::small_blocks()).access(access);
    let turns = if level() == Level::Full { 4 * turns } else { turns };
    for turn in 0..turns {
        let seed = seed().wrapping_add(turn);
        let mut random = fastrand::Rng::with_seed(seed);
        for request in requests(KeyType::U32, &mut random) {
            let sorter = sorter(&request, &options)?;
            let asked = Asked::draw(request, &mut random);
            let found = report(&bind(&sorter, &asked)?, &asked, random.bool())?;
            assert_eq!(found, asked.report(), "VKSORT_SEED={seed} {request} {asked:?}");
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// More segments than a dispatch has workgroups in one dimension, where the limit is that of most devices.
fn many() -> Result<(), Failed> {
    let narrow = Tuning { histogram_workgroup_size: 1, ..gpu().tuning().clone() };
    let request = pairs().segments(vksort::Segments::Offsets).up_to(4);
    let sorter = sorter(&request, &SorterOptions::default().tuning(narrow))?;
    let segments = 70_001;
    let mut words: Vec<u32> = (0..=segments).collect();
    words[65_540] = 7;
    words[segments as usize] = 80_000;
    let capacity = Capacity::new(72_000).segments(segments);
    let asked = Asked { request, capacity, words, count: segments + 9, on_device: true };
    let found = report(&bind(&sorter, &asked)?, &asked, false)?;
    assert_eq!(found, asked.report());
    assert_eq!(found, [70_010, 65_534, 9, 8_000, 2, 1]);
    Ok(())
}

/// One inspector after the other: each recording begins anew, and knows no words of the one before.
fn again() -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::F32).value(ValueType::Index);
    let sorter = sorter(&request, &SorterOptions::default())?;
    let asked = |count| Asked { request, capacity: Capacity::new(1_000), words: vec![], count, on_device: true };
    let bound = bind(&sorter, &asked(0))?;
    for (count, over) in [(1_500, 500), (3, 0), (1_000, 0), (u32::MAX, u32::MAX - 1_000), (0, 0)] {
        assert_eq!(report(&bound, &asked(count), true)?, [count, count, 0, over, 0, 0]);
    }
    Ok(())
}

/// Records by several fields, whose keys are composed first, and keys that are wider than a word.
fn of_other_sorts() -> Result<(), Failed> {
    let fields = [KeyField::new(4, KeyType::U32), KeyField::new(9, KeyType::U8).descending()];
    let records = SortRequest::records(12, fields);
    for request in [records, SortRequest::new(KeyType::I64).value(ValueType::Bytes(40))] {
        let sorter = sorter(&request, &SorterOptions::default())?;
        let asked = Asked { request, capacity: Capacity::new(700), words: vec![], count: 712, on_device: true };
        assert_eq!(report(&bind(&sorter, &asked)?, &asked, true)?, [712, 712, 0, 12, 0, 0], "{request}");
    }
    assert_valid(&gpu());
    Ok(())
}

/// The host's words about the words of a report.
fn words() {
    let found = Inspection::from([9, 8, 7, 6, 5, 4]);
    assert_eq!([found.count, found.longest, found.segments_beyond], [9, 8, 7]);
    assert_eq!([found.elements_beyond, found.too_long, found.descending], [6, 5, 4]);
    for (word, complete) in [(0, true), (1, true), (2, false), (3, false), (4, false), (5, false)] {
        let mut report = [0; Inspector::WORDS];
        report[word] = 1;
        assert_eq!(Inspection::from(report).is_complete(), complete, "word {word}");
    }
}

/// What a sort's elements are, a report is not; and counts as for the sort.
fn refused() -> Result<(), Failed> {
    let gpu = gpu();
    let request = pairs().segments(vksort::Segments::Offsets);
    let sorter = sorter(&request, &SorterOptions::default())?;
    let capacity = Capacity::new(1_000).segments(50);
    let (elements, scratch) = (gpu.buffer(65_536)?, gpu.buffer(sorter.scratch_size(capacity)?.max(4))?);
    let usage = sorter.scratch_usage();
    let range = |offset, size| BufferRange::new(elements.raw(), size).offset(offset).usage(usage);
    let buffers = SortBuffers::new(capacity)
        .keys(range(0, 4_000))
        .values(range(4_096, 4_000))
        .segments(range(8_192, 204))
        .scratch(BufferRange::new(scratch.raw(), scratch.size()));
    // SAFETY: the buffers are this device's and outlive the sort, and nothing is recorded.
    let sort = unsafe { sorter.bind(&buffers)? };
    // SAFETY: as above.
    let inspector = |range: BufferRange| unsafe { sort.inspector(range) };
    let free = 16_384;
    expect(inspector(BufferRange::new(vk::Buffer::null(), 0)), &["report", "absent"])?;
    expect(inspector(range(free, SIZE - 4)), &["report", "20", "24"])?;
    expect(inspector(range(free + 2, SIZE)), &["report", "16386", "multiples"])?;
    expect(inspector(range(u64::MAX - 3, SIZE)), &["report", &(u64::MAX - 3).to_string()])?;
    expect(inspector(range(8_192, SIZE)), &["report", "segments", "overlap"])?;
    expect(inspector(range(0, SIZE)), &["report", "keys", "overlap"])?;
    let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
    expect(inspector(range(free, SIZE).usage(storage)), &["report", "STORAGE_BUFFER", "TRANSFER_DST"])?;
    let good = inspector(range(free, SIZE))?;
    for (count, text) in [(Count::Host(51), ["51", "50"]), (Count::Device, ["count", "absent"])] {
        // SAFETY: an error records nothing, so there are no commands.
        let refused = unsafe { good.record(vk::CommandBuffer::null(), count) };
        expect(refused, &text)?;
    }
    assert_valid(&gpu);
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("drawn", || drawn(Access::Auto, 6)),
        Trial::test("many", many),
        Trial::test("again", again),
        Trial::test("of-other-sorts", of_other_sorts),
        Trial::test("refused", refused),
        Trial::test("words", || {
            words();
            Ok(())
        }),
    ];
    if gpu().profile().buffer_addresses {
        trials.push(Trial::test("drawn-by-address", || drawn(Access::Addresses, 2)));
    }
    trials
}
