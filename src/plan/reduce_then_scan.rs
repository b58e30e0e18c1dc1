//! Reduce-then-scan: per digit a count of every tile, a scan of the counts, and a scatter. No step waits within itself.

use super::{Kernel, Plan, Route, Step};
use crate::abi;

pub(super) fn step_count(plan: &Plan) -> u32 {
    3 * plan.shape.passes
}

/// One total per digit, where OneSweep keeps its counts.
pub(super) fn counter_words(plan: &Plan) -> u64 {
    u64::from(abi::COUNTERS_HISTOGRAM) + u64::from(plan.shape.radix())
}

pub(super) fn step(plan: &Plan, count: u32, index: u32) -> Step {
    let pass = index / 3;
    let push = plan.push(count, pass);
    let (kernel, workgroups) = match index % 3 {
        0 => (Kernel::Count, push.tiles),
        1 => (Kernel::Scan, plan.shape.radix()),
        _ => (Kernel::Scatter, push.tiles),
    };
    Step::dispatch(kernel, Some(pass), workgroups, Route::of_pass(pass, plan.shape.passes), push)
}
