//! The barriers between a plan's steps, derived from their reads and writes.

use ash::vk::AccessFlags;

use super::places::Memory;
use super::step::{Groups, Step, Work};
use super::tiles::Plan;
use crate::kernels::{Binding, Usage};

/// Memory that hazards are tracked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Region {
    /// The caller's `keys`, `values` and `segments`. In place the first two are the output too.
    Input,
    /// The caller's `keys_out` and `values_out`.
    Output,
    /// The elements in scratch: alternate, permutation, and gathered values on their way back.
    Alternate,
    /// Tickets, digit counts, routes, and the arguments of indirect dispatches.
    Counters,
    /// One word per tile and digit.
    Table,
}

impl From<Memory> for Region {
    fn from(memory: Memory) -> Region {
        match memory {
            Memory::Keys | Memory::Values => Region::Input,
            Memory::KeysOut | Memory::ValuesOut => Region::Output,
            Memory::Scratch(_) => Region::Alternate,
        }
    }
}

impl Plan {
    /// The regions that a step uses, and how.
    pub fn accesses(&self, step: &Step) -> impl Iterator<Item = (Region, AccessFlags)> + use<> {
        const CLEARED: &[(Binding, Usage)] = &[(Binding::Counters, Usage::Write), (Binding::Table, Usage::Write)];
        let (uses, write, counted) = match step.work {
            Work::Clear { .. } => (CLEARED, AccessFlags::TRANSFER_WRITE, false),
            Work::Dispatch { kernel, groups, .. } => {
                (kernel.row().uses, AccessFlags::SHADER_WRITE, matches!(groups, Groups::Counted(_)))
            }
        };
        let places = self.places(step.ends);
        // Windows alone have no scratch.
        let has_scratch = self.scratch().counters.size > 0 || self.shape.windows.is_none();
        let of_scratch = move |region: Region| has_scratch.then_some(region);
        let used = uses.iter().copied().filter_map(move |(binding, usage)| {
            let region = match binding {
                Binding::KeysFrom => places.keys[0]?.into(),
                Binding::KeysTo => places.keys[1]?.into(),
                Binding::ValuesFrom => places.values[0]?.into(),
                Binding::ValuesTo => places.values[1]?.into(),
                Binding::Counters => of_scratch(Region::Counters)?,
                Binding::Table => of_scratch(Region::Table)?,
                Binding::Segments => Region::Input,
            };
            let access = match usage {
                Usage::Read => AccessFlags::SHADER_READ,
                Usage::Write => write,
                Usage::ReadWrite => AccessFlags::SHADER_READ | write,
            };
            Some((region, access))
        });
        used.chain(counted.then_some((Region::Counters, AccessFlags::INDIRECT_COMMAND_READ)))
    }
}

fn writes(accesses: AccessFlags) -> AccessFlags {
    accesses & (AccessFlags::SHADER_WRITE | AccessFlags::TRANSFER_WRITE)
}

/// A barrier between accesses of earlier work and those of the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub from: AccessFlags,
    pub to: AccessFlags,
}

const REGIONS: usize = 5;

/// The state of a region.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The last writes, and the reads with them and since then.
    accesses: AccessFlags,
    /// Kinds of reads to which the last writes are visible.
    seen: AccessFlags,
}

/// Goes through the steps and returns the barrier before each.
#[derive(Clone, Debug)]
pub(crate) struct Hazards {
    regions: [State; REGIONS],
}

impl Hazards {
    /// Scratch starts as if an earlier sort had just used it, so that a sort can be recorded repeatedly. The caller's
    /// buffers start as ready, which is the caller's duty.
    pub fn new() -> Hazards {
        let mut regions = [State::default(); REGIONS];
        for region in [Region::Alternate, Region::Counters, Region::Table] {
            regions[region as usize].accesses = AccessFlags::SHADER_READ
                | AccessFlags::SHADER_WRITE
                | AccessFlags::TRANSFER_WRITE
                | AccessFlags::INDIRECT_COMMAND_READ;
        }
        Hazards { regions }
    }

    /// The barrier needed before a step of the plan, which is then recorded as done.
    pub fn before(&mut self, plan: &Plan, step: &Step) -> Option<Barrier> {
        let mut touched = [AccessFlags::empty(); REGIONS];
        for (region, accesses) in plan.accesses(step) {
            touched[region as usize] |= accesses;
        }
        let mut barrier = Barrier::default();
        for (state, next) in self.regions.iter_mut().zip(touched) {
            let is_write = !writes(next).is_empty();
            // A write waits for all earlier accesses. A read waits for writes that are not visible to it.
            let waits_for = match is_write {
                true => state.accesses,
                false if state.seen.contains(next) => AccessFlags::empty(),
                false => writes(state.accesses),
            };
            if !waits_for.is_empty() {
                barrier.from |= waits_for;
                barrier.to |= next;
                state.seen |= next;
            }
            match is_write {
                true => *state = State { accesses: next, seen: AccessFlags::empty() },
                false => state.accesses |= next,
            }
        }
        (!barrier.from.is_empty()).then_some(barrier)
    }
}
