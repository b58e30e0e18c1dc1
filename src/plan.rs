//! A sort as data: which steps run, how large, on which buffers. Nothing here knows Vulkan.

mod hazard;
mod onesweep;
mod reduce_then_scan;
mod single_workgroup;

use std::fmt;

pub(crate) use hazard::{Barrier, Hazards, Scope};

use crate::abi::Push;
use crate::request::Algorithm;
use crate::shape::Shape;

/// Most elements of one sort: a look-back word has 30 bits for its count.
pub const MAX_COUNT: u32 = (1 << crate::abi::STATUS_COUNT_BITS) - 1;

/// Alignment of the regions in scratch, in bytes: the most that Vulkan lets a device ask of a storage buffer's offset.
pub(crate) const REGION_ALIGNMENT: u64 = 256;

/// A compute kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    Histogram,
    OneSweep,
    Count,
    Scan,
    Scatter,
    SingleWorkgroup,
}

impl Kernel {
    pub const ALL: [Kernel; 6] =
        [Kernel::Histogram, Kernel::OneSweep, Kernel::Count, Kernel::Scan, Kernel::Scatter, Kernel::SingleWorkgroup];

    pub fn name(self) -> &'static str {
        match self {
            Kernel::Histogram => "histogram",
            Kernel::OneSweep => "onesweep",
            Kernel::Count => "count",
            Kernel::Scan => "scan",
            Kernel::Scatter => "scatter",
            Kernel::SingleWorkgroup => "single workgroup",
        }
    }
}

/// Where elements are before or after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// The caller's input; the same memory as the target when sorting in place.
    Source,
    /// The caller's output.
    Target,
    /// The second half of the ping-pong, in scratch.
    Alternate,
}

/// From where to where a step moves elements; each route is one descriptor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub from: Place,
    pub to: Place,
}

impl Route {
    /// The routes that plans use.
    pub const ALL: [Route; 4] = [
        Route { from: Place::Source, to: Place::Alternate },
        Route { from: Place::Source, to: Place::Target },
        Route { from: Place::Alternate, to: Place::Target },
        Route { from: Place::Target, to: Place::Alternate },
    ];

    /// The route of one of `passes` passes: the last one ends at the target, those before alternate.
    pub fn of_pass(pass: u32, passes: u32) -> Route {
        let after = |left: u32| if left.is_multiple_of(2) { Place::Target } else { Place::Alternate };
        let from = if pass == 0 { Place::Source } else { after(passes - pass) };
        Route { from, to: after(passes - 1 - pass) }
    }
}

/// A part of memory as far as hazards go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Region {
    /// Keys (and values) at a place.
    Elements(Place),
    /// Tickets and digit counts.
    Counters,
    /// One word per tile and digit.
    Table,
}

/// How a step uses a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    ReadWrite,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Zeroes the first bytes of the counters and the table behind them.
    Clear { bytes: u64 },
    /// Runs a kernel.
    Dispatch { kernel: Kernel, workgroups: u32, route: Route, push: Push },
}

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub name: StepName,
    pub work: Work,
}

/// Name of a step: its kernel, and its pass where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepName {
    /// What runs.
    pub kernel: &'static str,
    /// The digit, counted from the least significant one.
    pub pass: Option<u32>,
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pass {
            Some(pass) => write!(f, "{} {pass}", self.kernel),
            None => f.write_str(self.kernel),
        }
    }
}

impl Step {
    pub fn dispatch(kernel: Kernel, pass: Option<u32>, workgroups: u32, route: Route, push: Push) -> Step {
        let name = StepName { kernel: kernel.name(), pass };
        Step { name, work: Work::Dispatch { kernel, workgroups, route, push } }
    }

    /// What the step reads and writes.
    pub fn accesses(&self) -> impl Iterator<Item = (Region, Access)> + use<> {
        use Access::{Read, ReadWrite, Write};
        let (from, to, counters, table) = match self.work {
            Work::Clear { .. } => (None, None, Some(Write), Some(Write)),
            Work::Dispatch { kernel, route, .. } => {
                let (from, to) = (Some(route.from), Some(route.to));
                match kernel {
                    Kernel::Histogram => (from, None, Some(ReadWrite), None),
                    Kernel::OneSweep => (from, to, Some(ReadWrite), Some(ReadWrite)),
                    Kernel::Count => (from, None, None, Some(Write)),
                    Kernel::Scan => (None, None, Some(Write), Some(ReadWrite)),
                    Kernel::Scatter => (from, to, Some(Read), Some(Read)),
                    Kernel::SingleWorkgroup => (from, to, None, None),
                }
            }
        };
        [
            from.map(|place| (Region::Elements(place), Read)),
            to.map(|place| (Region::Elements(place), Write)),
            counters.map(|access| (Region::Counters, access)),
            table.map(|access| (Region::Table, access)),
        ]
        .into_iter()
        .flatten()
    }
}

/// A range of scratch in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScratchRange {
    pub offset: u64,
    pub size: u64,
}

/// Where everything lies in the caller's scratch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScratchLayout {
    pub counters: ScratchRange,
    pub table: ScratchRange,
    pub keys: ScratchRange,
    pub values: ScratchRange,
    /// Size of the whole in bytes.
    pub size: u64,
}

/// How up to `capacity` elements are sorted: a pure function of shape, algorithm and capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The algorithm for counts over one block, or for all of them when it was asked for.
    pub algorithm: Algorithm,
    /// Whether counts of up to one block are sorted by a single workgroup instead.
    pub single_when_small: bool,
    pub shape: Shape,
    pub capacity: u32,
    /// Blocks of a tile. It depends on the capacity alone, so that scratch fits every smaller count.
    pub blocks: u32,
    /// Blocks of a chunk of the histogram.
    pub histogram_blocks: u32,
}

impl Plan {
    pub fn new(algorithm: Algorithm, single_when_small: bool, shape: Shape, capacity: u32) -> Plan {
        let blocks = |block: u32| {
            let wanted = u64::from(capacity) / (u64::from(block) * u64::from(shape.min_tiles));
            wanted.clamp(1, u64::from(shape.max_blocks)) as u32
        };
        Plan {
            algorithm,
            single_when_small,
            shape,
            capacity,
            blocks: blocks(shape.block()),
            histogram_blocks: blocks(shape.histogram_block()),
        }
    }

    /// The algorithm that sorts `count` elements.
    pub fn algorithm_for(&self, count: u32) -> Algorithm {
        if self.single_when_small && count <= self.shape.block() { Algorithm::SingleWorkgroup } else { self.algorithm }
    }

    /// Steps that sort `count` elements.
    pub fn step_count(&self, count: u32) -> u32 {
        if count == 0 {
            return 0;
        }
        match self.algorithm_for(count) {
            Algorithm::OneSweep => onesweep::step_count(self),
            Algorithm::ReduceThenScan { .. } => reduce_then_scan::step_count(self),
            Algorithm::SingleWorkgroup => 1,
        }
    }

    /// The steps that sort `count` elements, in order. Nothing is allocated.
    pub fn steps(&self, count: u32) -> impl Iterator<Item = Step> + use<> {
        let plan = *self;
        (0..plan.step_count(count)).map(move |index| match plan.algorithm_for(count) {
            Algorithm::OneSweep => onesweep::step(&plan, count, index),
            Algorithm::ReduceThenScan { .. } => reduce_then_scan::step(&plan, count, index),
            Algorithm::SingleWorkgroup => single_workgroup::step(count),
        })
    }

    /// Tiles of `count` elements.
    pub fn tiles(&self, count: u32) -> u32 {
        count.div_ceil(self.tile_size())
    }

    /// Elements of a tile.
    pub fn tile_size(&self) -> u32 {
        self.shape.block() * self.blocks
    }

    /// Push constants of a pass over `tiles` tiles.
    fn push(&self, count: u32, pass: u32) -> Push {
        let tiles = self.tiles(count);
        Push { count, tiles, pass, shift: pass * self.shape.digit_bits, blocks: self.blocks }
    }

    fn counter_words(&self) -> u64 {
        match self.algorithm {
            Algorithm::OneSweep => onesweep::counter_words(self),
            Algorithm::ReduceThenScan { .. } => reduce_then_scan::counter_words(self),
            Algorithm::SingleWorkgroup => 0,
        }
    }

    fn table_words(&self, count: u32) -> u64 {
        match self.algorithm {
            Algorithm::SingleWorkgroup => 0,
            _ => u64::from(self.tiles(count)) * u64::from(self.shape.radix()),
        }
    }

    /// Scratch for up to `capacity` elements with values of `value_words` words.
    pub fn scratch(&self, value_words: u32) -> ScratchLayout {
        let mut layout = ScratchLayout::default();
        if self.step_count(self.capacity) <= 1 {
            return layout;
        }
        let mut take = |words: u64| {
            let range = ScratchRange { offset: layout.size, size: 4 * words };
            layout.size = (range.offset + range.size).next_multiple_of(REGION_ALIGNMENT);
            range
        };
        // The table follows the counters so that one fill clears both.
        layout.counters = take(self.counter_words());
        layout.table = take(self.table_words(self.capacity));
        layout.keys = take(u64::from(self.capacity));
        layout.values = take(u64::from(self.capacity) * u64::from(value_words));
        layout
    }
}

#[cfg(test)]
mod tests;
