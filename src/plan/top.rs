//! The first elements of long rows: levels that narrow the prefix of each row, the indices of the few elements that are left, and a
//! sort of those.

use super::{Groups, Kernel, Plan, Step};
use crate::abi::{self, Push};
use crate::request::Count;
use crate::segments::Segments;
use crate::shape::Windows;

pub(super) fn each_step(plan: &Plan, windows: &Windows, survivors: u32, count: Count, emit: &mut dyn FnMut(Step)) {
    let most = plan.largest(count);
    let (rows, length) = (rows(plan, windows, most), windows.segments.stride().unwrap_or(most));
    let part = plan.histogram_part;
    let tiles = rows.saturating_mul(length.div_ceil(part));
    // A row is as long as from its begin to that of the next.
    let push = |pass| Push { part, histogram_part: length, route: survivors, ..plan.push(count, pass) };
    let narrow =
        |level, groups, stage| Step::dispatch(Kernel::Narrow, Some(level), groups, Push { stage, ..push(level) });
    emit(Step::clear(4 * counter_words(rows)));
    for level in 0..levels(plan, length, survivors) {
        let groups = if level > 0 && plan.indirect { Groups::Counted(level) } else { Groups::Direct(tiles) };
        if plan.shape.quirks.decide_apart {
            emit(narrow(level, groups, abi::STAGE_COUNTS));
            emit(narrow(level, Groups::Direct(rows), abi::STAGE_DECIDES).named("decide"));
        } else {
            emit(narrow(level, groups, abi::STAGE_ALL));
        }
    }
    let keep = Push { stage: abi::STAGE_KEEPS, ..push(0) };
    emit(Step::dispatch(Kernel::Narrow, None, Groups::Direct(tiles), keep).named("keep"));
    let finish = Push { part: plan.capacity, ..push(0) };
    emit(Step::dispatch(Kernel::Segments, None, Groups::Direct(rows), finish).named("finish"));
}

/// Rows of so many segments, or elements of the whole array.
fn rows(plan: &Plan, windows: &Windows, count: u32) -> u32 {
    if windows.segments == Segments::Whole { count.min(plan.segment_capacity) } else { count }
}

/// The most levels until so few elements are left: those of all digits of a key, and then of an index.
fn levels(plan: &Plan, length: u32, survivors: u32) -> u32 {
    let index_bits = u32::BITS - length.saturating_sub(1).max(1).leading_zeros();
    let digits = |bits: u32| bits.div_ceil(abi::TOP_DIGIT_BITS);
    if length <= survivors { 0 } else { digits(plan.request.bits.len()) + digits(index_bits) }
}

/// Words of the counters: the state of each row, and a bin for each value of a digit.
fn counter_words(rows: u32) -> u64 {
    let row = abi::TOP_STATE_WORDS + (1 << abi::TOP_DIGIT_BITS);
    u64::from(abi::TOP_ROWS) + u64::from(rows) * u64::from(row)
}

/// Bytes of the counters and of the table, for so many rows.
pub(super) fn scratch_bytes(rows: u32, survivors: u32) -> [u64; 2] {
    // Each row has its place in two lists.
    [4 * counter_words(rows), 4 * u64::from(rows) * u64::from(2 + survivors)]
}
