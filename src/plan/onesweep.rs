//! OneSweep: clear, one histogram of all digits, then one pass per digit (Adinets and Merrill, "Onesweep", 2022).

use super::{Kernel, Plan, REGION_ALIGNMENT, Route, Step, StepName, Work};
use crate::abi::{self, Push};

pub(super) fn step_count(plan: &Plan) -> u32 {
    2 + plan.shape.passes
}

/// One ticket per pass, then one count per pass and digit.
pub(super) fn counter_words(plan: &Plan) -> u64 {
    u64::from(abi::COUNTERS_HISTOGRAM) + u64::from(plan.shape.passes) * u64::from(plan.shape.radix())
}

pub(super) fn step(plan: &Plan, count: u32, index: u32) -> Step {
    let passes = plan.shape.passes;
    match index {
        0 => {
            let counters = (4 * counter_words(plan)).next_multiple_of(REGION_ALIGNMENT);
            let bytes = counters + 4 * plan.table_words(count);
            Step { name: StepName { kernel: "clear", pass: None }, work: Work::Clear { bytes } }
        }
        1 => {
            let blocks = plan.histogram_blocks;
            let chunks = count.div_ceil(plan.shape.histogram_block() * blocks);
            let push = Push { count, tiles: chunks, blocks, ..Push::default() };
            Step::dispatch(Kernel::Histogram, None, chunks, Route::of_pass(0, passes), push)
        }
        _ => {
            let pass = index - 2;
            let push = plan.push(count, pass);
            Step::dispatch(Kernel::OneSweep, Some(pass), push.tiles, Route::of_pass(pass, passes), push)
        }
    }
}
