//! A sort as data: its steps, their sizes and their buffers. Nothing here calls Vulkan.

mod capacities;
mod compose;
mod finish;
mod hazard;
mod inspect;
mod onesweep;
mod places;
mod reduce_then_scan;
mod scratch;
mod segments;
mod split;
mod step;
mod tiles;
mod top;

use crate::abi::{self, Own};
use crate::kernels::Kernel;
use crate::request::{Algorithm, Count, ValueType};

pub(crate) use capacities::{most_scratch, reached_by_table};
pub(crate) use hazard::{Barrier, Hazards};
pub use places::{Memory, Places};
pub use scratch::ScratchRange;
pub(crate) use step::{Ends, Step, Work};
pub use step::{Groups, StepName};
pub use tiles::MAX_COUNT;
pub(crate) use tiles::Plan;

impl Plan {
    /// Emits the steps that sort `count` elements, in order. Nothing is allocated.
    pub fn each_step(&self, count: Count, emit: &mut dyn FnMut(Step)) {
        let largest = self.largest(count);
        if largest == 0 {
            return;
        }
        if self.shape.fields.is_some() && self.capacity > 0 {
            emit(compose::step(self, count));
        }
        if let Some(windows) = self.shape.windows.as_ref().filter(|windows| !windows.sweeps) {
            if self.capacity > 0 {
                segments::each_step(self, windows, count, emit);
            }
            return;
        }
        if self.ranks_tiles(largest) {
            self.each_head_step(count, emit);
        }
        if self.shape.passes > 0 {
            match self.algorithm_for(largest) {
                Algorithm::OneSweep => onesweep::each_pass(self, count, emit),
                Algorithm::ReduceThenScan => reduce_then_scan::each_pass(self, count, emit),
                Algorithm::SingleWorkgroup => {
                    let push = self.push(count, 0, Own::Single {});
                    emit(Step::dispatch(Kernel::SingleWorkgroup, None, Groups::Direct(1), push));
                }
            }
        }
        self.each_tail_step(count, emit);
    }

    /// Counts whose steps have every kernel of the plan. With [`Step::idle`] they warm the kernels up.
    pub fn idle_counts(&self) -> [Count; 3] {
        let most = self.shape.finish.map_or(self.most(), |finish| finish.most.min(self.most()));
        [Count::Host(most), Count::Host(most.min(1)), Count::Device]
    }

    /// The kernels of the plan for these counts.
    pub fn kernels(&self, counts: &[Count]) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        for count in counts {
            self.each_step(*count, &mut |step| {
                if let Work::Dispatch { kernel, .. } = step.work
                    && !kernels.contains(&kernel)
                {
                    kernels.push(kernel);
                }
            });
        }
        kernels
    }

    /// Passes that ran and passes that the device skipped, from the counters after a sort over tiles.
    #[cfg(any(test, feature = "standalone"))]
    pub fn passes_of(&self, counters: &[u32]) -> (u32, u32) {
        let (passes, routes) = (self.shape.passes, &counters[abi::COUNTERS_ROUTES as usize..]);
        let ran = routes[..passes as usize].iter().filter(|route| **route & abi::ROUTE_RUNS != 0).count() as u32;
        (ran, passes - ran)
    }

    /// The clear, the sizing of dispatches for a count on the device, and the histogram.
    fn each_head_step(&self, count: Count, emit: &mut dyn FnMut(Step)) {
        // The ring is cleared once; it follows the counters.
        let table = self.table_words(self.elements(count)) * u64::from(self.rows(self.largest(count)));
        let table = if self.algorithm.looks_back() { table } else { 0 };
        let scratch = self.scratch();
        match self.finish(count) {
            Some(finish) => emit(finish::sample(self, finish, count, table as u32)),
            None => emit(Step::clear(scratch.table.offset - scratch.counters.offset + 4 * table)),
        }
        let (part, swept) = (self.histogram_part, self.row_length().is_some());
        if self.sizes_on_device(count) {
            let push = self.push(count, 0, Own::Arguments { part: self.tile, histogram_part: part });
            emit(Step::dispatch(Kernel::Arguments, None, Groups::Direct(1), push));
        }
        let groups = self.groups(count, part, abi::ARGUMENTS_HISTOGRAM);
        let histogram = |groups: Groups, stage: u32| {
            let own = Own::Histogram { part, row_length: self.row_length().unwrap_or(0), stage };
            Step::dispatch(Kernel::Histogram, None, groups, self.push(count, 0, own))
        };
        if self.shape.quirks.decide_apart {
            emit(histogram(groups, abi::STAGE_COUNTS));
            let groups = if swept { groups } else { Groups::Direct(1) };
            emit(histogram(groups, abi::STAGE_DECIDES).named("decide"));
        } else {
            emit(histogram(groups, abi::STAGE_ALL));
        }
    }

    /// The steps after the passes, if needed: a move, a gather, and the way back of gathered values in place.
    fn each_tail_step(&self, count: Count, emit: &mut dyn FnMut(Step)) {
        let request = &self.request;
        let (in_place, gathers) = (request.in_place(), request.value.is_gathered());
        let largest = self.largest(count);
        let ranks_tiles = self.ranks_tiles(largest);
        let groups = |per_tile: u32, slot: u32| match ranks_tiles && self.sizes_on_device(count) {
            true => Groups::Counted(slot),
            false => Groups::Direct(self.tiles(largest).saturating_mul(per_tile)),
        };
        let part = self.tile;
        let gather = |ends: Ends, in_order: bool| {
            let groups = groups(self.shape.gather_splits(request.value), abi::ARGUMENTS_GATHER);
            let push = self.push(count, 0, Own::Gather { part, in_order: in_order.into() });
            Step { ends, ..Step::dispatch(Kernel::Gather, None, groups, push) }
        };
        let move_along = |ends: Ends, pass: u32, route: u32| {
            let push = self.push(count, pass, Own::Move { part, route });
            Step { ends, ..Step::dispatch(Kernel::Move, None, groups(1, abi::ARGUMENTS_TILES), push) }
        };
        if self.shape.passes == 0 {
            // The window is empty.
            let keys = !in_place && !request.discards_keys();
            let values = !in_place && request.value.is_read() && !gathers;
            if keys || values || request.value == ValueType::Index || self.shape.visits.output {
                emit(move_along(Ends::Direct, 0, self.route_without_passes()));
            }
            if gathers && !in_place {
                emit(gather(Ends::Gather, true));
            }
            return;
        }
        // An odd number of passes may have run, without a copy: see glsl/histogram/routes.glsl.
        let returns = !request.discards_keys() || request.value.is_read() && !gathers;
        if in_place && self.shape.passes % 2 == 1 && returns && ranks_tiles {
            emit(move_along(Ends::Back, self.shape.passes, 0));
        }
        if gathers {
            emit(gather(Ends::Gather, false));
            if in_place {
                emit(gather(Ends::Aside, true));
            }
        }
    }

    /// The route of the elements if the window is empty.
    fn route_without_passes(&self) -> u32 {
        let request = &self.request;
        let visits = self.shape.visits.output;
        let stays = request.in_place() || request.discards_keys() || visits;
        let values = request.value != ValueType::None && !request.value.is_gathered() && !visits;
        abi::ROUTE_RUNS
            | if visits { abi::ROUTE_VISITS } else { 0 }
            | if stays { 0 } else { abi::ROUTE_TAKES_KEYS }
            | if values { abi::ROUTE_TAKES_VALUES } else { 0 }
    }
}

#[cfg(test)]
mod tests;
