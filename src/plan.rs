//! A sort as data: which steps run, how large, on which buffers. Nothing here knows Vulkan.

mod hazard;
mod onesweep;
mod phases;
mod reduce_then_scan;
mod scratch;
mod step;

use crate::abi::{self, Push};
use crate::request::{Algorithm, SortRequest, ValueType};
use crate::shape::Shape;

pub(crate) use crate::request::Count;
pub(crate) use hazard::{Barrier, Hazards, Scope};
pub(crate) use scratch::ScratchRange;
pub use step::StepName;
#[cfg(test)]
pub(crate) use step::{Access, Region};
pub(crate) use step::{Groups, Kernel, Step, ValueSet, Work};

/// Most elements of one sort.
pub const MAX_COUNT: u32 = u32::MAX;

/// Most elements of one portion of a OneSweep sort: a look-back word has 30 bits for its count.
const MAX_PORTION: u32 = (1 << abi::STATUS_COUNT_BITS) - 1;

/// Items per invocation of a tile, or of a part of the histogram, that are worth its counters.
const LEAST_ITEMS: u32 = 64;

/// How up to `capacity` elements are sorted: a pure function of request, algorithm, shape and capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub request: SortRequest,
    /// The algorithm for counts over one block, or for all of them when it was asked for.
    pub algorithm: Algorithm,
    pub shape: Shape,
    pub capacity: u32,
    /// Elements of a tile. It depends on the capacity alone, so that scratch fits every smaller count.
    tile: u32,
    /// Keys of a part of the histogram.
    histogram_part: u32,
    /// Tiles of a whole portion; 0 when the sort is not cut into portions.
    pub portion_tiles: u32,
}

impl Plan {
    /// A plan; `portion` is the most elements of a portion where that is to be less than a look-back word can count.
    pub fn new(request: &SortRequest, algorithm: Algorithm, shape: Shape, capacity: u32, portion: Option<u32>) -> Plan {
        let blocks = |block: u32| {
            let wanted = u64::from(capacity) / (u64::from(block) * u64::from(shape.min_tiles));
            // A part is counted in 32 bits.
            let most = u64::from(shape.max_blocks).min(u64::from(u32::MAX / block));
            block * wanted.clamp(1, most) as u32
        };
        let mut plan = Plan {
            request: *request,
            algorithm,
            shape,
            capacity,
            tile: match shape.early_counts || shape.staged || shape.subgroup.emulated {
                true => blocks(shape.block()),
                false => partial_block(shape.workgroup_size, shape.block(), shape.min_tiles, capacity),
            },
            histogram_part: match shape.staged {
                true => blocks(shape.histogram_block()),
                false => {
                    let (group, block) = (shape.histogram_workgroup_size, shape.histogram_block());
                    partial_block(group, block, shape.min_tiles, capacity)
                }
            },
            portion_tiles: 0,
        };
        let limit = portion.map_or(MAX_PORTION, |limit| limit.min(MAX_PORTION));
        if algorithm.looks_back() && capacity > limit {
            let least = plan.tiles(capacity).div_ceil(abi::MAX_PORTIONS);
            plan.portion_tiles = (limit / plan.tile_size()).max(least).max(1);
        }
        if algorithm.has_phases() && !plan.has_phases() {
            plan.algorithm = Algorithm::OneSweep;
        }
        plan
    }

    /// The algorithm that sorts `count` elements.
    pub fn algorithm_for(&self, count: u32) -> Algorithm {
        let small = self.request.algorithm.is_none() && count <= self.shape.single_block();
        if small { Algorithm::SingleWorkgroup } else { self.algorithm }
    }

    /// Most elements that there may be.
    pub fn most(&self, count: Count) -> u32 {
        match count {
            Count::Host(count) => count,
            Count::Device => self.capacity,
        }
    }

    /// Number of steps that sort `count` elements.
    pub fn step_count(&self, count: Count) -> u32 {
        if self.most(count) == 0 {
            return 0;
        }
        self.head_steps(count) + self.body_steps(count) + self.tail_steps(count)
    }

    /// The steps that sort `count` elements, in order. Nothing is allocated.
    pub fn steps(&self, count: Count) -> impl Iterator<Item = Step> + use<> {
        let plan = *self;
        (0..plan.step_count(count)).map(move |index| plan.step(count, index))
    }

    /// The kernels of every count up to the capacity, on the host or on the device.
    pub fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        for count in [Count::Host(1), Count::Host(self.capacity), Count::Device] {
            for step in self.steps(count) {
                if let Work::Dispatch { kernel, .. } = step.work
                    && !kernels.contains(&kernel)
                {
                    kernels.push(kernel);
                }
            }
        }
        kernels
    }

    fn step(&self, count: Count, index: u32) -> Step {
        let (head, body) = (self.head_steps(count), self.body_steps(count));
        if index < head {
            self.head_step(count, index)
        } else if index < head + body {
            match self.algorithm_for(self.most(count)) {
                Algorithm::OneSweep => onesweep::step(self, count, index - head),
                Algorithm::Leading | Algorithm::Hybrid => phases::step(self, count, index - head),
                Algorithm::ReduceThenScan { .. } => reduce_then_scan::step(self, count, index - head),
                Algorithm::SingleWorkgroup => {
                    Step::dispatch(Kernel::SingleWorkgroup, None, Groups::Direct(1), self.push(count, 0))
                }
            }
        } else {
            self.tail_step(count, index - head - body)
        }
    }

    /// Whether the steps for up to `most` elements use counters and table, and not just one workgroup.
    fn ranks_tiles(&self, most: u32) -> bool {
        self.shape.passes > 0 && self.algorithm_for(most) != Algorithm::SingleWorkgroup
    }

    /// Clearing, sizing the dispatches where the count is on the device, and the histogram.
    fn head_steps(&self, count: Count) -> u32 {
        match (self.ranks_tiles(self.most(count)), count) {
            (false, _) => 0,
            (true, Count::Host(_)) => 2,
            (true, Count::Device) => 3,
        }
    }

    fn head_step(&self, count: Count, index: u32) -> Step {
        let sized_on_device = matches!(count, Count::Device);
        match (index, sized_on_device) {
            (0, _) => {
                // OneSweep without portions clears its table once; it lies behind the counters.
                let table = match self.algorithm {
                    algorithm if algorithm.looks_back() && self.portion_tiles == 0 => {
                        self.table_words(self.most(count))
                    }
                    _ => 0,
                };
                let counters = (4 * self.counter_words()).next_multiple_of(scratch::REGION_ALIGNMENT);
                Step::clear(0, counters + 4 * table)
            }
            (1, true) => {
                let push = Push {
                    histogram_part: self.histogram_part,
                    portion: self.portions(self.capacity),
                    ..self.push(count, 0)
                };
                Step::dispatch(Kernel::Arguments, None, Groups::Direct(1), push)
            }
            _ => {
                let part = self.histogram_part;
                let groups = self.groups(count, part, abi::ARGUMENTS_HISTOGRAM);
                let push = Push { part, segment: self.segment(), ..self.push(count, 0) };
                Step::dispatch(Kernel::Histogram, None, groups, push)
            }
        }
    }

    fn body_steps(&self, count: Count) -> u32 {
        if self.shape.passes == 0 {
            return 0;
        }
        match self.algorithm_for(self.most(count)) {
            Algorithm::OneSweep => onesweep::step_count(self, count),
            Algorithm::Leading | Algorithm::Hybrid => phases::step_count(self),
            Algorithm::ReduceThenScan { .. } => reduce_then_scan::step_count(self),
            Algorithm::SingleWorkgroup => 1,
        }
    }

    /// What comes after the passes, each if it is needed: a move, a gather, and bringing back what was gathered aside.
    fn tail(&self, count: Count) -> [bool; 3] {
        let request = &self.request;
        let (in_place, gathers) = (request.in_place(), request.value.is_gathered());
        if self.shape.passes == 0 {
            // There is nothing to sort by.
            let keys = !in_place && !request.discards_keys();
            let values = if in_place { false } else { request.value.is_read() && !gathers };
            return [keys || values || request.value == ValueType::Index, gathers && !in_place, false];
        }
        // An odd number of passes may have run, and none of them as a copy: see glsl/lib/route.glsl.
        let odd = self.shape.passes % 2 == 1;
        let returns = !request.discards_keys()
            || request.value.is_read() && !gathers
            // A second phase takes indices on from where the first has left them.
            || self.algorithm == Algorithm::Leading;
        [in_place && odd && returns && self.ranks_tiles(self.most(count)), gathers, gathers && in_place]
    }

    fn tail_steps(&self, count: Count) -> u32 {
        self.tail(count).map(u32::from).iter().sum()
    }

    fn tail_step(&self, count: Count, index: u32) -> Step {
        let which = (0..3).filter(|step| self.tail(count)[*step as usize]).nth(index as usize);
        let sized = self.ranks_tiles(self.most(count));
        let groups = |per_tile: u32, slot: u32| match sized {
            true if matches!(count, Count::Device) => Groups::Counted { slot },
            _ => Groups::Direct(self.tiles(self.most(count)) * per_tile),
        };
        let push = self.push(count, 0);
        let gather = groups(self.shape.gather_splits(self.request.value), abi::ARGUMENTS_GATHER);
        match which {
            Some(0) => {
                let route = if self.shape.passes == 0 { self.route_without_passes() } else { 0 };
                Step::dispatch(Kernel::Move, None, groups(1, abi::ARGUMENTS_TILES), Push { route, ..push })
            }
            Some(1) => {
                let route = u32::from(self.shape.passes == 0);
                Step::dispatch(Kernel::Gather, None, gather, Push { route, ..push }).on(ValueSet::Data)
            }
            _ => Step::dispatch(Kernel::Gather, None, gather, Push { route: 1, ..push }).on(ValueSet::Aside),
        }
    }

    /// From where to where elements go when there is nothing to sort by.
    fn route_without_passes(&self) -> u32 {
        use abi::{PLACE_NONE, PLACE_SOURCE, PLACE_TARGET};
        let request = &self.request;
        let keys_to = if request.in_place() || request.discards_keys() { PLACE_NONE } else { PLACE_TARGET };
        let (from, to) = match request.value {
            ValueType::Index => (PLACE_NONE, PLACE_TARGET),
            ValueType::Bytes(_) if !request.value.is_gathered() => (PLACE_SOURCE, PLACE_TARGET),
            _ => (PLACE_NONE, PLACE_NONE),
        };
        abi::ROUTE_RUNS
            | PLACE_SOURCE << abi::ROUTE_KEYS_FROM
            | keys_to << abi::ROUTE_KEYS_TO
            | from << abi::ROUTE_VALUES_FROM
            | to << abi::ROUTE_VALUES_TO
    }

    /// Elements of a tile.
    pub fn tile_size(&self) -> u32 {
        self.tile
    }

    /// Tiles of `count` elements.
    pub fn tiles(&self, count: u32) -> u32 {
        count.div_ceil(self.tile_size())
    }

    /// Portions that `count` elements are sorted in; 0 when they are not cut into any.
    fn portions(&self, count: u32) -> u32 {
        if self.portion_tiles == 0 { 0 } else { self.tiles(count).div_ceil(self.portion_tiles) }
    }

    /// The dispatch over parts of `part` elements, whose size is in slot `slot` where the count is on the device.
    fn groups(&self, count: Count, part: u32, slot: u32) -> Groups {
        match count {
            Count::Host(count) => Groups::Direct(count.div_ceil(part)),
            Count::Device => Groups::Counted { slot },
        }
    }

    /// Push constants of a pass.
    fn push(&self, count: Count, pass: u32) -> Push {
        // Where a count on the device is found is known when the sort is recorded.
        let part = self.tile_size();
        Push { count: self.most(count), pass, part, portion_tiles: self.portion_tiles, ..Push::default() }
    }
}

/// The part of a block that makes a tile, or a part of the histogram, where nothing but the loops over its items depends on
/// its size: small sorts have several of them then.
fn partial_block(workgroup_size: u32, block: u32, min_tiles: u32, capacity: u32) -> u32 {
    let least = (workgroup_size * LEAST_ITEMS).min(block);
    (capacity / min_tiles).clamp(least, block).next_multiple_of(workgroup_size)
}

#[cfg(test)]
mod tests;
