//! [`Shape`], and the sizes that follow from it.

use crate::abi;
use crate::profile::{DeviceProfile, Quirks};
use crate::request::ValueType;
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

/// Shape of the kernels of one sorter: everything beside the request that they depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Subgroups as the ranking kernels see them.
    pub subgroup: Subgroup,
    /// Invocations of a workgroup that ranks and scatters.
    pub workgroup_size: u32,
    /// Elements per invocation and block.
    pub items: u32,
    /// Most blocks of a tile of reduce-then-scan.
    pub tile_blocks: u32,
    /// 32-bit words of a key.
    pub key_words: u32,
    /// Bits of the widest digit.
    pub digit_bits: u32,
    /// Digits of a key.
    pub passes: u32,
    /// Invocations of a single workgroup that sorts all elements in shared memory.
    pub single_workgroup_size: u32,
    /// Elements per invocation of a single workgroup.
    pub single_items: u32,
    /// How equal digits find their order.
    pub rank: RankMethod,
    /// The knobs of the tuning that no limit changes, each as a specialization constant with its value.
    pub(crate) knobs: Knobs,
    /// Reads of one look-back word before the blocking tile is recounted.
    pub polls: u32,
    /// Bits of the number of slots in the look-back ring.
    pub ring_bits: u32,
    /// What the driver does otherwise than others.
    pub quirks: Quirks,
    /// Invocations of a workgroup that counts digits.
    pub histogram_workgroup_size: u32,
    /// Subgroup size that the histogram requires, if any.
    pub histogram_subgroup_size: Option<u32>,
    /// Keys per invocation and block in the histogram.
    pub histogram_items: u32,
    /// Invocations of a workgroup that scans tile counts.
    pub scan_workgroup_size: u32,
    /// Tiles and histogram parts to have, before they grow.
    pub min_tiles: u32,
    /// Most workgroups of a dispatch in one dimension.
    pub max_workgroups: u32,
    /// Whether keys and values are accessed by address.
    pub addressed: bool,
    /// The buffers that the caller's code replaces.
    pub visits: Visits,
    /// Whether elements of 8 and 16 bits are loaded and stored as such.
    pub small_storage: bool,
    /// Whether the host folds constants into the SPIR-V.
    pub specializes_on_host: bool,
    /// Whether idle subgroups skip ranking in a single workgroup.
    pub subgroups_rest: bool,
    /// Fault injection: tiles whose index is a multiple of this never publish; 0 for none.
    pub withhold: u32,
}

/// Most elements of a block: two places share a word.
pub(super) const MAX_BLOCK: u32 = 1 << 16;
/// Turns of a gather's loop, beyond which several workgroups share a tile.
const MAX_GATHER_TURNS: u64 = 4096;

impl Shape {
    /// Whether a block is reordered in shared memory before it is written. CPUs only lose time over that.
    pub fn staged(&self) -> bool {
        self.rank != RankMethod::Private
    }

    /// Bits of the number of anchors of the look-back ring.
    pub fn anchor_bits(&self) -> u32 {
        self.ring_bits.saturating_sub(2)
    }

    /// Elements of a block, which one workgroup ranks at a time.
    pub fn block(&self) -> u32 {
        self.workgroup_size * self.items
    }

    /// Keys of a block of the histogram.
    pub fn histogram_block(&self) -> u32 {
        self.histogram_workgroup_size * self.histogram_items
    }

    /// Values of a digit.
    pub fn radix(&self) -> u32 {
        1 << self.digit_bits
    }

    /// The most elements that a single workgroup sorts.
    pub fn single_block(&self) -> u32 {
        self.single_workgroup_size * self.single_items
    }

    /// Words of the shared pool of a tile. It holds ranking counters, then staged elements.
    pub fn tile_pool_words(&self) -> u32 {
        self.ranking_words(self.workgroup_size).max(self.key_words * self.block())
    }

    /// Words of the shared pool of a single workgroup, which stages a word of each element at a time.
    pub fn single_pool_words(&self) -> u32 {
        self.ranking_words(self.single_workgroup_size).max(self.single_block())
    }

    /// Words of the ranking counters of a workgroup, with the match masks.
    fn ranking_words(&self, workgroup_size: u32) -> u32 {
        let words = match self.rank {
            RankMethod::Private => 0,
            RankMethod::Match => 1 + self.subgroup.size.div_ceil(32),
            RankMethod::Ballot | RankMethod::Compare | RankMethod::Partition => 1,
        };
        workgroup_size / self.subgroup.size * self.radix() * words
    }

    /// Workgroups that share a tile in a gather of these values: large values take many turns.
    pub(crate) fn gather_splits(&self, value: ValueType) -> u32 {
        let words = value.size_bytes().div_ceil(4);
        // Turns of an invocation's loops over the largest tile.
        let largest = u64::from(self.block()) * u64::from(self.tile_blocks);
        let group = u64::from(self.histogram_workgroup_size);
        let turns = if words <= group {
            largest.div_ceil((group / words.max(1)).max(1))
        } else {
            largest.saturating_mul(words.div_ceil(group))
        };
        turns.div_ceil(MAX_GATHER_TURNS).clamp(1, largest.clamp(1, u32::MAX.into())) as u32
    }

    /// Shared memory of the histogram, in bytes.
    pub fn histogram_shared_bytes(&self) -> u32 {
        histogram_bytes(self.passes, self.digit_bits)
    }

    /// Shared memory of the kernels of tiles, in bytes.
    pub fn tile_shared_bytes(&self) -> u32 {
        self.ranking_bytes(self.workgroup_size, if self.staged() { self.tile_pool_words() } else { 0 })
    }

    /// Shared memory of the single workgroup, in bytes. It stages its elements in every variant.
    pub fn single_shared_bytes(&self) -> u32 {
        self.ranking_bytes(self.single_workgroup_size, self.single_pool_words())
    }

    /// Shared memory of a workgroup that ranks, with a pool of so many words.
    fn ranking_bytes(&self, workgroup_size: u32, pool: u32) -> u32 {
        let subgroups = workgroup_size / self.subgroup.size;
        let emulation = if self.subgroup.emulated { workgroup_size + 4 * subgroups } else { 0 };
        let sums = self.radix().div_ceil(workgroup_size) * subgroups;
        4 * (pool + self.radix() + sums + abi::SHARED_LOOSE_WORDS + emulation)
    }

    /// Whether the shared memory of the device, and half a word for each place, suffice for a tile.
    pub(super) fn fits_tile(&self, profile: &DeviceProfile) -> bool {
        self.tile_shared_bytes() <= profile.max_shared_bytes && (!self.staged() || self.block() <= MAX_BLOCK)
    }

    /// Whether they suffice for the single workgroup.
    pub(super) fn fits_single(&self, profile: &DeviceProfile) -> bool {
        self.single_shared_bytes() <= profile.max_shared_bytes && (!self.staged() || self.single_block() <= MAX_BLOCK)
    }
}

/// Shared memory of the histogram in bytes: a count for each value, sums of chunks, and two words for each digit.
pub(super) fn histogram_bytes(passes: u32, digit_bits: u32) -> u32 {
    let counts = 1u32 << digit_bits;
    4 * (passes * (counts + counts.div_ceil(abi::HISTOGRAM_CHUNK) + 2) + abi::SHARED_LOOSE_WORDS)
}
