//! OneSweep: after one histogram of all digits, one step per digit (Adinets and Merrill, "Onesweep", 2022).
//!
//! More elements than a look-back word can count are sorted in portions: each pass takes one after the other, with a
//! table cleared for each.

use super::{Count, Groups, Kernel, Plan, Step, scratch::REGION_ALIGNMENT};
use crate::abi::{self, Push};

fn portions(plan: &Plan, count: Count) -> u32 {
    plan.portions(plan.most(count))
}

pub(super) fn step_count(plan: &Plan, count: Count) -> u32 {
    plan.shape.passes * (2 * portions(plan, count)).max(1)
}

/// The workgroups of a pass over all tiles at once.
pub(super) fn groups(plan: &Plan, count: Count) -> Groups {
    match (plan.groups(count, plan.tile_size(), abi::ARGUMENTS_TILES), plan.shape.resident_workgroups) {
        (Groups::Direct(tiles), resident @ 1..) => {
            Groups::Direct(tiles.min(resident.max(tiles.div_ceil(plan.shape.most_tiles))))
        }
        // Sized on the device, the workgroups that come late find nothing left.
        (groups, _) => groups,
    }
}

pub(super) fn step(plan: &Plan, count: Count, index: u32) -> Step {
    if plan.portion_tiles == 0 {
        let groups = groups(plan, count);
        return Step::dispatch(Kernel::OneSweep, Some(index), groups, plan.push(count, index));
    }
    let portions = portions(plan, count);
    let (pass, portion, sorts) = (index / 2 / portions, index / 2 % portions, index % 2 == 1);
    if !sorts {
        let counters = (4 * plan.counter_words()).next_multiple_of(REGION_ALIGNMENT);
        return Step::clear(counters, 4 * plan.table_words(plan.most(count)));
    }
    let before = portion * plan.portion_tiles;
    let groups = match count {
        Count::Host(count) => Groups::Direct((plan.tiles(count) - before).min(plan.portion_tiles)),
        Count::Device => Groups::Counted { slot: abi::ARGUMENTS_PORTIONS + portion },
    };
    Step::dispatch(Kernel::OneSweep, Some(pass), groups, Push { portion, ..plan.push(count, pass) })
}
