//! Sorts in two phases: a first one that may do with few passes and is completed otherwise, and passes over all digits where
//! that does not suit.
//!
//! A hybrid's first phase goes over the top digits, and a finish sorts segments of whole runs in shared memory (after Stehle
//! and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs", 2017). A sort by leading digits goes over as many
//! of them as tell most keys apart, and ties are mended by insertion (Sedgewick, "Algorithms in C", 1998, section 10.7).
//!
//! Every pass is recorded in both phases. Which of them run, and what completes the first, is decided on the device: by the
//! histogram, and by the step behind the passes. If they do not suit, the plain passes run in one phase or the other.

use super::{Count, Groups, Kernel, Plan, Step, onesweep};
use crate::abi::{self, Push};
use crate::request::Algorithm;

/// Fewest digits of which a finish may save a pass.
const LEAST_PASSES: u32 = 3;
/// Elements of a block whose ranks have 16 bits.
const MOST_ELEMENTS: u32 = 1 << 16;
/// Fewest digits of which the leading ones may be few enough.
const LEAST_LEADING_PASSES: u32 = 5;
/// Least bits of a key: so that the alternate has room for a word for each run, which has two keys or more.
const LEAST_KEY_BITS: u32 = 16;

impl Plan {
    /// Whether there are two phases. Elsewhere an algorithm that has them is a plain OneSweep.
    pub(super) fn has_phases(&self) -> bool {
        let shape = &self.shape;
        let suits = match self.algorithm {
            Algorithm::Hybrid => shape.passes >= LEAST_PASSES && (2..=MOST_ELEMENTS).contains(&shape.single_block()),
            Algorithm::Leading => shape.passes >= LEAST_LEADING_PASSES && self.request.key.bits() >= LEAST_KEY_BITS,
            _ => false,
        };
        suits && self.portion_tiles == 0
    }

    /// Elements that a workgroup of the step behind the first phase is about; 0 where there is none.
    pub(super) fn segment(&self) -> u32 {
        match self.algorithm {
            _ if !self.has_phases() => 0,
            Algorithm::Hybrid => self.shape.segment(),
            _ => self.shape.tie_part(),
        }
    }

    /// Words that say where the segments of a finish start, and the last one ends.
    pub(super) fn bound_words(&self, count: u32) -> u64 {
        let finishes = self.algorithm == Algorithm::Hybrid && self.has_phases();
        if finishes { u64::from(count.div_ceil(self.shape.segment())) + 1 } else { 0 }
    }
}

pub(super) fn step_count(plan: &Plan) -> u32 {
    2 * plan.shape.passes + 2
}

pub(super) fn step(plan: &Plan, count: Count, index: u32) -> Step {
    let passes = plan.shape.passes;
    let counted = |slot| Groups::Counted { slot };
    let push = |pass| Push { segment: plan.segment(), ..plan.push(count, pass) };
    let [looks, completes] = match plan.algorithm {
        Algorithm::Hybrid => [Kernel::Bounds, Kernel::Finish],
        _ => [Kernel::Ties, Kernel::Mend],
    };
    match index {
        index if index < passes => {
            Step::dispatch(Kernel::OneSweep, Some(index), onesweep::groups(plan, count), push(index))
        }
        index if index == passes => Step::dispatch(looks, None, counted(abi::ARGUMENTS_BOUNDS), push(0)),
        index if index == passes + 1 => Step::dispatch(completes, None, counted(abi::ARGUMENTS_FINISH), push(0)),
        _ => {
            let pass = index - passes - 2;
            let push = Push { phase: 1, ..push(pass) };
            Step::dispatch(Kernel::OneSweep, Some(pass), counted(abi::ARGUMENTS_FALLBACK), push).named("fallback")
        }
    }
}
