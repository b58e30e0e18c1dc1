//! One step of a plan, and the memory that it reads and writes.

use std::fmt;

use crate::abi::Push;
use crate::kernels::{Kernel, Region, Usage};

/// The buffers at the places of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueSet {
    /// The values that move with the keys: the caller's, or the permutation of a sort that gathers.
    Sorted,
    /// For a gather: the caller's values as the source, the permutation as the alternate, and as the target the caller's
    /// output or, in place, scratch (`aside`).
    Data,
    /// For the way back from `aside` to the caller's values.
    Aside,
}

impl ValueSet {
    pub const ALL: [ValueSet; 3] = [ValueSet::Sorted, ValueSet::Data, ValueSet::Aside];
}

/// How many workgroups a dispatch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// So many.
    Direct(u32),
    /// The number in a slot of the arguments in the counters.
    Counted(u32),
}

/// The work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Zeroes bytes of counters and table, from the start of the counters on.
    Clear { bytes: u64 },
    /// Runs a kernel.
    Dispatch { kernel: Kernel, groups: Groups, push: Push },
}

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub name: StepName,
    pub set: ValueSet,
    pub work: Work,
}

/// Name of a step: a kernel or a command, and its pass if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepName {
    /// The kernel or command.
    pub kernel: &'static str,
    /// The digit, counted from the least significant one.
    pub pass: Option<u32>,
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pass {
            Some(pass) => write!(f, "{} {pass}", self.kernel),
            None => f.write_str(self.kernel),
        }
    }
}

impl Step {
    pub fn clear(bytes: u64) -> Step {
        Step { name: StepName { kernel: "clear", pass: None }, set: ValueSet::Sorted, work: Work::Clear { bytes } }
    }

    pub fn dispatch(kernel: Kernel, pass: Option<u32>, groups: Groups, push: Push) -> Step {
        let name = StepName { kernel: kernel.name(), pass };
        Step { name, set: ValueSet::Sorted, work: Work::Dispatch { kernel, groups, push } }
    }

    /// The same step under another name.
    pub fn named(mut self, kernel: &'static str) -> Step {
        self.name.kernel = kernel;
        self
    }

    /// The regions that the step may read and write.
    pub fn uses(&self) -> impl Iterator<Item = (Region, Usage)> + use<> {
        const CLEARED: &[(Region, Usage)] = &[(Region::Counters, Usage::Write), (Region::Table, Usage::Write)];
        let (uses, counted) = match self.work {
            Work::Clear { .. } => (CLEARED, false),
            Work::Dispatch { kernel, groups, .. } => (kernel.row().uses, matches!(groups, Groups::Counted(_))),
        };
        uses.iter().copied().chain(counted.then_some((Region::Counters, Usage::Arguments)))
    }
}
