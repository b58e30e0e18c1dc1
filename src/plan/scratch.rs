//! The layout of the caller's scratch.

use super::top::Rows;
use super::{MAX_COUNT, Plan, split};
use crate::abi;
use crate::request::{Algorithm, Count};
use crate::shape::EPOCH_BITS;

/// Alignment of the regions in scratch, in bytes: the largest that a Vulkan device may require of a storage buffer's offset.
pub(crate) const REGION_ALIGNMENT: u64 = 256;

/// A range of scratch in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchRange {
    /// Its first byte.
    pub offset: u64,
    /// Its length.
    pub size: u64,
}

/// The regions of scratch. A region that the plan does not need is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScratchLayout {
    /// The keys that are composed of records.
    pub composed: ScratchRange,
    pub counters: ScratchRange,
    /// Directly after the counters, so that one fill clears both.
    pub table: ScratchRange,
    pub keys_alternate: ScratchRange,
    /// The target of keys that the caller discards.
    pub keys_target: ScratchRange,
    pub values_alternate: ScratchRange,
    /// The values between two passes if a visitor takes the result, so that there is no output buffer for them.
    pub values_target: ScratchRange,
    /// The sorting permutation, for the gather of values.
    pub permutation: ScratchRange,
    /// Gathered values on their way back to the caller's buffer.
    pub aside: ScratchRange,
    /// Size of the whole in bytes.
    pub size: u64,
}

impl Plan {
    /// Words of the table for `count` elements: a word for each digit and tile; or the ring of look-back with its anchors,
    /// at most a slot for each tile.
    pub(super) fn table_words(&self, count: u32) -> u64 {
        let (tiles, slots) = (self.tiles(count), 1 << self.shape.ring_bits);
        let words = match self.algorithm {
            Algorithm::SingleWorkgroup => 0,
            Algorithm::ReduceThenScan => tiles,
            _ if tiles <= slots => tiles * abi::SLOT_WORDS,
            _ => (slots + (1 << self.shape.anchor_bits())) * abi::SLOT_WORDS,
        };
        u64::from(words) * u64::from(self.shape.ranking.radix())
    }

    /// Bits of the number of tiles from an anchor to the next, such that each anchor has its own slot.
    pub(super) fn anchor_shift(&self, count: u32) -> u32 {
        let tiles = self.tiles(count);
        if tiles <= 1 << self.shape.ring_bits {
            return 31;
        }
        (tiles >> self.shape.anchor_bits()).checked_ilog2().map_or(0, |log2| log2 + 1)
    }

    /// The largest number of elements that the algorithm sorts on any device, and the limit that this follows from. In look-back
    /// a word may be as old as the previous pass, so in a pass the ring wraps at most half as often as there are epochs.
    pub fn max_count(&self) -> (u32, &'static str) {
        let largest = (MAX_COUNT, "2^32 - 1, the largest index");
        match self.algorithm {
            Algorithm::SingleWorkgroup => (self.shape.single.elements(), "one block of the single-workgroup sort"),
            Algorithm::ReduceThenScan => largest,
            Algorithm::OneSweep => {
                let tiles = 1u32 << (self.shape.ring_bits + EPOCH_BITS - 1);
                let rounds = "the rounds of look-back's ring that its words tell apart; larger tiles reach further";
                tiles.checked_mul(self.tile).map_or(largest, |reached| (reached, rounds))
            }
        }
    }

    /// Scratch for up to `capacity` elements.
    pub fn scratch(&self) -> ScratchLayout {
        let mut size = 0;
        let mut take = |bytes: u64| {
            // Ranges hold whole words.
            let range = ScratchRange { offset: size, size: bytes.next_multiple_of(4) };
            size = (range.offset + range.size).next_multiple_of(REGION_ALIGNMENT);
            range
        };
        let request = &self.request;
        let (passes, visits) = (self.shape.passes, self.shape.visits);
        let elements = |bytes: u64, wanted: bool| if wanted { u64::from(self.capacity) * bytes } else { 0 };
        let (key, composes) = (request.key.size_bytes(), self.shape.fields.is_some());
        let mut layout = ScratchLayout { composed: take(elements(key, composes)), ..ScratchLayout::default() };
        if let Some(windows) = self.shape.windows.filter(|windows| !windows.sweeps) {
            if let Some(room) = self.room() {
                layout.counters = take(4 * split::counter_words(windows.rounds));
                layout.table = take(4 * room.words());
                layout.keys_alternate = take(elements(key, true));
                layout.keys_target = take(elements(key, !request.in_place() && request.discards_keys()));
                layout.values_alternate = take(elements(request.value.size_bytes(), true));
            } else {
                let rows = Rows::new(self, &windows, self.most());
                [layout.counters, layout.table] = rows.map(Rows::scratch_bytes).unwrap_or_default().map(&mut take);
            }
            layout.size = size;
            return layout;
        }
        if self.ranks_tiles(self.capacity) {
            let (in_place, discards) = (request.in_place(), request.discards_keys());
            let value = request.value.sorted_bytes();
            // Tickets, routes, arguments, and a count for each digit of each pass.
            let digits = u64::from(self.shape.digits()) * u64::from(self.shape.ranking.radix());
            let rows = u64::from(self.rows(self.most()));
            layout.counters = take(4 * rows * (u64::from(abi::COUNTERS_HISTOGRAM) + digits));
            layout.table = take(4 * rows * self.table_words(self.elements(Count::Device)));
            // A single pass needs no alternate, except in place.
            layout.keys_alternate = take(elements(key, passes > 1 || in_place && !discards));
            let stay = in_place || composes;
            layout.keys_target = take(elements(key, passes > 2 && !stay && (discards || visits.output)));
            let returns = in_place && !(request.value.sorts_index() && discards);
            layout.values_alternate = take(elements(value, passes > 1 || returns));
            layout.values_target = take(elements(value, passes > 2 && visits.output));
        }
        if request.value.is_gathered() && passes > 0 {
            layout.permutation = take(elements(4, true));
            layout.aside = take(elements(request.value.size_bytes(), request.in_place()));
        }
        if layout == ScratchLayout::default() && self.capacity > 0 && visits.keys && visits.output {
            // Descriptors that a sort does not use have to be of some buffer, and it may have no other.
            take(4);
        }
        layout.size = size;
        layout
    }
}
