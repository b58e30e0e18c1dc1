//! Hybrid sorts: that each way through them is taken by the keys it is for, as the counters tell, and sorts them.

mod common;

use common::phases::{self, Counters};
use common::suite;
use common::{gpu, seed};
use libtest_mimic::{Failed, Trial};
use vksort::internals::abi;
use vksort::{Algorithm, Faults, KeyType, SortRequest, SorterOptions, SubgroupChoice, Tuning};

/// Which way a sort went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Passes over all digits that are not the same in all keys, and nothing else.
    Plain,
    /// So many passes over the top digits, and a finish by buckets.
    Buckets(u32),
    /// The same, but digit by digit in some segments.
    Digits(u32),
    /// One of the two: which one depends on where segments begin.
    Finish(u32),
    /// Passes over the top two digits, which left a run too long for a finish; then passes over all.
    Fallback,
}

impl Way {
    /// The way that the counters of a sort tell of.
    fn taken(counters: &Counters) -> Result<Way, String> {
        let crowded = counters.word(abi::COUNTERS_CROWDED);
        let [bounds, finish, fallback] = counters.groups();
        match (counters.passes(0), bounds > 0, finish > 0, counters.passes(1), crowded) {
            (_, false, false, 0, 0) if fallback == 0 => Ok(Way::Plain),
            (top, true, true, 0, 0) if fallback == 0 => Ok(Way::Buckets(top)),
            (top, true, true, 0, _) if fallback == 0 => Ok(Way::Digits(top)),
            (2, true, false, 3.., 0) if fallback > 0 && counters.word(abi::COUNTERS_MISFITS) > 0 => Ok(Way::Fallback),
            way => Err(format!("counters that do not go together: {way:?}, fallback of {fallback}")),
        }
    }

    /// Whether it is the way that was expected.
    fn is(self, expected: Way) -> bool {
        let finished = match self {
            Way::Buckets(rounds) | Way::Digits(rounds) => Way::Finish(rounds),
            way => way,
        };
        self == expected || finished == expected
    }
}

/// What decides about the way: elements of a segment, and of a run that is sure to fit.
#[derive(Clone, Copy)]
struct Sizes {
    reach: u32,
    count: u32,
}

/// Makes keys of 32 bits.
type Keys = fn(&mut fastrand::Rng, Sizes) -> Vec<u32>;

fn each(sizes: Sizes, mut key: impl FnMut(u32) -> u32) -> Vec<u32> {
    (0..sizes.count).map(&mut key).collect()
}

/// Keys with a run of so many that have the upper half in common, among uniform ones.
fn with_run(rng: &mut fastrand::Rng, sizes: Sizes, length: u32) -> Vec<u32> {
    let mut keys = each(sizes, |_| rng.u32(..));
    // Nobody else has that upper half.
    keys.iter_mut().filter(|key| **key >> 16 == 0x8123).for_each(|key| *key ^= 1 << 16);
    for key in keys.iter_mut().take(length as usize) {
        *key = 0x8123 << 16 | *key & 0xFFFF;
    }
    rng.shuffle(&mut keys);
    keys
}

/// Keys under a name, with the way that they lead to.
type Pattern = (&'static str, Keys, Way);

const PATTERNS: &[Pattern] = &[
    ("uniform", |rng, sizes| each(sizes, |_| rng.u32(..)), Way::Buckets(2)),
    (
        "sorted",
        |_, sizes| each(sizes, |index| (u64::from(index) * (1 << 32) / u64::from(sizes.count)) as u32),
        Way::Buckets(2),
    ),
    // So few keys that one digit makes short runs.
    ("few", |rng, sizes| (0..100 * sizes.reach).map(|_| rng.u32(..)).collect(), Way::Buckets(1)),
    ("few-in-three-digits", |rng, sizes| (0..100 * sizes.reach).map(|_| rng.u32(..) >> 8).collect(), Way::Buckets(1)),
    ("all-equal", |_, sizes| each(sizes, |_| 0x1234_5678), Way::Plain),
    ("two-values", |rng, sizes| each(sizes, |_| if rng.bool() { 7 } else { !7 }), Way::Plain),
    ("six-values", |rng, sizes| each(sizes, |_| rng.u32(0..6).wrapping_mul(0x9E37_79B9)), Way::Plain),
    ("one-digit", |rng, sizes| each(sizes, |_| rng.u32(0..256) << 8), Way::Plain),
    ("two-digits", |rng, sizes| each(sizes, |_| rng.u32(..) & 0xFF00_FF00), Way::Plain),
    // Three digits save a pass only where one is enough.
    ("three-digits", |rng, sizes| each(sizes, |_| rng.u32(..) & 0xFFFF_FF00), Way::Plain),
    ("constant-digit", |rng, sizes| each(sizes, |_| rng.u32(..) & 0xFF00_FFFF), Way::Plain),
    // Each digit is spread, but the upper two have few values together.
    (
        "correlated",
        |rng, sizes| {
            each(sizes, |_| {
                let digit = rng.u32(0..256);
                digit << 24 | digit << 16 | rng.u32(..) & 0xFFFF
            })
        },
        Way::Fallback,
    ),
    // It fits, but mostly not into the few buckets that are its share.
    ("run-that-fits", |rng, sizes| with_run(rng, sizes, sizes.reach), Way::Finish(2)),
    // Wherever it starts, it goes on for more than there is room for behind a segment.
    ("run-too-long", |rng, sizes| with_run(rng, sizes, 3 * sizes.reach), Way::Fallback),
    // Many times the same number among uniform ones.
    (
        "crowd",
        |rng, sizes| {
            let mut keys = with_run(rng, sizes, sizes.reach / 2);
            keys.iter_mut().filter(|key| **key >> 16 == 0x8123).for_each(|key| *key = 0x8123_4567);
            keys
        },
        Way::Digits(2),
    ),
    (
        "crowd-everywhere",
        |rng, sizes| {
            let values: Vec<u32> = (0..sizes.count / 40).map(|_| rng.u32(..)).collect();
            each(sizes, |_| values[rng.usize(0..values.len())])
        },
        Way::Digits(2),
    ),
];

/// Keys whose upper two digits are the same, of a key that has as many as its digits' bits say, and of which one more may
/// be constant. A second phase brings back from the alternate what an odd number of passes has left there: by a pass that
/// copies, or by a move.
const DIGITS: &[(u32, &[Pattern])] = &[
    (
        6,
        &[
            ("correlated-six-digits", |rng, sizes| twice(rng, sizes, 5, !0), Way::Fallback),
            ("correlated-five-of-six-digits", |rng, sizes| twice(rng, sizes, 5, !(0x1F << 17)), Way::Fallback),
        ],
    ),
    (
        7,
        &[
            ("correlated-five-digits", |rng, sizes| twice(rng, sizes, 6, !0), Way::Fallback),
            ("correlated-four-of-five-digits", |rng, sizes| twice(rng, sizes, 6, !(0x3F << 14)), Way::Fallback),
        ],
    ),
];

/// Half as many keys as usual, with the same in their upper two digits of so many bits, and nothing but `mask` in the rest.
fn twice(rng: &mut fastrand::Rng, sizes: Sizes, bits: u32, mask: u32) -> Vec<u32> {
    let key = |rng: &mut fastrand::Rng| {
        let digit = rng.u32(0..1 << bits);
        (digit << bits | digit) << (32 - 2 * bits) | rng.u32(..) >> (2 * bits)
    };
    (0..sizes.count / 2).map(|_| key(rng) & mask).collect()
}

/// The requests that the patterns go through.
fn requests() -> Vec<SortRequest> {
    let usual = SortRequest { algorithm: Some(Algorithm::Hybrid), stable: false, ..SortRequest::new(KeyType::U32) };
    phases::requests(usual)
}

/// Digits of so many bits, and small segments, so that two passes leave runs for them.
fn options(digit_bits: u32, faults: Faults, subgroup: SubgroupChoice) -> SorterOptions {
    let tuning = Tuning { digit_bits, items_keys: 16, items_pairs: 16, single_items: 16, ..suite::small_blocks() };
    SorterOptions { tuning: Some(tuning), faults, subgroup, ..SorterOptions::default() }
}

/// Sorts each pattern.
fn run(request: &SortRequest, options: &SorterOptions, patterns: &[Pattern]) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    let reach = sorter.shape().reach();
    // So many that one digit does not do: the largest count is beyond what fits.
    let sizes = Sizes { reach, count: 400 * reach };
    let inputs = patterns.iter().map(|&(name, keys, way)| {
        let keys = keys(&mut fastrand::Rng::with_seed(seed()), sizes);
        (name, bytemuck::cast_slice(&keys).to_vec(), way)
    });
    phases::run(&sorter, inputs, |counters, way| match Way::taken(counters)? {
        taken if taken.is(way) => Ok(()),
        taken => Err(format!("the way is {taken:?} instead of {way:?}")),
    })
}

fn main() -> std::process::ExitCode {
    let trial = |prefix: &str, request: SortRequest, options: fn() -> SorterOptions| {
        Trial::test(format!("{prefix}{}", suite::name(&request)), move || run(&request, &options(), PATTERNS))
    };
    let mut trials = Vec::new();
    for request in requests() {
        trials.push(trial("", request, || options(8, Faults::default(), SubgroupChoice::Auto)));
    }
    // Silent tiles in both phases, workgroups that take several, and subgroups as they are on devices without.
    let [keys, .., pairs] = requests()[..] else { unreachable!("there are several requests") };
    for request in [keys, pairs] {
        let withheld = || options(8, Faults { withhold: 3, ..Faults::default() }, SubgroupChoice::Auto);
        trials.push(trial("withheld/", request, withheld));
        let resident = || {
            let SorterOptions { tuning, .. } = options(8, Faults::default(), SubgroupChoice::Auto);
            let tuning = tuning.map(|tuning| Tuning { resident_workgroups: 3, ..tuning });
            SorterOptions { tuning, ..SorterOptions::default() }
        };
        trials.push(trial("resident/", request, resident));
        trials.push(trial("virtual-32/", request, || options(8, Faults::default(), SubgroupChoice::Emulated(32))));
    }
    for &(digit_bits, patterns) in DIGITS {
        for request in requests().into_iter().step_by(2) {
            let name = format!("digits-{digit_bits}/{}", suite::name(&request));
            trials.push(Trial::test(name, move || {
                run(&request, &options(digit_bits, Faults::default(), SubgroupChoice::Auto), patterns)
            }));
        }
    }
    common::run(trials)
}
