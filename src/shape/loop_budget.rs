//! The budget of loop iterations of an invocation on CPUs.
//!
//! lavapipe ends an invocation's loops after 65,535 iterations, counted over all loops, and continues after them without an
//! error: the sort would be wrong. Each kind of loop that grows with the shape has a share of these iterations, and shapes are
//! reduced until the share suffices. The rest is for loops over digits, and for look-back over one tile per thread.

use super::sizes::{Block, Ranking};
use crate::abi;
use crate::request::SortRequest;
use crate::tuning::{MAX_ITEMS, RankMethod};

/// Iterations after which loops end.
#[allow(dead_code, reason = "older versions of Rust do not count the assertion below")]
const ALL: u32 = 65_535;
/// Share of loading, ranking and writing the items of a tile.
const TILE: u32 = 28_672;
/// Share of recounting other threads' tiles.
#[allow(dead_code, reason = "older versions of Rust do not count the assertion below")]
const RECOUNTS: u32 = 16_384;
/// Share of the digits of these tiles. Iterations over digits beyond it reduce the items of the invocation's own tile.
const DIGITS: u32 = 12_288;
/// Iterations for each own digit of a recounted tile: to clear it, to publish it, to add it, and in two loops to poll the next tile's
/// word once.
const DIGIT: u32 = 5;
/// The largest number of digits per invocation: more would leave no iterations for a tile.
pub(crate) const MAX_DIGITS_EACH: u32 = 128;
/// Share of polling for their words.
const POLLS: u32 = 4_096;
/// Threads that lavapipe has at most.
const THREADS: u32 = 32;
/// Iterations of a single workgroup, which sorts a block in shared memory pass by pass.
const SINGLE: u32 = 64_000;
/// Iterations of a verifier, over the elements of an invocation and their words.
const VERIFIER: u32 = 60_000;
/// Words of the largest key.
const MAX_KEY_WORDS: u32 = 4;
/// Words of the largest value that moves with its key.
const VALUE_WORDS: u32 = 4;

const _: () = assert!(TILE + RECOUNTS + DIGITS + POLLS + 4_000 <= ALL && SINGLE < ALL && VERIFIER < ALL);

/// Iterations of an invocation that narrows rows: it takes most items, four in an iteration of its loop, clears and adds up counters, and
/// alone in its workgroup it takes all bins of a row and finds one by the sums of their chunks.
#[allow(dead_code, reason = "older versions of Rust do not count the assertion below")]
const NARROWED: u32 = {
    let (bins, chunks) = (1 << abi::TOP_DIGIT_BITS, (1 << abi::TOP_DIGIT_BITS) / abi::HISTOGRAM_CHUNK);
    MAX_ITEMS / 4 * (1 + 4 + 4) + 5 * bins + chunks * chunks
};
const _: () = assert!(NARROWED < SINGLE);

/// Elements that an invocation of a verifier can take. Each takes an iteration of its own, and one for each word: of its value, and of
/// its key to hash it and to compare it.
pub(crate) fn most_verified(request: &SortRequest) -> u32 {
    let words = |bytes: u64| bytes.div_ceil(4) as u32;
    let iterations = 2 + 2 * words(request.key.size_bytes()) + words(request.value.size_bytes());
    (VERIFIER / iterations).max(1)
}

/// Whether a workgroup of a finish can sort a run of so many elements: it compares neighbours in each window, at most as often as half of
/// it has keys and until the look behind that, and merges windows. In each round of that an invocation searches for the places of its own.
///
/// GPUs count no iterations, but some systems reset them after two seconds, so there are no more than a million loads behind each other.
/// Neighbours of such a run are compared a million times at most, half as often as it has keys, in shared memory.
pub(crate) fn allows_run(window: Block, count: u32, is_cpu: bool) -> bool {
    let windows = u64::from(count.div_ceil(window.elements())) + 1;
    let rounds = u64::from(windows.ilog2()) + 2;
    let merging = rounds * u64::from(count.div_ceil(window.invocations)) * (u64::from(count.ilog2()) + 2);
    let sorting = windows * u64::from((window.elements() / 2 + 16) * (window.items + 2));
    if is_cpu { merging + sorting <= u64::from(ALL) * 3 / 4 } else { merging <= 1 << 20 }
}

/// Iterations that ranking an item takes.
fn to_rank(ranking: &Ranking) -> u32 {
    match ranking.method {
        RankMethod::Match => 2 * ranking.subgroup.size.div_ceil(32),
        RankMethod::Compare => ranking.subgroup.size,
        RankMethod::Private => 0,
        RankMethod::Ballot => ranking.digit_bits,
    }
}

/// Iterations per item of a tile. Each part of a staged tile looks at all items. Look-back while keys are ranked goes over the own digits
/// twice for each four items.
fn iterations_per_item(ranking: &Ranking, tile: Block) -> u32 {
    let staging = if ranking.staged() { 6 + 2 * MAX_KEY_WORDS + 2 * VALUE_WORDS } else { 0 };
    let ahead = if ranking.staged() { ranking.radix().div_ceil(tile.invocations).div_ceil(2) } else { 0 };
    2 + to_rank(ranking) + ahead + VALUE_WORDS + staging * ranking.most_parts(tile)
}

/// Iterations over the items of a tile, and over the digits of other threads' tiles beyond their share. An invocation counts
/// `radix / invocations` digits of each.
fn iterations_per_tile(ranking: &Ranking, tile: Block) -> u32 {
    let digits = THREADS * DIGIT * ranking.radix().div_ceil(tile.invocations);
    tile.items * iterations_per_item(ranking, tile) + digits.saturating_sub(DIGITS)
}

/// The tile with its items halved until the iterations suffice.
pub(crate) fn reduce_items(ranking: &Ranking, mut tile: Block) -> Block {
    while tile.items > 1 && iterations_per_tile(ranking, tile) > TILE {
        tile.items /= 2;
    }
    tile
}

/// Blocks of a tile for which the iterations suffice.
pub(crate) fn most_blocks(ranking: &Ranking, tile: Block) -> u32 {
    (TILE / iterations_per_tile(ranking, tile)).max(1)
}

/// Whether the iterations of an invocation of a single workgroup suffice for all passes.
pub(crate) fn allows_single(ranking: &Ranking, passes: u32, single: Block, request: &SortRequest) -> bool {
    let value_words = request.value.sorted_bytes().div_ceil(4) as u32;
    // Each word of a key, and the index if there are values, is staged and comes back.
    let item = 2 + to_rank(ranking) + 2 * (ranking.key_words + value_words.min(1));
    let lanes = ranking.subgroup.size;
    let digits = match ranking.method {
        RankMethod::Private => 2 * ranking.radix(),
        _ => {
            let (masks, subgroups) = (lanes.div_ceil(32), single.invocations / lanes);
            ranking.radix().div_ceil(lanes) * (1 + masks)
                + ranking.radix().div_ceil(single.invocations) * (4 + 4 * subgroups)
        }
    };
    // Before the passes keys are loaded and compared with the first; afterwards keys and values are written.
    let once = 4 + 2 * ranking.key_words + 2 * value_words;
    passes * (single.items * item + digits) + single.items * once <= SINGLE
}

/// Elements of the longer segments of a window that an invocation goes through at most, for each of its items: as many as a block
/// has, and the stretch in which segments of a window begin.
const LONGER_ITEMS: (u32, u32) = (7, 4);
/// The longer segments of a window at most, which are sorted one after the other.
const LONGER: u32 = 3;

/// Passes over the small segments of a window, by keys and by numbers.
fn window_passes(ranking: &Ranking, passes: u32, window: Block) -> u32 {
    passes.max(1) + window.elements().max(2).ilog2().div_ceil(ranking.digit_bits)
}

/// Iterations that an item of a window takes in a pass, which counts, ranks, and stages each word and the origin, or the origin alone.
fn window_item(ranking: &Ranking) -> u32 {
    4 + if ranking.staged() { to_rank(ranking) + 2 * ranking.key_words } else { 0 }
}

/// Whether the iterations of an invocation of a window suffice.
pub(crate) fn allows_windows(ranking: &Ranking, passes: u32, window: Block, request: &SortRequest) -> bool {
    window_iterations(ranking, passes, window, request) <= u64::from(SINGLE)
}

/// The iterations of an invocation of a window at most.
fn window_iterations(ranking: &Ranking, passes: u32, window: Block, request: &SortRequest) -> u64 {
    let (lanes, group, elements) = (ranking.subgroup.size, window.invocations, window.elements());
    let words = |bytes: u64| bytes.div_ceil(4).min(1 << 16) as u32;
    let (key_words, value_words) = (words(request.key.size_bytes()), words(request.value.size_bytes()));
    let digits = match ranking.method {
        RankMethod::Private => 2 * ranking.radix(),
        _ => {
            let (masks, subgroups) = (lanes.div_ceil(32), group / lanes);
            ranking.radix().div_ceil(lanes) * (1 + masks) + ranking.radix().div_ceil(group) * (4 + 4 * subgroups)
        }
    };
    let passes = window_passes(ranking, passes, window);
    let sorted = passes * window_item(ranking) + 3 + 2 * key_words + 2 * value_words;
    let marks = elements.div_ceil(u32::BITS);
    let before = u32::BITS + 3 * marks.div_ceil(group) + window.items + marks.div_ceil(group) * marks;
    let longer = u64::from(window.items * LONGER_ITEMS.0 / LONGER_ITEMS.1 + LONGER);
    (u64::from(window.items) + longer) * u64::from(sorted) + u64::from((1 + LONGER) * passes * digits + before)
}

/// Iterations of an invocation that sorts a segment with other lanes: over its slots and their words in each stage of the network, and in
/// two loops for each word of a value.
fn network_iterations(slot_bits: u32, request: &SortRequest) -> u64 {
    let words = |bytes: u64| bytes.div_ceil(4).min(1 << 16);
    let stages = u64::from(slot_bits * (slot_bits + 1) / 2);
    let slots = stages * (3 + 3 * words(request.key.size_bytes())) + 4 + 2 * words(request.value.size_bytes());
    u64::from(abi::HELD_SLOTS) * slots + words(request.value.size_bytes())
}

/// Whether the iterations of an invocation suffice that sorts a short segment with other lanes.
pub(crate) fn allows_short(slot_bits: u32, request: &SortRequest) -> bool {
    network_iterations(slot_bits, request) <= u64::from(SINGLE)
}

/// The most slots, as a power of two, with which an invocation on a CPU may sort segments of a window with other lanes, instead of all by
/// digits; 0 for none.
pub(crate) fn most_network_bits(ranking: &Ranking, passes: u32, window: Block, request: &SortRequest) -> u32 {
    let turns = u64::from(window.items * abi::SPARSEST).div_ceil(abi::HELD_SLOTS.into()) + 1;
    let left = iterations_to_list(ranking, passes, window, request);
    let fits = |slot_bits: u32| turns * (1 + network_iterations(slot_bits, request)) <= left;
    (abi::HELD_SLOTS.ilog2()..=MOST_SLOT_BITS).rev().find(|slot_bits| fits(*slot_bits)).unwrap_or(0)
}

/// Slots of 128 lanes, as a power of two.
const MOST_SLOT_BITS: u32 = 7 + abi::HELD_SLOTS.ilog2();

/// The longest segment on a CPU that is divided by digits, for blocks of a window; 0 if not even those just above the block are. A tile
/// is at least four blocks. An invocation counts its items, and then moves them; it also adds up digits.
pub(crate) fn most_split(ranking: &Ranking, passes: u32, window: Block, request: &SortRequest) -> u32 {
    let words = |bytes: u64| bytes.div_ceil(4).min(1 << 16) as u32;
    let value_words = words(request.value.size_bytes());
    let item = match ranking.method {
        RankMethod::Private => 2 + value_words,
        _ => {
            4 + to_rank(&Ranking { digit_bits: abi::SPLIT_BITS, ..*ranking })
                + 2 * (1 + ranking.key_words + value_words)
        }
    };
    // Digits of a block where it is ranked, and of rows and children: in each of four loops an invocation may have all of them.
    let (once, each) = (SPLIT_ONCE, if ranking.staged() { 6 * abi::SPLIT_CHILDREN } else { 0 });
    let blocks = (SINGLE - once) / (window.items.saturating_mul(item).saturating_add(each));
    if blocks < abi::SPLIT_TILE_BLOCKS {
        return 0;
    }
    let by_tiles = blocks.saturating_mul(window.elements()).saturating_mul(abi::SPLIT_TILES);
    // The kernel of windows finds the children of a parent, and lists its tiles and its windows of children.
    let iterations = iterations_to_list(ranking, passes, window, request);
    let before = abi::SPLIT_CHILDREN.div_ceil(ranking.subgroup.size) + abi::SPLIT_TILES.div_ceil(window.invocations);
    let windows = iterations.saturating_sub(before.into()).saturating_mul(window.invocations.into()).saturating_sub(2);
    let units = u64::from(window.elements() - window.elements() / 4);
    let by_windows = windows.saturating_mul(units).saturating_sub(abi::SPLIT_CHILDREN.into());
    by_tiles.min(u32::try_from(by_windows).unwrap_or(u32::MAX))
}

/// Iterations that are left to an invocation of a window that lists a segment instead of sorting a block.
fn iterations_to_list(ranking: &Ranking, passes: u32, window: Block, request: &SortRequest) -> u64 {
    let sorting = u64::from(window_passes(ranking, passes, window) * window_item(ranking)) * u64::from(window.items);
    u64::from(SINGLE).saturating_sub(window_iterations(ranking, passes, window, request)) + sorting
}

/// The longest segment on a CPU that is narrowed to its first elements, by workgroups of `counting` invocations; 0 if not even a tile
/// is. The kernel of windows lists its tiles and clears its counters, and those of each longer segment of a window if they overlap.
pub(crate) fn most_narrowed(
    ranking: &Ranking,
    passes: u32,
    window: Block,
    request: &SortRequest,
    counting: u32,
) -> u32 {
    if window.listed_tile() > MAX_ITEMS.saturating_mul(counting) {
        return 0;
    }
    let cleared = (abi::TOP_STATE_WORDS + (1 << abi::TOP_DIGIT_BITS)).div_ceil(window.invocations);
    let iterations = iterations_to_list(ranking, passes, window, request) / u64::from(LONGER);
    let tiles = iterations.saturating_sub(cleared.into()).saturating_mul(window.invocations.into());
    u32::try_from(tiles.saturating_mul(window.listed_tile().into())).unwrap_or(u32::MAX)
}

/// Iterations over the digits of a tile, and over the tiles of a parent to add up their rows.
const SPLIT_ONCE: u32 = 6 * abi::SPLIT_CHILDREN + 2 * abi::SPLIT_TILES;

/// The largest number of polls of a look-back word on a CPU. An invocation polls a word for each of its digits.
pub(crate) fn most_polls(ranking: &Ranking, tile: Block) -> u32 {
    let digits = ranking.radix().div_ceil(tile.invocations);
    (POLLS / THREADS / digits).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::profile::{DeviceProfile, driver};
    use crate::request::Algorithm;
    use crate::request::ValueType;
    use crate::shape::{Shape, ShapeDesc};
    use crate::tuning::Tuning;

    fn fit(tuning: &Tuning, request: &SortRequest, subgroup_size: u32) -> Shape {
        let profile = DeviceProfile {
            is_cpu: true,
            subgroup_size,
            subgroup_range: (subgroup_size, subgroup_size),
            ..DeviceProfile::default()
        };
        Shape::fit(&ShapeDesc::new(&profile, tuning, request, Algorithm::OneSweep)).unwrap()
    }

    #[test]
    fn whatever_is_asked_for_keeps_within_the_budget() {
        let row = Tuning::for_device(&DeviceProfile { driver_id: driver::LLVMPIPE, ..DeviceProfile::default() });
        for rank in RankMethod::ALL.iter().copied() {
            for digit_bits in [8, 9, 11] {
                for (items, workgroup_size) in [(1, 8), (100, 8), (100, 1024), (4096, 256), (8192, 8)] {
                    let tuning = Tuning {
                        rank,
                        digit_bits,
                        workgroup_size,
                        items_keys: items,
                        items_pairs: items,
                        single_items: items,
                        staged_items: (digit_bits == 9).then_some(items.div_ceil(3)),
                        polls: 1 << 16,
                        ..row.clone()
                    };
                    for (key, size) in [(KeyType::U8, 4), (KeyType::U32, 8), (KeyType::U64, 16), (KeyType::U128, 32)] {
                        for value in [ValueType::None, ValueType::Bytes(16)] {
                            let request = SortRequest::new(key).value(value);
                            let shape = fit(&tuning, &request, size);
                            let Shape { ranking, tile, .. } = shape;
                            let items = tile.items;
                            let of_items = items * iterations_per_item(&ranking, tile);
                            let of_digits = THREADS * DIGIT * ranking.radix().div_ceil(tile.invocations);
                            let fits = of_items <= TILE && of_items + of_digits <= TILE + DIGITS;
                            assert!(fits && shape.tile_blocks * of_items <= TILE, "{shape:?}");
                            let at_once = if rank == RankMethod::Private { abi::RECOUNTED_AT_ONCE } else { 1 };
                            assert!(items.div_ceil(at_once) * THREADS <= RECOUNTS, "{shape:?}");
                            assert!(allows_single(&ranking, shape.passes, shape.single, &request), "{shape:?}");
                            let digits = ranking.radix().div_ceil(tile.invocations);
                            let polls = most_polls(&ranking, tile);
                            assert!(polls == 1 || polls * digits * THREADS <= POLLS);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn polls_are_fewer_where_invocations_have_more_digits() {
        let request = SortRequest::new(KeyType::U32);
        let shape = fit(&Tuning::for_device(&DeviceProfile::default()), &request, 8);
        let of = |invocations, digit_bits| {
            most_polls(&Ranking { digit_bits, ..shape.ranking }, Block { invocations, ..shape.tile })
        };
        assert_eq!((of(8, 8), of(16, 8), of(16, 10), of(1, 11)), (4, 8, 2, 1));
    }
}
