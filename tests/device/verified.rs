//! The verifier: right sorts of every kind are called right, and each fault that is put beside a sort is found.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use vksort::ash::vk;
use vksort::standalone::Sorter;
use vksort::{
    Access, Algorithm, BoundSort, BufferRange, KeyOutput, KeyType, Order, Placement, SortBuffers, SortRequest,
    SorterOptions, Tuning, ValueType, Verifier,
};
use vksort_testing::arena::{Arena, Count};
use vksort_testing::patterns::{Pattern, generate};
use vksort_testing::suite::{self, SOME_KEYS};
use vksort_testing::{Failed, Level, Trial, assert_valid, expect, gpu, level, seed, takes};

/// Tiles are small, so that there are several.
fn options(access: Access) -> SorterOptions {
    SorterOptions::default().tuning(suite::small_blocks()).access(access)
}

/// The answer of the verifier about a sort that is also compared in full.
fn answer(arena: &Arena, request: &SortRequest, keys: &[u8], count: Count) -> Result<u32, Failed> {
    let mut answer = None;
    let sorted = arena.run(keys, count, &mut |sort, count| {
        answer = Some(sort.run_verified(count)?);
        Ok(())
    })?;
    let bytes = match count {
        Count::Host => keys.len(),
        Count::Device(count) => keys.len().min(count as usize * request.key.size_bytes() as usize),
    };
    suite::compare(request, &keys[..bytes], sorted)?;
    Ok(answer.ok_or("the sort has run")?)
}

/// Every kind of value, in both placements, with and without keys, by a window or all bits, for keys of a type.
fn right(key: KeyType) -> Result<(), Failed> {
    let whole = SortRequest::new(key);
    let values = [
        ValueType::None,
        ValueType::U32,
        ValueType::Bytes(2),
        ValueType::Bytes(12),
        ValueType::Bytes(40),
        ValueType::Index,
    ];
    let kinds = [
        (Placement::InPlace, KeyOutput::Sorted),
        (Placement::OutOfPlace, KeyOutput::Sorted),
        (Placement::InPlace, KeyOutput::Discarded),
        (Placement::OutOfPlace, KeyOutput::Discarded),
    ];
    let turn = KeyType::ALL.iter().position(|&other| other == key).unwrap_or_default();
    let mut ran = turn;
    for (index, value) in values.into_iter().enumerate() {
        for (kind, (placement, key_output)) in kinds.into_iter().enumerate() {
            // Each key type meets all values, and in turns all kinds of output. An argsort is another way to look at keys.
            if level() == Level::Reduced && (kind + index + turn) % 4 > 0 && (value, kind) != (ValueType::Index, 3) {
                continue;
            }
            ran += 1;
            let order = if ran % 2 == 0 { Order::Ascending } else { Order::Descending };
            let middle = whole.bits.high / 2;
            let bits = [whole.bits, (1..middle + 1).into(), (middle..middle).into()][ran % 3];
            let request = whole.value(value).placement(placement).key_output(key_output).order(order).bits(bits);
            if request.check().is_err() {
                continue;
            }
            let access =
                if ran % 5 == 0 && gpu().profile().buffer_addresses { Access::Addresses } else { Access::Auto };
            let sorter = gpu().sorter(&request, &options(access))?;
            let capacity = 3 * sorter.shape().tile.elements() + 5;
            let arena = Arena::new(&gpu(), &sorter, capacity);
            let pattern = [Pattern::Uniform, Pattern::Entropy(4), Pattern::FewDistinct, Pattern::Special][ran % 4];
            for count in [Count::Host, Count::Device(capacity - 3), Count::Device(u32::MAX), Count::Device(0)] {
                let keys = generate(pattern, key, capacity as usize, seed());
                let answer = answer(&arena, &request, &keys, count)?;
                if answer != 0 {
                    let what = Verifier::explain(answer);
                    return Err(format!("{} {count:?}: {what}, VKSORT_SEED={}", suite::name(&request), seed()).into());
                }
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// More elements than the invocations of a verifier, and none at all.
fn sizes() -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::U32).value(ValueType::Index);
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let many = if level() == Level::Full { 3_000_001 } else { 300_001 };
    for count in [0u32, 1, 2, 8_191, 8_193, many] {
        let keys = generate(Pattern::Entropy(2), KeyType::U32, count as usize, seed());
        let answer = answer(&Arena::new(&gpu(), &sorter, count), &request, &keys, Count::Host)?;
        assert_eq!(answer, 0, "{count} elements: {}", Verifier::explain(answer));
    }
    Ok(())
}

/// Values of many words, whose loops have a limit on CPUs: a word behind any such limit is seen. One invocation in a workgroup, where
/// the shape has such workgroups.
fn long_values() -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::U32).value(ValueType::Bytes(8_192));
    let narrow = Tuning { histogram_workgroup_size: 1, ..gpu().tuning().clone() };
    for (request, tuning) in [(request, None), (SortRequest::new(KeyType::U32), Some(narrow))] {
        let sorter = gpu().sorter(&request, &SorterOptions::default().tuning(tuning))?;
        let count = 600;
        let arena = Arena::new(&gpu(), &sorter, count);
        let keys = generate(Pattern::Uniform, KeyType::U32, count as usize, seed());
        let right = answer(&arena, &request, &keys, Count::Host)?;
        assert_eq!(right, 0, "{request}: {}", Verifier::explain(right));
    }
    let sorter = gpu().sorter(&request, &SorterOptions::default())?;
    let found = tampered(&sorter, 600, false, Tampering::LastWord(599))?;
    assert_eq!(found, Verifier::ELEMENTS, "{}", Verifier::explain(found));
    Ok(())
}

/// What is done to the elements beside the sort. Elements are counted from the first of the result.
#[derive(Clone, Copy, Debug)]
enum Tampering {
    /// A byte of a sorted key is another.
    KeyByte(u64),
    /// Keys that differ change places, and their values too.
    Swapped(u64, u64),
    /// Only the values do.
    SwappedValues(u64, u64),
    /// A value is another one's.
    LostValue(u64, u64),
    /// The last word of a value is another one's first.
    LastWord(u64),
    /// A key is written when the first half has read it already, as where a barrier is missing.
    LateKey(u64),
}

/// The answer about a sort of few keys, each twice, that was tampered with.
fn tampered(sorter: &Sorter, count: u32, device_count: bool, tampering: Tampering) -> Result<u32, Failed> {
    let (gpu, request) = (gpu(), sorter.request());
    let (key, value) = (request.key.size_bytes(), request.value.size_bytes());
    let arena = Arena::new(&gpu, sorter, count);
    // Keys 0, 0, 1, 1 and so on in any order, of which all are below the sign.
    let mut order: Vec<u32> = (0..count).collect();
    fastrand::Rng::with_seed(seed()).shuffle(&mut order);
    let keys: Vec<u8> =
        order.iter().flat_map(|index| u128::from(index / 2).to_le_bytes()[..key as usize].to_vec()).collect();
    let (buffer, keys_at, values_at) = arena.results();
    let (raw, device) = (buffer.raw(), gpu.device());
    // Of 64 bytes at least, because copies within a buffer must not overlap.
    let aside = gpu.buffer(2 * key.max(value).max(64))?;
    let copy = |commands, from: vk::Buffer, to: vk::Buffer, src_offset: u64, dst_offset: u64, size: u64| {
        let region = [vk::BufferCopy { src_offset, dst_offset, size }];
        let scope = vksort::AccessScope::TRANSFER_READ | vksort::AccessScope::TRANSFER_WRITE;
        // SAFETY: ranges are of both buffers, which live until the commands have completed; each copy waits for the one before.
        unsafe {
            device.raw.cmd_copy_buffer(commands, from, to, &region);
            scope.record_barrier(scope, &device.raw, commands);
        }
    };
    let swap = |commands, start: u64, size: u64, one: u64, other: u64| {
        let half = aside.size() / 2;
        copy(commands, raw, aside.raw(), start + one * size, 0, size);
        copy(commands, raw, aside.raw(), start + other * size, half, size);
        copy(commands, aside.raw(), raw, half, start + one * size, size);
        copy(commands, aside.raw(), raw, 0, start + other * size, size);
    };
    let values = || values_at.expect("the request has values");
    let tamper = |commands: vk::CommandBuffer, sorted: bool| match tampering {
        Tampering::KeyByte(index) if sorted => {
            copy(commands, raw, aside.raw(), keys_at, 0, key);
            // The lowest byte of key 0 in the place of another one's.
            copy(commands, aside.raw(), raw, 0, keys_at + index * key, 1);
        }
        Tampering::Swapped(one, other) if sorted => {
            if request.key_output == KeyOutput::Sorted {
                swap(commands, keys_at, key, one, other);
            }
            if value > 0 {
                swap(commands, values(), value, one, other);
            }
        }
        Tampering::SwappedValues(one, other) if sorted => swap(commands, values(), value, one, other),
        Tampering::LostValue(one, other) if sorted => {
            copy(commands, raw, aside.raw(), values() + other * value, 0, value);
            copy(commands, aside.raw(), raw, 0, values() + one * value, value);
        }
        Tampering::LastWord(index) if sorted => {
            copy(commands, raw, aside.raw(), values() + (index - 1) * value, 0, 4);
            copy(commands, aside.raw(), raw, 0, values() + (index + 1) * value - 4, 4);
        }
        Tampering::LateKey(index) if !sorted => {
            let start = arena.given_keys();
            let other =
                (index + 1..u64::from(count)).find(|&other| order[other as usize] / 2 != order[index as usize] / 2);
            copy(commands, raw, aside.raw(), start + other.expect("keys differ") * key, 0, key);
            copy(commands, aside.raw(), raw, 0, start + index * key, key);
        }
        _ => {}
    };
    let mut answer = None;
    let recorded = if device_count { Count::Device(count) } else { Count::Host };
    let ran = arena.run(&keys, recorded, &mut |sort, count| {
        answer = Some(sort.run_tampered(count, &tamper)?);
        Ok(())
    });
    // What it leaves is wrong on purpose, be it the elements of a sort out of place.
    answer.ok_or_else(|| ran.err().unwrap_or_default().into())
}

/// Every tampering that a request's elements allow, with the bits of the answer that it must give, and no others.
fn faults() -> Result<(), Failed> {
    const ELEMENTS: u32 = Verifier::ELEMENTS;
    const ORDER: u32 = Verifier::ORDER;
    let index = |stable| (ValueType::Index, if stable { Verifier::STABILITY } else { 0 });
    let mut found = 0;
    for (turn, key) in SOME_KEYS.into_iter().enumerate() {
        let outputs = [KeyOutput::Sorted, KeyOutput::Discarded];
        let values = [(ValueType::None, 0), (ValueType::U32, 0), (ValueType::Bytes(40), 0), index(true), index(false)];
        for (number, (value, stability)) in values.into_iter().enumerate() {
            let places = [Placement::InPlace, Placement::OutOfPlace].into_iter().zip(outputs);
            for (place, (placement, key_output)) in places.enumerate() {
                if !takes(&[turn, number, place]) {
                    continue;
                }
                let stable = value != ValueType::Index || stability != 0;
                let algorithm = (!stable).then_some(Algorithm::OneSweep);
                let request = SortRequest::new(key).value(value).placement(placement).key_output(key_output);
                let request = request.stable(stable).algorithm(algorithm);
                if request.check().is_err() {
                    continue;
                }
                let sorter = gpu().sorter(&request, &options(Access::Auto))?;
                // At most as many different keys as half of those of 7 bits.
                let count = 120;
                let (keys, indices) = (key_output == KeyOutput::Sorted, value == ValueType::Index);
                let ordered = keys || indices;
                let mut expected = vec![(Tampering::LateKey(3), if ordered { ELEMENTS } else { 0 })];
                if ordered {
                    // An argsort that is not right for its keys has the right indices.
                    expected.push((Tampering::Swapped(10, 13), ORDER));
                }
                if keys {
                    expected.push((Tampering::KeyByte(50), ELEMENTS | ORDER));
                    expected.push((Tampering::KeyByte(3), ELEMENTS | ORDER));
                }
                if value != ValueType::None {
                    expected.push((Tampering::LostValue(20, 31), ELEMENTS));
                    expected.push((Tampering::Swapped(30, 31), stability));
                    if keys {
                        expected.push((Tampering::SwappedValues(2, 77), ELEMENTS));
                    }
                }
                for (case, (tampering, bits)) in expected.into_iter().enumerate() {
                    let counted = (turn + case) % 2 == 0;
                    let answer = tampered(&sorter, count, counted, tampering)?;
                    // An index that is there twice is not in order either, and an argsort's late key may be.
                    let also = if indices { ORDER | Verifier::STABILITY } else { 0 };
                    if answer & !also != bits & !also || answer & bits != bits {
                        let (name, answer) = (suite::name(&request), Verifier::explain(answer));
                        return Err(
                            format!("{name} {tampering:?}: {answer}, expected is {}", Verifier::explain(bits)).into()
                        );
                    }
                    found += u32::from(bits != 0);
                }
            }
        }
    }
    println!("faults found: {found}");
    assert_valid(&gpu());
    Ok(())
}

/// What a sort's elements are, a report is not.
fn refused() -> Result<(), Failed> {
    let gpu = gpu();
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let sorter = gpu.sorter(&request, &SorterOptions::default())?;
    let capacity = 5_000;
    let scratch = gpu.buffer(sorter.scratch_size(capacity)?.max(4))?;
    let elements = gpu.buffer(65_536)?;
    let usage = sorter.recording().scratch_usage();
    let range = |buffer: vk::Buffer, offset, size| BufferRange::new(buffer, size).offset(offset).usage(usage);
    // SAFETY: the buffers are this device's and outlive the sort, and nothing is recorded.
    let bind = |count: Option<BufferRange>| unsafe {
        let buffers = SortBuffers::new(capacity).keys(range(elements.raw(), 0, 20_000)).count(count);
        sorter.recording().bind(&buffers.scratch(range(scratch.raw(), 0, scratch.size())))
    };
    let sort = bind(Some(range(elements.raw(), 30_212, 4)))?;
    let size = sort.report_size();
    // SAFETY: as above.
    let verifier = |sort: &BoundSort, range: BufferRange| unsafe { sort.verifier(range) };
    let at = |offset: u64| range(elements.raw(), offset, size);
    let none = BufferRange::new(vk::Buffer::null(), 0);
    expect(verifier(&sort, none), &["report", "absent"])?;
    expect(verifier(&sort, range(elements.raw(), 40_960, size - 4)), &["report", &size.to_string()])?;
    expect(verifier(&sort, at(40_961)), &["report", "40961", "multiples"])?;
    expect(verifier(&sort, at(u64::MAX - 255)), &["report", &(u64::MAX - 255).to_string()])?;
    expect(verifier(&sort, at(19_968)), &["report", "keys", "overlap"])?;
    expect(verifier(&sort, range(scratch.raw(), 0, size)), &["report", "scratch", "overlap"])?;
    expect(verifier(&sort, at(30_208)), &["report", "count", "overlap"])?;
    let transfer = vk::BufferUsageFlags::TRANSFER_DST;
    expect(verifier(&sort, at(40_960).usage(transfer)), &["report", "TRANSFER_DST", "STORAGE_BUFFER"])?;
    // The count may be directly behind the report.
    verifier(&bind(Some(range(elements.raw(), 30_208 + size, 4)))?, at(30_208))?;
    let halves = verifier(&bind(None)?, at(40_960))?;
    let counts = [(vksort::Count::Host(5_001), ["5001", "5000"]), (vksort::Count::Device, ["count", "absent"])];
    for (count, words) in counts {
        // SAFETY: an error records nothing, so there are no commands.
        let refused = unsafe {
            [
                halves.record_before(vk::CommandBuffer::null(), count),
                halves.record_after(vk::CommandBuffer::null(), count),
            ]
        };
        for refused in refused {
            expect(refused, &words)?;
        }
    }
    // A buffer is at most as long as the memory that it needs, which is all that Vulkan tells of it.
    let short = gpu.buffer(1_024)?;
    expect(verifier(&sort, range(short.raw(), 1_024, size)), &["report", "1024", &size.to_string()])?;
    let count = Some(range(short.raw(), 1_024, 4));
    expect(bind(count), &["count", "has 4 bytes from byte 1024 on"])?;
    // A null handle is no buffer.
    expect(bind(Some(none))?.check_count(vksort::Count::Device), &["count", "absent"])?;
    assert_valid(&gpu);
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let keys: &[KeyType] = if level() == Level::Full { KeyType::ALL } else { &SOME_KEYS };
    let mut trials: Vec<_> =
        keys.iter().map(|&key| Trial::test(format!("right-{}", key.name()), move || right(key))).collect();
    trials.extend([
        Trial::test("sizes", sizes),
        Trial::test("long-values", long_values),
        Trial::test("faults", faults),
        Trial::test("refused", refused),
    ]);
    trials
}
