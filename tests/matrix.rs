//! Every cell of the table of what can be sorted, and options with each other where they meet in a kernel; each with
//! counts from the host and from the device, with and without digits to skip.

mod common;

use common::arena::Arena;
use common::patterns::Pattern;
use common::suite::{self, Case, SOME_KEYS};
use common::{Level, gpu, level};
use libtest_mimic::{Failed, Trial};
use vksort::internals::table::COLUMNS;
use vksort::{
    Access, Algorithm, BitRange, Faults, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest, SorterOptions,
    SubgroupChoice, Tuning, ValueType,
};

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
    let block = sorter.shape().block();
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
    common::assert_valid(&gpu());
    Ok(())
}

fn request(key: KeyType) -> SortRequest {
    SortRequest { algorithm: Some(Algorithm::OneSweep), value: ValueType::U32, ..SortRequest::new(key) }
}

/// The cells of a key type's row: each option by itself.
fn cells(key: KeyType) -> impl Iterator<Item = (&'static str, SortRequest)> {
    let usual = SortRequest { value: ValueType::None, ..request(key) };
    COLUMNS.iter().flat_map(move |column| (column.requests)(usual).into_iter().map(|request| (column.name, request)))
}

/// Options together that share code with each other.
fn combinations(key: KeyType) -> Vec<SortRequest> {
    let usual = request(key);
    let out = SortRequest { placement: Placement::OutOfPlace, ..usual };
    let discarded = SortRequest { key_output: KeyOutput::Discarded, ..usual };
    let mut requests = vec![usual, SortRequest { placement: Placement::OutOfPlace, ..discarded }];
    requests.extend([ValueType::Bytes(20), ValueType::Index].map(|value| SortRequest { value, ..out }));
    for placement in [Placement::InPlace, Placement::OutOfPlace] {
        for value in [ValueType::Index, ValueType::Bytes(20)] {
            requests.push(SortRequest { placement, value, ..discarded });
        }
    }
    // A window of three digits, by every placement: an odd number of passes; and a window of nothing.
    for bits in [BitRange::from(0..key.bits().min(24)), BitRange::from(0..0)] {
        for value in [ValueType::None, ValueType::U32, ValueType::Index, ValueType::Bytes(20)] {
            requests.push(SortRequest { bits, value, order: Order::Descending, ..usual });
            requests.push(SortRequest { bits, value, ..out });
            if value != ValueType::None {
                requests.push(SortRequest { bits, value, ..discarded });
                requests.push(SortRequest { bits, value, placement: Placement::OutOfPlace, ..discarded });
            }
        }
    }
    for algorithm in [None, Some(Algorithm::SingleWorkgroup), Some(Algorithm::ReduceThenScan)] {
        requests.push(SortRequest { algorithm, ..usual });
        requests.push(SortRequest { algorithm, value: ValueType::Bytes(20), ..out });
        requests.push(SortRequest { algorithm, value: ValueType::Index, ..discarded });
    }
    // Windows that leave few digits and odd ones, by every placement.
    for request in [usual, out, discarded, SortRequest { placement: Placement::OutOfPlace, ..discarded }] {
        let bits = BitRange::from(key.bits() / 16..key.bits() - 3);
        if bits.len() > 32 {
            let request = SortRequest { value: ValueType::U32, bits, ..request };
            requests.push(suite::asking(Some(Algorithm::Leading), request));
        }
    }
    // The first pass out of order, where only the promise of stability stands against it.
    for algorithm in [Algorithm::OneSweep, Algorithm::SingleWorkgroup, Algorithm::ReduceThenScan] {
        requests.push(SortRequest { algorithm: Some(algorithm), stable: false, ..usual });
    }
    requests
}

/// Options under which the same requests take other kernels.
fn variants() -> Vec<(&'static str, SorterOptions)> {
    let tuning = suite::small_blocks();
    let usual = SorterOptions { tuning: Some(tuning.clone()), ..SorterOptions::default() };
    let other = Tuning { rank: RankMethod::Ballot, early_counts: !tuning.early_counts, ..tuning };
    let faults = |faults: Faults| SorterOptions { faults, ..usual.clone() };
    let mut variants = vec![
        ("other-ranking/", SorterOptions { tuning: Some(other), ..usual.clone() }),
        ("virtual-32/", SorterOptions { subgroup: SubgroupChoice::Emulated(32), ..usual.clone() }),
        ("portions/", faults(Faults { portion: Some(1), ..Faults::default() })),
    ];
    if gpu().profile().buffer_addresses {
        variants.push(("addresses/", SorterOptions { access: Access::Addresses, ..usual.clone() }));
        let access = Access::Addresses;
        let by_words = faults(Faults { no_small_storage: true, ..Faults::default() });
        variants.push(("addresses-by-words/", SorterOptions { access, ..by_words }));
    }
    if gpu().profile().small_storage {
        variants.push(("by-words/", faults(Faults { no_small_storage: true, ..Faults::default() })));
    }
    variants
}

/// The requests that matter to a variant.
fn variant_requests(name: &str) -> Vec<SortRequest> {
    let mut requests = Vec::new();
    for key in SOME_KEYS {
        let usual = request(key);
        let pairs =
            [ValueType::None, ValueType::Bytes(1), ValueType::Bytes(2), ValueType::Bytes(16), ValueType::Bytes(20)];
        let small = |bytes: u64| (1..4).contains(&bytes);
        for (index, value) in pairs.into_iter().enumerate() {
            if !name.contains("by-words") || small(key.size_bytes()) || small(value.size_bytes()) {
                let placement = if index % 2 == 0 { Placement::InPlace } else { Placement::OutOfPlace };
                requests.push(SortRequest { value, placement, ..usual });
            }
        }
        if key.bits() > 32 {
            requests.push(suite::asking(Some(Algorithm::Leading), SortRequest { value: ValueType::Bytes(2), ..usual }));
        }
        if name.starts_with("addresses") || name.starts_with("portions") {
            requests.push(SortRequest { algorithm: None, ..usual });
        }
        if !name.contains("by-words") {
            let (value, key_output) = (ValueType::Index, KeyOutput::Discarded);
            requests.push(SortRequest { value, key_output, ..usual });
            requests.push(SortRequest { value, key_output, placement: Placement::OutOfPlace, ..usual });
        }
    }
    requests
}

/// One index more than there is room for in a word beside a digit, and one less.
fn last_joined_index() -> Result<(), Failed> {
    // Wide digits leave the fewest indices.
    let (value, key_output) = (ValueType::Index, KeyOutput::Discarded);
    let request = SortRequest { value, key_output, bits: (0..20).into(), ..request(KeyType::U32) };
    let tuning = Tuning { digit_bits: 10, ..gpu().tuning().clone() };
    let sorter = gpu().sorter(&request, &SorterOptions { tuning: Some(tuning), ..SorterOptions::default() })?;
    let limit = 1u32 << (32 - sorter.shape().digit_bits);
    let capacity = limit + 1;
    let arena = Arena::new(&gpu(), &sorter, capacity);
    for (count, counted) in [(limit, false), (capacity, false), (limit - 1, true)] {
        suite::run_case(&request, &arena, Case { capacity, count, pattern: Pattern::Uniform, counted })?;
    }
    common::assert_valid(&gpu());
    Ok(())
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
            SortRequest { bits, order, placement, ..request(keys[index % 4]) }
        })
        .collect()
}

fn trial(prefix: &str, request: SortRequest, options: impl Fn() -> SorterOptions + Send + 'static) -> Trial {
    Trial::test(format!("{prefix}{}", suite::name(&request)), move || run(&request, &options()))
}

fn main() -> std::process::ExitCode {
    let usual = || SorterOptions { tuning: Some(suite::small_blocks()), ..SorterOptions::default() };
    let full = level() == Level::Full;
    let mut trials = Vec::new();
    for (row, &key) in KeyType::ALL.iter().enumerate() {
        // Where not all are taken, every key type meets a part of the options, and every option some key types.
        let takes = |column: usize, step: usize| (row + column).is_multiple_of(step);
        let (cell_step, step) = if full { (1, 4) } else { (11, 11) };
        for (_, (name, request)) in cells(key).enumerate().filter(|(column, _)| takes(*column, cell_step)) {
            trials.push(trial(&format!("{name}/"), request, usual));
        }
        for (_, request) in combinations(key).into_iter().enumerate().filter(|(column, _)| takes(*column, step)) {
            trials.push(trial("together/", request, usual));
        }
    }
    trials.push(Trial::test("last-joined-index", last_joined_index));
    for request in sweep() {
        trials.push(trial("sweep/", request, usual));
    }
    for (index, (name, _)) in variants().into_iter().enumerate() {
        for (column, request) in variant_requests(name).into_iter().enumerate() {
            if full || column % 3 == 0 {
                trials.push(trial(name, request, move || variants().swap_remove(index).1));
            }
        }
    }
    common::run(trials)
}
