//! Segments that are longer than a block: rounds that divide them by a digit each, from the top, until their parts fit a block.

use super::{Ends, Groups, Kernel, Plan, Step};
use crate::abi::{self, Own};
use crate::request::Count;
use crate::shape::Windows;

/// What a round has room for: as much as segments that do not overlap take at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Parents, each longer than a block. Tiles need no more words: one of a parent with several has at least four blocks.
    pub parents: u32,
    /// Rows, one for each tile of a parent with several.
    pub rows: u32,
    /// Windows of children.
    pub windows: u32,
}

impl Room {
    /// The room for so many elements, with blocks of `block`. All of its limits are reached.
    pub fn new(capacity: u32, block: u32) -> Room {
        let (elements, block, children) = (u64::from(capacity), u64::from(block), u64::from(abi::SPLIT_CHILDREN));
        let parents = elements / (block + 1);
        // A parent of `n` elements has `(n + 255) / units + 1` windows, as each child is a unit of its own.
        let units = block - block / 4;
        let windows = (elements + (children - 1) * parents) / units + parents;
        Room {
            parents: parents as u32,
            rows: (2 * elements / (u64::from(abi::SPLIT_TILE_BLOCKS) * block + 1)) as u32,
            // So many are refused, because a table for them exceeds what devices reach.
            windows: u32::try_from(windows).unwrap_or(u32::MAX),
        }
    }

    /// Words of the table.
    pub fn words(self) -> u64 {
        let [parents, rows, windows, children] =
            [self.parents, self.rows, self.windows, abi::SPLIT_CHILDREN].map(u64::from);
        // Two lists of parents and of windows, the parent of each tile, the sizes of children, and rows.
        parents * (2 * u64::from(abi::PARENT_WORDS) + 1 + children) + 2 * windows + children * rows
    }
}

/// Words of the counters, for so many rounds.
pub(super) fn counter_words(rounds: u32) -> u64 {
    u64::from(abi::COUNTERS_ARGUMENTS + rounds * abi::ROUND_ARGUMENTS * abi::ARGUMENT_WORDS)
}
const _: () = assert!(abi::ROUND_WORDS * (u128::BITS / abi::SPLIT_BITS) <= abi::COUNTERS_FINISHED);

impl Plan {
    /// The room for segments that are longer than a block, if there may be any.
    pub(crate) fn room(&self) -> Option<Room> {
        let windows = self.shape.windows.filter(|windows| windows.rounds > 0)?;
        Some(Room::new(self.capacity, windows.block.elements())).filter(|room| room.parents > 0)
    }
}

/// The words by which kernels find their lists.
pub(super) fn own(plan: &Plan, windows: &Windows, room: Room) -> Own {
    Own::Split {
        capacity: plan.capacity,
        row_length: windows.stride(),
        most_windows: room.windows,
        most_parents: room.parents,
        most_rows: room.rows,
    }
}

pub(super) fn each_round(plan: &Plan, windows: &Windows, room: Room, count: Count, emit: &mut dyn FnMut(Step)) {
    let scanning = abi::SPLIT_CHILDREN.div_ceil(windows.block.invocations.min(abi::SPLIT_SCANNED));
    for round in 0..windows.rounds {
        // Out of place, elements leave the source in the first round.
        let is_first = round == 0 && !plan.request.in_place();
        let push = plan.push(count, round, own(plan, windows, room));
        let step = |kernel, dispatch: u32, most: u32| {
            let groups = match plan.indirect {
                true => Groups::Counted(round * abi::ROUND_ARGUMENTS + dispatch),
                false => Groups::Direct(most),
            };
            let ends = if is_first && kernel != Kernel::Children { Ends::Direct } else { Ends::Back };
            Step { ends, ..Step::dispatch(kernel, Some(round), groups, push) }
        };
        emit(step(Kernel::SplitCount, abi::ARGUMENTS_SPLIT_TILES, room.parents));
        if room.rows > 0 {
            let workgroups = room.parents.saturating_mul(scanning);
            emit(step(Kernel::SplitScan, abi::ARGUMENTS_SPLIT_ROWS, workgroups));
        }
        emit(step(Kernel::Split, abi::ARGUMENTS_SPLIT_TILES, room.parents));
        if round + 1 < windows.rounds {
            emit(step(Kernel::Children, abi::ARGUMENTS_SPLIT_WINDOWS, room.windows));
        } else {
            // What is left has equal keys, or no digits.
            let last = step(Kernel::SplitMove, abi::ARGUMENTS_SPLIT_TILES, room.parents);
            emit(Step { ends: Ends::Back, ..last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parent itself, its tiles, rows and windows, as the kernels count them (glsl/split/parents.glsl).
    fn needs(size: u32, block: u32) -> [u32; 4] {
        let tile = size.div_ceil(abi::SPLIT_TILES).div_ceil(block).max(abi::SPLIT_TILE_BLOCKS) * block;
        let (tiles, units) = (size.div_ceil(tile), block - block / 4);
        let windows = size / units + (size % units + abi::SPLIT_CHILDREN - 1) / units + 1;
        [1, tiles, if tiles > 1 { tiles } else { 0 }, windows]
    }

    #[test]
    fn parents_without_overlap_reach_the_room_and_need_no_more() {
        for block in [4, 7, 20, 64] {
            let elements = 14 * block as usize + 9;
            let (mut most, mut reached) = (vec![[0; 4]; elements + 1], [false; 4]);
            for capacity in 1..=elements {
                most[capacity] = most[capacity - 1];
                for size in block as usize + 1..=capacity {
                    let (rest, needs) = (most[capacity - size], needs(size as u32, block));
                    (0..4).for_each(|kind| most[capacity][kind] = most[capacity][kind].max(rest[kind] + needs[kind]));
                }
                let room = Room::new(capacity as u32, block);
                let limits = [room.parents, room.parents, room.rows, room.windows];
                for kind in 0..4 {
                    assert!(most[capacity][kind] <= limits[kind], "{capacity} elements, blocks of {block}, {kind}");
                    reached[kind] |= most[capacity][kind] == limits[kind] && limits[kind] > 0;
                }
            }
            assert_eq!(reached, [true; 4], "blocks of {block}");
        }
    }

    #[test]
    fn lists_take_a_tenth_of_the_keys() {
        // With blocks of 4,096; the alternate is beside them.
        for elements in [4_457_276u32, 8_912_469, 1 << 30] {
            let bytes = 4 * Room::new(elements, 4096).words();
            assert!(bytes * 1000 <= u64::from(elements) * 396, "{bytes} bytes for {elements} elements");
        }
    }
}
