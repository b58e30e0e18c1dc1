//! Sorts of records, each compared in full with a stable sort by the tuple of fields, and with guards around it.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use std::sync::Arc;

use ash::vk;
use fastrand::Rng;
use vksort::__private::ShapeDesc;
use vksort::__private::kernels::{self, Kernel, Module};
use vksort::__private::steps::{self, HostStep};
use vksort::standalone::DeviceBuffer;
use vksort::{
    Access, Algorithm, BoundSort, BufferRange, Capacity, Count, IndexFrom, KeyField, KeyType, PipelineSet, QueryRange,
    Segments, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType,
};
use vksort_testing::records::{Bytes, Case, bytes, drawn, order, outputs, run, stride};
use vksort_testing::{Failed, Level, Trial, assert_valid, expect, gpu, level, oracle, seed, segmented, suite, takes};

use super::segments::{limits, of, sorter};

/// Tiles are small, so that there are several.
fn options(access: Access) -> SorterOptions {
    SorterOptions::default().tuning(suite::small_blocks()).access(access)
}

/// By address in some turns, where the device sorts by address.
fn access(turn: bool) -> Access {
    let profile = gpu().profile().clone();
    if turn && profile.buffer_addresses && profile.has_full_subgroups() { Access::Addresses } else { Access::Auto }
}

/// None, one, few, and several tiles.
const COUNTS: [u32; 6] = [0, 1, 2, 37, 1_000, 5_003];

/// Sorts records of all kinds of bytes, counted by the host and by the device; gives whether their keys were composed.
fn check(request: &SortRequest, options: &SorterOptions) -> Result<bool, Failed> {
    let sorter = sorter(request, options)?;
    let mut random = Rng::with_seed(seed());
    let mut composed = false;
    for (turn, capacity) in COUNTS.into_iter().enumerate() {
        let kind = [Bytes::Few, Bytes::Uniform, Bytes::Few, Bytes::Few, Bytes::Constant, Bytes::Few][turn];
        let records = bytes(kind, capacity as usize * stride(request), &mut random);
        for counted in [None, Some(random.u32(0..=capacity)), Some([capacity + 1, u32::MAX][turn % 2])] {
            // Each number is counted in one way at least. Without records there is no count on the device.
            let skips = level() == Level::Reduced && (turn + counted.map_or(0, |_| 1)) % 3 == 1;
            if skips || capacity == 0 && counted.is_some() {
                continue;
            }
            let count = if turn % 2 == 0 { capacity } else { random.u32(0..=capacity) };
            let case = Case { counted, ..Case::new(request, records.clone(), count) };
            let steps = run(&gpu(), &sorter, None, &case)
                .map_err(|error| format!("VKSORT_SEED={}: {capacity} records, {counted:?}: {error}", seed()))?;
            composed |= steps.iter().any(|step| step.kernel == "compose");
        }
    }
    assert_valid(&gpu());
    Ok(composed)
}

fn field(offset: u32, key: KeyType) -> KeyField {
    KeyField::new(offset, key)
}

/// Every key type in both directions, at an offset that straddles words where the type has more than a byte, by descriptor and by
/// address.
fn every_type() -> Result<(), Failed> {
    for (turn, key) in KeyType::ALL.iter().copied().enumerate() {
        let ascending = field(3 + turn as u32 % 4, key);
        for (which, field) in [ascending, ascending.descending()].into_iter().enumerate() {
            if !takes(&[turn / 2, which]) {
                continue;
            }
            let access = access(turn % 2 == 1);
            let request = outputs(&SortRequest::records(24, [field]))[(turn + which) % 3];
            assert!(check(&request, &options(access))?, "{request}: no keys were composed");
        }
    }
    Ok(())
}

/// Fields of several types and directions with records of few and of many bytes.
fn several_fields() -> Result<(), Failed> {
    use KeyType::{Bf16, F16, F32, F64, I8, I16, I32, I64, I128, U8, U16, U32, U64, U128};
    let requests: [(u32, &[KeyField]); 12] = [
        (4, &[field(0, U8), field(1, U8), field(3, I8)]),
        (4, &[field(2, F16), field(0, Bf16).descending()]),
        (8, &[field(1, U8), field(2, I16), field(4, U32)]),
        (12, &[field(5, U16), field(8, I32).descending()]),
        (16, &[field(6, F32), field(0, I16), field(10, I32).descending()]),
        (20, &[field(0, U64).descending(), field(9, U8)]),
        (32, &[field(4, U32), field(0, U8)]),
        (32, &[field(7, F64).descending(), field(17, I64)]),
        (36, &[field(1, U16), field(3, U16), field(5, U16), field(7, U16).descending()]),
        (64, &[field(41, I128).descending()]),
        (260, &[field(239, U128)]),
        (4_096, &[field(4_093, U16), field(1, F32).descending(), field(100, I8)]),
    ];
    for (turn, (stride, fields)) in requests.into_iter().enumerate() {
        let request = outputs(&SortRequest::records(stride, fields))[turn % 3];
        let access = access(turn % 4 == 3);
        if stride < 4_096 {
            assert!(check(&request, &options(access))?, "{request}: no keys were composed");
            continue;
        }
        let sorter = sorter(&request, &options(access))?;
        let records = bytes(Bytes::Few, 300 * stride as usize, &mut Rng::with_seed(seed()));
        run(&gpu(), &sorter, None, &Case::new(&request, records, 300))?;
    }
    Ok(())
}

/// Records in which other libraries have failed.
fn known() -> Result<(), Failed> {
    use KeyType::{F32, I16, I32, U8, U16, U32, U64};
    let requests: [(u32, &[KeyField]); 5] = [
        // The last field of three, with bytes of padding behind it.
        (24, &[field(16, I32)]),
        // Two columns.
        (4, &[field(0, U16), field(2, U16)]),
        // A key of 5 bytes in 8.
        (8, &[field(4, U8), field(0, U32)]),
        (8, &[field(0, F32).descending(), field(4, I16)]),
        // Wide keys by all their bits, and a number beside them.
        (20, &[field(8, U64), field(0, U64)]),
    ];
    for (turn, (stride, fields)) in requests.into_iter().enumerate() {
        for (which, request) in outputs(&SortRequest::records(stride, fields)).iter().enumerate() {
            if !takes(&[turn, which]) {
                continue;
            }
            check(request, &options(Access::Auto))?;
        }
    }
    Ok(())
}

/// Records that are keys are sorted as such, by every algorithm, and those that are nearly so are not.
fn records_that_are_keys() -> Result<(), Failed> {
    use KeyType::{Bf16, F16, F32, F64, I8, I16, I32, I64, I128, U8, U16, U32, U64, U128};
    let keys: [(u32, &[KeyField]); 14] = [
        (4, &[field(0, U32)]),
        (4, &[field(0, F32).descending()]),
        (4, &[field(2, Bf16)]),
        (4, &[field(1, U8).descending(), field(0, U8).descending()]),
        (8, &[field(4, F32)]),
        (8, &[field(0, F64).descending()]),
        (8, &[field(6, F16).descending()]),
        (8, &[field(4, I32), field(0, U32)]),
        (8, &[field(7, I8), field(6, U8), field(4, U16)]),
        (8, &[field(3, U16)]),
        (16, &[field(8, I64), field(0, U64)]),
        (16, &[field(5, U64).descending()]),
        (16, &[field(0, I128).descending()]),
        (16, &[field(14, I16)]),
    ];
    let composed: [(u32, &[KeyField]); 8] = [
        (4, &[field(1, F16)]),
        (4, &[field(0, U8), field(1, U8)]),
        (8, &[field(4, F32), field(0, U32)]),
        (8, &[field(4, I32), field(0, I32)]),
        (8, &[field(4, U32), field(0, U32).descending()]),
        (8, &[field(0, I32)]),
        (16, &[field(12, F32)]),
        (12, &[field(8, U32)]),
    ];
    let mut turn = 0;
    for (expected, requests) in [(false, &keys[..]), (true, &composed[..])] {
        for (stride, fields) in requests {
            turn += 1;
            // Two in a row have both outputs.
            if !takes(&[turn / 2]) {
                continue;
            }
            let algorithm = [None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan)][turn % 3];
            let request = outputs(&SortRequest::records(*stride, fields).algorithm(algorithm))[turn % 2];
            let access = access(turn % 5 == 0);
            assert_eq!(check(&request, &options(access))?, expected, "{request}: keys were composed");
        }
    }
    // A permutation needs keys no wider than the fields.
    for (stride, key, expected) in [(8, U64, false), (8, U32, true), (16, U128, false), (4, U16, false)] {
        let request = SortRequest::records(stride, [field(0, key)]).value(ValueType::Index);
        assert_eq!(check(&request, &options(Access::Auto))?, expected, "{request}: keys were composed");
    }
    Ok(())
}

/// More records than one pass of the kernels over them has invocations for, by the tuning of the device.
fn many_records() -> Result<(), Failed> {
    let count = if level() == Level::Full { 1_000_003 } else { 200_003 };
    let fields = [field(4, KeyType::U8), field(8, KeyType::F32).descending()];
    for request in outputs(&SortRequest::records(16, fields)) {
        let sorter = sorter(&request, &SorterOptions::default())?;
        let records = bytes(Bytes::Uniform, 16 * count as usize, &mut Rng::with_seed(seed()));
        run(&gpu(), &sorter, None, &Case::new(&request, records, count - 7))?;
    }
    Ok(())
}

/// Requests of the seed.
fn draws() -> Vec<Trial> {
    let draw = |number: u64| {
        let mut random = Rng::with_seed(seed() ^ number << 32);
        let (request, addressed) = (drawn(&mut random), random.u32(0..4) == 0);
        let algorithms = [None, None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan)];
        let request = request.algorithm(algorithms[random.usize(0..4)]);
        // A part of the trials has a few of them at least.
        let slash = if number < 4 { '-' } else { '/' };
        Trial::test(format!("draw{slash}{number}: {request}"), move || {
            let access = access(addressed);
            check(&request, &options(access)).map(drop)
        })
    };
    (0..16).map(draw).collect()
}

/// Segments of all kinds of lengths, also beyond a block, whose records are sorted by themselves; counted by the host and by the device.
fn check_segments(request: &SortRequest, options: &SorterOptions) -> Result<(), Failed> {
    let sorter = sorter(request, options)?;
    let mut random = Rng::with_seed(seed());
    let (longest, block, layout) = (limits(&sorter).longest(), limits(&sorter).block(), of(request).layout);
    // So few records take no rounds.
    let composes = sorter.scratch_size(Capacity::new(block).segments(1))? > 0;
    for (turn, most) in [0, 1, 9, block / 4 + 3, 3 * block + 1].into_iter().enumerate() {
        let count = random.u32(1..200).min(9 * block / (most + 1) + 2);
        let (mut at, mut words) = (random.u32(0..20), Vec::new());
        match layout {
            Segments::Rows { stride } => at = stride * count,
            Segments::RowsOf { stride } => {
                words.extend((0..count).map(|_| random.u32(0..=stride + 2)));
                at = stride * count;
            }
            _ => {
                let offsets = layout == Segments::Offsets;
                words.extend(offsets.then_some(at));
                for _ in 0..count {
                    let begin = at + if offsets { 0 } else { random.u32(0..30) };
                    at = begin + random.u32(0..=most);
                    words.extend((!offsets).then_some(begin).into_iter().chain([at]));
                }
            }
        }
        let capacity = at + random.u32(0..30);
        let kind = [Bytes::Few, Bytes::Few, Bytes::Uniform, Bytes::Few, Bytes::Constant][turn];
        let given = bytes(kind, capacity as usize * stride(request), &mut random);
        let counted = [None, Some(random.u32(0..=count)), Some([count + 1, u32::MAX][turn % 2])][turn % 3];
        let counted = counted.filter(|_| count > 0);
        // What is in the place of the keys says only how many there are.
        let keys = vec![0; capacity as usize * request.key.size_bytes() as usize];
        let hostile = turn == 3 && !matches!(layout, Segments::Rows { .. } | Segments::RowsOf { .. });
        if hostile {
            let words = words.iter_mut().filter(|_| random.u32(0..4) == 0);
            words.for_each(|word| *word = [*word / 2, capacity + 9, u32::MAX, 0][*word as usize % 4]);
        }
        let segments = segmented::Case { counted, ..segmented::Case::new(*request, longest, words, count, keys) };
        let case = Case { counted, in_order: !hostile, ..Case::new(request, given, 0) };
        let steps = run(&gpu(), &sorter, Some(&segments), &case)
            .map_err(|error| format!("VKSORT_SEED={}: up to {most}, {counted:?}, {request}: {error}", seed()))?;
        let names: Vec<&str> =
            steps.iter().map(|step| step.kernel).filter(|name| ["compose", "segments"].contains(name)).collect();
        let expected = if composes { &["compose", "segments"][..] } else { &["segments"] };
        assert!(names == expected || capacity == 0 || counted.is_none() && count == 0, "{names:?}");
    }
    assert_valid(&gpu());
    Ok(())
}

/// Records of one word and of many, in segments of every layout, with every output.
fn within_segments() -> Result<(), Failed> {
    use KeyType::{F32, F64, I16, I64, U8, U16, U32, U64};
    let requests: [(u32, &[KeyField]); 6] = [
        (4, &[field(0, U8), field(1, I16)]),
        (8, &[field(4, U32).descending(), field(0, U8)]),
        (12, &[field(1, F32).descending(), field(8, U16)]),
        (36, &[field(3, U64), field(20, I64).descending()]),
        (100, &[field(90, F64).descending()]),
        // A key itself.
        (8, &[field(4, F32)]),
    ];
    let stride = 37;
    let layouts = [Segments::Offsets, Segments::Ranges, Segments::Rows { stride }, Segments::RowsOf { stride }];
    for (turn, (stride, fields)) in requests.into_iter().enumerate() {
        for (which, request) in outputs(&SortRequest::records(stride, fields)).iter().enumerate() {
            if level() == Level::Reduced && which != turn % 3 {
                continue;
            }
            let from_segment = request.value == ValueType::Index && turn % 2 == 0;
            let index_from = if from_segment { IndexFrom::Segment } else { IndexFrom::Array };
            let request = request.segments(layouts[(turn + which) % 4]).indices_from(index_from);
            check_segments(&request, &options(access((turn + which) % 4 == 3)))?;
        }
    }
    Ok(())
}

/// Every module that composes keys sorts once.
pub fn every_module() -> Result<(), Failed> {
    let profile = gpu().profile().clone();
    let mut reached: Vec<Module> = Vec::new();
    for key in [KeyType::U32, KeyType::U64, KeyType::U128] {
        for addressed in [false, true] {
            let access = access(addressed);
            if addressed && access != Access::Addresses {
                continue;
            }
            let records = SortRequest::records(36, [field(5, key)]);
            let (sort, fields) = steps::resolve(&records)?;
            let tuning = suite::small_blocks();
            let of_device = ShapeDesc::new(&profile, &tuning, &sort, Algorithm::OneSweep);
            let host = steps::of(&ShapeDesc { addressed, fields, ..of_device }, 1, Count::Host(1))?;
            let HostStep::Dispatch(first) = &host.steps[0] else { return Err("keys are composed first".into()) };
            reached.push(first.module);
            assert!(check(&records, &options(access))?, "{records}: no keys were composed");
        }
    }
    for module in kernels::modules().into_iter().filter(|module| module.kernel == Kernel::Compose) {
        let addresses = access(true) == Access::Addresses;
        match (reached.contains(&module), module.addressed && !addresses) {
            (true, false) => {}
            (false, true) => println!("not run here: {} needs buffer addresses and full subgroups", module.name()),
            (_, lacks) => return Err(format!("{}: run or not against {lacks}", module.name()).into()),
        }
    }
    Ok(())
}

/// A range of a buffer with the usage that a sorter's scratch needs, which is that of every buffer.
fn range_of(buffer: &DeviceBuffer, sorter: &Sorter, offset: u64, size: u64) -> BufferRange {
    BufferRange::new(buffer.raw(), size).offset(offset).usage(sorter.scratch_usage())
}

/// Ranges of a buffer that are wrong are refused by name.
fn refused() -> Result<(), Failed> {
    let gpu = gpu();
    let buffer = gpu.buffer(1 << 20)?;
    let (capacity, in_place) = (1_000, SortRequest::records(20, [field(0, KeyType::U32), field(5, KeyType::U16)]));
    for (request, name) in outputs(&in_place).iter().zip(["", "keys_out", "values_out"]) {
        let sorter = sorter(request, &options(Access::Auto))?;
        let range = |offset, size| range_of(&buffer, &sorter, offset, size);
        let (size, sizes) = (sorter.scratch_size(capacity)?, sorter.buffer_sizes(capacity));
        let [records, sorted] = [20_000, if name == "values_out" { 4_000 } else { 20_000 }];
        assert_eq!((sizes.keys, sizes.values), (Some(records), None));
        let none = SortBuffers::new(capacity).keys(range(0, records)).scratch(range(1 << 18, size));
        let given = |sorted: Option<BufferRange>| match name {
            "" => none,
            "keys_out" => none.keys_out(sorted),
            _ => none.values_out(sorted),
        };
        let right = given(Some(range(1 << 16, sorted)));
        sorter.check_buffers(&right)?;
        let refused = |buffers: SortBuffers, words: &[&str]| expect(sorter.check_buffers(&buffers), words);
        refused(right.keys(range(0, 19_996)), &["keys", "19996 bytes", "20000 bytes"])?;
        refused(right.keys(range(2, 20_000)), &["keys starts at byte 2"])?;
        refused(right.keys(None), &["keys is absent"])?;
        refused(right.keys(range(u64::MAX - 7, 20_000)), &["keys has 20000 bytes"])?;
        let uniform = range(0, 20_000).usage(vk::BufferUsageFlags::UNIFORM_BUFFER);
        refused(right.keys(uniform), &["keys has usage UNIFORM_BUFFER"])?;
        let needed = format!("needed are {size} bytes");
        refused(right.scratch(range(1 << 18, size - 4)), &["scratch", &needed])?;
        refused(right.scratch(None), &["scratch is absent"])?;
        refused(right.scratch(range(256, size)), &["keys", "scratch", "overlap"])?;
        refused(right.values(range(1 << 17, 20_000)), &["values is present"])?;
        refused(right.capacity(capacity + 1), &["needed are"])?;
        if sorter.max_count() < u32::MAX {
            refused(right.capacity(u32::MAX), &["count is 4294967295 elements", "maxStorageBufferRange"])?;
            let range = gpu.profile().max_storage_range_bytes;
            assert!(u64::from(sorter.max_count()) * 20 <= range, "more records than a descriptor has");
        }
        if name.is_empty() {
            refused(right.keys_out(range(1 << 16, 20_000)), &["keys_out is present"])?;
        } else {
            refused(given(None), &[name, "is absent"])?;
            refused(given(Some(range(1 << 16, sorted - 4))), &[name, &format!("needed are {sorted} bytes")])?;
            refused(given(Some(range(256, sorted))), &["keys", name, "overlap"])?;
        }
        // SAFETY: the buffer is this device's and outlives the sort, and nothing is recorded.
        let sort = unsafe { sorter.bind(&right)? };
        let commands = vk::CommandBuffer::null();
        // SAFETY: what is refused records nothing; a verifier is refused too.
        unsafe {
            expect(sort.record(commands, capacity + 1), &["count is 1001 elements", "at most 1000"])?;
            expect(sort.record(commands, Count::Device), &["count is absent"])?;
            let few = QueryRange::new(vk::QueryPool::null(), 0, 2);
            expect(sort.record_timed(commands, capacity, few), &["has 2 queries"])?;
            expect(sort.verifier(range(1 << 17, sort.report_size())), &["verifier", "records by composed keys"])?;
        }
        // Without records nothing is needed, and nothing recorded.
        // SAFETY: there are no buffers.
        let sort = unsafe { sorter.bind(&SortBuffers::new(0))? };
        assert_eq!((sort.step_names(0).len(), sort.query_count(0)), (0, 1));
    }
    refused_by_address(&buffer)?;
    let request = in_place.segments(Segments::Offsets);
    let sorter = sorter(&request, &SorterOptions::default())?;
    let range = |offset, size| range_of(&buffer, &sorter, offset, size);
    let given = SortBuffers::new(Capacity::new(capacity).segments(10)).keys(range(0, 20_000));
    expect(sorter.check_buffers(&given.segments(range(1 << 16, 44))), &["scratch is absent"])?;
    expect(request.value(ValueType::Bytes(400)).check(), &["the values of records", "400 bytes", "their indices"])?;
    expect(request.algorithm(Algorithm::OneSweep).check(), &["algorithm", "onesweep"])
}

/// By address, keys of 8 bytes are loaded whole.
fn refused_by_address(buffer: &DeviceBuffer) -> Result<(), Failed> {
    if access(true) != Access::Addresses || gpu().profile().storage_alignment_bytes > 4 {
        return Ok(());
    }
    let key = SortRequest::records(8, [field(4, KeyType::U32)]);
    let composed = SortRequest::records(12, [field(4, KeyType::U32), field(0, KeyType::U16)]);
    for (request, name, keys, scratch) in [(&key, "keys", 4, 1 << 18), (&composed, "scratch", 0, (1 << 18) + 4)] {
        let sorter = sorter(request, &options(Access::Addresses))?;
        let range = |offset, size| range_of(buffer, &sorter, offset, size);
        let (size, sizes) = (sorter.scratch_size(100)?, sorter.buffer_sizes(100));
        let buffers =
            SortBuffers::new(100).keys(sizes.keys.map(|size| range(keys, size))).scratch(range(scratch, size));
        // SAFETY: the buffer is this device's and outlives the sort, and nothing is recorded.
        expect(unsafe { sorter.bind(&buffers) }, &[&format!("{name} starts at byte"), "multiples of 8"])?;
    }
    Ok(())
}

/// Sorts that share scratch one after the other, with no barrier of the caller's between them, and the time of every step.
fn shared_scratch() -> Result<(), Failed> {
    let gpu = gpu();
    let (capacity, device) = (5_000u32, gpu.device());
    let by_fields = SortRequest::records(20, [field(1, KeyType::U32), field(9, KeyType::F32)]);
    let records = sorter(&by_fields, &options(Access::Auto))?;
    let pairs = SortRequest::new(KeyType::U32).value(ValueType::U32);
    let words = sorter(&pairs, &options(Access::Auto))?;
    let scratch_size = records.scratch_size(capacity)?.max(words.scratch_size(capacity)?);
    let mut random = Rng::with_seed(seed());
    let given = [20, 4, 4].map(|size| bytes(Bytes::Few, size * capacity as usize, &mut random));
    let buffers = given.each_ref().map(|given| gpu.buffer(given.len() as u64));
    let [of_records, of_keys, of_values] = buffers;
    let (of_records, of_keys, of_values, scratch) = (of_records?, of_keys?, of_values?, gpu.buffer(scratch_size)?);
    for (buffer, given) in [&of_records, &of_keys, &of_values].into_iter().zip(&given) {
        buffer.write(0, given)?;
    }
    let range = |buffer: &DeviceBuffer| BufferRange::new(buffer.raw(), buffer.size());
    let query_pool = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(64);
    // SAFETY: buffers, pool and device outlive the sorts, which are waited for; each sort has buffers of its own but for the scratch.
    unsafe {
        let buffers = SortBuffers::new(capacity).scratch(range(&scratch));
        let by_fields = records.bind(&buffers.keys(range(&of_records)))?;
        let of_pairs = words.bind(&buffers.keys(range(&of_keys)).values(range(&of_values)))?;
        let pool = device.raw.create_query_pool(&query_pool, None)?;
        let queries = QueryRange::new(pool, 3, by_fields.query_count(capacity));
        let ran = device.execute("sorts with one scratch", |commands| {
            of_pairs.record(commands, capacity)?;
            by_fields.record_timed(commands, capacity, queries)?;
            of_pairs.record(commands, capacity)?;
            BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &device.raw, commands);
            by_fields.record_timed(commands, capacity, queries)
        });
        let mut ticks = vec![0u64; queries.count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let read = ran.map(|()| device.raw.get_query_pool_results(pool, queries.first, &mut ticks, flags));
        device.raw.destroy_query_pool(pool, None);
        read??;
        let times = by_fields.step_times(capacity, &ticks, 64)?;
        let few = by_fields.step_times(capacity, &ticks[1..], 64).unwrap_err();
        let given = ticks.len() - 1;
        assert!(
            matches!(few, vksort::Error::TooFewTicks { given: few, needed } if few == given && needed == given + 1),
            "{few}"
        );
        let names: Vec<_> = times.iter().map(|time| time.name.to_string()).collect();
        assert_eq!(names[0], "compose");
        assert_eq!((names.len() as u32 + 1, names.last().map(String::as_str)), (queries.count, Some("gather")));
        assert!(times.iter().all(|time| (0.0..60e9).contains(&time.nanoseconds)), "{times:?}");
    }
    let mut after = given.clone();
    for (buffer, after) in [&of_records, &of_keys, &of_values].into_iter().zip(&mut after) {
        buffer.read(0, after)?;
    }
    let expected = oracle::gather(&given[0], 20, &order(&by_fields, &given[0], 0..capacity));
    assert!(after[0] == expected, "records differ");
    let order = oracle::argsort(&pairs, &given[1]);
    assert!(after[1] == oracle::gather(&given[1], 4, &order), "keys differ");
    assert!(after[2] == oracle::gather(&given[2], 4, &order), "values differ");
    assert_valid(&gpu);
    Ok(())
}

/// Sorts of segments have one descriptor more than those of arrays. So they share no pipelines with them, but with each other.
fn shared_pipelines() -> Result<(), Failed> {
    let by_fields = SortRequest::records(20, [field(1, KeyType::U32), field(9, KeyType::F32)]);
    let rows = by_fields.segments(Segments::Rows { stride: 100 });
    let sharing = |pipelines: &Arc<PipelineSet>| options(Access::Auto).pipelines(Arc::clone(pipelines));
    let (together, alone) = (Arc::default(), Arc::default());
    let array = sorter(&by_fields, &sharing(&together))?;
    let of_array = together.len();
    let segments = sorter(&rows, &sharing(&together))?;
    let _apart = sorter(&rows, &sharing(&alone))?;
    assert_eq!(together.len(), of_array + alone.len());
    let _again = sorter(&rows, &sharing(&together))?;
    assert_eq!(together.len(), of_array + alone.len());
    // The validation layer compares the layouts of pipelines and descriptors.
    let case = Case::new(&by_fields, bytes(Bytes::Few, 20 * 300, &mut Rng::with_seed(seed())), 300);
    run(&gpu(), &array, None, &case)?;
    let keys = vec![0; 300 * rows.key.size_bytes() as usize];
    let of_segments = segmented::Case::new(rows, limits(&segments).longest(), Vec::new(), 3, keys);
    run(&gpu(), &segments, Some(&of_segments), &Case { request: rows, ..case })?;
    assert_valid(&gpu());
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("every-type", every_type),
        Trial::test("several-fields", several_fields),
        Trial::test("known", known),
        Trial::test("records-that-are-keys", records_that_are_keys),
        Trial::test("many-records", many_records),
        Trial::test("within-segments", within_segments),
        Trial::test("refused", refused),
        Trial::test("shared-scratch", shared_scratch),
        Trial::test("shared-pipelines", shared_pipelines),
    ];
    trials.extend(draws());
    trials
}
