//! OneSweep: after one histogram of all digits, one step per digit (Adinets and Merrill, "Onesweep", 2022).
//!
//! More elements than a look-back word can count are sorted in portions: each pass takes one after the other, with a
//! table cleared for each.

use super::{Groups, Kernel, Plan, Step};
use crate::abi::{self, Push};
use crate::request::Count;

pub(super) fn each_pass(plan: &Plan, count: Count, emit: &mut dyn FnMut(Step)) {
    for pass in 0..plan.shape.passes {
        let push = plan.push(count, pass);
        if plan.portion_tiles == 0 {
            let groups = plan.groups(count, plan.tile_size(), abi::ARGUMENTS_TILES);
            emit(Step::dispatch(Kernel::OneSweep, Some(pass), groups, push));
        }
        for portion in 0..plan.portions(plan.most(count)) {
            let groups = match count {
                Count::Host(count) => {
                    Groups::Direct((plan.tiles(count) - portion * plan.portion_tiles).min(plan.portion_tiles))
                }
                Count::Device => Groups::Counted { slot: abi::ARGUMENTS_PORTIONS + portion },
            };
            emit(Step::clear(plan.counter_bytes(), 4 * plan.table_words(plan.most(count))));
            emit(Step::dispatch(Kernel::OneSweep, Some(pass), groups, Push { portion, ..push }));
        }
    }
}
