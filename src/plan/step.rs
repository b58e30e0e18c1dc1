//! One step of a plan, and what it reads and writes.

use std::fmt;

use crate::abi::Push;

/// A compute kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    Arguments,
    Histogram,
    OneSweep,
    Bounds,
    Finish,
    Ties,
    Mend,
    Count,
    Scan,
    Scatter,
    SingleWorkgroup,
    Move,
    Gather,
}

impl Kernel {
    pub const ALL: [Kernel; 13] = [
        Kernel::Arguments,
        Kernel::Histogram,
        Kernel::OneSweep,
        Kernel::Bounds,
        Kernel::Finish,
        Kernel::Ties,
        Kernel::Mend,
        Kernel::Count,
        Kernel::Scan,
        Kernel::Scatter,
        Kernel::SingleWorkgroup,
        Kernel::Move,
        Kernel::Gather,
    ];

    /// Name of the kernel and of its file under `glsl/`.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Arguments => "arguments",
            Kernel::Histogram => "histogram",
            Kernel::OneSweep => "onesweep",
            Kernel::Bounds => "bounds",
            Kernel::Finish => "finish",
            Kernel::Ties => "ties",
            Kernel::Mend => "mend",
            Kernel::Count => "count",
            Kernel::Scan => "scan",
            Kernel::Scatter => "scatter",
            Kernel::SingleWorkgroup => "single_workgroup",
            Kernel::Move => "move",
            Kernel::Gather => "gather",
        }
    }

    /// Whether the kernel's workgroups rank keys by subgroups.
    pub fn ranks(self) -> bool {
        matches!(self, Kernel::OneSweep | Kernel::Finish | Kernel::Scatter | Kernel::SingleWorkgroup)
    }
}

/// Which buffers a step finds at the places of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueSet {
    /// What travels with the keys: the caller's values, or the permutation of a sort that gathers.
    Sorted,
    /// For a gather: from the caller's values by the permutation (at the alternate place) to the caller's output or, in
    /// place, aside.
    Data,
    /// From aside to the caller's values.
    Aside,
}

impl ValueSet {
    pub const ALL: [ValueSet; 3] = [ValueSet::Sorted, ValueSet::Data, ValueSet::Aside];
}

/// How many workgroups a dispatch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    Direct(u32),
    /// As many as the counters say in this slot.
    Counted {
        slot: u32,
    },
}

/// A part of memory as far as hazards go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Region {
    /// The caller's input.
    Source,
    /// The caller's output; the same memory as the input when sorting in place.
    Target,
    /// What a sort uses of scratch for elements: alternate, permutation and what is put aside.
    Alternate,
    /// Tickets, digit counts, routes, and arguments of dispatches.
    Counters,
    /// One word per tile and digit; behind them, where the segments of a finish start.
    Table,
}

/// How a step uses a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    ReadWrite,
    /// Read as the arguments of a dispatch.
    Arguments,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Zeroes bytes of counters and table, counted from the start of the counters.
    Clear { offset: u64, bytes: u64 },
    /// Runs a kernel.
    Dispatch { kernel: Kernel, groups: Groups, set: ValueSet, push: Push },
}

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub name: StepName,
    pub work: Work,
}

/// Name of a step: what runs, and its pass where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepName {
    /// What runs.
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
    pub fn clear(offset: u64, bytes: u64) -> Step {
        Step { name: StepName { kernel: "clear", pass: None }, work: Work::Clear { offset, bytes } }
    }

    pub fn dispatch(kernel: Kernel, pass: Option<u32>, groups: Groups, push: Push) -> Step {
        let name = StepName { kernel: kernel.name(), pass };
        Step { name, work: Work::Dispatch { kernel, groups, set: ValueSet::Sorted, push } }
    }

    /// The same dispatch on other values.
    pub fn on(mut self, on: ValueSet) -> Step {
        if let Work::Dispatch { set, .. } = &mut self.work {
            *set = on;
        }
        self
    }

    /// The same step under another name.
    pub fn named(mut self, kernel: &'static str) -> Step {
        self.name.kernel = kernel;
        self
    }

    /// What the step may read and write. From where to where a pass moves is decided while the sort runs.
    pub fn accesses(&self) -> impl Iterator<Item = (Region, Access)> + use<> {
        use Access::{Arguments, Read, ReadWrite, Write};
        let [mut source, mut target, mut alternate, mut counters, mut table] = [None; 5];
        let mut arguments = None;
        match self.work {
            Work::Clear { .. } => (counters, table) = (Some(Write), Some(Write)),
            Work::Dispatch { kernel, groups, .. } => {
                if matches!(groups, Groups::Counted { .. }) {
                    arguments = Some((Region::Counters, Arguments));
                }
                if matches!(kernel, Kernel::OneSweep | Kernel::Finish | Kernel::Scatter | Kernel::Move | Kernel::Gather)
                {
                    (source, target, alternate) = (Some(Read), Some(ReadWrite), Some(ReadWrite));
                }
                match kernel {
                    Kernel::Arguments => counters = Some(Write),
                    Kernel::Histogram => (source, counters) = (Some(Read), Some(ReadWrite)),
                    Kernel::OneSweep => (counters, table) = (Some(ReadWrite), Some(ReadWrite)),
                    Kernel::Bounds => {
                        (source, target, alternate) = (Some(Read), Some(Read), Some(Read));
                        (counters, table) = (Some(ReadWrite), Some(Write));
                    }
                    Kernel::Finish => (counters, table) = (Some(ReadWrite), Some(Read)),
                    // The list of runs is at the alternate.
                    Kernel::Ties => (target, alternate, counters) = (Some(Read), Some(Write), Some(ReadWrite)),
                    Kernel::Mend => (target, alternate, counters) = (Some(ReadWrite), Some(Read), Some(Read)),
                    Kernel::Count => {
                        (source, target, alternate) = (Some(Read), Some(Read), Some(Read));
                        (counters, table) = (Some(Read), Some(Write));
                    }
                    Kernel::Scan => (counters, table) = (Some(Read), Some(ReadWrite)),
                    Kernel::Scatter => (counters, table) = (Some(Read), Some(Read)),
                    Kernel::SingleWorkgroup => {
                        (source, target, alternate) = (Some(Read), Some(Write), Some(Write));
                    }
                    Kernel::Move => counters = Some(Read),
                    Kernel::Gather => {}
                }
            }
        }
        [
            source.map(|access| (Region::Source, access)),
            target.map(|access| (Region::Target, access)),
            alternate.map(|access| (Region::Alternate, access)),
            counters.map(|access| (Region::Counters, access)),
            table.map(|access| (Region::Table, access)),
            arguments,
        ]
        .into_iter()
        .flatten()
    }
}
