//! Sorts of segments on the simulated device, and of their first elements: every layout, counts from both sides, and words that break
//! the rules, of which only the ranges that they name may change.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use vksort::__private::abi;
use vksort::__private::kernels::{Kernel, Module};
use vksort::__private::steps::{self, Groups, HostStep, Memory as Buffer, ScratchRange};
use vksort::__private::{Shape, ShapeDesc};
use vksort::{
    Algorithm, Capacity, Count, DeviceProfile, IndexFrom, KeyOutput, KeyType, Order, Placement, RankMethod, Segments,
    SortRequest, SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::drawn::{Keys, keys, requests, run_draws};
use vksort_testing::patterns::Pattern;
use vksort_testing::segmented::Case;

use super::dispatch::{self, Device};
use super::invocation::descriptor;
use super::memory::{BASE, Memory};
use super::program::Program;
use super::sort::program;
use super::{device_of, small_blocks};

const GUARD: u32 = 256;
const GUARD_BYTE: u8 = 0xA7;

/// Elements of a block at least, if longer segments are divided.
const LEAST_BLOCK: u32 = 48;

/// The number of the layout of the whole array.
const WHOLE: u32 = 4;

/// All that a sort depends on.
#[derive(Clone, Debug)]
pub struct Draw {
    sort: SortRequest,
    layout: u32,
    stride: u32,
    from_segment: bool,
    promised: bool,
    /// The first elements, as a share of the block, so that rows are above it or not.
    top: Option<f64>,
    decide_apart: bool,
    keys: Keys,
    /// Lengths of segments, and holes before them.
    lengths: Vec<(u32, u32)>,
    /// Words that break the rules instead.
    hostile: Option<Vec<u32>>,
    /// The number of segments on the device, if it comes from there, in percent of the capacity.
    counted: Option<u32>,
    lanes: u32,
    subgroups: u32,
    items: u32,
    network_longest: u32,
    rank: RankMethod,
    emulated: Option<u32>,
    addressed: bool,
    small_storage: bool,
    /// Of a dispatch in one dimension.
    max_workgroups: u32,
    resident: usize,
    shuffles: bool,
    shows: usize,
    seed: u64,
}

fn draws() -> impl Strategy<Value = Draw> {
    let segments = (
        (0..5u32, prop_oneof![1..30u32, 30..200u32], any::<bool>(), prop::bool::weighted(0.3)),
        (prop::option::weighted(0.4, 0.0..1.0f64), prop::bool::weighted(0.3)),
        prop_oneof![
            3 => prop::collection::vec((0..12u32, prop_oneof![4 => Just(0u32), 1 => 0..9u32]), 0..60),
            2 => prop::collection::vec((0..90u32, prop_oneof![4 => Just(0u32), 1 => 0..40u32]), 0..12),
            1 => prop::collection::vec((prop_oneof![0..150u32, 100..300u32], prop_oneof![4 => Just(0u32), 1 => 0..40u32]), 0..3),
        ],
        prop::option::weighted(
            0.2,
            prop::collection::vec(prop_oneof![2 => 0..40u32, 2 => 0..500u32, 1 => any::<u32>()], 121),
        ),
        prop::option::weighted(0.4, 0..150u32),
    );
    let device = (
        prop::sample::select(&[4u32, 8, 16, 32, 64, 128]),
        1..4u32,
        1..9u32,
        prop::sample::select(&[1u32, 8, 32, 128]),
        prop::sample::select(RankMethod::ALL),
        prop::option::weighted(0.15, prop::sample::select(&[4u32, 16, 32, 128])),
        (prop::bool::weighted(0.2), any::<bool>(), prop::sample::select(&[3u32, 65535])),
    );
    let run =
        (prop::sample::select(&[1usize, 2, 3, 8]), any::<bool>(), prop::sample::select(&[0usize, 4, 64]), any::<u64>());
    (requests(), keys(600), segments, device, run).prop_map(|(sort, keys, segments, device, run)| {
        let ((layout, stride, from_segment, promised), (top, decide_apart), lengths, hostile, counted) = segments;
        let (lanes, subgroups, items, network_longest, rank, emulated, access) = device;
        let (addressed, small_storage, max_workgroups) = access;
        let (resident, shuffles, shows, seed) = run;
        // Each long row has thousands of bins.
        let most = if top.is_some() && layout > 1 { 6 } else { usize::MAX };
        let lengths = lengths.into_iter().take(most).collect();
        Draw {
            sort: sort.algorithm(None),
            layout,
            stride,
            from_segment,
            promised,
            top: if layout == WHOLE { top.or(Some(0.5)) } else { top },
            decide_apart,
            keys,
            lengths,
            hostile,
            counted,
            lanes,
            subgroups,
            items,
            network_longest,
            rank,
            emulated,
            addressed: addressed && emulated.is_none(),
            small_storage,
            max_workgroups,
            resident,
            shuffles,
            shows,
            seed,
        }
    })
}

impl Draw {
    /// Segments of every kind in a few windows, sorted in place: the ways of a run differ by the seed.
    pub fn mixed(key: KeyType, rank: RankMethod, network_longest: u32, emulated: Option<u32>, seed: u64) -> Draw {
        let turn = seed as usize;
        // Short segments alone, and then some that are longer than a quarter of a block of 16 x 6.
        let short = (0..18).map(|index| (index % 5, 0));
        let longer = [30, 12, 1, 25, 2, 40, 5, 13, 13, 13].map(|length| (length, 0));
        Draw {
            sort: SortRequest::new(key)
                // Values have a barrier of their own, beside which that at the end of a part is not missed.
                .value(if key == KeyType::U64 || network_longest > 0 { ValueType::None } else { ValueType::U32 }),
            layout: 1,
            stride: 1,
            from_segment: false,
            promised: true,
            top: None,
            decide_apart: false,
            // The last pass of wide keys has nothing to do.
            keys: Keys::Made { pattern: Pattern::ConstantDigit(7), count: 500, seed },
            lengths: short.chain(longer).collect(),
            hostile: None,
            counted: None,
            lanes: 4,
            subgroups: 4,
            items: 6,
            network_longest,
            rank,
            emulated,
            addressed: false,
            small_storage: true,
            max_workgroups: 65535,
            resident: [2, 8][turn % 2],
            shuffles: true,
            shows: [0, 0, 4][turn % 3],
            seed,
        }
    }

    /// The same with segments beyond a block, of one tile and of several, which two rounds divide.
    pub fn divided(rank: RankMethod, seed: u64) -> Draw {
        let draw = Draw::mixed(KeyType::U32, rank, 0, None, seed);
        let keys = Keys::Made { pattern: Pattern::Uniform, count: 500, seed };
        let lengths = [60, 5, 250, 3].map(|length| (length, 0)).to_vec();
        Draw { sort: draw.sort.bits(0..16), promised: false, keys, lengths, items: 3, ..draw }
    }

    /// The same of which the first elements are wanted: rows of one tile and of several, which two levels narrow.
    pub fn listed(rank: RankMethod, seed: u64) -> Draw {
        let draw = Draw::divided(rank, seed);
        // Where a block is wanted, there is no room for a digit that is not exactly that of the last one.
        let (top, pattern) = [(0.1, Pattern::FewDistinct), (1.0, Pattern::Uniform)][seed as usize % 2];
        let keys = Keys::Made { pattern, count: 500, seed };
        Draw { top: Some(top), keys, network_longest: [0, 8][seed as usize / 2 % 2], ..draw }
    }

    fn sweeps_rows(&self) -> bool {
        self.seed.is_multiple_of(2)
    }

    fn request(&self) -> SortRequest {
        let stride = self.stride;
        let layouts = [
            Segments::Offsets,
            Segments::Ranges,
            Segments::Rows { stride },
            Segments::RowsOf { stride },
            Segments::Whole,
        ];
        let placement = if self.top.is_some() { Placement::OutOfPlace } else { self.sort.placement };
        // Swept rows may have equal keys in another order, if that is allowed; other segments never have.
        let stable = self.sort.stable || self.sweeps_rows();
        let request = self.sort.placement(placement).segments(layouts[self.layout as usize]).stable(stable);
        let from_segment = self.from_segment && self.sort.value == ValueType::Index;
        let request = request.indices_from(if from_segment { IndexFrom::Segment } else { IndexFrom::Array });
        let most = match layouts[self.layout as usize] {
            Segments::Rows { stride } => stride,
            _ => self.lengths.iter().map(|(length, _)| *length).max().unwrap_or(0).max(1),
        };
        if self.promised { request.up_to(most) } else { request }
    }

    /// The words of the segments, and elements up to the last of them.
    fn words(&self) -> (Vec<u32>, u32) {
        let count = self.lengths.len() as u32;
        let sums = |holes: bool| {
            self.lengths.iter().scan(3, move |at, (length, hole)| {
                let begin = *at + if holes { *hole } else { 0 };
                *at = begin + length;
                Some((begin, *at))
            })
        };
        let end = |holes: bool| sums(holes).last().map_or(3, |(_, end)| end);
        match self.layout {
            0 => (std::iter::once(3).chain(sums(false).map(|(_, end)| end)).collect(), end(false)),
            1 => (sums(true).flat_map(|(begin, end)| [begin, end]).collect(), end(true)),
            2 => (Vec::new(), count * self.stride),
            WHOLE => (Vec::new(), end(false)),
            _ => (self.lengths.iter().map(|(length, _)| *length).collect(), count * self.stride),
        }
    }
}

/// A range in bytes.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    size: u32,
}

fn run(draw: &Draw) -> Result<(), String> {
    if draw.seed.is_multiple_of(4) {
        simulate(draw, None, true).map_err(|reason| format!("warming up: {reason}"))?;
    }
    simulate(draw, None, false).map(|_| ())
}

/// The modules and programs of a sort's steps, each once.
pub type Programs = Vec<(Module, Arc<Program>)>;

/// Runs a sort, or what warms its kernels up, perhaps with another program instead of one of its own, and compares all memory; gives the
/// programs that ran.
pub fn simulate(draw: &Draw, changed: Option<[&Arc<Program>; 2]>, idle: bool) -> Result<Programs, String> {
    let mut ran = Programs::new();
    let mut request = draw.request();
    let profile = DeviceProfile { max_workgroups: draw.max_workgroups, ..device_of(draw.lanes, draw.small_storage) };
    // Longer segments have windows by the hundred, most of them of a few empty children, if blocks are small.
    let splits = !draw.promised && draw.top.is_none();
    let least = if splits { LEAST_BLOCK.div_ceil(draw.subgroups * draw.lanes) } else { 1 };
    let tuning = Tuning {
        workgroup_size: draw.subgroups * draw.lanes,
        segment_items: draw.items.max(least),
        single_items: draw.items,
        // Long rows have several tiles.
        histogram_items: if draw.top.is_some() { 1 } else { 8 },
        network_longest: draw.network_longest,
        rank: draw.rank,
        sweeps_rows: draw.sweeps_rows(),
        ..small_blocks(draw.lanes)
    };
    let mut desc = ShapeDesc {
        subgroup: draw.emulated.map_or(SubgroupChoice::Auto, SubgroupChoice::Emulated),
        addressed: draw.addressed,
        ..ShapeDesc::new(&profile, &tuning, &draw.sort, Algorithm::OneSweep)
    };
    desc.quirks.decide_apart = draw.decide_apart;
    if let Some(share) = draw.top {
        let least = request.top(1);
        let block = match Shape::fit(&ShapeDesc { request: &least, ..desc }) {
            Ok(shape) => shape.windows.expect("there are windows").block.elements(),
            Err(_) => return Ok(ran),
        };
        request = request.top(1 + (share * f64::from(block - 1)) as u32);
    }
    let desc = ShapeDesc { request: &request, ..desc };
    let (mut words, elements) = draw.words();
    let segments = if draw.layout == WHOLE { 1 } else { draw.lengths.len() as u32 };
    if let Some(hostile) = &draw.hostile {
        let count = words.len();
        words.copy_from_slice(&hostile[..count]);
    }
    // As many keys as the segments have, and a few more, of which some are drawn again.
    let drawn = draw.keys.bytes(draw.sort.key);
    let wanted = (elements + 5) as usize * draw.sort.key.size_bytes() as usize;
    let keys: Vec<u8> =
        if drawn.is_empty() { vec![7; wanted] } else { drawn.into_iter().cycle().take(wanted).collect() };
    let capacity = elements + 5;
    let most = if draw.layout == WHOLE { elements } else { segments };
    let counted = if idle { Some(0) } else { draw.counted.map(|percent| most * percent / 100) };
    let count = if counted.is_some() { Count::Device } else { Count::Host(most) };
    let host = match steps::of_segments(&desc, capacity, segments, (!idle).then_some(count)) {
        Ok(host) => host,
        // The block is too small for what the request promises.
        Err(vksort::Error::Unsupported { .. } | vksort::Error::UnsuitableDevice { .. }) => return Ok(ran),
        Err(error) => return Err(error.to_string()),
    };
    let windows = host.shape.windows.expect("there are windows");
    let case = Case::new(request, windows.block.elements(), words, most, keys);
    // Of long rows the first elements are found, whatever is promised.
    let any = windows.survivors.is_some() || windows.rounds > 0 || windows.sweeps;
    let longest = if any { u32::MAX } else { case.longest };
    let case = Case { counted, longest, segment_capacity: segments, ..case };

    // Every range between guards.
    let sizes = request.buffer_sizes(Capacity::new(capacity).segments(segments));
    let mut before: Vec<u8> = Vec::new();
    let mut part = |content: &[u8], size: u64| {
        let first = before.len() as u32 + GUARD;
        before.resize(first as usize, GUARD_BYTE);
        before.extend_from_slice(content);
        before.resize(first as usize + size as usize, GUARD_BYTE);
        let size = before.len() as u32 - first;
        before.resize(before.len().next_multiple_of(GUARD as usize) + GUARD as usize, GUARD_BYTE);
        Range { first, size }
    };
    let keys_range = part(&case.keys, sizes.keys.expect("there are keys"));
    let values_in = sizes.values.map(|size| part(&case.values(), size));
    let [keys_out, values_out] = [sizes.keys_out, sizes.values_out].map(|size| size.map(|size| part(&[], size)));
    let words_range = part(bytemuck::cast_slice(&case.words), 4 * case.words.len() as u64);
    let count_range = part(&counted.unwrap_or(0).to_le_bytes(), 4);
    let scratch = part(&[], host.scratch_bytes);
    let of_scratch =
        |range: ScratchRange| Range { first: scratch.first + range.offset as u32, size: range.size as u32 };
    let (counters, table) = (of_scratch(host.counters), of_scratch(host.table));

    let mut rng = fastrand::Rng::with_seed(draw.seed);
    let mut memory = Memory::new(&before, rng.fork());
    memory.may_race = draw.hostile.is_some();
    // Children are sorted in place, whatever the placement.
    let in_place_at_last = request.placement == Placement::InPlace || windows.rounds > 0;
    let may_collide = memory.may_race && draw.rank == RankMethod::Private && in_place_at_last;
    let ranges = [Some(keys_range), values_in, keys_out, values_out];
    // Of elements that two segments have, one may be read from where none was moved to.
    memory.forget(
        scratch.first,
        if draw.hostile.is_some() { table.first + table.size - scratch.first } else { scratch.size },
    );
    memory.counters = [counters, table, count_range].map(|range| (range.first, range.size)).to_vec();
    let alternate =
        Range { first: table.first + table.size, size: scratch.first + scratch.size - table.first - table.size };
    memory.ranges =
        ranges.into_iter().chain([Some(alternate)]).flatten().map(|range| (range.first, range.size)).collect();
    // What is in no segment may hold nothing, and is read only if words break the rules.
    let in_segments: Vec<_> = (0..case.count()).map(|segment| case.range(segment)).collect();
    for (range, size) in [(Some(keys_range), draw.sort.key.size_bytes()), (values_in, draw.sort.value.size_bytes())] {
        let Some(Range { first, .. }) = range else { continue };
        // Whole words of which no segment has a byte.
        for word in 0..u64::from(capacity) * size / 4 {
            let held = |range: &std::ops::Range<u32>| {
                !range.is_empty()
                    && u64::from(range.start) * size < 4 * word + 4
                    && 4 * word < u64::from(range.end) * size
            };
            if draw.hostile.is_none() && !in_segments.iter().any(held) {
                memory.forget(first + 4 * word as u32, 4);
            }
        }
    }
    for step in &host.steps {
        let dispatch = match step {
            HostStep::Clear { bytes } => {
                memory.clear(counters.first, *bytes as u32);
                continue;
            }
            HostStep::Dispatch(dispatch) => dispatch,
        };
        let resolve = |buffer: Option<Buffer>| match buffer? {
            Buffer::Keys => Some(keys_range),
            Buffer::Values => values_in,
            Buffer::KeysOut => keys_out,
            Buffer::ValuesOut => values_out,
            Buffer::Scratch(range) => Some(of_scratch(range)),
        };
        let ([keys_from, keys_to], [values_from, values_to]) =
            (dispatch.places.keys.map(resolve), dispatch.places.values.map(resolve));
        let bound = [
            (abi::BINDING_KEYS_FROM, keys_from),
            (abi::BINDING_KEYS_TO, keys_to),
            (abi::BINDING_VALUES_FROM, values_from),
            (abi::BINDING_VALUES_TO, values_to),
        ];
        let others = [
            (abi::BINDING_COUNT, counted.map(|_| count_range)),
            (abi::BINDING_SEGMENTS, (words_range.size > 0).then_some(words_range)),
            (abi::BINDING_COUNTERS, (counters.size > 0).then_some(counters)),
            (abi::BINDING_TABLE, (table.size > 0).then_some(table)),
        ];
        let bound = bound.iter().filter(|_| !dispatch.module.addressed).chain(&others);
        memory.descriptors = bound
            .filter_map(|(binding, range)| range.map(|range| (descriptor(*binding, 0), (range.first, range.size))))
            .collect::<HashMap<_, _>>();
        let address = |range: Option<Range>| range.map_or(0, |range| BASE + u64::from(range.first));
        let push = abi::Push {
            count_word: u32::from(counted.is_some()),
            addresses: [keys_from, keys_to, values_from, values_to].map(address),
            ..dispatch.push
        };
        let size = match dispatch.groups {
            Groups::Direct(groups) => [groups, 1, 1],
            Groups::Counted(slot) => {
                let first = counters.first + 4 * (abi::COUNTERS_ARGUMENTS + slot * abi::ARGUMENT_WORDS);
                [0, 4, 8].map(|offset| memory.word(first + offset))
            }
        };
        let device = Device {
            lanes: dispatch.subgroup_size.unwrap_or(draw.lanes),
            resident: draw.resident,
            shuffles: draw.shuffles,
            shows: draw.shows,
            late: None,
        };
        let words = &push.words(None)[..abi::Push::WORDS];
        let own = program(dispatch);
        memory.may_collide = may_collide && dispatch.module.kernel == Kernel::Segments;
        let program = changed.filter(|[of, _]| Arc::ptr_eq(of, &own)).map_or(&own, |[_, other]| other);
        dispatch::run(program, &device, size, &mut memory, words, &mut rng)
            .map_err(|reason| format!("{}: {reason}", dispatch.name))?;
        if !ran.iter().any(|(_, other)| Arc::ptr_eq(other, &own)) {
            ran.push((dispatch.module, own));
        }
    }

    let after = memory.bytes();
    let in_place = request.placement == Placement::InPlace;
    let keys_to = keys_out.or(in_place.then_some(keys_range));
    let values_to = values_out.or(values_in);
    let bytes =
        |range: Option<Range>| range.map_or(0..0, |range| range.first as usize..(range.first + range.size) as usize);
    let (keys_to, values_to) = (bytes(keys_to), bytes(values_to));
    if in_place && request.key_output == KeyOutput::Discarded {
        case.leave_keys(&mut before[keys_to.clone()], &after[keys_to.clone()]);
    }
    if draw.hostile.is_none() || draw.layout >= 2 {
        let (keys, values) = case.expected(before[keys_to.clone()].to_vec(), before[values_to.clone()].to_vec());
        before[keys_to].copy_from_slice(&keys);
        before[values_to].copy_from_slice(&values);
    } else {
        for range in case.written() {
            for (to, size) in [(&keys_to, draw.sort.key.size_bytes()), (&values_to, draw.sort.value.size_bytes())] {
                if !to.is_empty() {
                    let [start, end] = [range.start, range.end].map(|at| to.start + at * size as usize);
                    before[start..end].copy_from_slice(&after[start..end]);
                }
            }
        }
    }
    let scratch = scratch.first as usize..(scratch.first + scratch.size) as usize;
    before[scratch.clone()].copy_from_slice(&after[scratch]);
    match after.iter().zip(&before).position(|(after, before)| after != before) {
        Some(byte) => Err(format!("byte {byte} is {:#x} instead of {:#x}, {request}", after[byte], before[byte])),
        None => Ok(ran),
    }
}

#[test]
fn segments_of_any_kind_are_sorted_by_themselves() {
    run_draws("tests/regressions/segments.txt", draws, run);
}

/// A parent of many tiles, with every width of keys, and windows of bits at odd places or of none.
#[test]
fn long_segments_are_sorted_by_any_bits() {
    const VALUES: [ValueType; 5] =
        [ValueType::None, ValueType::Index, ValueType::Bytes(2), ValueType::Bytes(12), ValueType::U32];
    const SHAPES: [(u32, u32); 7] = [(4, 1), (4, 3), (4, 16), (8, 1), (16, 1), (32, 2), (128, 1)];
    let from = vksort_testing::seed();
    for turn in 0..10u64 {
        let seed = from.wrapping_add(turn);
        let mut random = fastrand::Rng::with_seed(seed);
        let key = [KeyType::U8, KeyType::F16, KeyType::U32, KeyType::I64, KeyType::U128][turn as usize % 5];
        let n = key.bits();
        let bits = [n..n, 0..0, 0..n, 3..n, 0..n - 3, n / 2 - 3..n / 2 + 4, n - 1..n];
        // In each run wide keys by no bits at their top.
        let which = if turn < 5 { 0 } else { random.usize(0..bits.len()) };
        let value = VALUES[random.usize(0..VALUES.len())];
        let rank = RankMethod::ALL[random.usize(0..RankMethod::ALL.len())];
        let (lanes, subgroups) = SHAPES[random.usize(0..SHAPES.len())];
        let draw = Draw {
            sort: SortRequest::new(key)
                .value(value)
                .bits(bits[which].clone())
                .order([Order::Ascending, Order::Descending][random.usize(0..2)])
                .placement([Placement::InPlace, Placement::OutOfPlace][random.usize(0..2)]),
            promised: false,
            from_segment: random.bool(),
            layout: random.u32(0..2),
            keys: Keys::Made { pattern: Pattern::Uniform, count: 1900, seed },
            lengths: [1700, 5, 0, 120, 3].map(|length| (length, random.u32(0..4))).to_vec(),
            lanes,
            subgroups,
            items: random.u32(1..5),
            emulated: [None, None, Some(4), Some(32)][random.usize(0..4)],
            small_storage: random.bool(),
            ..Draw::mixed(key, rank, [0, 8, 32][random.usize(0..3)], None, seed)
        };
        run(&draw).unwrap_or_else(|error| panic!("VKSORT_SEED={seed}: {error}\n{draw:?}"));
    }
}

/// Rows of one tile and of several, each sorted by passes of its own, with counts below and above that of the rows.
#[test]
fn rows_beyond_a_block_are_swept_by_themselves() {
    const RANKS: [RankMethod; 3] = [RankMethod::Ballot, RankMethod::Match, RankMethod::Compare];
    const SHAPES: [(u32, u32); 6] = [(4, 1), (4, 4), (8, 2), (16, 1), (32, 1), (128, 1)];
    let from = vksort_testing::seed();
    let mut swept = 0;
    for turn in 0..30u64 {
        // An even seed sweeps.
        let seed = 2 * from.wrapping_add(turn);
        let mut random = fastrand::Rng::with_seed(seed);
        let key = [KeyType::U8, KeyType::I16, KeyType::F32, KeyType::U64, KeyType::U128][turn as usize % 5];
        let value = [ValueType::None, ValueType::Index, ValueType::Bytes(2), ValueType::Bytes(12)][random.usize(0..4)];
        let rank = RANKS[random.usize(0..RANKS.len())];
        let (lanes, subgroups) = SHAPES[random.usize(0..SHAPES.len())];
        let items = random.u32(1..5);
        let block = (lanes * subgroups * items).max(LEAST_BLOCK + lanes * subgroups);
        let stride = block + 1 + random.u32(0..3 * block);
        let pattern = [Pattern::Uniform, Pattern::FewDistinct, Pattern::Sorted, Pattern::ConstantDigit(0)];
        let draw = Draw {
            sort: SortRequest::new(key)
                .value(value)
                .order([Order::Ascending, Order::Descending][random.usize(0..2)])
                .placement([Placement::InPlace, Placement::OutOfPlace][random.usize(0..2)]),
            layout: 2,
            stride,
            promised: false,
            from_segment: random.bool(),
            decide_apart: random.bool(),
            counted: [None, Some(0), Some(60), Some(200)][random.usize(0..4)],
            keys: Keys::Made { pattern: pattern[random.usize(0..4)], count: 4 * stride, seed },
            lengths: vec![(0, 0); 1 + random.usize(0..4)],
            lanes,
            subgroups,
            items,
            emulated: [None, None, Some(4), Some(32)][random.usize(0..4)],
            small_storage: random.bool(),
            max_workgroups: [3, 65535][random.usize(0..2)],
            ..Draw::mixed(key, rank, 0, None, seed)
        };
        let ran = simulate(&draw, None, false).unwrap_or_else(|error| panic!("VKSORT_SEED={from}: {error}\n{draw:?}"));
        swept += u32::from(ran.iter().any(|(module, _)| module.kernel == Kernel::OneSweep));
    }
    assert!(swept > 8, "{swept} of 30 sorts swept rows");
}

/// Segments overlap: of one that is listed again and again there is no room for all, and two are in different places, so that the
/// elements of one change between being counted and being moved.
#[test]
fn overlapping_segments_stay_within_their_bounds() {
    let (capacity, shared) = (600u32, 200u32);
    // The last keys have their top digit in common, and most of them the highest of the second digit.
    let key = |at: u32, hash: u32| {
        if at < capacity - shared { hash >> 2 } else { 0xFF00_0000 | hash >> 31 << 16 | 0xFE_0000 | hash & 7 }
    };
    for seed in 0..24u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let keys = (0..capacity).map(|at| key(at, random.u32(..)).into()).collect();
        let again = seed % 2 == 0;
        let words = if again { [0, u32::MAX].repeat(7) } else { vec![0, u32::MAX, capacity - shared, capacity] };
        let segments = words.len() as u32 / 2;
        // As many elements as the capacity has, but for those that are never listed.
        let mut lengths = vec![(0, 0); segments as usize];
        lengths[0] = (capacity - 8, 0);
        let rank = [RankMethod::Ballot, RankMethod::Private][seed as usize / 2 % 2];
        let placement = [Placement::InPlace, Placement::OutOfPlace][seed as usize / 4 % 2];
        let draw = Draw {
            sort: SortRequest::new(KeyType::U32).value(ValueType::U32).placement(placement),
            promised: false,
            keys: Keys::Drawn(keys),
            lengths,
            hostile: Some(words),
            max_workgroups: 3,
            resident: 8,
            ..Draw::mixed(KeyType::U32, rank, 0, None, seed)
        };
        run(&draw).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}
