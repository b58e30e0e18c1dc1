//! Sorts of segments: windows of neighbouring segments in one dispatch, and for segments that are longer than a block rounds, or levels that
//! narrow them to their first elements.

use super::top::Rows;
use super::{Groups, Kernel, Plan, Step, split};
use crate::abi::Push;
use crate::request::Count;
use crate::shape::Windows;

pub(super) fn each_step(plan: &Plan, windows: &Windows, count: Count, emit: &mut dyn FnMut(Step)) {
    let (most, small) = (plan.largest(count), windows.small());
    // Each segment is a unit, and so is each element.
    let units = plan.capacity.saturating_add(most);
    let push = Push {
        part: plan.capacity,
        histogram_part: windows.stride(),
        stage: small,
        route: windows.longest,
        ..plan.push(count, 0)
    };
    let groups = Groups::Direct(units.div_ceil(windows.block.elements() - small));
    let step = |push| Step::dispatch(Kernel::Segments, None, groups, push);
    if let Some(rows) = Rows::new(plan, windows, most) {
        return rows.each_step(plan, count, step, emit);
    }
    let Some(room) = plan.room() else { return emit(step(push)) };
    emit(Step::clear(4 * split::counter_words(windows.rounds)));
    emit(step(split::push(room, push)));
    split::each_round(plan, windows, room, count, emit);
}
