//! The barriers between a plan's steps, derived from their reads and writes.

use super::step::{Step, Work};
use crate::kernels::{Region, Usage};

/// Accesses of a step, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub compute_read: bool,
    pub compute_write: bool,
    pub transfer_write: bool,
    /// Reads of the arguments of a dispatch.
    pub indirect_read: bool,
}

impl Scope {
    const NONE: Scope =
        Scope { compute_read: false, compute_write: false, transfer_write: false, indirect_read: false };

    fn of(step: &Step, usage: Usage) -> Scope {
        match step.work {
            Work::Clear { .. } => Scope { transfer_write: true, ..Scope::NONE },
            Work::Dispatch { .. } => Scope {
                compute_read: matches!(usage, Usage::Read | Usage::ReadWrite),
                compute_write: matches!(usage, Usage::Write | Usage::ReadWrite),
                indirect_read: usage == Usage::Arguments,
                transfer_write: false,
            },
        }
    }

    fn writes(self) -> Scope {
        Scope { compute_read: false, indirect_read: false, ..self }
    }

    fn reads(self) -> Scope {
        Scope { compute_write: false, transfer_write: false, ..self }
    }

    fn is_none(self) -> bool {
        self == Scope::NONE
    }

    fn contains(self, other: Scope) -> bool {
        self.union(other) == self
    }

    pub fn union(self, other: Scope) -> Scope {
        Scope {
            compute_read: self.compute_read || other.compute_read,
            compute_write: self.compute_write || other.compute_write,
            transfer_write: self.transfer_write || other.transfer_write,
            indirect_read: self.indirect_read || other.indirect_read,
        }
    }
}

/// A barrier between earlier work and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub from: Scope,
    pub to: Scope,
}

const REGIONS: usize = 5;

/// The state of a region.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The last writes.
    writes: Scope,
    /// Reads since then.
    reads: Scope,
    /// Kinds of reads to which the last writes are visible.
    seen: Scope,
}

impl State {
    const UNTOUCHED: State = State { writes: Scope::NONE, reads: Scope::NONE, seen: Scope::NONE };
}

/// Goes through the steps and returns the barrier before each.
#[derive(Clone, Debug)]
pub(crate) struct Hazards {
    regions: [State; REGIONS],
    in_place: bool,
}

impl Hazards {
    /// Scratch starts as if an earlier sort had just used it, so that a sort can be recorded repeatedly. The caller's
    /// buffers start as ready, which is the caller's duty.
    pub fn new(in_place: bool) -> Hazards {
        let used = Scope { compute_read: true, compute_write: true, transfer_write: true, indirect_read: true };
        let mut regions = [State::UNTOUCHED; REGIONS];
        for region in [Region::Alternate, Region::Counters, Region::Table] {
            regions[region as usize] = State { writes: used.writes(), reads: used.reads(), seen: Scope::NONE };
        }
        Hazards { regions, in_place }
    }

    /// The barrier needed before `step`, which then counts as done.
    pub fn before(&mut self, step: &Step) -> Option<Barrier> {
        let mut touched = [Scope::NONE; REGIONS];
        for (region, usage) in step.uses() {
            let region = if region == Region::Source && self.in_place { Region::Target } else { region };
            touched[region as usize] = touched[region as usize].union(Scope::of(step, usage));
        }
        let mut barrier = Barrier { from: Scope::NONE, to: Scope::NONE };
        for (state, next) in self.regions.iter_mut().zip(touched) {
            let writes = !next.writes().is_none();
            // A write waits for all earlier accesses. A read waits for writes that are not visible to it.
            let waits_for = match writes {
                true => state.writes.union(state.reads),
                false if state.seen.contains(next) => Scope::NONE,
                false => state.writes,
            };
            if !next.is_none() && !waits_for.is_none() {
                barrier.from = barrier.from.union(waits_for);
                barrier.to = barrier.to.union(next);
                state.seen = state.seen.union(next);
            }
            match writes {
                true => *state = State { writes: next.writes(), reads: next.reads(), seen: Scope::NONE },
                false => state.reads = state.reads.union(next),
            }
        }
        (!barrier.from.is_none()).then_some(barrier)
    }
}
