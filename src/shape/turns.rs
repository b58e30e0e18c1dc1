//! The budget of loop iterations ("turns") of an invocation on CPUs.
//!
//! lavapipe ends an invocation's loops after 65,535 turns, counted over all loops, and continues behind them without an
//! error: the sort would be wrong. Each kind of loop that grows with the shape has a share of these turns, and shapes are
//! reduced until the share suffices. The rest is for loops over digits, and for look-back over one tile per thread.

use super::sizes::Shape;
use crate::request::SortRequest;
use crate::tuning::RankMethod;

/// Turns after which loops end.
const ALL: u32 = 65_535;
/// Share of loading, ranking and writing the items of a tile.
const TILE: u32 = 28_672;
/// Share of recounting other threads' tiles.
const RECOUNTS: u32 = 16_384;
/// Share of the digits of these tiles. Turns of digits beyond it reduce the items of the invocation's own tile.
const DIGITS: u32 = 12_288;
/// Turns for each own digit of a recounted tile: to clear it, to publish it, and to poll the next tile's word once.
const DIGIT: u32 = 4;
/// Most digits of an invocation: beyond it their turns would leave none for a tile.
pub(crate) const MAX_DIGITS_EACH: u32 = 256;
/// Share of polling for their words.
const POLLS: u32 = 4_096;
/// Threads that lavapipe has at most.
const THREADS: u32 = 32;
/// Turns of a single workgroup, which sorts a block in shared memory pass by pass.
const SINGLE: u32 = 64_000;
/// Words of the largest key.
const MAX_KEY_WORDS: u32 = 4;
/// Words of the largest value that moves with its key.
const VALUE_WORDS: u32 = 4;

const _: () = assert!(TILE + RECOUNTS + DIGITS + POLLS + 4_000 <= ALL && SINGLE < ALL);

/// Turns that ranking an item takes.
fn ranking(rank: RankMethod, subgroup_size: u32, digit_bits: u32) -> u32 {
    match rank {
        RankMethod::Match => 2 * subgroup_size.div_ceil(32),
        RankMethod::Compare => subgroup_size,
        RankMethod::Private => 0,
        RankMethod::Ballot | RankMethod::Partition => digit_bits,
    }
}

/// Turns of an item of a tile.
fn of_item(rank: RankMethod, subgroup_size: u32, digit_bits: u32) -> u32 {
    let staging = if rank == RankMethod::Private { 0 } else { 6 + 2 * MAX_KEY_WORDS + 2 * VALUE_WORDS };
    2 + ranking(rank, subgroup_size, digit_bits) + VALUE_WORDS + staging
}

/// Turns of the items of a tile, and of the digits of other threads' tiles beyond their share. An invocation counts
/// `radix / workgroup_size` digits of each.
fn of_tile(shape: &Shape) -> u32 {
    let digits = THREADS * DIGIT * shape.radix().div_ceil(shape.workgroup_size);
    shape.items * of_item(shape.rank, shape.subgroup.size, shape.digit_bits) + digits.saturating_sub(DIGITS)
}

/// Halves the items of a tile until its turns suffice.
pub(crate) fn reduce_items(shape: &mut Shape) {
    while shape.items > 1 && of_tile(shape) > TILE {
        shape.items /= 2;
    }
}

/// Blocks of a tile whose turns suffice.
pub(crate) fn most_blocks(shape: &Shape) -> u32 {
    (TILE / of_tile(shape)).max(1)
}

/// Whether the turns of an invocation of a single workgroup suffice.
pub(crate) fn allow_single_block(shape: &Shape, request: &SortRequest) -> bool {
    let ranking = ranking(shape.rank, shape.subgroup.size, shape.digit_bits);
    let value_words = request.value.sorted_bytes().div_ceil(4) as u32;
    // Each word of a key, and the index if there are values, is staged and comes back.
    let item = 2 + ranking + 2 * (shape.key_words + value_words.min(1));
    let digits = match shape.rank {
        RankMethod::Private => 2 * shape.radix(),
        _ => {
            let masks = shape.subgroup.size.div_ceil(32);
            let subgroups = shape.single_workgroup_size / shape.subgroup.size;
            shape.radix().div_ceil(shape.subgroup.size) * (1 + masks)
                + shape.radix().div_ceil(shape.single_workgroup_size) * (4 + 4 * subgroups)
        }
    };
    // Before the passes keys are loaded and compared with the first; afterwards keys and values are written.
    let once = 4 + 2 * shape.key_words + 2 * value_words;
    shape.passes * (shape.single_items * item + digits) + shape.single_items * once <= SINGLE
}

/// Most polls of a look-back word on a CPU. An invocation polls a word for each of its digits.
pub(crate) fn most_polls(shape: &Shape) -> u32 {
    let digits = shape.radix().div_ceil(shape.workgroup_size);
    (POLLS / THREADS / digits).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi;
    use crate::key::KeyType;
    use crate::profile::{DeviceProfile, driver};
    use crate::request::Algorithm;
    use crate::request::ValueType;
    use crate::shape::ShapeDesc;
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
    fn whatever_is_asked_for_keeps_within_the_turns() {
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
                        polls: 1 << 16,
                        ..row.clone()
                    };
                    for (key, size) in [(KeyType::U8, 4), (KeyType::U32, 8), (KeyType::U64, 16), (KeyType::U128, 32)] {
                        for value in [ValueType::None, ValueType::Bytes(16)] {
                            let request = SortRequest { value, ..SortRequest::new(key) };
                            let shape = fit(&tuning, &request, size);
                            let items = shape.items;
                            let of_items = items * of_item(shape.rank, size, shape.digit_bits);
                            let of_digits = THREADS * DIGIT * shape.radix().div_ceil(shape.workgroup_size);
                            let fits = of_items <= TILE && of_items + of_digits <= TILE + DIGITS;
                            assert!(fits && shape.tile_blocks * of_items <= TILE, "{shape:?}");
                            let at_once = if rank == RankMethod::Private { abi::RECOUNTED_AT_ONCE } else { 1 };
                            assert!(items.div_ceil(at_once) * THREADS <= RECOUNTS, "{shape:?}");
                            assert!(allow_single_block(&shape, &request), "{shape:?}");
                            let digits = shape.radix().div_ceil(shape.workgroup_size);
                            assert!(most_polls(&shape) == 1 || most_polls(&shape) * digits * THREADS <= POLLS);
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
        let of = |workgroup_size, digit_bits| most_polls(&Shape { workgroup_size, digit_bits, ..shape });
        assert_eq!((of(8, 8), of(16, 8), of(16, 10), of(1, 11)), (4, 8, 2, 1));
    }
}
