//! Sorts with the visitor of the tests, in guarded memory, compared in full with the oracle.

use std::path::PathBuf;

use vksort::__private::abi;
use vksort::standalone::{DeviceBuffer, DeviceRange, Gpu, SortRanges};
use vksort::{Algorithm, KeyOutput, KeyType, Order, Placement, SortRequest, SorterOptions, ValueType, Visitor, Visits};

use crate::arena::Count;
use crate::oracle;
use crate::patterns::{Pattern, generate};
use crate::visiting::{VisitedSort, VisitedSorter};
use crate::{Failed, assert_valid, gpu, seed, suite};

const GUARD: u8 = 0xA7;
/// Words after the resources that nobody may write.
const GUARD_WORDS: usize = 64;
/// Storage buffers of the visitor: keys to read, then keys and values to write, and how often each position was written.
const RESOURCES: u32 = 4;

/// Keys come from words that a push constant changes; bits that a key does not have are set. The output is written as words, and
/// counted.
pub const TEXT: &str = r"
layout(set = 1, binding = 0) readonly buffer VisitedKeys { uint visited_keys[]; };
layout(set = 1, binding = 1) writeonly buffer VisitedSortedKeys { uint visited_sorted_keys[]; };
layout(set = 1, binding = 2) writeonly buffer VisitedSortedValues { uint visited_sorted_values[]; };
layout(set = 1, binding = 3) buffer VisitedCalls { uint visited_calls[]; };

KEY visit_key(uint index) {
    KEY key;
    for (uint word = 0; word < KEY_WORDS; word++) {
        set_key_word(key, word, visited_keys[index * KEY_WORDS + word] ^ push.visitor_mask);
    }
    return key;
}

uint visit_value(uint index, uint word) { return (index ^ word * 0x01000193u) * push.visitor_factor; }

#if VISITED_VALUE_WORDS == 0
void visit_output(uint position, KEY key) {
#elif VISITED_DISCARDS
void visit_output(uint position, VALUE value) {
#else
void visit_output(uint position, KEY key, VALUE value) {
#endif
    atomicAdd(visited_calls[position], 1u);
#if !VISITED_DISCARDS
    for (uint word = 0; word < KEY_WORDS; word++) visited_sorted_keys[position * KEY_WORDS + word] = key_word(key, word);
#endif
#if VISITED_VALUE_WORDS == 1
    visited_sorted_values[position] = value;
#elif VISITED_VALUE_WORDS > 1
    for (uint word = 0; word < VISITED_VALUE_WORDS; word++) {
        visited_sorted_values[position * VISITED_VALUE_WORDS + word] = value[word];
    }
#endif
}
";

/// The visitor's name in messages.
pub const NAME: &str = "tests.glsl";
/// Its push constants in GLSL.
pub const PUSH_MEMBERS: &str = "uint visitor_mask; uint visitor_factor;";
/// Their bytes.
pub const PUSH_BYTES: u32 = 8;

const FACTOR: u32 = 0x9E37_79B1;

/// The tests' visitor for one kind of request, compiled beforehand and kept in the repository.
pub struct Kept {
    /// The name of its file.
    pub name: &'static str,
    /// What it was compiled for.
    pub request: SortRequest,
    /// What it visits.
    pub visits: Visits,
}

/// Few, because each has the modules of every way to sort: all that a visitor can make or take, and a result without keys.
pub fn kept() -> [Kept; 2] {
    let request = |key, value| SortRequest::new(key).value(value).placement(Placement::OutOfPlace);
    let floats = request(KeyType::F32, ValueType::Index)
        .order(Order::Descending)
        .key_output(KeyOutput::Discarded)
        .algorithm(Algorithm::OneSweep);
    [
        Kept {
            name: "pairs",
            request: request(KeyType::U32, ValueType::U32),
            visits: Visits::NONE.keys(true).values(true).output(true),
        },
        Kept { name: "floats", request: floats, visits: Visits::NONE.keys(true).output(true) },
    ]
}

impl Kept {
    /// Where its bytes are.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/device/visitors/{}.bin", self.name))
    }
}

/// The bytes of the value that the visitor makes for an index.
fn value(index: u32, size: usize) -> impl Iterator<Item = u8> {
    let word = move |word: u32| (index ^ word.wrapping_mul(0x0100_0193)).wrapping_mul(FACTOR);
    (0..size.div_ceil(4) as u32).flat_map(move |at| word(at).to_le_bytes()).take(size)
}

#[derive(Clone, Copy)]
struct Part {
    start: usize,
    len: usize,
}

/// A sort with its memory.
pub struct VisitedArena {
    /// What was bound.
    pub sorter: VisitedSorter,
    sort: VisitedSort,
    request: SortRequest,
    visits: Visits,
    capacity: usize,
    buffer: DeviceBuffer,
    bytes: usize,
    parts: [Option<Part>; 6],
    resources: Vec<DeviceBuffer>,
}

impl VisitedArena {
    /// Lays out and binds a sort with the visitor, up to a capacity that may follow from the sorter.
    pub fn new(
        gpu: &Gpu,
        request: &SortRequest,
        options: &SorterOptions,
        visitor: &Visitor,
        capacity: impl FnOnce(&VisitedSorter) -> u32,
    ) -> Result<VisitedArena, vksort::Error> {
        let sorter = VisitedSorter::new(gpu, request, options, visitor, RESOURCES)?;
        let (visits, capacity) = (visitor.visits(), capacity(&sorter));
        let alignment = gpu.profile().storage_alignment_bytes.max(256) as usize;
        let mut bytes = 0;
        let mut part = |len: u64| {
            bytes += alignment; // the guard before it
            let start = bytes;
            bytes = (start + len as usize).next_multiple_of(alignment);
            Part { start, len: len as usize }
        };
        let sizes = sorter.buffer_sizes(capacity);
        let scratch = Some(sorter.scratch_size(capacity)?).filter(|size| *size > 0);
        let wanted = [sizes.keys, sizes.values, sizes.keys_out, sizes.values_out, scratch, Some(12)];
        let parts = wanted.map(|size| size.map(&mut part));
        bytes += alignment;
        let buffer = gpu.buffer(bytes as u64)?;
        let range = |part: Part| -> DeviceRange { buffer.range(part.start as u64, part.len as u64) };
        let words = |each: u64| gpu.buffer(4 * (u64::from(capacity) * each + GUARD_WORDS as u64));
        let value_words = if request.value.is_gathered() { 1 } else { request.value.size_bytes().div_ceil(4).max(1) };
        let key_words = u64::from(request.key.bits().div_ceil(32));
        let resources = vec![words(key_words)?, words(key_words)?, words(value_words)?, words(1)?];
        let [keys, values, keys_out, values_out, scratch, _] = parts.map(|part| part.map(range));
        let count = parts[5].map(|part| buffer.range(part.start as u64 + 4, 4));
        let ranges = SortRanges::new(capacity)
            .keys(keys)
            .values(values)
            .keys_out(keys_out)
            .values_out(values_out)
            .scratch(scratch)
            .count(count.filter(|_| capacity > 0));
        let sort = sorter.prepare(&ranges, &resources)?;
        let (request, capacity) = (*request, capacity as usize);
        Ok(VisitedArena { sorter, sort, request, visits, capacity, buffer, bytes, parts, resources })
    }

    /// Sorts keys by all ways of the visitor, and compares what comes out and what is left with what ought to.
    pub fn check(&self, keys: &[u8], count: Count, mask: u32) -> Result<(), String> {
        let text = |error: vksort::Error| error.to_string();
        let (key_size, size) = (self.request.key.size_bytes() as usize, self.request.value.size_bytes() as usize);
        let given = keys.len() / key_size;
        let (sorted, recorded) = match count {
            Count::Host => (given, vksort::Count::Host(given as u32)),
            Count::Device(count) => (self.capacity.min(count as usize), vksort::Count::Device),
        };
        assert!(given <= self.capacity && sorted <= given);
        let values: Vec<u8> = match self.request.value {
            ValueType::Index => (0..given as u32).flat_map(u32::to_le_bytes).collect(),
            _ => (0..given as u32).flat_map(|index| value(index, size)).collect(),
        };
        let mut before = vec![GUARD; self.bytes];
        let [own_keys, own_values, keys_out, values_out, scratch, counted] = self.parts;
        if let Some(part) = own_keys {
            before[part.start..][..keys.len()].copy_from_slice(keys);
        }
        if let Some(part) = own_values {
            before[part.start..][..values.len()].copy_from_slice(&values);
        }
        if let (Count::Device(count), Some(part)) = (count, counted) {
            before[part.start + 4..][..4].copy_from_slice(&count.to_le_bytes());
        }
        self.buffer.write(0, &before).map_err(text)?;

        // The visitor's keys, with all bits set that a key does not have.
        let key_words = key_size.div_ceil(4);
        let absent = if key_size < 4 { !0u32 << (8 * key_size) } else { 0 };
        let mut widened = Vec::new();
        for key in keys.chunks_exact(key_size) {
            for word in key.chunks(4) {
                let mut bytes = [0; 4];
                bytes[..word.len()].copy_from_slice(word);
                widened.push((u32::from_le_bytes(bytes) | absent) ^ mask);
            }
        }
        self.resources[0].write(0, &widened).map_err(text)?;
        for buffer in &self.resources[1..] {
            buffer.write(0, &vec![0u32; buffer.size() as usize / 4]).map_err(text)?;
        }
        let push = [mask.to_le_bytes(), FACTOR.to_le_bytes()].concat();
        self.sort.run(recorded, &push, 1).map_err(text)?;

        let indices = oracle::argsort(&self.request, &keys[..sorted * key_size]);
        let mut expected_keys = oracle::gather(keys, key_size, &indices);
        let mut expected_values = oracle::gather(&values, size, &indices);
        let mut after = vec![0u8; self.bytes];
        self.buffer.read(0, &mut after).map_err(text)?;
        let (mut found_keys, mut found_values) = (None, None);
        if self.visits.output {
            let read = |at: usize, each: usize, bytes: usize| -> Result<Vec<u8>, String> {
                let mut words = vec![0u32; self.resources[at].size() as usize / 4];
                self.resources[at].read(0, &mut words).map_err(text)?;
                if words[sorted * each..].iter().any(|word| *word != 0) {
                    return Err("the visitor was called for a position beyond the last".into());
                }
                let words = words[..sorted * each].chunks(each.max(1));
                Ok(words.flat_map(|words| bytemuck::cast_slice::<u32, u8>(words)[..bytes].to_vec()).collect())
            };
            let calls: Vec<u32> = bytemuck::pod_collect_to_vec(&read(3, 1, 4)?);
            if let Some(position) = calls.iter().position(|calls| *calls != 1) {
                return Err(format!("the visitor was called {} times for position {position}", calls[position]));
            }
            if self.request.key_output == KeyOutput::Sorted {
                found_keys = Some(read(1, key_words, key_size)?);
            }
            if size > 0 {
                found_values = Some(read(2, size.div_ceil(4), size)?);
            }
        } else {
            let take = |part: Option<Part>, size: usize| part.map(|part| after[part.start..][..sorted * size].to_vec());
            (found_keys, found_values) = (take(keys_out, key_size), take(values_out, size));
        }
        if !self.request.stable {
            let ties = oracle::ties(&self.request, &expected_keys);
            let sizes =
                (if found_keys.is_some() { key_size } else { 0 }, if found_values.is_some() { size } else { 0 });
            oracle::settle(&ties, sizes, &mut expected_keys, &mut expected_values);
            let (mut none, mut neither) = (Vec::new(), Vec::new());
            let (keys, values) =
                (found_keys.as_mut().unwrap_or(&mut none), found_values.as_mut().unwrap_or(&mut neither));
            oracle::settle(&ties, sizes, keys, values);
        }
        let results =
            [("keys", key_size, &found_keys, &expected_keys), ("values", size, &found_values, &expected_values)];
        for (what, size, found, expected) in results {
            if let Some(found) = found
                && let Some(difference) = oracle::difference(what, size, found, expected)
            {
                return Err(difference);
            }
        }
        // Everything but the results and the scratch must be as it was.
        let written =
            [(keys_out, sorted * key_size), (values_out, sorted * size), (scratch, scratch.map_or(0, |part| part.len))];
        for (part, len) in written {
            if let Some(part) = part {
                after[part.start..][..len].copy_from_slice(&before[part.start..][..len]);
            }
        }
        match oracle::difference("bytes outside the sort's ranges", 1, &after, &before) {
            Some(difference) => Err(difference),
            None => Ok(()),
        }
    }

    /// The first words of scratch as the last sort has left them: the counters.
    pub fn counters(&self) -> Vec<u32> {
        let part = self.parts[4].expect("the sort has scratch");
        let mut words = vec![0u32; (part.len / 4).min(abi::COUNTERS_HISTOGRAM as usize)];
        self.buffer.read(part.start as u64, &mut words).unwrap();
        words
    }
}

/// The buffers that a visitor replaces, for names of trials.
pub fn parts(visits: Visits) -> String {
    let parts = [(visits.keys, "keys"), (visits.values, "values"), (visits.output, "output")];
    let parts: Vec<&str> = parts.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
    parts.join("+")
}

/// Small blocks, so that few elements make many tiles.
pub fn small() -> SorterOptions {
    SorterOptions::default().tuning(suite::small_blocks())
}

/// Sorts by some counts and patterns, each on the host's and on the device's count.
pub fn run_visitor(request: SortRequest, visitor: &Visitor, options: &SorterOptions, tiles: u32) -> Result<(), Failed> {
    let most = |shape: &vksort::__private::Shape| match request.algorithm {
        Some(Algorithm::SingleWorkgroup) => shape.single.elements(),
        _ => shape.tile.elements().max(shape.single.elements()) * tiles + 3,
    };
    let arena = VisitedArena::new(&gpu(), &request, options, visitor, |sorter| most(sorter.shape()))?;
    let block = arena.sorter.shape().tile.elements();
    let capacity = most(arena.sorter.shape());
    let size = request.key.size_bytes() as usize;
    let patterns = [
        (Pattern::Uniform, capacity),
        (Pattern::FewDistinct, capacity - 1),
        (Pattern::OneDigit(1), capacity),
        (Pattern::ConstantDigit(0), 2 * block + 1),
        (Pattern::AllEqual, block + 1),
        (Pattern::Special, block),
        (Pattern::Uniform, 1),
    ];
    for (index, (pattern, count)) in patterns.into_iter().enumerate() {
        let count = count.min(capacity);
        let mask = 0x5EED_0000 ^ index as u32;
        let case = |counted: &str, what: String| {
            let (name, visits) = (suite::name(&request), parts(visitor.visits()));
            Failed::from(format!("{name} {visits} {pattern:?} {count}{counted}, VKSORT_SEED={}: {what}", seed()))
        };
        let keys = generate(pattern, request.key, capacity as usize, seed());
        arena.check(&keys[..count as usize * size], Count::Host, mask).map_err(|what| case("", what))?;
        let counted = if index == 0 { u32::MAX } else { count };
        arena.check(&keys, Count::Device(counted), mask).map_err(|what| case(" on the device", what))?;
    }
    arena.check(&[], Count::Host, 0)?;
    assert_valid(&gpu());
    Ok(())
}
