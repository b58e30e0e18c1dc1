//! Which barriers a plan's steps need, derived from what they read and write.

use super::{Access, Place, Region, Step, Work};

/// Part of a device's work: by which stages, and whether it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub compute_read: bool,
    pub compute_write: bool,
    pub transfer_write: bool,
}

impl Scope {
    const NONE: Scope = Scope { compute_read: false, compute_write: false, transfer_write: false };

    fn of(step: &Step, access: Access) -> Scope {
        match step.work {
            Work::Clear { .. } => Scope { transfer_write: true, ..Scope::NONE },
            Work::Dispatch { .. } => Scope {
                compute_read: access != Access::Write,
                compute_write: access != Access::Read,
                transfer_write: false,
            },
        }
    }

    fn writes(self) -> bool {
        self.compute_write || self.transfer_write
    }

    fn is_none(self) -> bool {
        self == Scope::NONE
    }

    pub fn union(self, other: Scope) -> Scope {
        Scope {
            compute_read: self.compute_read || other.compute_read,
            compute_write: self.compute_write || other.compute_write,
            transfer_write: self.transfer_write || other.transfer_write,
        }
    }
}

/// A barrier between what came before and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub from: Scope,
    pub to: Scope,
}

const REGIONS: usize = 5;

fn index(region: Region) -> usize {
    match region {
        Region::Elements(Place::Source) => 0,
        Region::Elements(Place::Target) => 1,
        Region::Elements(Place::Alternate) => 2,
        Region::Counters => 3,
        Region::Table => 4,
    }
}

/// Walks along the steps and says which barrier each needs before it.
#[derive(Clone, Debug)]
pub(crate) struct Hazards {
    /// What touched each region since the last barrier that covered it.
    open: [Scope; REGIONS],
    in_place: bool,
}

impl Hazards {
    /// Scratch starts as if an earlier sort had just used it, so that a sort can be recorded again and again; the
    /// caller's buffers start as ready, which is the caller's duty.
    pub fn new(in_place: bool) -> Hazards {
        let used = Scope { compute_read: true, compute_write: true, transfer_write: true };
        let mut open = [Scope::NONE; REGIONS];
        for region in [Region::Elements(Place::Alternate), Region::Counters, Region::Table] {
            open[index(region)] = used;
        }
        Hazards { open, in_place }
    }

    /// The barrier needed before `step`, which then counts as done.
    pub fn before(&mut self, step: &Step) -> Option<Barrier> {
        let mut barrier = Barrier { from: Scope::NONE, to: Scope::NONE };
        for (region, access) in self.accesses(step) {
            let open = self.open[region];
            let next = Scope::of(step, access);
            // Reads after reads are free; everything else must wait.
            let hazard = !open.is_none() && (open.writes() || next.writes());
            if hazard {
                barrier.from = barrier.from.union(open);
                barrier.to = barrier.to.union(next);
            }
            // What came before a hazard is ordered before this step, so ordering after this step orders after both.
            self.open[region] = if hazard { next } else { open.union(next) };
        }
        (!barrier.from.is_none()).then_some(barrier)
    }

    fn accesses(&self, step: &Step) -> impl Iterator<Item = (usize, Access)> + use<> {
        let in_place = self.in_place;
        step.accesses().map(move |(region, access)| match region {
            Region::Elements(Place::Source) if in_place => (index(Region::Elements(Place::Target)), access),
            _ => (index(region), access),
        })
    }
}
