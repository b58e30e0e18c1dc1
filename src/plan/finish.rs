//! A finish: two passes by the leading bits of keys, and a step that sorts runs of equal ones in shared memory (Stehle and Jacobsen, "A
//! Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs", 2017). A sample, which takes the place of the clear, decides on the device
//! whether there is one. Otherwise all passes run.

use super::step::Groups;
use super::{Ends, Kernel, Plan, Step};
use crate::abi::{self, Own};
use crate::request::Count;
use crate::shape::Finish;

impl Plan {
    /// How this many elements are finished, if they may be.
    pub(super) fn finish(&self, count: Count) -> Option<Finish> {
        let largest = self.largest(count);
        let reached = |finish: &Finish| self.tiles(largest) >= finish.tiles && largest <= finish.most;
        self.shape.finish.filter(reached)
    }
}

/// The sample, which also clears the counters and `table` words of the table.
pub(super) fn sample(plan: &Plan, finish: Finish, count: Count, table: u32) -> Step {
    let counters = (plan.scratch().counters.size / 4) as u32;
    let own = Own::Sample { part: finish.window.elements(), counter_words: counters, table_words: table };
    let cleared = (counters + table).div_ceil(plan.shape.single.invocations * abi::SAMPLED);
    Step::dispatch(Kernel::Sample, None, Groups::Direct(1 + cleared), plan.push(count, 0, own))
}

/// The step that sorts runs. It has workgroups for all that may be sorted, and those beyond the count leave at once.
pub(super) fn runs(plan: &Plan, finish: Finish, count: Count) -> Step {
    let groups = Groups::Direct(plan.largest(count).div_ceil(finish.part()));
    let step =
        Step::dispatch(Kernel::Runs, None, groups, plan.push(count, 0, Own::Runs { part: finish.window.elements() }));
    Step { ends: Ends::Odd, ..step }
}
