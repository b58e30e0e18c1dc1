//! Reduce-then-scan: per digit a count of every tile, a scan of the counts, and a scatter. No step waits within itself.

use super::{Count, Groups, Kernel, Plan, Step};
use crate::abi;

pub(super) fn step_count(plan: &Plan) -> u32 {
    3 * plan.shape.passes
}

pub(super) fn step(plan: &Plan, count: Count, index: u32) -> Step {
    let pass = index / 3;
    let tiles = plan.groups(count, plan.tile_size(), abi::ARGUMENTS_TILES);
    let (kernel, groups) = match index % 3 {
        0 => (Kernel::Count, tiles),
        1 => (Kernel::Scan, Groups::Direct(plan.shape.radix())),
        _ => (Kernel::Scatter, tiles),
    };
    Step::dispatch(kernel, Some(pass), groups, plan.push(count, pass))
}
