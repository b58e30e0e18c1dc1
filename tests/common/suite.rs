//! Requests x sizes x patterns, each compared in full with the oracle.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use vksort::standalone::StandaloneSorter;
use vksort::{Algorithm, KeyType, Order, SortRequest, SorterOptions, ValueType};

use super::arena::Arena;
use super::patterns::{self, Pattern};
use super::{Level, assert_valid, gpu, level, oracle, seed};

/// Every request of the conformance matrix with one algorithm.
pub fn requests(algorithm: Algorithm) -> Vec<SortRequest> {
    let mut requests = Vec::new();
    for value in [ValueType::None, ValueType::U32] {
        for &key in KeyType::ALL {
            for order in [Order::Ascending, Order::Descending] {
                requests.push(SortRequest { key, value, order, algorithm: Some(algorithm) });
            }
        }
    }
    requests
}

/// A third of them, with every key type, value type and order among them.
pub fn some_requests(algorithm: Algorithm) -> Vec<SortRequest> {
    [0, 3, 6, 11].map(|index| requests(algorithm)[index]).to_vec()
}

/// The name of a request's trial.
pub fn name(request: &SortRequest) -> String {
    let algorithm = request.algorithm.map_or("automatic".into(), |algorithm| algorithm.to_string());
    let elements = if request.value == ValueType::None { "keys" } else { "pairs" };
    let order = if request.order == Order::Ascending { "ascending" } else { "descending" };
    format!("{algorithm}/{elements}/{}/{order}", request.key.name())
}

/// One sort to run: buffers for `capacity` elements, `count` of them sorted.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub capacity: u32,
    pub count: u32,
    pub pattern: Pattern,
    pub in_place: bool,
}

/// Which sizes of a suite run.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Largest count, not counting the one large run.
    pub most: u32,
    /// Patterns that run at each size up to `small`, spread so that all of them run somewhere.
    pub patterns: usize,
    /// The same beyond it.
    pub patterns_beyond: usize,
    /// One uniform run of this many elements.
    pub large: Option<u32>,
}

impl Sizes {
    /// What the level asks for.
    pub fn of_level() -> Sizes {
        match level() {
            Level::Full => Sizes { most: 1 << 18, patterns: ALL, patterns_beyond: ALL, large: Some(1 << 22) },
            Level::Reduced => Sizes { most: 1 << 18, patterns: 4, patterns_beyond: 1, large: None },
        }
    }

    /// Whether the pattern of this index runs in a cell of the matrix. Which ones do follows from cell and seed.
    fn takes(&self, cell: (String, u32, u32), index: usize) -> bool {
        let wanted = if cell.2 <= SMALL { self.patterns } else { self.patterns_beyond };
        let mut hasher = DefaultHasher::new();
        (cell, seed()).hash(&mut hasher);
        let first = hasher.finish() as usize % ALL;
        (index + ALL - first) % ALL < wanted
    }
}

const ALL: usize = patterns::ALL.len();
/// Elements up to which a size is small.
const SMALL: u32 = 16_384;

/// The counts to try, each with the capacity it is bound with. Tiles are made of more blocks where the capacity is
/// large, so there are small counts with large capacities too.
pub fn counts(sorter: &StandaloneSorter, sizes: &Sizes) -> Vec<(u32, u32)> {
    let block = sorter.shape().block();
    let mut counts: Vec<(u32, u32)> = vec![(0, 0), (1, 1), (2, 2)];
    let most = sizes.most.min(sorter.max_count());
    for blocks in [1, 5] {
        for count in [blocks * block - 1, blocks * block, blocks * block + 1] {
            counts.push((count, count));
        }
    }
    counts.extend([(100_003, 100_003), (1 << 18, 1 << 18)]);
    let tile = sorter.tile_size(most).unwrap();
    if tile > block {
        for count in [tile - 1, tile, tile + 1, 3 * tile + block + 1] {
            counts.push((most, count));
        }
    }
    counts.retain(|&(capacity, count)| capacity <= most && count <= capacity);
    counts
}

/// Runs all sizes and patterns of one request.
pub fn run_request(request: &SortRequest, options: &SorterOptions, sizes: &Sizes) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    for (capacity, count) in counts(&sorter, sizes) {
        let arena = Arena::new(gpu(), &sorter, capacity, true);
        for (index, &pattern) in patterns::ALL.iter().enumerate() {
            if sizes.takes((name(request), capacity, count), index) {
                run_case(request, &arena, Case { capacity, count, pattern, in_place: true })?;
            }
        }
    }
    if let Some(large) = sizes.large.filter(|large| *large <= sorter.max_count()) {
        let case = Case { capacity: large, count: large, pattern: Pattern::Uniform, in_place: true };
        run_case(request, &Arena::new(gpu(), &sorter, large, true), case)?;
    }
    assert_valid(gpu());
    Ok(())
}

/// Runs one case and compares keys and values in full.
pub fn run_case(request: &SortRequest, arena: &Arena, case: Case) -> Result<(), Failed> {
    let keys = patterns::generate(case.pattern, request.key, case.count as usize, seed());
    let indices = oracle::argsort(request.key, request.order, &keys);
    let expected = oracle::gather(&keys, &indices);
    let failed = |what: String| Failed::from(format!("{} {case:?}, VKSORT_SEED={}: {what}", name(request), seed()));
    let sorted = arena.sort(&keys, 1).map_err(failed)?;
    if let Some(difference) = oracle::difference("keys", &sorted.keys, &expected) {
        return Err(failed(difference));
    }
    match sorted.values.and_then(|values| oracle::difference("values", &values, &indices)) {
        Some(difference) => Err(failed(difference)),
        None => Ok(()),
    }
}

/// A trial per request.
pub fn trials(
    prefix: &str,
    requests: impl IntoIterator<Item = SortRequest>,
    options: impl Fn() -> SorterOptions + Send + Clone + 'static,
    sizes: Sizes,
) -> Vec<Trial> {
    requests
        .into_iter()
        .map(|request| {
            let options = options.clone();
            Trial::test(format!("{prefix}{}", name(&request)), move || run_request(&request, &options(), &sizes))
        })
        .collect()
}

/// Runs something and fails if it took longer than allowed: what must not hang must not crawl either.
pub fn within<T>(allowed: Duration, what: &str, run: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = run();
    assert!(started.elapsed() < allowed, "{what} took {:?}, allowed is {allowed:?}", started.elapsed());
    result
}
