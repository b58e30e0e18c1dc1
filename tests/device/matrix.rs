//! Options together: any two of key type, value, window, algorithm and the rest meet in a trial, and so do every key type
//! and every option that the README promises; each with counts from the host and from the device, with and without digits to
//! skip.

use vksort::__private::Faults;
use vksort::{
    Access, Algorithm, Ballot, BitRange, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest, SorterOptions,
    Specialization, SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::arena::Arena;
use vksort_testing::design::{self, Row, Target};
use vksort_testing::patterns::Pattern;
use vksort_testing::suite::{self, Case, SOME_KEYS};
use vksort_testing::table::CHOICES;
use vksort_testing::{Failed, Trial};
use vksort_testing::{Level, gpu, level, seed};

const PATTERNS: [Pattern; 6] = [
    Pattern::Uniform,
    Pattern::Special,
    Pattern::AllEqual,
    Pattern::OneDigit(0),
    Pattern::ConstantDigit(1),
    Pattern::FewDistinct,
];

/// Sorts few and several tiles, full and not, with counts from the host and from the device.
fn run(request: &SortRequest, options: &SorterOptions) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    let block = sorter.shape().tile.elements();
    let capacity = (7 * block + 13).min(sorter.max_count());
    let arena = Arena::new(&gpu(), &sorter, capacity);
    let at_most = |count: u32| count.min(capacity);
    let counts = [(0, true), (1, true), (at_most(3 * block + 1), true), (capacity, true), (u32::MAX, true)];
    let host = [(1, false), (at_most(block), false), (at_most(2 * block + 5), false), (capacity, false)];
    for (index, &(count, counted)) in counts.iter().chain(&host).enumerate() {
        let pattern = PATTERNS[index % PATTERNS.len()];
        suite::run_case(request, &arena, Case { capacity, count, pattern, counted })?;
    }
    for pattern in PATTERNS {
        suite::run_case(request, &arena, Case { capacity, count: capacity, pattern, counted: false })?;
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

// The factors of the design; those that every level meets come first in each list.
const KEY: usize = 0;
const VALUE: usize = 1;
const WINDOW: usize = 2;
const ALGORITHM: usize = 3;
const SETTING: usize = 4;
const ORDER: usize = 5;
const PLACEMENT: usize = 6;
const OUTPUT: usize = 7;
const STABLE: usize = 8;

const VALUES: [ValueType; 11] = [
    ValueType::None,
    ValueType::U32,
    ValueType::Index,
    ValueType::Bytes(1),
    ValueType::Bytes(12),
    ValueType::Bytes(20),
    ValueType::Bytes(2),
    ValueType::Bytes(8),
    ValueType::Bytes(16),
    ValueType::Bytes(64),
    ValueType::Bytes(1028),
];
const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];
const PLACEMENTS: [Placement; 2] = [Placement::InPlace, Placement::OutOfPlace];
const OUTPUTS: [KeyOutput; 2] = [KeyOutput::Sorted, KeyOutput::Discarded];

/// Values and windows that the reduced level takes: the first ones.
const SOME_VALUES: usize = 6;
const SOME_WINDOWS: usize = 5;

/// Every key type, those of the reduced level first.
fn keys() -> Vec<KeyType> {
    let others = KeyType::ALL.iter().filter(|key| !SOME_KEYS.contains(key));
    SOME_KEYS.iter().chain(others).copied().collect()
}

/// Windows of a key of so many bits: an odd number of passes, digits that are no bytes, nothing, and the windows of the
/// README's options.
fn windows(width: u32) -> Vec<BitRange> {
    let odd = 0..width.min(24);
    let some = [0..width, odd, width / 16..width - 3, 0..0, width / 2 - 4..width / 2 + 5.min(width / 2)];
    assert_eq!(some.len(), SOME_WINDOWS);
    let others = [width..width, 1..width, 0..width / 3, width / 4..width, 3..8, 0..1, width - 1..width];
    let mut windows: Vec<BitRange> = some.into_iter().chain(others).map(BitRange::from).collect();
    let nine = 9.min(width);
    windows.extend([0..nine, width - nine..width].map(BitRange::from));
    windows
}

/// Every algorithm, and the automatic choice.
fn algorithms() -> Vec<Option<Algorithm>> {
    [None].into_iter().chain(Algorithm::ALL.iter().copied().map(Some)).collect()
}

/// Options under which the same requests take other kernels.
fn settings() -> Vec<(&'static str, SorterOptions)> {
    let tuning = suite::small_blocks();
    let usual = SorterOptions::default().tuning(tuning.clone());
    let tuned = |tuning: Tuning| usual.clone().tuning(tuning);
    let faults = |faults: Faults| usual.clone().faults(faults);
    let no_small_storage = Faults { no_small_storage: true, ..Faults::default() };
    // A device of wgpu without features has no more.
    let least = faults(no_small_storage).subgroup(SubgroupChoice::Emulated(32));
    // Kernels as GPUs have them: of the lanes with an equal digit all store their counter, or the last one does.
    let staged = Tuning { rank: RankMethod::Ballot, ..tuning.clone() };
    let by_mask = Tuning { ballot: Ballot::ByMask, ..staged.clone() };
    let lean = Tuning { few_registers: true, ballot: Ballot::ByMask, digit_bits: 8, ..staged.clone() };
    let in_parts = Tuning { items_keys: 5, items_pairs: 5, staged_items: Some(2), digit_bits: 4, ..staged.clone() };
    let histogram_subgroup_size = Some(gpu().profile().subgroup_size);
    let compare = Tuning { rank: RankMethod::Compare, few_registers: true, histogram_subgroup_size, ..staged.clone() };
    let mut settings = vec![
        ("usual", usual.clone()),
        ("digits-8", tuned(Tuning { digit_bits: 8, ..tuning.clone() })),
        ("digits-5", tuned(Tuning { digit_bits: 5, ..tuning.clone() })),
        ("decided-apart", faults(Faults { decide_apart: true, ..Faults::default() })),
        ("on-host", usual.clone().specialization(Specialization::Host)),
        ("staged", tuned(staged)),
        ("staged-by-mask", tuned(by_mask)),
        ("staged-lean", tuned(lean)),
        ("staged-compare", tuned(compare)),
        ("staged-in-parts", tuned(in_parts)),
        ("virtual-32", usual.clone().subgroup(SubgroupChoice::Emulated(32))),
        ("least", least),
        ("tiny-ring", faults(Faults { ring_bits: Some(0), ..Faults::default() })),
    ];
    if gpu().profile().buffer_addresses {
        let access = Access::Addresses;
        settings.push(("addresses", usual.clone().access(access)));
        settings.push(("addresses-by-words", faults(no_small_storage).access(access)));
    }
    if gpu().profile().small_storage {
        settings.push(("by-words", faults(no_small_storage)));
    }
    settings
}

/// The factors with their levels.
struct Factors {
    keys: Vec<KeyType>,
    algorithms: Vec<Option<Algorithm>>,
    settings: Vec<(&'static str, SorterOptions)>,
}

impl Factors {
    fn levels(&self) -> [usize; 9] {
        let windows = windows(KeyType::U8.bits()).len();
        [self.keys.len(), VALUES.len(), windows, self.algorithms.len(), self.settings.len(), 2, 2, 2, 2]
    }

    /// The request of a row, which is let off the order of equal keys where its algorithm could not serve it otherwise.
    fn request(&self, row: &Row) -> SortRequest {
        let key = self.keys[row[KEY]];
        let request = SortRequest::new(key)
            .value(VALUES[row[VALUE]])
            .order(ORDERS[row[ORDER]])
            .bits(windows(key.bits())[row[WINDOW]])
            .placement(PLACEMENTS[row[PLACEMENT]])
            .key_output(OUTPUTS[row[OUTPUT]])
            .stable(row[STABLE] == 0);
        suite::asking(self.algorithms[row[ALGORITHM]], request)
    }

    /// The levels in which a cell differs from the usual request of its key type, and the key type.
    fn target(&self, cell: &SortRequest) -> Target {
        let usual = SortRequest::new(cell.key);
        let find = |what: &str, position: Option<usize>| {
            position.unwrap_or_else(|| panic!("the design has no such {what}: {cell:?}"))
        };
        let mut target = vec![(KEY, find("key", self.keys.iter().position(|key| *key == cell.key)))];
        if cell.value != usual.value {
            target.push((VALUE, find("value", VALUES.iter().position(|value| *value == cell.value))));
        }
        if cell.bits != usual.bits {
            let windows = windows(cell.key.bits());
            target.push((WINDOW, find("window", windows.iter().position(|bits| *bits == cell.bits))));
        }
        if cell.algorithm != usual.algorithm {
            let algorithm = self.algorithms.iter().position(|algorithm| *algorithm == cell.algorithm);
            target.push((ALGORITHM, find("algorithm", algorithm)));
        }
        let others = [
            (ORDER, cell.order != usual.order),
            (PLACEMENT, cell.placement != usual.placement),
            (OUTPUT, cell.key_output != usual.key_output),
            (STABLE, cell.stable != usual.stable),
        ];
        target.extend(others.into_iter().filter(|(_, differs)| *differs).map(|(factor, _)| (factor, 1)));
        target
    }

    /// The rows of the design: those of the reduced level, then what the full one adds, so that what the first compile is
    /// kept for the second.
    fn design(&self, level: Level) -> Vec<Row> {
        let levels = self.levels();
        // Keys can only be left out where there are values.
        let allowed = |row: &[Option<usize>]| row[VALUE] != Some(0) || row[OUTPUT] != Some(1);
        let some = [(KEY, SOME_KEYS.len()), (VALUE, SOME_VALUES), (WINDOW, SOME_WINDOWS)];
        let reduced = |row: &[Option<usize>]| {
            allowed(row) && some.iter().all(|&(factor, count)| row[factor].is_none_or(|level| level < count))
        };
        let (mut rows, mut rng) = (Vec::new(), fastrand::Rng::with_seed(seed()));
        design::cover(&levels, design::pairs(&levels), reduced, &mut rows, &mut rng);
        if level == Level::Full {
            let cells = cells().map(|cell| self.target(&cell));
            design::cover(&levels, design::pairs(&levels).into_iter().chain(cells), allowed, &mut rows, &mut rng);
        }
        rows
    }
}

/// A cell is a key type with one of the options that the README promises: here the requests of all cells.
fn cells() -> impl Iterator<Item = SortRequest> {
    let row = |&key: &KeyType| CHOICES.iter().flat_map(move |choice| (choice.requests)(SortRequest::new(key)));
    KeyType::ALL.iter().flat_map(row)
}

/// Whether a request has the options of a cell: each field in which the cell differs from the usual request.
fn holds(request: &SortRequest, cell: &SortRequest) -> bool {
    let usual = SortRequest::new(cell.key);
    request.key == cell.key
        && (cell.value == usual.value || request.value == cell.value)
        && (cell.order == usual.order || request.order == cell.order)
        && (cell.bits == usual.bits || request.bits == cell.bits)
        && (cell.placement == usual.placement || request.placement == cell.placement)
        && (cell.key_output == usual.key_output || request.key_output == cell.key_output)
        && (cell.stable == usual.stable || request.stable == cell.stable)
        && (cell.algorithm == usual.algorithm || request.algorithm == cell.algorithm)
}

/// A trial sorts every key type with every option that the README promises.
fn every_cell_has_a_trial(requests: &[SortRequest]) -> Result<(), Failed> {
    match cells().find(|cell| !requests.iter().any(|request| holds(request, cell))) {
        Some(cell) => Err(format!("no trial sorts {cell:?}, VKSORT_SEED={}", seed()).into()),
        None => Ok(()),
    }
}

/// All windows of 16-bit keys, or some of them.
fn sweep() -> Vec<SortRequest> {
    let step = if level() == Level::Full { 1 } else { 11 };
    let windows = (0..=16).flat_map(|low| (low..=16).map(move |high| BitRange { low, high }));
    let keys = [KeyType::U16, KeyType::I16, KeyType::F16, KeyType::Bf16];
    windows
        .enumerate()
        .step_by(step)
        .map(|(index, bits)| {
            let order = if index / 2 % 2 == 0 { Order::Ascending } else { Order::Descending };
            let placement = if index % 3 == 0 { Placement::OutOfPlace } else { Placement::InPlace };
            let request = SortRequest::new(keys[index % 4]).value(ValueType::U32).algorithm(Algorithm::OneSweep);
            request.bits(bits).order(order).placement(placement)
        })
        .collect()
}

pub fn trials() -> Vec<Trial> {
    let factors = Factors { keys: keys(), algorithms: algorithms(), settings: settings() };
    let rows = factors.design(level());
    let requests: Vec<SortRequest> = rows.iter().map(|row| factors.request(row)).collect();
    let trial = |setting: &str, request: SortRequest, options: &SorterOptions| {
        let options = options.clone();
        Trial::test(format!("{setting}/{}", suite::name(&request)), move || run(&request, &options))
    };
    let mut trials = Vec::new();
    for (row, request) in rows.iter().zip(&requests) {
        let (setting, options) = &factors.settings[row[SETTING]];
        trials.push(trial(setting, *request, options));
    }
    let (_, usual) = &factors.settings[0];
    trials.extend(sweep().into_iter().map(|request| trial("sweep", request, usual)));
    if level() == Level::Full {
        // It sorts millions of elements.
        trials.push(Trial::test("every-cell-has-a-trial", move || every_cell_has_a_trial(&requests)));
    }
    trials
}
