//! Sorts of segments: windows of neighbouring segments in one dispatch.

use super::{Groups, Kernel, Plan, Step, top};
use crate::abi::Push;
use crate::request::Count;
use crate::shape::Windows;

pub(super) fn each_step(plan: &Plan, windows: &Windows, count: Count, emit: &mut dyn FnMut(Step)) {
    if let Some(survivors) = windows.survivors {
        return top::each_step(plan, windows, survivors, count, emit);
    }
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
    emit(Step::dispatch(Kernel::Segments, None, groups, push));
}
