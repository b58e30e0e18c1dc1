//! One step of a plan, and the memory that it reads and writes.

use std::fmt;

use crate::abi::Push;
use crate::kernels::Kernel;

/// The places that a step moves elements between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ends {
    /// From the caller's elements to the target.
    Direct,
    /// Those of the first pass.
    First,
    /// Those of passes of odd index.
    Odd,
    /// Those of passes of even index, except the first.
    Even,
    /// From the alternate to the target.
    Back,
    /// Of a gather: the permutation instead of keys, and the caller's values to the output or, in place, to scratch
    /// (`aside`).
    Gather,
    /// The way back from `aside` to the caller's values.
    Aside,
    /// From the caller's records to the keys that are composed of them.
    Compose,
}

impl Ends {
    pub const ALL: [Ends; 8] =
        [Ends::Direct, Ends::First, Ends::Odd, Ends::Even, Ends::Back, Ends::Gather, Ends::Aside, Ends::Compose];

    /// Those of a pass by its index.
    pub fn of_pass(index: u32) -> Ends {
        if index == 0 {
            Ends::First
        } else if index % 2 == 1 {
            Ends::Odd
        } else {
            Ends::Even
        }
    }
}

/// How many workgroups a dispatch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// A number known to the host.
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
    pub ends: Ends,
    pub work: Work,
}

/// Name of a step: a kernel or a command, and its pass if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StepName {
    /// The kernel or command.
    pub kernel: &'static str,
    /// The index of the pass. Its digit is decided on the device, which skips digits.
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
        Step { name: StepName { kernel: "clear", pass: None }, ends: Ends::First, work: Work::Clear { bytes } }
    }

    pub fn dispatch(kernel: Kernel, pass: Option<u32>, groups: Groups, push: Push) -> Step {
        let name = StepName { kernel: kernel.name(), pass };
        let ends = match kernel {
            Kernel::SingleWorkgroup | Kernel::Segments | Kernel::Short | Kernel::Narrow | Kernel::Finish => {
                Ends::Direct
            }
            Kernel::Compose => Ends::Compose,
            _ => Ends::of_pass(pass.unwrap_or(0)),
        };
        Step { name, ends, work: Work::Dispatch { kernel, groups, push } }
    }

    /// The same step with nothing to sort: its kernel runs in one workgroup, and reads and writes no elements. What clears scratch clears
    /// all of it, as steps behind it read that.
    pub fn idle(mut self) -> Step {
        if let Work::Dispatch { kernel, groups, push } = &mut self.work {
            push.count = 0;
            if *kernel != Kernel::Sample {
                *groups = Groups::Direct(1);
            }
        }
        self
    }

    /// The same step under another name.
    pub fn named(mut self, kernel: &'static str) -> Step {
        self.name.kernel = kernel;
        self
    }
}
