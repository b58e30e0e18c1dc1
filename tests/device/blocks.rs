//! Blocks and what is special about some of them: input that ends anywhere in a block, and digits that many elements of a block
//! share. Ranking takes a path of its own for most of these.

use vksort::{
    Algorithm, Ballot, BitRange, KeyOutput, KeyType, Order, Placement, RankMethod, SortRequest, SorterOptions,
    SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::arena::{Arena, Count};
use vksort_testing::patterns::{self, Pattern};
use vksort_testing::{Failed, Trial};
use vksort_testing::{gpu, seed, suite};

/// Kernels that take blocks in different ways, the first one as GPUs do.
fn settings() -> Vec<(&'static str, SorterOptions)> {
    let row = suite::small_blocks();
    let staged = Tuning { rank: RankMethod::Ballot, unordered: true, digit_bits: 8, ..row.clone() };
    let lean = Tuning { few_registers: true, ballot: Ballot::ByMask, looks_ahead: true, ..staged.clone() };
    let odd = Tuning {
        few_registers: true,
        items_keys: 5,
        items_pairs: 3,
        single_workgroup_size: Some(64),
        single_items: 7,
        ..staged.clone()
    };
    // Digits so short that a part is larger than the counters, and the last part smaller than the others. The widest keys have three
    // items where loops are unrolled.
    let parts = Tuning { items_keys: 12, items_pairs: 7, staged_items: Some(4), digit_bits: 4, ..lean.clone() };
    let with = |tuning: Tuning, subgroup| SorterOptions::default().tuning(tuning).subgroup(subgroup);
    let native = SubgroupChoice::Auto;
    vec![
        ("staged", with(staged.clone(), native)),
        ("by-mask", with(Tuning { ballot: Ballot::ByMask, ..staged.clone() }, native)),
        ("lean", with(lean, native)),
        ("compare", with(Tuning { rank: RankMethod::Compare, few_registers: true, ..staged.clone() }, native)),
        // An odd number of items, of which the last has half a word for itself, and a single workgroup of more subgroups
        // than tiles have, which are idle if there are few elements.
        ("odd", with(odd, native)),
        ("match", with(Tuning { rank: RankMethod::Match, looks_ahead: true, ..staged.clone() }, native)),
        ("parts", with(parts, native)),
        ("virtual-32", with(staged, SubgroupChoice::Emulated(32))),
        ("row", with(row, native)),
    ]
}

/// What a block's elements can be like: words of a key, orders whose last key is another one, digits of different widths and
/// across words, elements of parts of words, values in several planes, and indices that travel with a digit.
fn requests() -> Vec<SortRequest> {
    let usual = |key| SortRequest::new(key).algorithm(Algorithm::OneSweep);
    let pairs = |key| usual(key).value(ValueType::U32);
    let bits = |low, high| BitRange { low, high };
    let down = |request: SortRequest| request.order(Order::Descending);
    vec![
        usual(KeyType::U32),
        down(pairs(KeyType::F32)),
        pairs(KeyType::U32).bits(bits(3, 30)),
        down(usual(KeyType::I32)).bits(bits(9, 20)).stable(false),
        pairs(KeyType::U64).bits(bits(27, 54)),
        down(usual(KeyType::F64)).placement(Placement::OutOfPlace),
        down(usual(KeyType::I128)).value(ValueType::Bytes(12)),
        usual(KeyType::U128).bits(bits(60, 71)),
        usual(KeyType::U8),
        down(usual(KeyType::U16)).value(ValueType::Bytes(1)),
        down(usual(KeyType::F16)),
        down(usual(KeyType::F32)).value(ValueType::Index).key_output(KeyOutput::Discarded),
        down(pairs(KeyType::F32)).algorithm(Algorithm::ReduceThenScan),
        usual(KeyType::U32).algorithm(Algorithm::SingleWorkgroup),
        down(pairs(KeyType::I64)).algorithm(Algorithm::SingleWorkgroup),
    ]
}

/// Every count up to two blocks and a little, or up to all that one workgroup sorts: uniform keys, and keys of which half come
/// last, as lanes past the end do.
fn tails(request: &SortRequest, options: &SorterOptions) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    let capacity = match request.algorithm {
        Some(Algorithm::SingleWorkgroup) => sorter.max_count(),
        _ => (2 * sorter.shape().tile.elements() + 2).min(sorter.max_count()),
    };
    let arena = Arena::new(&gpu(), &sorter, capacity);
    let size = request.key.size_bytes() as usize;
    let ones = u128::MAX >> (128 - request.key.bits());
    let ends = [0, ones, ones >> 1, ones ^ ones >> 1];
    let last = ends.into_iter().max_by_key(|&bits| request.key.sortable(bits, request.order)).expect("there are some");
    let last = &last.to_le_bytes()[..size];
    for count in 0..=capacity {
        let mut keys = patterns::generate(Pattern::Uniform, request.key, count as usize, seed());
        if count % 2 == 1 {
            keys.chunks_exact_mut(size).filter(|key| key[0] % 2 == 1).for_each(|key| key.copy_from_slice(last));
        }
        check(request, &arena, &keys, &format!("{count} elements"))?;
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

/// How often the digits of a block's elements are the same.
#[derive(Clone, Copy, Debug)]
enum Share {
    /// No more often than in uniform keys.
    Uniform,
    /// All of them.
    All,
    /// All but the one at this place, counted in quarters of the block; the last place is the fourth.
    AllBut(u32),
    /// So many more than an eighth, from which on ranking is in order.
    Eighth(i32),
    /// Half of them.
    Half,
}

const SHARES: [Share; 10] = [
    Share::Uniform,
    Share::All,
    Share::AllBut(0),
    Share::All,
    Share::AllBut(2),
    Share::AllBut(4),
    Share::Eighth(0),
    Share::Eighth(1),
    Share::Eighth(-1),
    Share::Half,
];

/// Blocks that follow each other and share a digit among none, some or all of their elements, then one that is not full: in
/// every order of neighbours, and for several digits that are shared. For a single workgroup, each block is a sort.
fn skew(request: &SortRequest, options: &SorterOptions) -> Result<(), Failed> {
    let sorter = gpu().sorter(request, options)?;
    let (block, blocks) = match request.algorithm {
        Some(Algorithm::SingleWorkgroup) => (sorter.max_count(), 1),
        _ => (sorter.shape().tile.elements(), SHARES.len()),
    };
    let size = request.key.size_bytes() as usize;
    let capacity = (blocks as u32 * block + block / 2 + 1).min(sorter.max_count());
    let arena = Arena::new(&gpu(), &sorter, capacity);
    let mut rng = fastrand::Rng::with_seed(seed());
    for shared in [0x00, 0xFF, 0x5A, rng.u8(..)] {
        let mut shares = SHARES;
        rng.shuffle(&mut shares);
        for shares in shares.chunks(blocks) {
            let mut keys = patterns::generate(Pattern::Uniform, request.key, capacity as usize, rng.u64(..));
            for (index, key) in keys.chunks_exact_mut(size).enumerate() {
                let (block_index, at) = (index / block as usize, index as u32 % block);
                // The block behind the last full one shares its digit among all.
                let is_shared = match shares.get(block_index).unwrap_or(&Share::All) {
                    Share::Uniform => false,
                    Share::All => true,
                    Share::AllBut(quarter) => at != (quarter * block / 4).min(block - 1),
                    Share::Eighth(more) => i64::from(at) < i64::from(block / 8) + i64::from(*more),
                    Share::Half => at % 2 == 0,
                };
                if is_shared {
                    key.fill(shared);
                }
            }
            check(request, &arena, &keys, &format!("blocks of {block} with {shared:#x} in {shares:?}"))?;
        }
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

/// Tiles of as many blocks as the device lets them have: software drivers limit the turns of an invocation's loops.
fn many_blocks() -> Result<(), Failed> {
    let request = SortRequest::new(KeyType::U32).value(ValueType::Bytes(16)).algorithm(Algorithm::ReduceThenScan);
    for subgroup in [SubgroupChoice::Auto, SubgroupChoice::Emulated(4)] {
        // Without private counters, as with elements by address.
        let tuning = Tuning { rank: RankMethod::Ballot, ..gpu().tuning().clone() };
        let sorter = gpu().sorter(&request, &SorterOptions::default().tuning(tuning).subgroup(subgroup))?;
        let capacity = 1 << 17;
        let arena = Arena::new(&gpu(), &sorter, capacity);
        let keys = patterns::generate(Pattern::Uniform, request.key, capacity as usize, seed());
        check(&request, &arena, &keys, &format!("{capacity} elements, {subgroup:?}"))?;
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

/// A sorter for few elements has smaller tiles, and sorts more elements as well.
fn few_elements() -> Result<(), Failed> {
    let tuning = Tuning { rank: RankMethod::Ballot, items_keys: 12, few_items: Some(5), ..suite::small_blocks() };
    let options = SorterOptions::default().tuning(tuning);
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let many = gpu().sorter(&request, &options)?.tile_size(20_000)?;
    let sorter = gpu().sorter(&request, &options.capacity(2_000))?;
    let tile = sorter.tile_size(20_000)?;
    assert_eq!((tile, many), (many / 12 * 5, many), "five items instead of twelve");
    for capacity in [tile + 1, 2_000, 20_000] {
        let arena = Arena::new(&gpu(), &sorter, capacity);
        let keys = patterns::generate(Pattern::Uniform, request.key, capacity as usize, seed());
        check(&request, &arena, &keys, &format!("{capacity} elements"))?;
    }
    vksort_testing::assert_valid(&gpu());
    Ok(())
}

fn check(request: &SortRequest, arena: &Arena, keys: &[u8], what: &str) -> Result<(), Failed> {
    suite::run_keys(request, arena, keys, Count::Host)
        .map_err(|reason| format!("{what}, VKSORT_SEED={}: {reason}", seed()).into())
}

type Check = fn(&SortRequest, &SorterOptions) -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("many-blocks", many_blocks), Trial::test("few-elements", few_elements)];
    for (setting, request, options) in suite::by_turns(requests(), settings()) {
        for (name, check) in [("tails", tails as Check), ("skew", skew)] {
            let options = options.clone();
            let name = format!("{name}/{setting}/{}", suite::name(&request));
            trials.push(Trial::test(name, move || check(&request, &options)));
        }
    }
    trials
}
