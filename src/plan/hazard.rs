//! The barriers between a plan's steps, derived from their reads and writes.

use ash::vk::AccessFlags;

use super::step::{Step, Work};
use crate::kernels::{Region, Usage};

/// The accesses of a step. Each kind belongs to one stage.
fn accesses(step: &Step, usage: Usage) -> AccessFlags {
    match (step.work, usage) {
        (Work::Clear { .. }, _) => AccessFlags::TRANSFER_WRITE,
        (_, Usage::Read) => AccessFlags::SHADER_READ,
        (_, Usage::Write) => AccessFlags::SHADER_WRITE,
        (_, Usage::ReadWrite) => AccessFlags::SHADER_READ | AccessFlags::SHADER_WRITE,
        (_, Usage::Arguments) => AccessFlags::INDIRECT_COMMAND_READ,
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
    in_place: bool,
}

impl Hazards {
    /// Scratch starts as if an earlier sort had just used it, so that a sort can be recorded repeatedly. The caller's
    /// buffers start as ready, which is the caller's duty.
    pub fn new(in_place: bool) -> Hazards {
        let mut regions = [State::default(); REGIONS];
        for region in [Region::Alternate, Region::Counters, Region::Table] {
            regions[region as usize].accesses = AccessFlags::SHADER_READ
                | AccessFlags::SHADER_WRITE
                | AccessFlags::TRANSFER_WRITE
                | AccessFlags::INDIRECT_COMMAND_READ;
        }
        Hazards { regions, in_place }
    }

    /// The barrier needed before `step`, which then counts as done.
    pub fn before(&mut self, step: &Step) -> Option<Barrier> {
        let mut touched = [AccessFlags::empty(); REGIONS];
        for (region, usage) in step.uses() {
            let region = if region == Region::Source && self.in_place { Region::Target } else { region };
            touched[region as usize] |= accesses(step, usage);
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
