//! The plan: its tiles, and how dispatches go over them.

use super::step::Groups;
use crate::abi::{Own, Push};
use crate::request::{Algorithm, Capacity, Count, SortRequest};
use crate::segments::Segments;
use crate::shape::Shape;

/// Fewest items per invocation of a partial tile or histogram part: fewer would not pay for clearing and adding up counters,
/// private ones or shared ones.
const MIN_ITEMS: u32 = 64;
const MIN_ITEMS_STAGED: u32 = 16;

/// The largest number of elements of one sort.
pub const MAX_COUNT: u32 = u32::MAX;

/// The plan for up to `capacity` elements: a pure function of request, algorithm, shape and capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub request: SortRequest,
    /// The algorithm for counts over one block; for all counts if the request names it.
    pub algorithm: Algorithm,
    pub shape: Shape,
    pub capacity: u32,
    /// The most segments, in a sort of segments.
    pub segment_capacity: u32,
    /// Elements of a tile. It depends only on the capacity, so that scratch fits every smaller count.
    pub tile: u32,
    /// Keys of a part of the histogram.
    pub histogram_part: u32,
    /// Whether the device sizes the dispatches for a count on the device. Otherwise they are sized for the capacity, and workgroups
    /// beyond the count leave at once.
    pub indirect: bool,
}

impl Plan {
    /// A plan.
    pub fn new(request: &SortRequest, algorithm: Algorithm, shape: Shape, capacity: u32) -> Plan {
        // The size of a tile, or of a histogram part, that may be a part of a block, as only loops over items depend on it. It
        // is small enough for `min_tiles` of them if each keeps the fewest items per invocation.
        let partial = |group: u32, block: u32| {
            let min_items = if shape.ranking.staged() { MIN_ITEMS_STAGED } else { MIN_ITEMS };
            let least = group.saturating_mul(min_items).min(block);
            (capacity / shape.min_tiles).clamp(least, block).next_multiple_of(group)
        };
        Plan {
            request: *request,
            algorithm,
            shape,
            capacity,
            segment_capacity: 0,
            tile: match (shape.ranking.staged(), algorithm) {
                (false, _) => partial(shape.tile.invocations, shape.tile.elements()),
                // A table of all tiles grows with their number.
                (true, Algorithm::ReduceThenScan) => {
                    shape.tile.elements()
                        * (capacity / shape.tile.elements() / shape.min_tiles).clamp(1, shape.tile_blocks)
                }
                (true, _) => shape.tile.elements(),
            },
            histogram_part: partial(shape.histogram.block.invocations, shape.histogram.block.elements()),
            indirect: true,
        }
    }

    /// The algorithm that sorts `count` elements.
    pub fn algorithm_for(&self, count: u32) -> Algorithm {
        let small = self.request.algorithm.is_none() && count <= self.shape.single.elements();
        if small && self.row_length().is_none() { Algorithm::SingleWorkgroup } else { self.algorithm }
    }

    /// The algorithm that sorts `count` elements; `None` for segments and first elements, which other kernels sort.
    pub fn algorithm(&self, count: u32) -> Option<Algorithm> {
        self.shape.windows.is_none().then(|| self.algorithm_for(count))
    }

    /// The largest count: of segments in a sort of segments, else of elements.
    pub fn most(&self) -> u32 {
        let segments = self.shape.windows.is_some_and(|windows| windows.segments != Segments::Whole);
        if segments { self.segment_capacity } else { self.capacity }
    }

    /// The largest number of elements of the result, out of place.
    pub fn results(&self) -> u64 {
        self.request.results(Capacity::new(self.capacity).segments(self.segment_capacity))
    }

    /// The largest possible number of elements, or of segments.
    pub fn largest(&self, count: Count) -> u32 {
        match count {
            Count::Host(count) => count,
            Count::Device => self.most(),
        }
    }

    /// Whether up to `count` elements take passes over tiles instead of a single workgroup.
    pub fn ranks_tiles(&self, count: u32) -> bool {
        let of_tiles = self.algorithm(count).is_some_and(|algorithm| algorithm != Algorithm::SingleWorkgroup);
        count > 0 && self.shape.passes > 0 && (of_tiles || self.row_length().is_some())
    }

    /// Elements of a row, if passes sort each row by itself.
    pub fn row_length(&self) -> Option<u32> {
        self.shape.windows.filter(|windows| windows.sweeps).map(|windows| windows.stride())
    }

    /// The sorts by passes for `count` rows: one for each row that the capacity has room for; a single one without rows.
    pub(super) fn rows(&self, count: u32) -> u32 {
        self.row_length().map_or(1, |length| count.min(self.capacity.div_ceil(length)))
    }

    /// Elements of a sort by passes.
    pub(super) fn elements(&self, count: Count) -> u32 {
        self.row_length().map_or(self.largest(count), |length| length)
    }

    /// Tiles of `count` elements.
    pub fn tiles(&self, count: u32) -> u32 {
        count.div_ceil(self.tile)
    }

    /// Whether the device sizes the dispatches for this count.
    pub(super) fn sizes_on_device(&self, count: Count) -> bool {
        count == Count::Device && self.indirect && self.row_length().is_none()
    }

    /// The dispatch over parts of `part` elements. Where the device sizes it, its size is in slot `slot` of the arguments.
    pub(super) fn groups(&self, count: Count, part: u32, slot: u32) -> Groups {
        match self.sizes_on_device(count) {
            true => Groups::Counted(slot),
            false => Groups::Direct(self.elements(count).div_ceil(part) * self.rows(self.largest(count))),
        }
    }

    /// Push constants of a step, with its own words. Recording adds the count's word and the addresses.
    pub fn push(&self, count: Count, pass: u32, own: Own) -> Push {
        let (request, count) = (&self.request, self.largest(count));
        let (key_flip, low_flip) = request.key.top_and_low(request.key.code(request.order).flip);
        Push { count, count_word: 0, pass, own, window_low: request.bits.low, key_flip, low_flip, addresses: [0; 4] }
    }

    /// Push constants of a pass over tiles.
    pub(super) fn push_of_pass(&self, count: Count, pass: u32) -> Push {
        let anchor_shift = self.anchor_shift(self.elements(count));
        let row_length = self.row_length().unwrap_or(0);
        self.push(count, pass, Own::Pass { part: self.tile, row_length, anchor_shift })
    }
}
