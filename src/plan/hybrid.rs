//! Hybrid: passes over the top digits, then a finish that sorts segments of whole runs in shared memory (after Stehle and
//! Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs", 2017).
//!
//! Every pass is recorded in both phases. Which of them run, and whether the finish does, is decided on the device: by the
//! histogram, and by the step that bounds the segments. If the finish does not suit, the plain passes run in one phase or
//! the other.

use super::{Count, Groups, Kernel, Plan, Step, onesweep};
use crate::abi::{self, Push};
use crate::request::Algorithm;

/// Fewest digits of which a finish may save a pass.
const LEAST_PASSES: u32 = 3;
/// Elements of a block whose ranks have 16 bits.
const MOST_ELEMENTS: u32 = 1 << 16;

impl Plan {
    /// Whether there are a finish and what decides about it. Elsewhere a hybrid is a plain OneSweep.
    pub(super) fn finishes(&self) -> bool {
        let shape = &self.shape;
        self.algorithm == Algorithm::Hybrid
            && self.portion_tiles == 0
            && shape.passes >= LEAST_PASSES
            && (2..=MOST_ELEMENTS).contains(&shape.single_block())
    }

    /// Words that say where the segments of a finish start, and the last one ends.
    pub(super) fn bound_words(&self, count: u32) -> u64 {
        if self.finishes() { u64::from(count.div_ceil(self.shape.segment())) + 1 } else { 0 }
    }
}

pub(super) fn step_count(plan: &Plan) -> u32 {
    2 * plan.shape.passes + 2
}

pub(super) fn step(plan: &Plan, count: Count, index: u32) -> Step {
    let passes = plan.shape.passes;
    let counted = |slot| Groups::Counted { slot };
    let push = |pass| Push { segment: plan.shape.segment(), ..plan.push(count, pass) };
    match index {
        index if index < passes => {
            Step::dispatch(Kernel::OneSweep, Some(index), onesweep::groups(plan, count), push(index))
        }
        index if index == passes => Step::dispatch(Kernel::Bounds, None, counted(abi::ARGUMENTS_BOUNDS), push(0)),
        index if index == passes + 1 => Step::dispatch(Kernel::Finish, None, counted(abi::ARGUMENTS_FINISH), push(0)),
        _ => {
            let pass = index - passes - 2;
            let push = Push { phase: 1, ..push(pass) };
            Step::dispatch(Kernel::OneSweep, Some(pass), counted(abi::ARGUMENTS_FALLBACK), push).named("fallback")
        }
    }
}
