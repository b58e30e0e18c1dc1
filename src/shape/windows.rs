//! The windows of sorts of many segments.

use super::sizes::{Block, Ranking, Short, Windows};
use super::{Fit, MOST_TOP_ITEMS, ShapeDesc, USUAL_DIGIT_BITS, WINDOWS, largest, loop_budget};
use crate::abi;
use crate::error::Error;
use crate::request::Algorithm;
use crate::segments::{SegmentOptions, Segments};

impl Fit<'_> {
    /// The windows for a request.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if segments may be longer than a block, [`Error::UnsuitableDevice`] if the smallest block does not fit.
    pub(super) fn windows(&self, of: &SegmentOptions, tiles: (Block, u32)) -> Result<Windows, Error> {
        let &ShapeDesc { profile, tuning, request, .. } = self.desc;
        // Numbers of segments need digits of their own, however few bits keys are sorted by. In keys of several words, digits of 8
        // bits are taken for whole bytes.
        let least = if self.ranking.key_words > 1 { USUAL_DIGIT_BITS - 1 } else { USUAL_DIGIT_BITS };
        let ranking = Ranking { digit_bits: self.ranking.digit_bits.max(least), ..self.ranking };
        // Of long rows the indices are sorted too, in up to four passes. Those of keys in longer segments have room for these if there
        // are two of them.
        let (top, passes) = (of.top.unwrap_or(0), self.passes.max(if of.top.is_some() { 2 } else { 0 }));
        let lists_rows = top > 0 && matches!(of.layout, Segments::Offsets | Segments::Ranges);
        let counting = self.histogram().block.invocations;
        let most_narrowed = |block: Block| loop_budget::most_narrowed(&ranking, passes, block, request, counting);
        let fits = |block: Block, splits: bool| {
            let in_budget = !profile.is_cpu
                || loop_budget::allows_windows(&ranking, passes, block, request)
                    && (!splits || loop_budget::most_split(&ranking, passes, block, request) > 0)
                    && (!lists_rows || most_narrowed(block) > 0);
            block.elements() <= *WINDOWS.end()
                && ranking.window_bytes(block, ranking.digit_bits, splits) <= profile.max_shared_bytes
                && in_budget
        };
        let fit = |workgroup_size, items: u32, most_items: u32, splits: bool| {
            let items = if ranking.staged() { items.min(most_items) } else { items };
            let wished = self.wished(workgroup_size, items);
            let Block { invocations, .. } = self.limits.reduce(wished, |block| fits(block, splits));
            Block { invocations, items: largest(1, wished.items, |items| fits(Block { invocations, items }, splits)) }
        };
        // An invocation has a bit for each item.
        let usual = |splits: bool| fit(tuning.workgroup_size, tuning.segment_items, u32::BITS, splits);
        let mut block = usual(false);
        let longer = of.promised().is_none_or(|longest| longest > block.elements());
        let sorts_longer = longer && of.top.is_none();
        let sweeps = sorts_longer && self.sweeps(of, tiles);
        let splits = sorts_longer && !sweeps;
        if splits {
            block = usual(true);
        }
        // In a larger block more elements may be wanted, and the sooner are few enough left of a long row.
        if let Some(top) = of.top
            && (longer || top > block.elements())
        {
            let workgroup_size = tuning.single_workgroup_size.unwrap_or(tuning.workgroup_size);
            let larger = fit(workgroup_size, tuning.single_items, MOST_TOP_ITEMS, false);
            block = if larger.elements() > block.elements() { larger } else { block };
        }
        if !fits(block, splits) || !WINDOWS.contains(&block.elements()) {
            let what = "a window of segments with these values";
            let given = format!("{} bytes of shared memory", profile.max_shared_bytes);
            let needed = "more, or fewer loop iterations of a driver on CPUs";
            return Err(Error::unsuitable(&profile.name, what, given, needed));
        }
        let elements = block.elements();
        if top > elements {
            let allowed = format!("up to {elements}, a block of this device; more take a sort of whole segments");
            return Err(Error::unsupported("the top of each segment", format!("{top} elements"), allowed));
        }
        let longest = of.promised().unwrap_or(u32::MAX);
        // With room for twice as many, the boundary need not be found exactly. One array has all the room there is.
        let survivors = match of.layout {
            Segments::Whole => Some(elements),
            _ if top > 0 && longest > elements => Some((2 * top).max(elements / 4).min(elements)),
            _ => None,
        };
        let network_bits = self.most_slots().checked_ilog2().filter(|bits| abi::HELD_SLOTS <= 1 << bits).unwrap_or(0);
        Ok(Windows {
            block,
            digit_bits: ranking.digit_bits,
            network_bits: match profile.is_cpu {
                true => network_bits.min(loop_budget::most_network_bits(&ranking, passes, block, request)),
                false => network_bits,
            },
            short: self.short(of),
            segments: of.layout,
            longest,
            index_from: of.indices_from,
            top,
            survivors,
            // An empty window has a round too, as elements may have to move.
            rounds: if splits { request.bits.len().div_ceil(abi::SPLIT_BITS).max(1) } else { 0 },
            sweeps,
        })
    }

    /// Whether rows beyond a block can be sorted by passes over tiles, each row by itself, and should be. Elements in place are back
    /// where they were after an even number of passes.
    fn sweeps(&self, of: &SegmentOptions, (tile, ring_bits): (Block, u32)) -> bool {
        let &ShapeDesc { tuning, request, algorithm, fields, .. } = self.desc;
        let Segments::Rows { stride } = of.layout else { return false };
        tuning.sweeps_rows
            && algorithm == Algorithm::OneSweep
            && self.ranking.staged()
            && stride.div_ceil(tile.elements()) <= 1 << ring_bits
            && self.passes > 0
            && !(request.in_place() && self.passes % 2 == 1)
            && !request.value.is_gathered()
            && fields.is_none()
    }

    /// The most slots of a segment that is sorted in a few lanes.
    fn most_slots(&self) -> u32 {
        self.desc.tuning.network_longest.min(abi::HELD_SLOTS * self.ranking.subgroup.size)
    }

    /// The workgroups that sort short segments, if all are promised to be so short.
    fn short(&self, of: &SegmentOptions) -> Option<Short> {
        let &ShapeDesc { profile, tuning, request, .. } = self.desc;
        let longest = of.promised().filter(|longest| *longest <= self.most_slots())?;
        let slot_bits = longest.max(abi::HELD_SLOTS).next_power_of_two().ilog2();
        let served = of.layout != Segments::Whole && (!profile.is_cpu || loop_budget::allows_short(slot_bits, request));
        let lanes = self.ranking.subgroup.size;
        let wished = Block { invocations: tuning.histogram_workgroup_size.max(lanes) / lanes * lanes, items: 1 };
        let Block { invocations, .. } = self.limits.reduce(wished, |_| true);
        served.then_some(Short { invocations, slot_bits })
    }
}
