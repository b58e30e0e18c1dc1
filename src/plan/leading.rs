//! Leading digits: passes over the top digits that distinguish most keys, then an insertion sort of ties (Sedgewick,
//! "Algorithms in C", 1998, section 10.7).
//!
//! The passes over all digits are recorded twice. The histogram decides which passes run in the first phase. The kernel
//! `ties` decides between the insertion sort and the second phase, which is a plain OneSweep.

use super::{Groups, Kernel, Plan, Step, onesweep};
use crate::abi::{self, Push};
use crate::request::{Algorithm, Count};

/// Fewest digits for which leading digits can save enough passes.
const MIN_PASSES: u32 = 5;
/// Fewest bits of a key: parts of words may be stored by two atomics, between which `mend` must not read the key.
const MIN_KEY_BITS: u32 = 32;

impl Plan {
    /// Whether the sort goes by leading digits. If not, it is a plain OneSweep.
    pub(super) fn leads(&self) -> bool {
        self.algorithm == Algorithm::Leading
            && self.shape.passes >= MIN_PASSES
            && self.request.key.bits() >= MIN_KEY_BITS
            // The last workgroup of `ties` decides.
            && !self.shape.decides_apart
    }
}

pub(super) fn each_pass(plan: &Plan, count: Count, emit: &mut dyn FnMut(Step)) {
    onesweep::each_pass(plan, count, emit);
    let push = plan.push(count, 0);
    emit(Step::dispatch(Kernel::Ties, None, Groups::Counted(abi::ARGUMENTS_TIES), push));
    emit(Step::dispatch(Kernel::Mend, None, Groups::Counted(abi::ARGUMENTS_MEND), push));
    for pass in 0..plan.shape.passes {
        let (groups, push) = (Groups::Counted(abi::ARGUMENTS_FALLBACK), Push { phase: 1, ..plan.push(count, pass) });
        emit(Step::dispatch(Kernel::OneSweep, Some(pass), groups, push).named("fallback"));
    }
}
