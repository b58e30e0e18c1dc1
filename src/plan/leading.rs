//! Leading digits: passes over as many of the top digits as distinguish most keys, after which ties are sorted by insertion
//! (Sedgewick, "Algorithms in C", 1998, section 10.7).
//!
//! The passes over all digits are recorded twice. The histogram decides which of them run in the first phase. The step that
//! looks for ties decides between mending them and the second phase, which is a plain OneSweep.

use super::{Groups, Kernel, Plan, Step};
use crate::abi::{self, Push};
use crate::request::{Algorithm, Count};

/// Fewest digits of which the leading ones may save enough passes.
const MIN_PASSES: u32 = 5;
/// Fewest bits of a key: the alternate has room for a word for each run, which has two keys or more.
const MIN_KEY_BITS: u32 = 16;

impl Plan {
    /// Whether a sort by leading digits is worth its second phase. Elsewhere it is a plain OneSweep.
    pub(super) fn leads(&self) -> bool {
        self.algorithm == Algorithm::Leading
            && self.shape.passes >= MIN_PASSES
            && self.request.key.bits() >= MIN_KEY_BITS
            // The step that looks for ties decides in its last workgroup.
            && !self.shape.decides_apart
    }

    /// Elements of a part in which a workgroup looks for ties; 0 where there is none.
    pub(super) fn tie_part(&self) -> u32 {
        if self.leads() { self.shape.tie_part() } else { 0 }
    }
}

pub(super) fn each_pass(plan: &Plan, count: Count, emit: &mut dyn FnMut(Step)) {
    let push = |pass| Push { tie_part: plan.tie_part(), ..plan.push(count, pass) };
    let tiles = plan.groups(count, plan.tile_size(), abi::ARGUMENTS_TILES);
    for pass in 0..plan.shape.passes {
        emit(Step::dispatch(Kernel::OneSweep, Some(pass), tiles, push(pass)));
    }
    emit(Step::dispatch(Kernel::Ties, None, Groups::Counted { slot: abi::ARGUMENTS_TIES }, push(0)));
    emit(Step::dispatch(Kernel::Mend, None, Groups::Counted { slot: abi::ARGUMENTS_MEND }, push(0)));
    for pass in 0..plan.shape.passes {
        let (groups, push) = (Groups::Counted { slot: abi::ARGUMENTS_FALLBACK }, Push { phase: 1, ..push(pass) });
        emit(Step::dispatch(Kernel::OneSweep, Some(pass), groups, push).named("fallback"));
    }
}
