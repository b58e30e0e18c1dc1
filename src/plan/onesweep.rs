//! OneSweep: after one histogram of all digits, one step per digit (Adinets and Merrill, "Onesweep", 2022).

use super::{Kernel, Plan, Step, finish};
use crate::abi;
use crate::request::Count;

pub(super) fn each_pass(plan: &Plan, count: Count, emit: &mut dyn FnMut(Step)) {
    let tiles = plan.groups(count, plan.tile, abi::ARGUMENTS_TILES);
    for pass in 0..plan.shape.passes {
        emit(Step::dispatch(Kernel::OneSweep, Some(pass), tiles, plan.push_of_pass(count, pass)));
    }
    if let Some(finish) = plan.finish(count) {
        emit(finish::runs(plan, finish, count));
    }
}
