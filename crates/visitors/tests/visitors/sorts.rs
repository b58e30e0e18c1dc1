//! Visitors: the caller's code makes keys and values or takes the result, with every algorithm and option.

use std::time::Duration;

use vksort::__private::Faults;
use vksort::__private::abi::COUNTERS_ROUTES;
use vksort::standalone::{DeviceBuffer, SortRanges};
use vksort::{
    Access, Algorithm, DepthKeys, DepthPush, Error, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest,
    SorterOptions, Specialization, SubgroupChoice, Tuning, ValueType, Visitor, Visits,
};
use vksort_testing::arena::Count;
use vksort_testing::routes::Kind;
use vksort_testing::suite::{self, SOME_KEYS};
use vksort_testing::visited::{self, VisitedArena, run_visitor, small};
use vksort_testing::visiting::VisitedSorter;
use vksort_testing::{Failed, Level, Trial, assert_valid, expect, gpu, level, seed};

use vksort_visitors::VisitorSource;

use crate::source::source;

const KEYS: Visits = Visits::NONE.keys(true);
const ELEMENTS: Visits = KEYS.values(true);
const KEYS_AND_OUTPUT: Visits = KEYS.output(true);
const ALL: Visits = ELEMENTS.output(true);
const OUTPUT: Visits = Visits::NONE.output(true);
const VALUES: Visits = Visits::NONE.values(true);

fn out_of_place(request: SortRequest) -> SortRequest {
    request.placement(Placement::OutOfPlace)
}

fn run(request: SortRequest, visits: Visits, options: &SorterOptions, tiles: u32) -> Result<(), Failed> {
    let visitor = Visitor::from(source(visits));
    run_visitor(request, &visitor, options, tiles)
}

/// Every algorithm with keys of each width, with values and without, in both directions.
fn requests() -> Vec<(SortRequest, Visits)> {
    let mut cells = Vec::new();
    for (turn, algorithm) in Algorithm::ALL.iter().copied().enumerate() {
        for (at, key) in SOME_KEYS.into_iter().enumerate() {
            let all = [
                (ValueType::None, KEYS),
                (ValueType::Index, KEYS),
                (ValueType::U32, ELEMENTS),
                (ValueType::None, OUTPUT),
                (ValueType::U32, OUTPUT),
                (ValueType::Index, KEYS_AND_OUTPUT),
                (ValueType::Bytes(12), ALL),
                (ValueType::Bytes(16), VALUES),
            ];
            let count = all.len();
            for (index, (value, visits)) in all.into_iter().enumerate() {
                // Each key type meets each algorithm. The seed chooses the visitor that they meet.
                if index == (2 * at + 3 * turn + seed() as usize) % count {
                    let order = if (at + index) % 2 == 0 { Order::Ascending } else { Order::Descending };
                    let request = SortRequest::new(key).value(value).order(order);
                    cells.push((out_of_place(suite::asking(Some(algorithm), request)), visits));
                }
            }
        }
    }
    cells
}

/// What a request can ask for beside type and algorithm.
fn options() -> Vec<(&'static str, SortRequest, Visits)> {
    let onesweep = |request: SortRequest| out_of_place(suite::asking(Some(Algorithm::OneSweep), request));
    let usual = onesweep(SortRequest::new(KeyType::U32));
    let floats = onesweep(SortRequest::new(KeyType::F32).order(Order::Descending));
    let indices = floats.value(ValueType::Index).key_output(KeyOutput::Discarded);
    let pairs = usual.value(ValueType::U32).key_output(KeyOutput::Discarded);
    let any = |request: SortRequest| request.algorithm(None);
    vec![
        ("window", usual.bits(3..20).value(ValueType::U32), ALL),
        ("window-of-wide-keys", onesweep(SortRequest::new(KeyType::U128)).bits(20..70), KEYS),
        ("empty-window", usual.bits(7..7).value(ValueType::U32), ELEMENTS),
        // No other buffer but the output.
        ("empty-window-of-keys", usual.bits(7..7), KEYS),
        ("single-of-keys", usual.algorithm(Algorithm::SingleWorkgroup), KEYS),
        ("empty-window-output", usual.bits(7..7).value(ValueType::Index), ALL_BUT_VALUES),
        ("one-pass", pairs.bits(0..5), ALL),
        ("two-passes", usual.bits(0..16).value(ValueType::Index), OUTPUT),
        ("three-passes", usual.bits(0..24).value(ValueType::U32), ALL),
        ("discarded", pairs, ELEMENTS),
        ("discarded-output", pairs, ALL),
        ("index-discarded", indices, KEYS),
        ("index-discarded-output", indices, KEYS_AND_OUTPUT),
        ("index-discarded-three-passes", indices.bits(8..32), KEYS_AND_OUTPUT),
        ("unstable", usual.stable(false).value(ValueType::U32), ALL),
        ("small-values", usual.value(ValueType::Bytes(2)), ALL),
        ("smallest-values", onesweep(SortRequest::new(KeyType::I16)).value(ValueType::Bytes(1)), ELEMENTS),
        ("gathered", usual.value(ValueType::Bytes(40)), ELEMENTS),
        ("gathered-without-passes", usual.value(ValueType::Bytes(40)).bits(0..0), ELEMENTS),
        ("gathered-by-key", usual.value(ValueType::Bytes(40)), KEYS),
        ("automatic", any(indices), KEYS),
        ("automatic-output", any(usual.value(ValueType::U32)), ALL),
        ("scanning-discarded-output", suite::asking(Some(Algorithm::ReduceThenScan), indices), KEYS_AND_OUTPUT),
        ("single-discarded-output", suite::asking(Some(Algorithm::SingleWorkgroup), indices), KEYS_AND_OUTPUT),
    ]
}

const ALL_BUT_VALUES: Visits = KEYS_AND_OUTPUT;

/// Ways to reach elements, to rank, and to specialize, which have modules of their own.
const WAYS: [&str; 8] = [
    "emulated",
    "by-ballot",
    "by-match",
    "in-parts",
    "on-host",
    "without-small-storage",
    "decided-apart",
    "by-address",
];

/// The options of a way; `None` where the device does not offer it.
fn way(what: &str) -> Option<SorterOptions> {
    let tuned = |tuning: Tuning| SorterOptions::default().tuning(tuning);
    let ranked = |rank| tuned(Tuning { rank, ..suite::small_blocks() });
    let in_parts = Tuning { staged_items: Some(2), digit_bits: 4, ..suite::small_blocks() };
    let small_faults = Faults { no_small_storage: true, ..Faults::default() };
    Some(match what {
        "emulated" => small().subgroup(SubgroupChoice::Emulated(8)),
        "by-ballot" => ranked(RankMethod::Ballot),
        "by-match" => ranked(RankMethod::Match),
        "in-parts" => tuned(Tuning { rank: RankMethod::Ballot, items_keys: 6, items_pairs: 6, ..in_parts }),
        "on-host" => small().specialization(Specialization::Host),
        "without-small-storage" => small().faults(small_faults),
        "decided-apart" => small().faults(Faults { decide_apart: true, ..Faults::default() }),
        _ if !gpu().profile().buffer_addresses => return None,
        _ => small().access(Access::Addresses),
    })
}

/// Tiles whose count never comes are recounted by the visitor, also on rings that go round.
fn recounted(withhold: u32, ring_bits: Option<u32>) -> Result<(), Failed> {
    let faults = Faults { withhold, ring_bits, ..Faults::default() };
    for (request, visits) in [
        (SortRequest::new(KeyType::U32).value(ValueType::U32), ALL),
        (SortRequest::new(KeyType::F64).value(ValueType::Index), KEYS),
    ] {
        let request = out_of_place(suite::asking(Some(Algorithm::OneSweep), request));
        suite::within(Duration::from_secs(120), "a sort with silent tiles", || {
            run(request, visits, &small().faults(faults), 40)
        })?;
    }
    Ok(())
}

/// A visitor that was compiled beforehand sorts as one that is compiled at run time; other bytes are refused.
fn compiled_beforehand() -> Result<(), Failed> {
    let request = out_of_place(SortRequest::new(KeyType::U32).value(ValueType::U32));
    let bytes = source(ALL).compile(&request)?;
    println!("{} bytes", bytes.len());
    let visitor = Visitor::from_bytes(&bytes)?;
    assert_eq!((visitor.name(), visitor.visits(), visitor.push_bytes()), ("tests.glsl", ALL, 8));
    for algorithm in
        [None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan), Some(Algorithm::SingleWorkgroup)]
    {
        run_visitor(suite::asking(algorithm, request), &visitor, &small(), 3)?;
    }
    for options in ["emulated", "by-ballot", "by-address"].into_iter().filter_map(way) {
        run_visitor(request.order(Order::Descending), &visitor, &options, 3)?;
    }
    let refused = |request: SortRequest| match VisitedSorter::new(&gpu(), &request, &small(), &visitor, 4) {
        Ok(_) => Err(Failed::from("this should have been refused")),
        Err(error) => Ok(error.to_string()),
    };
    assert_eq!(
        refused(request.key_output(KeyOutput::Discarded))?,
        "visitor tests.glsl: it was compiled for another request than u32 keys with values of 4 bytes, ascending, out of place, keys discarded"
    );
    let by = |algorithm| suite::asking(Some(algorithm), request);
    let of_one_algorithm = Visitor::from_bytes(&source(ALL).compile(&by(Algorithm::SingleWorkgroup))?)?;
    match VisitedSorter::new(&gpu(), &by(Algorithm::ReduceThenScan), &small(), &of_one_algorithm, 4) {
        Err(Error::Visitor { reason, .. }) if reason.contains("without the kernel histogram_32") => {}
        other => return Err(format!("a missing kernel gives {:?}", other.err()).into()),
    }
    let reason = |bytes: &[u8]| Visitor::from_bytes(bytes).err().map(|error| error.to_string()).unwrap_or_default();
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(reason(&changed), "visitor from bytes: the bytes are not whole");
    assert_eq!(reason(&bytes[..bytes.len() - 1]), "visitor from bytes: the bytes are not whole");
    assert!(reason(b"something else").contains("no compiled visitor"));
    changed[8] ^= 1;
    assert!(reason(&changed).contains("for kernels of contract 0, needed is 1"), "{}", reason(&changed));
    Ok(())
}

/// Messages of the compiler have the caller's file and line, also in files that it includes and in push constants.
fn errors_have_file_and_line() -> Result<(), Failed> {
    // The fewest modules.
    let request = out_of_place(suite::asking(Some(Algorithm::SingleWorkgroup), SortRequest::new(KeyType::U32)));
    let good = "KEY visit_key(uint index) { return index; }";
    let message = |source: VisitorSource| match source.compile(&request) {
        Ok(_) => "compiles".into(),
        Err(error) => error.to_string(),
    };
    let named = |text: &str| VisitorSource::new("shaders/depth.glsl").text(text).visits(KEYS);
    assert_eq!(
        message(named(
            "// Keys.\n\nKEY visit_key(uint index) {\n    uint key = floatBitsToUint(depth);\n    return key;\n}\n"
        )),
        "visitor shaders/depth.glsl: shaders/depth.glsl:4: error: 'depth' : undeclared identifier"
    );
    let scene = "\nuint visit_scene(uint index) { return indx; }\n";
    let found = message(named(&format!("#include \"scene.glsl\"\n{good}")).include("scene.glsl", scene));
    assert!(
        found.starts_with("visitor shaders/depth.glsl: scene.glsl:2: error: 'indx' : undeclared identifier"),
        "{found}"
    );
    let found = message(named(&format!("\n#include \"absent.glsl\"\n{good}")));
    let missing = "shaders/depth.glsl:2: error: '#include' : \"absent.glsl\" is not among the visitor's includes";
    assert!(found.contains(missing), "{found}");
    let pushed = |members: &str, push_bytes| named(good).push_members(members).push_bytes(push_bytes);
    let found = message(pushed("uint a;\nunit b;", 8));
    assert!(found.contains("shaders/depth.glsl (push constants):2: error: "), "{found}");
    for (members, given, found) in
        [("vec4 a;", 8, 16), ("uint a; vec2 b;", 12, 16), ("", 4, 0), ("mat4 a; uint b;", 72, 68)]
    {
        let expected =
            format!("visitor shaders/depth.glsl: its push constants take {found} bytes, but push_bytes is {given}");
        assert_eq!(message(pushed(members, given)), expected);
    }
    assert_eq!(message(pushed("mat4 a; vec3 b;", 76)), "compiles");
    assert!(message(named("")).contains("visit_key"), "{}", message(named("")));
    // The library's names are taken, which the caller's line is told.
    let found = message(named(&format!("uint push;\n{good}")));
    assert!(found.contains("shaders/depth.glsl:1: error: 'push' : redefinition"), "{found}");
    Ok(())
}

/// The device writes the routes of the twin where a visitor takes the result, whichever digits are constant.
fn routes_are_those_of_the_twin() -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(seed());
    let (count, passes) = (1_500u32, 4);
    for (value, discards_keys) in [(ValueType::None, false), (ValueType::U32, true), (ValueType::Index, true)] {
        let key_output = if discards_keys { KeyOutput::Discarded } else { KeyOutput::Sorted };
        let request = SortRequest::new(KeyType::U32).value(value).key_output(key_output);
        let request = out_of_place(suite::asking(Some(Algorithm::OneSweep), request));
        let tuning = Tuning { digit_bits: 8, ..suite::small_blocks() };
        let options = SorterOptions::default().tuning(tuning);
        let visitor = Visitor::from(source(KEYS_AND_OUTPUT));
        let visitor = if value == ValueType::U32 { Visitor::from(source(ALL)) } else { visitor };
        let arena = VisitedArena::new(&gpu(), &request, &options, &visitor, |_| count)?;
        let (has_values, makes_values) = (value != ValueType::None, value == ValueType::Index);
        let kind = Kind { passes, in_place: false, has_values, makes_values, discards_keys, visits: true };
        for mask in 0..1u32 << passes {
            let needed: Vec<bool> = (0..passes).map(|pass| mask >> pass & 1 == 1).collect();
            let bits = needed.iter().rev().fold(0u32, |bits, needed| bits << 8 | if *needed { 0xFF } else { 0 });
            let keys: Vec<u32> = (0..count).map(|_| rng.u32(..) & bits).collect();
            arena.check(bytemuck::cast_slice(&keys), Count::Host, mask)?;
            let found = &arena.counters()[COUNTERS_ROUTES as usize..][..=passes];
            let expected = kind.routes(&needed);
            if found != expected {
                let what = format!("routes are {found:x?}, those of the twin {expected:x?}");
                return Err(format!("{kind:?} {needed:?}, VKSORT_SEED={}: {what}", seed()).into());
            }
        }
    }
    Ok(())
}

/// What does not go together is refused by name.
fn mistakes() -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::U32);
    let sorter = |request: SortRequest, visits| {
        VisitedSorter::new(&gpu(), &request, &small(), &Visitor::from(source(visits)), 4)
    };
    expect(sorter(request, KEYS), &["placement", "in place", "out of place"])?;
    expect(sorter(out_of_place(request), VALUES), &["value", "None", "makes values"])?;
    let large = out_of_place(request).value(ValueType::Bytes(20));
    expect(sorter(large, OUTPUT), &["value size", "20 bytes", "at most 16 bytes"])?;
    let bare = VisitedSorter::new(&gpu(), &out_of_place(request), &small(), &Visitor::from(source(KEYS)), 0);
    expect(bare, &["visitor tests.glsl", "resources in set 1", "null"])?;
    let greedy = source(KEYS).push_members("uint visitor_words[64];").push_bytes(256);
    if gpu().profile().max_push_bytes < 256 + 52 {
        let refused = VisitedSorter::new(&gpu(), &out_of_place(request), &small(), &Visitor::from(greedy), 4);
        expect(refused, &["maxPushConstantsSize", "300", "256 of them for the visitor"])?;
    }
    let request = out_of_place(request).algorithm(Algorithm::OneSweep);
    let sorter = sorter(request, KEYS)?;
    let sizes = sorter.buffer_sizes(1000);
    assert_eq!((sizes.keys, sizes.values, sizes.keys_out, sizes.values_out), (None, None, Some(4000), None));
    let buffer = gpu().buffer(8192)?;
    let scratch = sorter.scratch_size(1000)?;
    let resources: Vec<_> = (0..4).map(|_| gpu().buffer(4096)).collect::<Result<_, _>>()?;
    let scratch = gpu().buffer(scratch)?.range(0, scratch);
    let good = SortRanges::new(1000).keys_out(buffer.range(0, 4000)).scratch(scratch);
    let with_keys = good.clone().keys(buffer.range(4096, 4000));
    expect(sorter.prepare(&with_keys, &resources), &["buffer keys is present", "absent"])?;
    let sort = sorter.prepare(&good, &resources)?;
    expect(sort.run(10, &[0; 4], 1), &["push constants", "4 bytes", "8 bytes"])?;
    expect(sort.run(1001, &[0; 8], 1), &["1001", "1000"])?;
    assert_valid(&gpu());
    Ok(())
}

/// The visitors that come with the library, on positions packed and padded, against depths computed the same way here.
fn depths(keys: DepthKeys) -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(seed());
    let request = keys.request();
    let count = 20_000u32;
    for (stride, first) in [(3u32, 0u32), (4, 0), (7, 2)] {
        let floats = (first + count * stride) as usize;
        // NaN and infinity are all of a position, so that sums meet them twice.
        let mut positions: Vec<f32> = (0..floats).map(|_| rng.f32() * 200.0 - 100.0).collect();
        for index in (0..count).filter(|index| index % 20 == 7) {
            let odd = [f32::NAN, f32::NAN, f32::INFINITY][rng.usize(..3)];
            for float in &mut positions[(first + index * stride) as usize..][..3] {
                *float = if rng.bool() { odd } else { -odd };
            }
        }
        let row = [rng.f32() - 0.5, rng.f32() - 0.5, rng.f32() - 0.5, rng.f32() * 20.0];
        let levels = match keys {
            DepthKeys::F32 => None,
            DepthKeys::Bits16 => Some(65535.0f32),
            _ => Some(16_777_215.0),
        };
        let (near, far) = (-20.0f32, 60.0f32);
        let (push, row) = match levels {
            None => (DepthPush::new(row, stride, first), row),
            Some(_) => {
                let scale = 1.0 / (far - near);
                let scaled = [row[0] * scale, row[1] * scale, row[2] * scale, (row[3] - near) * scale];
                (DepthPush::quantized(row, near..far, stride, first), scaled)
            }
        };
        let key = |index: u32| -> u32 {
            let at = (first + index * stride) as usize;
            let depth = positions[at] * row[0] + positions[at + 1] * row[1] + positions[at + 2] * row[2] + row[3];
            match levels {
                None if depth.is_nan() => f32::NAN.to_bits(),
                None => depth.to_bits(),
                Some(levels) if depth > 0.0 => (depth.min(1.0) * levels) as u32,
                Some(_) => 0,
            }
        };
        let sortable: Vec<u128> =
            (0..count).map(|index| request.key.sortable(key(index).into(), request.order)).collect();
        let mut expected: Vec<u32> = (0..count).collect();
        expected.sort_by_key(|index| sortable[*index as usize]);

        let sorter = VisitedSorter::new(
            &gpu(),
            &request,
            &SorterOptions::default(),
            &Visitor::from(VisitorSource::depth(keys)),
            1,
        )?;
        let resource = gpu().buffer(4 * floats as u64)?;
        resource.write(0, &positions)?;
        let scratch = sorter.scratch_size(count)?;
        let out = gpu().buffer(4 * u64::from(count))?;
        let scratch = gpu().buffer(scratch)?.range(0, scratch);
        let ranges = SortRanges::new(count).values_out(out.range(0, out.size())).scratch(scratch);
        let sort = sorter.prepare(&ranges, &[resource])?;
        sort.run(count, &push.to_bytes(), 2)?;
        let mut found = vec![0u32; count as usize];
        out.read(0, &mut found)?;
        if let Some(at) = found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            let (found, expected) = (found[at], expected[at]);
            let what = format!("stride {stride}: index {found} at {at} instead of {expected}");
            return Err(format!("{what}, keys {:x} and {:x}, VKSORT_SEED={}", key(found), key(expected), seed()).into());
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Keys that are others in the pass than in the histogram, against the duties of the code. The order is lost; no byte behind the
/// elements is written, and no value outside of the source is read.
fn changing_keys(access: Access, value: ValueType) -> Result<(), Failed> {
    if access == Access::Addresses && !gpu().profile().buffer_addresses {
        return Ok(());
    }
    let text = "
        layout(set = 1, binding = 0) buffer VisitedCalls { uint visited_calls; };
        KEY visit_key(uint index) {
            uint call = atomicAdd(visited_calls, 1u);
            uint hash = (index + 1u) * 0x9E3779B1u ^ call * 0x85EBCA6Bu;
            return call < push.visitor_calls ? push.visitor_first : hash ^ hash >> 13;
        }";
    let members = "uint visitor_calls; uint visitor_first;";
    let source = VisitorSource::new("changing.glsl").text(text).visits(KEYS).push_members(members).push_bytes(8);
    let request = out_of_place(SortRequest::new(KeyType::U32)).value(value).algorithm(Algorithm::OneSweep).bits(0..24);
    let tuning = Tuning { rank: RankMethod::Ballot, digit_bits: 8, ..suite::small_blocks() };
    let options = SorterOptions::default().tuning(tuning).access(access);
    let sorter = VisitedSorter::new(&gpu(), &request, &options, &Visitor::from(source), 1)?;
    let block = sorter.shape().tile.elements();
    let (count, capacity) = (4 * block + block * 3 / 4, 8 * block);
    let size = value.size_bytes();
    let words = |bytes: u64| bytes as usize / 4;
    let filled = |bytes: u64, word: u32| -> Result<DeviceBuffer, Failed> {
        let buffer = gpu().buffer(bytes.max(4))?;
        buffer.write(0, &vec![word; words(bytes)])?;
        Ok(buffer)
    };
    const GUARD: u32 = 0xA7A7_A7A7;
    const GIVEN: u32 = 7;
    let (keys_out, values_out) =
        (filled(8 * u64::from(capacity), GUARD)?, filled(2 * size * u64::from(capacity), GUARD)?);
    let values = filled(size * u64::from(capacity), GIVEN)?;
    let scratch = filled(sorter.scratch_size(capacity)?, 0xC5C5_C5C5)?;
    let calls = filled(4, 0)?;
    let half = |buffer: &DeviceBuffer| buffer.range(0, buffer.size() / 2);
    let ranges = SortRanges::new(capacity)
        .keys_out(half(&keys_out))
        .values(value.is_read().then(|| values.range(0, values.size())))
        .values_out((size > 0).then(|| half(&values_out)))
        .scratch(scratch.range(0, scratch.size()));
    let sort = sorter.prepare(&ranges, std::slice::from_ref(&calls))?;
    for first in [0, u32::MAX] {
        calls.write(0, &[0u32])?;
        sort.run(count, bytemuck::bytes_of(&[count, first]), 1)?;
        for (buffer, size) in [(&keys_out, 4), (&values_out, size)].into_iter().filter(|(_, size)| *size > 0) {
            let mut found = vec![0u32; words(buffer.size())];
            buffer.read(0, &mut found)?;
            let behind = found[words(size * u64::from(count))..].iter();
            let written = behind.filter(|word| **word != GUARD).count();
            assert_eq!(written, 0, "words are written behind {count} elements of {size} bytes");
            if value.is_gathered() && size > 4 {
                let foreign = found.iter().filter(|word| ![GUARD, GIVEN].contains(word)).count();
                assert_eq!(foreign, 0, "{foreign} words of values are not the source's");
            }
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// A visitor of keys compiles for every kernel, also for the one that moves large values and no keys.
fn wide_keys_compile() -> Result<(), Failed> {
    let text = "
        layout(set = 1, binding = 0) readonly buffer VisitedWords { uint visited_words[]; };
        KEY visit_key(uint index) { return uvec2(visited_words[index], index); }";
    let source = VisitorSource::new("wide.glsl").text(text).visits(KEYS);
    for value in [ValueType::U32, ValueType::Bytes(20)] {
        let request = out_of_place(SortRequest::new(KeyType::U64)).value(value);
        source.compile(&request)?;
    }
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (request, visits) in requests() {
        let name = format!("{}/visited-{}", suite::name(&request), visited::parts(visits));
        trials.push(Trial::test(name, move || run(request, visits, &small(), 6)));
    }
    let part = if level() == Level::Full { 1 } else { 3 };
    for (what, request, visits) in options().into_iter().skip(seed() as usize % part).step_by(part) {
        let name = format!("option/{what}/visited-{}", visited::parts(visits));
        trials.push(Trial::test(name, move || run(request, visits, &small(), 6)));
    }
    let (sorted, discarded) = (KeyOutput::Sorted, KeyOutput::Discarded);
    let cells = [
        (KeyType::U32, ValueType::U32, sorted, ALL),
        (KeyType::U16, ValueType::Index, sorted, KEYS),
        (KeyType::F32, ValueType::Index, discarded, KEYS_AND_OUTPUT),
    ];
    for (at, what) in WAYS.into_iter().enumerate() {
        for (index, (key, value, key_output, visits)) in cells.into_iter().enumerate() {
            let algorithm = if (at + index.div_ceil(2)) % 2 == 0 { None } else { Some(Algorithm::ReduceThenScan) };
            if index != 1 || level() == Level::Full {
                let request = SortRequest::new(key).value(value).key_output(key_output).algorithm(algorithm);
                let request = out_of_place(request);
                let name = format!("way/{what}/{}/visited-{}", suite::name(&request), visited::parts(visits));
                trials.push(Trial::test(name, move || match way(what) {
                    Some(options) => run(request, visits, &options, 3),
                    None => {
                        println!("skipped: the device has no buffer addresses");
                        Ok(())
                    }
                }));
            }
        }
    }
    for (name, withhold, ring_bits) in [("all", 1, None), ("every-2nd", 2, Some(2)), ("the-first", u32::MAX, Some(0))] {
        trials.push(Trial::test(format!("recount/silent-{name}"), move || recounted(withhold, ring_bits)));
    }
    for keys in [DepthKeys::F32, DepthKeys::Bits16, DepthKeys::Bits24] {
        trials.push(Trial::test(format!("depth/{keys:?}"), move || depths(keys)));
    }
    for access in [Access::Descriptors, Access::Addresses] {
        for value in [ValueType::None, ValueType::Index, ValueType::U32, ValueType::Bytes(20)] {
            let name = format!("changing-keys/{access:?}-{value:?}");
            trials.push(Trial::test(name, move || changing_keys(access, value)));
        }
    }
    trials.push(Trial::test("wide_keys_compile", wide_keys_compile));
    trials.push(Trial::test("routes_are_those_of_the_twin", routes_are_those_of_the_twin));
    trials.push(Trial::test("compiled_beforehand", compiled_beforehand));
    trials.push(Trial::test("errors_have_file_and_line", errors_have_file_and_line));
    trials.push(Trial::test("mistakes", mistakes));
    trials
}
