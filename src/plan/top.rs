//! The first elements of long rows: levels that narrow the prefix of each row, the indices of the few elements that are left, and a
//! sort of those. Rows are given, or are the segments beyond a block that windows have listed.

use super::{Groups, Kernel, Plan, Step};
use crate::abi::{self, Own};
use crate::request::Count;
use crate::segments::Segments;
use crate::shape::Windows;

/// The rows that are narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// Whether windows list them. There is then room for a row for each tile, of which those of first tiles are used.
    listed: bool,
    number: u32,
    /// The most elements of a row.
    length: u32,
    /// Elements of a tile.
    tile: u32,
    tiles: u32,
    survivors: u32,
}

impl Rows {
    /// Those of so many segments, or elements of the whole array.
    pub fn new(plan: &Plan, windows: &Windows, count: u32) -> Option<Rows> {
        let (survivors, listed) = (windows.survivors?, windows.lists_rows());
        let rows = if listed {
            let tile = plan.histogram_part.max(windows.block.listed_tile());
            let tiles = most_tiles(plan.capacity, count, windows.block.elements(), tile);
            Rows { listed, number: tiles, length: plan.capacity, tile, tiles, survivors }
        } else {
            let number = if windows.segments == Segments::Whole { count.min(plan.segment_capacity) } else { count };
            let (length, tile) = (windows.segments.stride().unwrap_or(count), plan.histogram_part);
            Rows { listed, number, length, tile, tiles: number.saturating_mul(length.div_ceil(tile)), survivors }
        };
        (rows.number > 0).then_some(rows)
    }

    /// Words of the counters: the state of each row, and a bin for each value of a digit.
    fn counter_words(self) -> u64 {
        let row = abi::TOP_STATE_WORDS + abi::TOP_BINS;
        u64::from(abi::TOP_ROWS) + u64::from(self.number) * u64::from(row)
    }

    /// Bytes of the counters and of the table.
    pub fn scratch_bytes(self) -> [u64; 2] {
        let record = if self.listed { abi::TOP_RECORD_WORDS } else { 0 };
        [4 * self.counter_words(), 4 * u64::from(self.number) * u64::from(record + self.survivors)]
    }

    /// The most levels until so few elements are left: those of all digits of a key, and then of an index.
    fn levels(self, key_bits: u32) -> u32 {
        let index_bits = u32::BITS - self.length.saturating_sub(1).max(1).leading_zeros();
        let digits = |bits: u32| bits.div_ceil(abi::TOP_DIGIT_BITS);
        if self.length <= self.survivors { 0 } else { digits(key_bits) + digits(index_bits) }
    }

    /// The steps, with the dispatch of windows that lists rows.
    pub fn each_step(self, plan: &Plan, count: Count, windows: impl Fn(Own) -> Step, emit: &mut dyn FnMut(Step)) {
        let (capacity, most_tiles, most_survivors) = (plan.capacity, self.tiles, self.survivors);
        // The counters of a listed row are cleared by the workgroup that lists it.
        emit(Step::clear(4 * if self.listed { abi::TOP_ROWS.into() } else { self.counter_words() }));
        if self.listed {
            emit(windows(Own::ListRows { capacity, tile_length: self.tile, most_tiles, most_survivors }));
        }
        // A row is as long as from its begin to that of the next.
        let row_length = self.length;
        let narrowing = |stage| Own::Narrow { part: self.tile, row_length, most_tiles, most_survivors, stage };
        let over = |slot: u32, direct: u32| match plan.indirect && (self.listed || slot > 0) {
            true => Groups::Counted(slot),
            false => Groups::Direct(direct),
        };
        let narrow = |level, stage| {
            let push = plan.push(count, level, narrowing(stage));
            Step::dispatch(Kernel::Narrow, Some(level), over(level, self.tiles), push)
        };
        for level in 0..self.levels(plan.request.bits.len()) {
            if plan.shape.quirks.decide_apart {
                emit(narrow(level, abi::STAGE_COUNTS));
                emit(narrow(level, abi::STAGE_DECIDES).named("decide"));
            } else {
                emit(narrow(level, abi::STAGE_ALL));
            }
        }
        let keep = plan.push(count, 0, narrowing(abi::STAGE_KEEPS));
        emit(Step::dispatch(Kernel::Narrow, None, over(0, self.tiles), keep).named("keep"));
        // The survivors of a row have a window of their own.
        let own = Own::Finish { capacity, row_length, most_tiles, most_survivors, small: 0 };
        let finish = plan.push(count, 0, own);
        emit(Step::dispatch(Kernel::Finish, None, over(0, self.number), finish));
    }
}

/// Tiles of so many segments at most, of those that are longer than a block, without overlap. Their first tiles take the fewest
/// elements, a block and one more; so of `n` tiles a segment has more than `n` blocks.
fn most_tiles(capacity: u32, segments: u32, block: u32, tile: u32) -> u32 {
    if segments == 0 {
        return 0;
    }
    let (mut left, mut tiles) = (capacity, 0);
    for (most, elements) in [(segments, block + 1), (segments, tile - block), (u32::MAX, tile)] {
        let more = most.min(left / elements);
        tiles += more;
        left -= more * elements;
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Block;

    #[test]
    fn tiles_of_segments_without_overlap_reach_the_room_and_need_no_more() {
        for block in [4, 7, 20] {
            for tile in [Block { invocations: 1, items: block }.listed_tile(), 5 * block] {
                let elements = 12 * block as usize + 9;
                // The most tiles of so many elements, in no segments at first.
                let mut most = vec![0; elements + 1];
                for segments in 0..16 {
                    for (capacity, most) in most.iter().enumerate() {
                        let room = most_tiles(capacity as u32, segments, block, tile);
                        assert_eq!(
                            *most, room,
                            "{capacity} elements, {segments} segments, blocks of {block}, tiles of {tile}"
                        );
                    }
                    let before = most.clone();
                    for capacity in 1..=elements {
                        let with = |size: usize| before[capacity - size] + (size as u32).div_ceil(tile);
                        let sizes = block as usize + 1..=capacity;
                        most[capacity] = sizes.map(with).fold(before[capacity], u32::max);
                    }
                }
                let blocks = |capacity: u32| capacity / (block + 1);
                assert_eq!(most[elements], blocks(elements as u32), "no more segments are longer");
            }
        }
    }
}
