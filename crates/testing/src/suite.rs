//! Requests x sizes x patterns, each compared in full with the oracle.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use vksort::standalone::Sorter;
use vksort::{
    Algorithm, DeviceProfile, KeyOutput, KeyType, Order, Placement, SortRequest, SorterOptions, Tuning, ValueType,
};

use crate::arena::{Arena, Count, Sorted, values};
use crate::patience::Patience;
use crate::patterns::{self, Pattern};
use crate::{Failed, Level, Trial, assert_valid, gpu, level, oracle, seed};

/// One key type of each width and kind of order that kernels tell apart.
pub const SOME_KEYS: [KeyType; 6] =
    [KeyType::U8, KeyType::F16, KeyType::U32, KeyType::F32, KeyType::I64, KeyType::U128];

/// The request for keys of a type, alone or with a word of value. Directions take turns over key types, algorithms and
/// values, as they differ in two constants that the key type decides about as well.
pub fn usual(algorithm: Algorithm, key: KeyType, value: ValueType) -> SortRequest {
    let position = |found: Option<usize>| found.expect("it is one of all");
    let turn = position(KeyType::ALL.iter().position(|&other| other == key)) / 2
        + position(Algorithm::ALL.iter().position(|&other| other == algorithm))
        + usize::from(value != ValueType::None);
    let order = if turn.is_multiple_of(2) { Order::Ascending } else { Order::Descending };
    asking(Some(algorithm), SortRequest::new(key).value(value).order(order))
}

/// The request by an algorithm.
pub fn asking(algorithm: Option<Algorithm>, request: SortRequest) -> SortRequest {
    request.algorithm(algorithm)
}

/// The name of a request's trial: what every request has, then what is not as usual.
pub fn name(request: &SortRequest) -> String {
    let algorithm = request.algorithm.map_or("automatic".into(), |algorithm| algorithm.to_string());
    let elements = match request.value {
        ValueType::None => "keys".into(),
        ValueType::U32 => "pairs".into(),
        ValueType::Index => "index".into(),
        value => format!("values-{}", value.size_bytes()),
    };
    let order = if request.order == Order::Ascending { "ascending" } else { "descending" };
    let mut name = format!("{algorithm}/{elements}/{}/{order}", request.key.name());
    if request.bits != SortRequest::new(request.key).bits {
        name += &format!("/bits-{}", request.bits);
    }
    if request.placement == Placement::OutOfPlace {
        name += "/out-of-place";
    }
    if request.key_output == KeyOutput::Discarded {
        name += "/discarded";
    }
    if !request.stable {
        name += "/unstable";
    }
    name
}

/// Few items per invocation: quick to compile, and many tiles of few elements.
pub fn small_blocks() -> Tuning {
    small_blocks_of(gpu().profile())
}

/// The same for a device of the test's own.
pub fn small_blocks_of(profile: &DeviceProfile) -> Tuning {
    let tuning = Tuning::for_device(profile);
    // Where rows have a small subgroup a workgroup, more items take the place of further ones.
    let workgroup_size = tuning.workgroup_size.max(16);
    Tuning {
        workgroup_size,
        items_keys: 4,
        items_pairs: 4,
        single_workgroup_size: None,
        single_items: 4,
        min_tiles: 1,
        ..tuning
    }
}

/// Each request with the first setting, and with one of the others by turns; the seed says with which they begin.
pub fn by_turns(
    requests: Vec<SortRequest>,
    settings: Vec<(&'static str, SorterOptions)>,
) -> impl Iterator<Item = (&'static str, SortRequest, SorterOptions)> {
    requests.into_iter().enumerate().flat_map(move |(row, request)| {
        let turn = 1 + (row + seed() as usize) % (settings.len() - 1);
        [0, turn].map(|column| (settings[column].0, request, settings[column].1.clone()))
    })
}

/// One sort to run: buffers for `capacity` elements, `count` of them sorted.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Elements that the buffers hold.
    pub capacity: u32,
    /// Elements that are sorted.
    pub count: u32,
    /// What the keys look like.
    pub pattern: Pattern,
    /// Whether the count comes from the device; it may be above the capacity then.
    pub counted: bool,
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
    /// One uniform run of up to this many elements.
    pub large: Option<u32>,
}

impl Sizes {
    /// What the level asks for.
    pub fn of_level() -> Sizes {
        match level() {
            Level::Full => Sizes { most: 1 << 18, patterns: 6, patterns_beyond: 2, large: Some(1 << 22) },
            Level::Reduced => Sizes { most: 1 << 17, patterns: 3, patterns_beyond: 1, large: None },
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

/// The counts to try, each with the capacity it is bound with. Tiles may be several blocks where the capacity is large, and
/// parts of a block where it is small, so there are counts of all kinds with both.
pub fn counts(sorter: &Sorter, sizes: &Sizes) -> Vec<(u32, u32)> {
    let block = sorter.shape().tile.elements();
    let mut counts: Vec<(u32, u32)> = vec![(0, 0), (1, 1), (2, 2), (7, 5)];
    let most = sizes.most.min(sorter.max_count());
    for blocks in [1, 5] {
        for count in [blocks * block - 1, blocks * block, blocks * block + 1] {
            counts.push((count, count));
        }
    }
    counts.extend([(100_003, 100_003), (1 << 18, 1 << 18)]);
    let single = sorter.shape().single.elements();
    counts.extend([(most, single), (most, single + 1)]);
    let tile = sorter.tile_size(most).unwrap();
    if tile > block {
        for count in [tile - 1, tile, tile + 1, 3 * tile + block + 1] {
            counts.push((most, count));
        }
    }
    let few = most.min(3 * block);
    let part = sorter.tile_size(few).unwrap();
    if part < block {
        counts.extend([part - 1, part, part + 1, 3 * part + 1].map(|count| (few, count)));
    }
    counts.retain(|&(capacity, count)| capacity <= most && count <= capacity);
    counts
}

/// Runs all sizes and patterns of one request.
pub fn run_request(request: &SortRequest, options: &SorterOptions, sizes: &Sizes) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    for (capacity, count) in counts(&sorter, sizes) {
        let arena = Arena::new(&gpu(), &sorter, capacity);
        for (index, &pattern) in patterns::ALL.iter().enumerate() {
            if sizes.takes((name(request), capacity, count), index) {
                run_case(request, &arena, Case { capacity, count, pattern, counted: false })?;
            }
        }
    }
    // Large runs are about tiles, not about types.
    let large = sizes.large.filter(|large| *large <= sorter.max_count() && request.key.bits() == 32);
    if let Some(most) = large {
        // From a quarter on; the seed and the request decide.
        let mut hasher = DefaultHasher::new();
        (name(request), seed()).hash(&mut hasher);
        let large = most - (hasher.finish() % u64::from(most / 4 * 3)) as u32;
        let case = Case { capacity: large, count: large, pattern: Pattern::Uniform, counted: false };
        run_case(request, &Arena::new(&gpu(), &sorter, large), case)?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// Runs one case and compares keys and values in full.
pub fn run_case(request: &SortRequest, arena: &Arena, case: Case) -> Result<(), Failed> {
    let (given, count) = match case.counted {
        true => (case.capacity, Count::Device(case.count)),
        false => (case.count, Count::Host),
    };
    let keys = patterns::generate(case.pattern, request.key, given as usize, seed());
    run_keys(request, arena, &keys, count)
        .map_err(|what| Failed::from(format!("{} {case:?}, VKSORT_SEED={}: {what}", name(request), seed())))
}

/// Sorts the given keys and compares keys and values in full.
pub fn run_keys(request: &SortRequest, arena: &Arena, keys: &[u8], count: Count) -> Result<(), String> {
    let key_size = request.key.size_bytes() as usize;
    let sorted = match count {
        Count::Host => keys,
        Count::Device(count) => &keys[..keys.len().min((count as usize).saturating_mul(key_size))],
    };
    compare(request, sorted, arena.sort(keys, count, 1)?)
}

/// Compares the result of a sort of these keys, whose values were made by [`values`], with the oracle's.
pub fn compare(request: &SortRequest, sorted: &[u8], mut found: Sorted) -> Result<(), String> {
    let key_size = request.key.size_bytes() as usize;
    let indices = oracle::argsort(request, sorted);
    let size = request.value.size_bytes() as usize;
    let mut expected_keys = oracle::gather(sorted, key_size, &indices);
    let mut expected_values: Vec<u8> = values(indices.iter().copied(), size);
    if !request.stable {
        let ties = oracle::ties(request, &expected_keys);
        let both = |keys: bool, values: bool| (if keys { key_size } else { 0 }, if values { size } else { 0 });
        let sizes = both(found.keys.is_some(), found.values.is_some());
        oracle::settle(&ties, sizes, &mut expected_keys, &mut expected_values);
        let (mut none, mut neither) = (Vec::new(), Vec::new());
        let found_values = found.values.as_mut().unwrap_or(&mut none);
        oracle::settle(&ties, sizes, found.keys.as_mut().unwrap_or(&mut neither), found_values);
    }
    if let Some(found) = found.keys
        && let Some(difference) = oracle::difference("keys", key_size, &found, &expected_keys)
    {
        return Err(difference);
    }
    match found.values.and_then(|found| oracle::difference("values", size, &found, &expected_values)) {
        Some(difference) => Err(difference),
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
    let patience = Patience::with(std::process::id(), allowed);
    let result = run();
    assert!(!patience.is_over(), "{what} took more than {allowed:?}");
    result
}
