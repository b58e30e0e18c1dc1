//! [`Shape`], and the sizes that follow from it.

use crate::abi;
use crate::profile::{FixedSubgroups, Quirks};
use crate::records::Fields;
use crate::request::ValueType;
use crate::segments::{IndexFrom, Segments};
use crate::tuning::{Knobs, RankMethod};
use crate::visitor::Visits;

/// Subgroups as the kernels see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subgroup {
    /// Lanes.
    pub size: u32,
    /// Whether they are emulated through shared memory.
    pub emulated: bool,
}

/// A workgroup, and the elements that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Invocations of the workgroup.
    pub invocations: u32,
    /// Elements that each of them holds at a time.
    pub items: u32,
}

impl Block {
    /// Elements of the block.
    pub fn elements(self) -> u32 {
        self.invocations * self.items
    }

    /// The fewest elements of a tile of segments beyond this block, so that of `n` tiles a segment has more than `n` blocks.
    pub(crate) fn listed_tile(self) -> u32 {
        2 * self.elements() + 2
    }
}

/// How blocks are ranked, by tiles and by the single workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ranking {
    /// Subgroups as the ranking kernels see them.
    pub subgroup: Subgroup,
    /// How equal digits find their order.
    pub method: RankMethod,
    /// 32-bit words of a key.
    pub key_words: u32,
    /// Bits of the widest digit.
    pub digit_bits: u32,
    /// The most elements of an invocation of a tile that are staged in shared memory at a time.
    pub staged_items: u32,
}

/// The workgroups that count digits, move or gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Histogram {
    /// A workgroup, and the keys that it counts.
    pub block: Block,
    /// Subgroup size that the histogram requires, if any.
    pub subgroup_size: Option<u32>,
}

/// How workgroups take windows of neighbouring segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Windows {
    /// A workgroup, and the elements that it sorts together.
    pub block: Block,
    /// Bits of the widest digit: those of keys, and enough for the numbers of segments.
    pub digit_bits: u32,
    /// Slots up to which segments are sorted in a few lanes, as a power of two; 0 for none.
    pub network_bits: u32,
    /// The workgroups that sort segments instead, if all are promised to be short.
    pub short: Option<Short>,
    /// How segments are given.
    pub segments: Segments,
    /// The most elements that a segment will have.
    pub longest: u32,
    /// What indices count from.
    pub index_from: IndexFrom,
    /// How many of the first elements of each segment are wanted; 0 for all.
    pub top: u32,
    /// The most elements of a row that are left to be sorted, if rows may be longer than the block.
    pub survivors: Option<u32>,
    /// Rounds that divide segments beyond the block, each by a digit; 0 if there are no such segments.
    pub rounds: u32,
    /// Whether the segments are rows beyond the block that passes over tiles sort, each row by itself.
    pub sweeps: bool,
}

/// How workgroups sort short segments, each in a few lanes of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Short {
    /// Invocations of a workgroup.
    pub invocations: u32,
    /// The slots of a segment, as a power of two.
    pub slot_bits: u32,
}

impl Short {
    /// Segments that a workgroup sorts.
    pub fn segments(self) -> u32 {
        (self.invocations * abi::HELD_SLOTS) >> self.slot_bits
    }
}

impl Windows {
    /// Elements up to which segments are sorted together. Those of a window begin within the rest of a block.
    pub fn small(&self) -> u32 {
        self.longest.min(self.block.elements() / 4)
    }

    /// Elements of a row; 0 if segments are no rows.
    pub fn stride(&self) -> u32 {
        self.segments.stride().unwrap_or(0)
    }

    /// Whether segments beyond the block are listed as rows, of which the first elements are wanted.
    pub fn lists_rows(&self) -> bool {
        self.survivors.is_some() && matches!(self.segments, Segments::Offsets | Segments::Ranges)
    }

    /// The constant that says how segments are given.
    pub(crate) fn layout(&self) -> u32 {
        match self.segments {
            Segments::Offsets => abi::LAYOUT_OFFSETS,
            Segments::Ranges => abi::LAYOUT_RANGES,
            Segments::Rows { .. } => abi::LAYOUT_ROWS,
            Segments::RowsOf { .. } => abi::LAYOUT_ROWS_OF,
            Segments::Whole => abi::LAYOUT_WHOLE,
        }
    }

    /// Shared memory in bytes: what a single workgroup has, and three bits for each slot.
    pub fn shared_bytes(&self, ranking: &Ranking) -> u32 {
        ranking.window_bytes(self.block, self.digit_bits, self.rounds > 0)
    }
}

/// How runs of equal leading bits are sorted, in a sort that may end with a finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Finish {
    /// A workgroup, and the elements of its window.
    pub window: Block,
    /// Tiles from which on sorts have a finish.
    pub tiles: u32,
    /// The most elements of a sort with a finish.
    pub most: u32,
}

impl Finish {
    /// The fewest elements from a window to the next.
    pub(crate) fn part(&self) -> u32 {
        self.window.elements() / 2
    }
}

/// The launch configuration of one sorter's kernels, after clamping to the device's limits: everything but the request that they
/// depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// How blocks are ranked.
    pub ranking: Ranking,
    /// Digits of a key.
    pub passes: u32,
    /// The workgroup that ranks and scatters, and its elements.
    pub tile: Block,
    /// The largest number of blocks in a tile of reduce-then-scan.
    pub tile_blocks: u32,
    /// The single workgroup that sorts all elements in shared memory.
    pub single: Block,
    /// The workgroups that count digits.
    pub histogram: Histogram,
    /// Invocations of a workgroup that scans tile counts.
    pub scan_workgroup_size: u32,
    /// The knobs of the tuning that no limit changes, each as a specialization constant with its value.
    pub(crate) knobs: Knobs,
    /// Reads of one look-back word before the blocking tile is recounted.
    pub polls: u32,
    /// Bits of the number of slots in the look-back ring.
    pub ring_bits: u32,
    /// The driver's quirks.
    pub quirks: Quirks,
    /// What kernels with the device's own subgroups rely on, where pipelines do not require full ones.
    pub fixed_subgroups: FixedSubgroups,
    /// Tiles and histogram parts to have, before they grow.
    pub min_tiles: u32,
    /// The largest number of workgroups of a dispatch in one dimension.
    pub max_workgroups: u32,
    /// Whether keys and values are accessed by address.
    pub addressed: bool,
    /// The buffers that the caller's code replaces.
    pub visits: Visits,
    /// Windows of segments, in a sort of segments.
    pub windows: Option<Windows>,
    /// How runs are sorted, in a sort that may end with a finish.
    pub finish: Option<Finish>,
    /// What keys are composed of, in a sort of records.
    pub fields: Option<Fields>,
    /// Whether elements of 8 and 16 bits are loaded and stored as such.
    pub small_storage: bool,
    /// Whether the host folds constants into the SPIR-V.
    pub specializes_on_host: bool,
    /// Whether idle subgroups skip ranking in a single workgroup.
    pub subgroups_rest: bool,
    /// Fault injection: tiles whose index is a multiple of this never publish; 0 for none.
    pub withhold: u32,
}

/// Parts in which a tile is staged at most, each of which adds code to the kernels.
const MAX_PARTS: u32 = 4;
/// The largest block, in elements: two positions share a word.
pub(super) const MAX_BLOCK: u32 = 1 << 16;
/// Iterations of a gather's loop, beyond which several workgroups share a tile.
const MAX_GATHER_ITERATIONS: u64 = 4096;

impl Ranking {
    /// Values of a digit.
    pub fn radix(&self) -> u32 {
        1 << self.digit_bits
    }

    /// Whether a block is reordered in shared memory before it is written, which only costs CPUs time.
    pub fn staged(&self) -> bool {
        self.method != RankMethod::Private
    }

    /// Words of the ranking counters of a workgroup, with the match masks.
    fn counter_words(&self, invocations: u32) -> u32 {
        let words = match self.method {
            RankMethod::Private => 0,
            RankMethod::Match => 1 + self.subgroup.size.div_ceil(32),
            RankMethod::Ballot | RankMethod::Compare => 1,
        };
        invocations / self.subgroup.size * self.radix() * words
    }

    /// The most parts in which a tile is staged. Where counters take more room than so many elements, there are fewer.
    pub fn most_parts(&self, tile: Block) -> u32 {
        tile.items.div_ceil(self.staged_items).min(MAX_PARTS)
    }

    /// Words of the shared pool of a tile. It holds ranking counters, then the elements that are staged at a time.
    pub fn tile_pool_words(&self, tile: Block) -> u32 {
        let items = tile.items.div_ceil(self.most_parts(tile));
        self.counter_words(tile.invocations).max(self.key_words * tile.invocations * items)
    }

    /// Words of the shared pool of a single workgroup, which stages a word of each element at a time.
    pub fn single_pool_words(&self, single: Block) -> u32 {
        self.counter_words(single.invocations).max(single.elements())
    }

    /// Shared memory of the kernels of tiles, in bytes.
    pub fn tile_bytes(&self, tile: Block) -> u32 {
        self.bytes(tile.invocations, if self.staged() { self.tile_pool_words(tile) } else { 0 })
    }

    /// Shared memory of the single workgroup, in bytes. It stages its elements in every variant.
    pub fn single_bytes(&self, single: Block) -> u32 {
        self.bytes(single.invocations, self.single_pool_words(single))
    }

    /// Shared memory of a window with digits of so many bits, in bytes: what a single workgroup has, and three bits for each slot. If
    /// longer segments are divided, their digits count too, and their children take the place of a single workgroup's digits.
    pub fn window_bytes(&self, window: Block, digit_bits: u32, splits: bool) -> u32 {
        let marks = 3 * window.elements().div_ceil(u32::BITS);
        let digit_bits = if splits { digit_bits.max(abi::SPLIT_BITS) } else { digit_bits };
        let ranking = Ranking { digit_bits, ..*self };
        ranking.single_bytes(window) + 4 * (marks + abi::SHARED_LOOSE_WORDS)
    }

    /// Shared memory of a workgroup that ranks, with a pool of `pool_words`.
    fn bytes(&self, invocations: u32, pool: u32) -> u32 {
        let subgroups = invocations / self.subgroup.size;
        let emulation = if self.subgroup.emulated { invocations + 4 * subgroups } else { 0 };
        let sums = self.radix().div_ceil(invocations) * subgroups;
        4 * (pool + self.radix() + sums + abi::SHARED_LOOSE_WORDS + emulation)
    }

    /// Whether half a word for the rank of each element suffices.
    pub(super) fn has_ranks_for(&self, block: Block) -> bool {
        !self.staged() || block.elements() <= MAX_BLOCK
    }
}

impl Shape {
    /// Digits that the histogram counts: one for each pass, and the leading ones.
    pub fn digits(&self) -> u32 {
        self.passes + if self.finish.is_some() { 2 } else { 0 }
    }

    /// Bits of the number of anchors of the look-back ring.
    pub fn anchor_bits(&self) -> u32 {
        self.ring_bits.saturating_sub(2)
    }

    /// Workgroups that share a tile in a gather of these values: large values take many iterations.
    pub(crate) fn gather_splits(&self, value: ValueType) -> u32 {
        let words = value.size_bytes().div_ceil(4);
        // Iterations of an invocation's loops over the largest tile.
        let largest = u64::from(self.tile.elements()) * u64::from(self.tile_blocks);
        let group = u64::from(self.histogram.block.invocations);
        let iterations = if words <= group {
            largest.div_ceil((group / words.max(1)).max(1))
        } else {
            largest.saturating_mul(words.div_ceil(group))
        };
        iterations.div_ceil(MAX_GATHER_ITERATIONS).clamp(1, largest.clamp(1, u32::MAX.into())) as u32
    }

    /// Shared memory of the kernel that takes most of it, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        let ranking = match self.windows {
            Some(windows) => windows.shared_bytes(&self.ranking),
            None => self.ranking.tile_bytes(self.tile).max(self.ranking.single_bytes(self.single)),
        };
        let finish = self.finish.map_or(0, |finish| finish_bytes(finish.window, self.ranking.key_words));
        ranking.max(histogram_bytes(self.digits(), self.ranking.digit_bits)).max(finish)
    }
}

/// Shared memory of the histogram in bytes: a count for each value, sums of chunks, and two words for each digit.
pub fn histogram_bytes(passes: u32, digit_bits: u32) -> u32 {
    let counts = 1u32 << digit_bits;
    4 * (passes * (counts + counts.div_ceil(abi::HISTOGRAM_CHUNK) + 2) + abi::SHARED_LOOSE_WORDS)
}

/// Shared memory of the kernels of a finish in bytes: the bins of the sample, or keys, origins and sums of a window.
pub fn finish_bytes(window: Block, key_words: u32) -> u32 {
    const SAMPLE_WORDS: u32 = 1 << 12;
    let places = window.elements() + (window.elements() >> 5);
    let sums = window.invocations + (window.invocations >> 5) + window.invocations.div_ceil(16);
    4 * (SAMPLE_WORDS.max((key_words + 1) * places + sums) + abi::SHARED_LOOSE_WORDS)
}
