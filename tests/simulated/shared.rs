//! The shared memory of a workgroup, with a race detector: two accesses to a word by different invocations, of which one writes
//! and one is not atomic, need a barrier between them.

use super::program::GARBAGE;

/// The time of an access: the barriers before it, and who makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Barriers of the workgroup before it, counted from one.
    pub workgroup: u32,
    /// Barriers of the subgroup before it.
    pub in_subgroup: u32,
    pub subgroup: u32,
    pub invocation: u32,
}

/// The latest accesses of one kind: one of them, and whether there were others that nothing has ordered since.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    time: Time,
    other_lanes: bool,
    other_subgroups: bool,
}

impl Accesses {
    /// Whether one of them may happen at the same time as one now.
    fn race_with(&self, now: Time) -> bool {
        let Accesses { time, other_lanes, other_subgroups } = *self;
        time.workgroup == now.workgroup
            && (other_subgroups
                || time.subgroup != now.subgroup
                || time.in_subgroup == now.in_subgroup && (other_lanes || time.invocation != now.invocation))
    }

    fn add(&mut self, now: Time) {
        let time = self.time;
        if time.workgroup != now.workgroup {
            *self = Accesses { time: now, ..Accesses::default() };
        } else if time.subgroup != now.subgroup {
            self.other_subgroups = true;
        } else if time.in_subgroup != now.in_subgroup {
            *self = Accesses { time: now, other_lanes: false, ..*self };
        } else if time.invocation != now.invocation {
            self.other_lanes = true;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Word {
    value: u32,
    defined: bool,
    reads: Accesses,
    writes: Accesses,
    atomic_reads: Accesses,
    atomic_writes: Accesses,
}

/// How an access is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// A write that may meet others of its kind, of which one stays.
    Overwrite,
    AtomicRead,
    AtomicWrite,
    /// It reads and writes.
    AtomicUpdate,
}

/// The shared memory of a workgroup.
#[derive(Debug)]
pub struct Shared {
    words: Vec<Word>,
}

impl Shared {
    pub fn new(words: u32) -> Shared {
        let (none, value) = (Accesses::default(), GARBAGE);
        let word = Word { value, defined: false, reads: none, writes: none, atomic_reads: none, atomic_writes: none };
        Shared { words: vec![word; words as usize] }
    }

    /// The value of a word before an access, which stores `update` of it unless it only reads.
    pub fn access(&mut self, at: u32, kind: Kind, now: Time, update: impl FnOnce(u32) -> u32) -> Result<u32, String> {
        let word = self.words.get_mut(at as usize).ok_or_else(|| format!("shared word {at} is out of bounds"))?;
        let before = word.value;
        let after = update(before);
        let races = match kind {
            Kind::Read => word.writes.race_with(now) || word.atomic_writes.race_with(now),
            Kind::AtomicRead => word.writes.race_with(now),
            Kind::AtomicWrite | Kind::AtomicUpdate => word.reads.race_with(now) || word.writes.race_with(now),
            Kind::Write | Kind::Overwrite => {
                let others = [&word.reads, &word.atomic_reads, &word.atomic_writes];
                others.iter().any(|accesses| accesses.race_with(now))
                    || kind == Kind::Write && word.writes.race_with(now)
            }
        };
        if races {
            return Err(format!("{kind:?} of shared word {at} races with another access: {word:?}, now {now:?}"));
        }
        let reads = matches!(kind, Kind::Read | Kind::AtomicRead);
        if (reads || kind == Kind::AtomicUpdate) && !word.defined {
            return Err(format!("shared word {at} is read before it is written"));
        }
        match kind {
            Kind::Read => word.reads.add(now),
            Kind::Write | Kind::Overwrite => word.writes.add(now),
            Kind::AtomicRead => word.atomic_reads.add(now),
            Kind::AtomicWrite | Kind::AtomicUpdate => word.atomic_writes.add(now),
        }
        if !reads {
            word.value = after;
            word.defined = true;
        }
        Ok(before)
    }
}
