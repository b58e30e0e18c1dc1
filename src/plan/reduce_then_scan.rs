//! Reduce-then-scan: per digit a count of every tile, a scan of the counts, and a scatter. No step waits within itself.

use super::{Groups, Kernel, Plan, Step};
use crate::abi;
use crate::request::Count;

pub(super) fn each_pass(plan: &Plan, count: Count, emit: &mut dyn FnMut(Step)) {
    let tiles = plan.groups(count, plan.tile, abi::ARGUMENTS_TILES);
    for pass in 0..plan.shape.passes {
        let push = plan.push_of_pass(count, pass);
        emit(Step::dispatch(Kernel::Count, Some(pass), tiles, push));
        emit(Step::dispatch(Kernel::Scan, Some(pass), Groups::Direct(plan.shape.ranking.radix()), push));
        emit(Step::dispatch(Kernel::Scatter, Some(pass), tiles, push));
    }
}
