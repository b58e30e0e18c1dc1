//! Every barrier and fence that a sort reaches is left out in turn, and the simulation has to tell.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use vksort::__private::ShapeDesc;
use vksort::__private::kernels::{Kernel, Module};
use vksort::__private::steps::{self, HostStep};
use vksort::{
    Algorithm, BitRange, Count, KeyOutput, KeyType, Placement, RankMethod, SortRequest, SubgroupChoice, Tuning,
    ValueType,
};

use super::dispatch::Device;
use super::program::{Program, Step};
use super::segments::{self, Draw};
use super::sort::{self, Sort};
use super::{check, device_of, small_blocks};
use vksort_testing::patterns::{self, Pattern};

const LANES: u32 = 4;
const DIGIT_BITS: u32 = 5;
/// The same where tiles are staged in parts: counters take no more than two items of an invocation.
const DIGIT_BITS_OF_PARTS: u32 = 3;
/// Ways to run a sort without a barrier, at most.
const TRIES: u64 = 24;
/// The seed of the keys: luck has to be that of the last run.
const KEYS: u64 = 20_261_124;

/// Barriers and fences that a kernel needs by the memory model, and that no simulated run misses.
struct Excuse {
    /// How the names of the modules begin.
    modules: &'static str,
    kind: &'static str,
    /// Of a module at most.
    number: usize,
    reason: &'static str,
}

const EXCUSED: [Excuse; 19] = [
    Excuse {
        modules: "onesweep_32_emulated",
        kind: "barrier",
        number: 2,
        reason: "emulated subgroup operations around it wait as well",
    },
    // Keys are ranked with look-back in between, and without.
    relaxed("onesweep", 2),
    relaxed("scatter", 1),
    relaxed("single_workgroup", 1),
    Excuse {
        modules: "single_workgroup",
        kind: "fence",
        number: 2,
        reason: "it keeps loads before stores that sort in place, and the simulation delays no load",
    },
    Excuse { modules: "single_workgroup", kind: "barrier", number: 1, reason: "no pass follows the last write" },
    relaxed("segments", 1),
    relaxed("split", 1),
    Excuse {
        modules: "segments",
        kind: "fence",
        number: 3,
        reason: "it keeps loads before stores that sort in place, and the simulation delays no load",
    },
    Excuse {
        modules: "segments_32_emulated",
        kind: "barrier",
        number: 2,
        reason: "emulated subgroup operations around it wait as well",
    },
    Excuse {
        modules: "split_32",
        kind: "barrier",
        number: 1,
        reason: "so few invocations are one run of tiles, which needs no sums of others",
    },
    Excuse {
        modules: "segments_32",
        kind: "barrier",
        number: 4,
        reason: "with few digits, loading the next part waits as well; around listing a segment, fewer suffice in most windows",
    },
    Excuse {
        modules: "segments_64",
        kind: "barrier",
        number: 2,
        reason: "clearing the bits that vary waits as well, and no run clears them for the next part while they are read",
    },
    Excuse {
        modules: "narrow_32_private",
        kind: "barrier",
        number: 2,
        reason: "a compiler takes less time for counters that live across one; the other is that of narrow_32",
    },
    Excuse {
        modules: "narrow_32",
        kind: "barrier",
        number: 1,
        reason: "in so few runs no last workgroup of a row comes while another one still counts",
    },
    Excuse {
        modules: "narrow_32",
        kind: "fence",
        number: 2,
        reason: "all that it orders is counted by relaxed atomics",
    },
    Excuse {
        modules: "runs",
        kind: "barrier",
        number: 2,
        reason: "no run is longer than a window, unless another barrier is left out",
    },
    Excuse {
        modules: "histogram_32_private",
        kind: "barrier",
        number: 1,
        reason: "a compiler takes less time for counters that live across it",
    },
    Excuse {
        modules: "histogram_32",
        kind: "fence",
        number: 2,
        reason: "the next fence of any lane shows the same counts, and few workgroups finish in between",
    },
];

const fn relaxed(modules: &'static str, number: usize) -> Excuse {
    let reason = "counters are relaxed atomics, which the simulation does not reorder";
    Excuse { modules, kind: "subgroup barrier", number, reason }
}

/// A kind of sort whose kernels differ in their barriers.
struct Case {
    algorithm: Algorithm,
    key: KeyType,
    value: ValueType,
    rank: RankMethod,
    subgroup: SubgroupChoice,
    pattern: Pattern,
    /// Items of a tile that are staged at a time.
    staged_items: Option<u32>,
    /// Whether the sort may end with a finish.
    finishes: bool,
    /// Bits of the number of slots in the look-back ring.
    ring_bits: u32,
    /// Blocks to sort, not counting one with few elements.
    blocks: u32,
    /// Kernels with other barriers than in other cases; all of them if there are none.
    kernels: &'static [Kernel],
}

fn cases() -> Vec<Case> {
    use Algorithm::{OneSweep, ReduceThenScan, SingleWorkgroup};
    let native = |algorithm, key, value, rank| {
        let (subgroup, pattern) = (SubgroupChoice::Native, Pattern::Uniform);
        Case {
            algorithm,
            key,
            value,
            rank,
            subgroup,
            pattern,
            staged_items: None,
            finishes: false,
            ring_bits: 1,
            blocks: 6,
            kernels: &[],
        }
    };
    let mut cases = Vec::new();
    for rank in [RankMethod::Ballot, RankMethod::Match, RankMethod::Private] {
        for algorithm in [OneSweep, ReduceThenScan, SingleWorkgroup] {
            cases.push(native(algorithm, KeyType::U32, ValueType::U32, rank));
        }
        cases.push(native(SingleWorkgroup, KeyType::U64, ValueType::None, rank));
    }
    cases.push(native(OneSweep, KeyType::U32, ValueType::Index, RankMethod::Ballot));
    // Look-back reads anchors where tiles have overwritten slots.
    for rank in [RankMethod::Ballot, RankMethod::Private] {
        let case = native(OneSweep, KeyType::U32, ValueType::None, rank);
        cases.push(Case { ring_bits: 3, blocks: 30, kernels: &[Kernel::OneSweep], ..case });
    }
    // Tiles in two parts.
    for (algorithm, kernels) in [(OneSweep, &[Kernel::OneSweep]), (ReduceThenScan, &[Kernel::Scatter])] {
        for value in [ValueType::None, ValueType::U32] {
            let case = native(algorithm, KeyType::U32, value, RankMethod::Ballot);
            cases.push(Case { staged_items: Some(2), kernels, ..case });
        }
    }
    // Digits that need no pass.
    for rank in [RankMethod::Ballot, RankMethod::Private] {
        let case = native(OneSweep, KeyType::U32, ValueType::None, rank);
        cases.push(Case { pattern: Pattern::ConstantDigit(0), ..case });
    }
    // A finish, of keys of one word and of several.
    for (key, value) in [(KeyType::U32, ValueType::U32), (KeyType::U64, ValueType::U32)] {
        let case = native(OneSweep, key, value, RankMethod::Ballot);
        cases.push(Case { finishes: true, blocks: 12, kernels: &[Kernel::Sample, Kernel::Runs], ..case });
    }
    let subgroup = SubgroupChoice::Emulated(LANES);
    cases.push(Case { subgroup, ..native(OneSweep, KeyType::U32, ValueType::U32, RankMethod::Match) });
    cases
}

impl Case {
    fn request(&self) -> SortRequest {
        let mut request = SortRequest::new(self.key).value(self.value).algorithm(self.algorithm);
        if self.value == ValueType::Index {
            (request.placement, request.key_output) = (Placement::OutOfPlace, KeyOutput::Discarded);
        }
        // Two passes have the barriers of all.
        if self.algorithm != Algorithm::SingleWorkgroup && !self.finishes {
            request.bits = BitRange { low: 0, high: 2 * self.digit_bits() };
        }
        request
    }

    fn digit_bits(&self) -> u32 {
        match self.staged_items {
            Some(_) => DIGIT_BITS_OF_PARTS,
            None if self.finishes => 8,
            None => DIGIT_BITS,
        }
    }

    fn tuning(&self) -> Tuning {
        Tuning {
            workgroup_size: if self.finishes { 8 } else { 4 } * LANES,
            items_keys: 4,
            items_pairs: 4,
            single_items: 6,
            digit_bits: self.digit_bits(),
            staged_items: self.staged_items,
            polls: 2,
            min_tiles: 3,
            rank: self.rank,
            // Ranking has another barrier then.
            looks_ahead: self.staged_items.is_some(),
            histogram_workgroup_size: 16,
            histogram_items: 4,
            scan_workgroup_size: 16,
            segment_items: 8,
            finish_tiles: self.finishes.then_some(1),
            ..small_blocks(LANES)
        }
    }

    /// Leaves out each barrier that asks for it, in the run of a seed.
    fn run(&self, fates: &Fates, seed: u64) {
        let (request, profile, tuning) = (self.request(), device_of(LANES, true), self.tuning());
        let desc = ShapeDesc {
            subgroup: self.subgroup,
            ring_bits: Some(self.ring_bits),
            ..ShapeDesc::new(&profile, &tuning, &request, self.algorithm)
        };
        let shape = steps::of(&desc, 0, Count::Host(0)).unwrap().shape;
        let count = match self.algorithm {
            Algorithm::SingleWorkgroup => shape.single.elements() - 3,
            // The last tile ends in its last part.
            _ if self.staged_items.is_some() => (self.blocks + 1) * shape.tile.elements() - 11,
            _ => self.blocks * shape.tile.elements() + 5,
        };
        let host = steps::of(&desc, count, Count::Host(count)).unwrap();
        let keys = patterns::generate(self.pattern, self.key, count as usize, KEYS);
        let run = |changed: Option<(Module, Arc<Program>)>, seed: u64| {
            let turn = seed as usize;
            let device = Device {
                lanes: LANES,
                resident: [2, 8][turn % 2],
                shuffles: true,
                shows: [0, 0, 4][turn % 3],
                late: None,
            };
            let sort = Sort {
                request: &request,
                host: &host,
                keys: &keys,
                stride: None,
                capacity: count,
                counted: None,
                device,
                changed,
                disturbed: None,
            };
            check(&sort, seed)
        };
        if seed == 0 {
            run(None, seed).unwrap();
        }
        let mut modules = Vec::new();
        for step in &host.steps {
            let HostStep::Dispatch(dispatch) = step else { continue };
            let module = dispatch.module;
            if modules.contains(&module) || !(self.kernels.is_empty() || self.kernels.contains(&module.kernel)) {
                continue;
            }
            modules.push(module);
            leave_out(fates, module, &sort::program(dispatch), &|without| {
                run(Some((module, Arc::clone(without))), seed).is_err()
            });
        }
    }
}

/// Leaves out each barrier of a program that asks for it; `fails` is a run without it.
fn leave_out(fates: &Fates, module: Module, program: &Program, fails: &dyn Fn(&Arc<Program>) -> bool) {
    for at in program.barriers() {
        let key = (module.name(), kind(&program.steps[at as usize]), at);
        if program.has_reached(at) && fates.asks_for(&key) {
            fates.note(key, fails(&Arc::new(program.with(at, Step::Jump { to: at + 1 }))));
        }
    }
}

/// Sorts of segments whose kernels differ in their barriers: by digits, or up to so many elements by comparing keys.
const SEGMENTED: [(KeyType, RankMethod, u32, Option<u32>); 8] = [
    (KeyType::U32, RankMethod::Ballot, 0, None),
    (KeyType::U32, RankMethod::Ballot, 8, None),
    (KeyType::U32, RankMethod::Match, 0, None),
    (KeyType::U32, RankMethod::Private, 0, None),
    (KeyType::U32, RankMethod::Private, 8, None),
    (KeyType::U32, RankMethod::Match, 0, Some(LANES)),
    (KeyType::U64, RankMethod::Ballot, 0, None),
    (KeyType::U64, RankMethod::Private, 0, None),
];
/// Sorts of segments beyond a block.
const DIVIDED: [RankMethod; 2] = [RankMethod::Ballot, RankMethod::Private];
/// The same of their first elements.
const LISTED: [RankMethod; 2] = DIVIDED;
/// Ways to run one of them without a barrier, at most.
const TRIES_OF_SEGMENTS: u64 = 8;

/// The sort of segments with this number, run in a way that follows from a seed.
fn segmented(number: usize, seed: u64) -> Draw {
    match SEGMENTED.get(number) {
        Some(&(key, rank, network_longest, emulated)) => Draw::mixed(key, rank, network_longest, emulated, seed),
        None => match DIVIDED.get(number - SEGMENTED.len()) {
            Some(rank) => Draw::divided(*rank, seed),
            None => Draw::listed(LISTED[number - SEGMENTED.len() - DIVIDED.len()], seed),
        },
    }
}

/// The same for sorts of segments.
fn leave_out_of_segments(fates: &Fates, number: usize, seed: u64) {
    for (module, program) in segments::simulate(&segmented(number, seed), None, false).unwrap() {
        leave_out(fates, module, &program, &|without| {
            segments::simulate(&segmented(number, seed), Some([&program, without]), false).is_err()
        });
    }
}

/// A barrier or fence: the module, its kind, and its position.
type Key = (String, &'static str, u32);

/// What became of the barriers that were left out.
#[derive(Default)]
struct Fates {
    /// Whether each was noticed so far.
    noticed: Mutex<BTreeMap<Key, bool>>,
    /// Modules and kinds of which more were missed in earlier runs than are excused; `None` before the first ones.
    unexcused: Option<Vec<(String, &'static str)>>,
}

impl Fates {
    /// Whether a run without this barrier may change the verdict: it was not noticed yet, and too many of its kind were missed.
    /// Nearly all barriers are noticed by the first run without them, so that runs would mostly be of excused ones.
    fn asks_for(&self, key: &Key) -> bool {
        let among = |all: &Vec<(String, &str)>| all.iter().any(|(module, kind)| *module == key.0 && *kind == key.1);
        self.unexcused.as_ref().is_none_or(among) && self.noticed.lock().unwrap().get(key) != Some(&true)
    }

    fn note(&self, key: Key, noticed: bool) {
        *self.noticed.lock().unwrap().entry(key).or_default() |= noticed;
    }

    /// The positions of those that were missed, by module and kind.
    fn missed(&self) -> BTreeMap<(String, &'static str), Vec<u32>> {
        let mut missed = BTreeMap::<_, Vec<u32>>::new();
        for ((module, kind, at), _) in self.noticed.lock().unwrap().iter().filter(|(_, noticed)| !**noticed) {
            missed.entry((module.clone(), *kind)).or_default().push(*at);
        }
        missed
    }
}

/// Why barriers of a kind may be missed in a module, if any may.
fn excuse(module: &str, kind: &str) -> Option<&'static Excuse> {
    EXCUSED.iter().find(|excuse| module.starts_with(excuse.modules) && excuse.kind == kind)
}

fn allowed(module: &str, kind: &str) -> usize {
    excuse(module, kind).map_or(0, |excuse| excuse.number)
}

fn kind(step: &Step) -> &'static str {
    match step {
        Step::Fence { .. } => "fence",
        Step::Collective(collective) if collective.workgroup => "barrier",
        _ => "subgroup barrier",
    }
}

/// Runs every case without its barriers, in the way of a seed.
fn leave_out_of_all(fates: &Fates, seed: u64) {
    let (cases, next) = (cases(), AtomicUsize::new(0));
    let of_segments = if seed < TRIES_OF_SEGMENTS { SEGMENTED.len() + DIVIDED.len() + LISTED.len() } else { 0 };
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            match cases.get(number) {
                Some(case) => case.run(fates, seed),
                None if number - cases.len() < of_segments => leave_out_of_segments(fates, number - cases.len(), seed),
                None => break,
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("a case failed"));
    });
}

#[test]
fn a_barrier_that_is_left_out_is_noticed() {
    let mut fates = Fates::default();
    for seed in 0..TRIES {
        leave_out_of_all(&fates, seed);
        let missed = fates.missed().into_iter();
        let unexcused = missed.filter(|((module, kind), places)| places.len() > allowed(module, kind));
        let unexcused: Vec<_> = unexcused.map(|(key, _)| key).collect();
        if unexcused.is_empty() {
            break;
        }
        fates.unexcused = Some(unexcused);
    }
    let mut wrong = Vec::new();
    let missed = fates.missed();
    for ((module, kind), places) in &missed {
        let (reason, allowed) = (excuse(module, kind).map(|excuse| excuse.reason), allowed(module, kind));
        println!("{module}: {kind} at {places:?}: {}", reason.unwrap_or("no reason is known"));
        if places.len() > allowed {
            wrong.push(format!("{module}: of each {kind} at {places:?}, only {allowed} may be left out unnoticed"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all = fates.noticed.lock().unwrap().len();
    println!(
        "{} of {all} barriers and fences are proven necessary",
        all - missed.values().map(Vec::len).sum::<usize>()
    );
    assert!(all >= 100, "a sort reaches only {all} barriers and fences");
}
