//! Sorts of segments: in one dispatch short ones in a few lanes each, or windows of neighbouring segments; and for segments that are longer
//! than a block rounds, or levels that narrow them to their first elements.

use super::top::Rows;
use super::{Groups, Kernel, Plan, Step, split};
use crate::abi::Own;
use crate::request::Count;
use crate::shape::Windows;

pub(super) fn each_step(plan: &Plan, windows: &Windows, count: Count, emit: &mut dyn FnMut(Step)) {
    let (most, small) = (plan.largest(count), windows.small());
    let (capacity, row_length, longest) = (plan.capacity, windows.stride(), windows.longest);
    if let Some(short) = windows.short {
        let push = plan.push(count, 0, Own::Short { capacity, row_length, longest });
        let groups = Groups::Direct(most.div_ceil(short.segments()));
        return emit(Step::dispatch(Kernel::Short, None, groups, push));
    }
    // Each segment is a unit, and so is each element.
    let units = plan.capacity.saturating_add(most);
    let groups = Groups::Direct(units.div_ceil(windows.block.elements() - small));
    let step = |own| Step::dispatch(Kernel::Segments, None, groups, plan.push(count, 0, own));
    if let Some(rows) = Rows::new(plan, windows, most) {
        return rows.each_step(plan, count, step, emit);
    }
    let Some(room) = plan.room() else {
        return emit(step(Own::Windows { capacity, row_length, longest, small }));
    };
    emit(Step::clear(4 * split::counter_words(windows.rounds)));
    emit(step(split::own(plan, windows, room)));
    split::each_round(plan, windows, room, count, emit);
}
