//! Sorts by leading digits: that each way through them is taken by the keys it is for, as the counters tell, and sorts them.

mod common;

use common::phases::{self, Counters};
use common::suite;
use common::{Level, gpu, level, seed};
use fastrand::Rng;
use libtest_mimic::{Failed, Trial};
use vksort::internals::abi;
use vksort::{
    Algorithm, Faults, KeyOutput, KeyType, Order, Placement, SortRequest, SorterOptions, SubgroupChoice, Tuning,
    ValueType,
};

/// Which way a sort went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Passes over all digits that are not the same in all keys, and nothing else.
    Plain,
    /// So many passes over leading digits, in place one more if they are odd, and ties mended if there are any.
    Mended(u32),
    /// As many passes, which left too many ties; then passes over all digits.
    Fallback(u32),
}

impl Way {
    /// The way that the counters of a sort of `count` keys tell of.
    fn taken(counters: &Counters, count: u32) -> Result<Way, String> {
        let [looks, mends, fallback] = counters.groups();
        let [misfits, runs, inversions] =
            [abi::COUNTERS_LONG_TIES, abi::COUNTERS_RUNS, abi::COUNTERS_INVERSIONS].map(|at| counters.word(at));
        let mended = misfits == 0 && inversions <= count / abi::ELEMENTS_PER_INVERSION && (runs > 0) == (mends > 0);
        match (counters.passes(0), looks > 0, counters.passes(1), fallback > 0) {
            (_, false, 0, false) if mends == 0 => Ok(Way::Plain),
            (leading, true, 0, false) if mended => Ok(Way::Mended(leading)),
            (leading, true, digits, true) if mends == 0 && !mended && digits >= leading => Ok(Way::Fallback(leading)),
            way => Err(format!(
                "counters that do not go together: {way:?}, {runs} runs, {inversions} inversions, {misfits} misfits"
            )),
        }
    }

    /// The way by a placement.
    fn placed(self, placement: Placement) -> Way {
        let even = |rounds: u32| if placement == Placement::InPlace { rounds.next_multiple_of(2) } else { rounds };
        match self {
            Way::Plain => Way::Plain,
            Way::Mended(rounds) => Way::Mended(even(rounds)),
            Way::Fallback(rounds) => Way::Fallback(even(rounds)),
        }
    }
}

/// Keys of 64 bits under a name, with the way that they lead to.
type Pattern = (&'static str, fn(&mut Rng) -> Vec<u64>, Way);

/// So many that three digits of 8 bits tell most apart, and two do not.
const COUNT: u64 = 20_000;
/// The part of a key that leads if four digits do.
const TOP: u64 = 0xFFFF_FFFF << 32;

fn each(mut key: impl FnMut(u64) -> u64) -> Vec<u64> {
    (0..COUNT).map(&mut key).collect()
}

/// Keys among which so many runs of a length share their upper half.
fn with_runs(rng: &mut Rng, runs: usize, length: usize) -> Vec<u64> {
    let mut keys = each(|_| rng.u64(..));
    for run in 0..runs {
        let top = rng.u64(..) & TOP;
        // So few lower halves that some keys are equal.
        keys[run * length..][..length].iter_mut().for_each(|key| *key = top | rng.u64(..) & 0x0101_0101);
    }
    rng.shuffle(&mut keys);
    keys
}

/// Keys of many groups, which share an upper half that is spread in each of its digits, and lower halves of which `mask` leaves
/// some bits.
fn groups(rng: &mut Rng, mask: u64) -> Vec<u64> {
    each(|_| (rng.u64(0..8_000).wrapping_mul(0x9E37_79B9) << 32) | (rng.u64(..) & !TOP & mask))
}

/// A key with the same in its upper four digits, above a lower half.
fn alike(digit: u64, low: u64) -> u64 {
    (digit * 0x0101_0101) << 32 | (low & !TOP)
}

const PATTERNS: &[Pattern] = &[
    ("uniform", |rng| each(|_| rng.u64(..)), Way::Mended(3)),
    ("sorted", |_| each(|index| index * (u64::MAX / COUNT)), Way::Mended(3)),
    ("few", |rng| (0..800).map(|_| rng.u64(..)).collect(), Way::Mended(2)),
    ("one", |_| vec![7], Way::Plain),
    (
        "some-equal",
        |rng| {
            let mut keys = each(|_| rng.u64(..));
            (0..keys.len()).step_by(10).for_each(|at| keys[at] = keys[rng.usize(0..COUNT as usize)]);
            keys
        },
        Way::Mended(3),
    ),
    ("pairs", |rng| with_runs(rng, 1_000, 2), Way::Mended(3)),
    ("longest-runs", |rng| with_runs(rng, 40, abi::MAX_TIES as usize), Way::Mended(3)),
    ("run-too-long", |rng| with_runs(rng, 1, 1 + abi::MAX_TIES as usize), Way::Fallback(3)),
    ("too-many-ties", |rng| with_runs(rng, COUNT as usize / 2, 2), Way::Fallback(3)),
    ("groups", |rng| groups(rng, !0), Way::Fallback(3)),
    ("groups-with-a-constant-digit", |rng| groups(rng, !0xFF00), Way::Fallback(3)),
    // So large that samples give them away.
    ("large-groups", |rng| each(|_| alike(rng.u64(0..256), rng.u64(..))), Way::Plain),
    ("all-equal", |_| each(|_| 0x0123_4567_89AB_CDEF), Way::Plain),
    ("two-values", |rng| each(|_| if rng.bool() { 7 } else { !7 }), Way::Plain),
    // Long runs need no mending where their keys are equal, or were in order from the start.
    ("thousand-values", |rng| each(|_| rng.u64(0..1000).wrapping_mul(0x9E37_79B9_7F4A_7C15)), Way::Mended(3)),
    ("in-order", |rng| each(|index| alike(rng.u64(0..128), index * 0x1001)), Way::Mended(3)),
    (
        "long-run-in-order-but-for-a-key",
        |rng| {
            let mut keys = each(|index| alike(rng.u64(0..128), index * 0x1001));
            keys[COUNT as usize / 2] &= TOP;
            keys
        },
        Way::Fallback(3),
    ),
    ("constant-digit", |rng| each(|_| rng.u64(..) & 0xFFFF_00FF_FFFF_FFFF), Way::Mended(3)),
];

/// With so many digits that are not constant, passes are saved or not.
const FEW_DIGITS: &[Pattern] = &[
    ("five-digits", |rng| each(|_| rng.u64(..) << 24), Way::Mended(3)),
    ("four-digits", |rng| each(|_| rng.u64(..) << 32), Way::Plain),
];

/// The pattern as keys of a request: what leads is at the top, and as different below it.
fn bytes(request: &SortRequest, keys: &[u64]) -> Vec<u8> {
    let key = request.key;
    // What is in order shall be so in the other direction too.
    let flip = if request.order == Order::Descending { !0 } else { 0 };
    let number = |key_bits: u32, top: u64| match key_bits {
        // The lowest digit is always the same.
        128 => u128::from(top) << 64 | u128::from(top.wrapping_mul(0x9E37_79B9_7F4A_7C00)),
        bits => u128::from(top >> (64 - bits)),
    };
    let size = key.size_bytes() as usize;
    keys.iter().flat_map(|top| number(key.bits(), *top ^ flip).to_le_bytes().into_iter().take(size)).collect()
}

/// The seed of keys whose way is known. Some ways follow from a few samples of the keys, which chance may make misleading.
const KNOWN_SEED: u64 = 20_240_917;

/// Sorts keys of each pattern that are always the same, and have to go the expected way; at the full level also keys by the
/// run's seed, which may go any.
fn run(request: &SortRequest, options: &SorterOptions, patterns: &[Pattern]) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    let input = |&(name, keys, way): &Pattern, seed: u64, known: bool| {
        let keys = keys(&mut Rng::with_seed(seed));
        (name, bytes(request, &keys), (known.then(|| way.placed(request.placement)), keys.len() as u32))
    };
    let known = patterns.iter().map(|pattern| input(pattern, KNOWN_SEED, true));
    let fresh = if level() == Level::Full { patterns } else { &[] };
    let inputs = known.chain(fresh.iter().map(|pattern| input(pattern, seed(), false)));
    phases::run(&sorter, inputs, |counters, (way, count)| {
        let taken = Way::taken(counters, count)?;
        match way.is_none_or(|way| taken == way) {
            true => Ok(()),
            false => Err(format!("the way is {taken:?} instead of {way:?}")),
        }
    })
}

fn usual(key: KeyType) -> SortRequest {
    SortRequest { algorithm: Some(Algorithm::Leading), ..SortRequest::new(key) }
}

/// Other keys, and windows of an odd number of digits, from which an index has to come back even if nobody wants its key.
fn others() -> Vec<SortRequest> {
    let (in_place, out_of_place) = (Placement::InPlace, Placement::OutOfPlace);
    let mut others = Vec::new();
    for (key, value, order, placement) in [
        (KeyType::I64, ValueType::None, Order::Ascending, out_of_place),
        (KeyType::F64, ValueType::U32, Order::Ascending, in_place),
        (KeyType::U128, ValueType::None, Order::Ascending, in_place),
        (KeyType::I128, ValueType::Bytes(1), Order::Descending, out_of_place),
    ] {
        others.push(SortRequest { value, order, placement, ..usual(key) });
    }
    for placement in [in_place, out_of_place] {
        for value in [ValueType::None, ValueType::U32, ValueType::Index] {
            others.push(SortRequest { bits: (8..64).into(), value, placement, ..usual(KeyType::U64) });
        }
        for value in [ValueType::U32, ValueType::Index] {
            let odd = SortRequest { bits: (8..64).into(), value, placement, ..usual(KeyType::I64) };
            others.push(SortRequest { key_output: KeyOutput::Discarded, ..odd });
        }
    }
    others
}

/// Narrow keys, by digits of few bits, so that there are enough of them.
const NARROW: &[(KeyType, u32, Pattern)] = &[
    (KeyType::U32, 4, ("uniform", |rng| each(|_| rng.u64(..)), Way::Mended(5))),
    (KeyType::F32, 4, ("few", |rng| (0..800).map(|_| rng.u64(..)).collect(), Way::Mended(4))),
    (KeyType::I32, 2, ("few", |rng| (0..200).map(|_| rng.u64(..)).collect(), Way::Mended(6))),
];

/// Tiles that are small, but not as many as elsewhere, and digits of so many bits.
fn options(digit_bits: u32, faults: Faults, subgroup: SubgroupChoice) -> SorterOptions {
    let tuning = Tuning { digit_bits, items_keys: 16, items_pairs: 16, ..suite::small_blocks() };
    SorterOptions { tuning: Some(tuning), faults, subgroup, ..SorterOptions::default() }
}

fn main() -> std::process::ExitCode {
    let plain = || options(8, Faults::default(), SubgroupChoice::Auto);
    let trial = |prefix: &str, request: SortRequest, options: SorterOptions, patterns: &'static [Pattern]| {
        Trial::test(format!("{prefix}{}", suite::name(&request)), move || run(&request, &options, patterns))
    };
    let mut trials = Vec::new();
    // At the reduced level a third of the requests; the seed says which.
    let step = if level() == Level::Full { 1 } else { 3 };
    let first = seed() as usize % step;
    for request in phases::requests(usual(KeyType::U64)).into_iter().chain(others()).skip(first).step_by(step) {
        trials.push(trial("", request, plain(), PATTERNS));
    }
    let keys = usual(KeyType::U64);
    let pairs = SortRequest { value: ValueType::U32, placement: Placement::OutOfPlace, ..keys };
    trials.push(trial("few-digits/", pairs, plain(), FEW_DIGITS));
    // Silent tiles in both phases, and subgroups as they are on devices without.
    for request in [keys, pairs] {
        let withheld = options(8, Faults { withhold: 3, ..Faults::default() }, SubgroupChoice::Auto);
        trials.push(trial("withheld/", request, withheld, PATTERNS));
        let virtual_32 = options(8, Faults::default(), SubgroupChoice::Emulated(32));
        trials.push(trial("virtual-32/", request, virtual_32, PATTERNS));
        if gpu().profile().buffer_addresses {
            let access = vksort::Access::Addresses;
            trials.push(trial("addresses/", request, SorterOptions { access, ..plain() }, PATTERNS));
        }
    }
    for (index, (key, digit_bits, pattern)) in NARROW.iter().enumerate() {
        for (turn, placement) in [Placement::InPlace, Placement::OutOfPlace].into_iter().enumerate() {
            if level() == Level::Reduced && (index + turn + first).is_multiple_of(2) {
                continue;
            }
            let request = SortRequest { value: ValueType::Bytes(1 << index), placement, ..usual(*key) };
            let options = options(*digit_bits, Faults::default(), SubgroupChoice::Auto);
            trials.push(trial("narrow/", request, options, std::slice::from_ref(pattern)));
        }
    }
    common::run(trials)
}
