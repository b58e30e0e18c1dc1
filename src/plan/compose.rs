//! The step that composes the keys of records, before these keys are sorted.

use super::{Groups, Kernel, Plan, Step};
use crate::abi::{Own, Push};
use crate::request::Count;

/// Records that an invocation takes: enough that workgroups beyond a count on the device cost little.
const ITEMS: u32 = 4;

/// The dispatch is never indirect, because the sort sizes its dispatches later.
pub(super) fn step(plan: &Plan, count: Count) -> Step {
    // In segments the count is that of segments, which may be anywhere.
    let all = plan.shape.windows.is_some();
    let records = if all { plan.capacity } else { plan.largest(count) };
    let part = plan.shape.histogram.block.invocations.saturating_mul(ITEMS);
    let own = Own::Compose { part, composes_all: all.into() };
    let push = Push { count: records, ..plan.push(count, 0, own) };
    Step::dispatch(Kernel::Compose, None, Groups::Direct(records.div_ceil(part)), push)
}
