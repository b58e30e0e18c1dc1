//! One invocation: registers, variables and a stack of calls. It runs alone up to its next collective step.

use rspirv::spirv::Op;

use super::arithmetic;
use super::memory::{Memory, Pending, Place, Who};
use super::program::{Cells, Class, Collective, DESCRIPTORS, GARBAGE, Index, Program, Step};
use super::shared::{Kind, Shared, Time};

/// What an invocation does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Runs,
    /// It waits at a collective step.
    Waits,
    Done,
}

/// Where a function returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    back: u32,
    to: u32,
    words: u32,
}

/// An invocation.
#[derive(Debug)]
pub struct Invocation {
    pub state: State,
    pub at: u32,
    pub time: Time,
    /// Its number in the dispatch.
    number: u32,
    /// Changes of the memory before this one are visible to it.
    pub fresh: u32,
    /// Barriers that have made stores to buffers visible.
    pub buffer_barriers: u32,
    calls: Vec<Call>,
    registers: Vec<u32>,
    private: Vec<u32>,
    defined: Vec<bool>,
    pub input: Vec<u32>,
}

/// What an invocation reaches beside its own variables.
pub struct Surroundings<'a> {
    pub program: &'a Program,
    pub memory: &'a mut Memory,
    pub pending: &'a mut Pending,
    pub shared: &'a mut Shared,
    /// The push constants in words.
    pub push: &'a [u32],
}

impl Invocation {
    pub fn new(program: &Program, time: Time, number: u32) -> Invocation {
        Invocation {
            state: State::Runs,
            at: program.entry,
            time,
            number,
            fresh: 0,
            buffer_barriers: 0,
            calls: Vec::new(),
            registers: program.registers.clone(),
            private: vec![GARBAGE; program.private_words as usize],
            defined: vec![false; program.private_words as usize],
            input: vec![0; program.input_words as usize],
        }
    }

    /// Its calls and its step. Of invocations whose ways have parted, those behind come first in this order.
    pub fn position(&self) -> (&[Call], u32) {
        (&self.calls, self.at)
    }

    pub fn register(&self, at: u32) -> u32 {
        self.registers[at as usize]
    }

    pub fn set(&mut self, at: u32, value: u32) {
        self.registers[at as usize] = value;
    }

    /// The collective step at which it waits.
    pub fn collective(&self, program: &Program) -> Collective {
        match program.steps[self.at as usize] {
            Step::Collective(collective) => collective,
            ref other => panic!("invocations do not wait at {other:?}"),
        }
    }

    /// Runs up to a collective step, to the end, or for so many steps; gives the number of steps. Now and then it stops behind a
    /// fence or an atomic, where what others do matters most.
    pub fn run(&mut self, around: &mut Surroundings<'_>, most: u64) -> Result<u64, String> {
        let mut ran = 0;
        while self.state == State::Runs && ran < most {
            ran += 1;
            let at = self.at;
            self.step(around).map_err(|reason| {
                format!(
                    "{reason} (at %{}, invocation {}, {:?})",
                    around.program.ids[at as usize], self.number, self.time
                )
            })?;
            if around.program.steps[at as usize].is_between_workgroups() && around.memory.rng.u32(0..8) == 0 {
                break;
            }
        }
        Ok(ran)
    }

    fn step(&mut self, around: &mut Surroundings<'_>) -> Result<(), String> {
        let mut next = self.at + 1;
        let program = around.program;
        match &program.steps[self.at as usize] {
            // Most steps are of one word.
            &Step::Copy { to, from, words: 1 } => self.set(to, self.register(from)),
            &Step::Copy { to, from, words } => {
                let from = from as usize;
                self.registers.copy_within(from..from + words as usize, to as usize);
            }
            &Step::Binary { op, to, a, b, words: 1 } => {
                let result = arithmetic::binary(op, self.register(a), self.register(b))?;
                self.set(to, result);
            }
            &Step::Binary { op, to, a, b, words } => {
                for word in 0..words {
                    let result = arithmetic::binary(op, self.register(a + word), self.register(b + word))?;
                    self.set(to + word, result);
                }
            }
            &Step::Unary { op, to, a, words, bits } => {
                for word in 0..words {
                    let result = arithmetic::unary(op, self.register(a + word), bits)?;
                    self.set(to + word, result);
                }
            }
            &Step::Load { to, pointer, cells } => self.load(around, to, pointer, cells)?,
            &Step::Store { pointer, from, cells } => self.store(around, pointer, from, cells)?,
            Step::Access { to, base, class, offset, indices } => self.access(*to, *base, *class, *offset, indices)?,
            &Step::Jump { to } => next = to,
            &Step::Branch { condition, then, otherwise } => {
                next = if self.register(condition) != 0 { then } else { otherwise };
            }
            &Step::Select { to, condition, step, a, b, words } => {
                for word in 0..words {
                    let chosen = if self.register(condition + step * word) != 0 { a } else { b };
                    self.set(to + word, self.register(chosen + word));
                }
            }
            Step::Switch { selector, cases, default } => {
                let selected = self.register(*selector);
                next = cases.iter().find(|case| case.0 == selected).map_or(*default, |case| case.1);
            }
            &Step::Call { function, to, words } => {
                self.calls.push(Call { back: next, to, words });
                next = function;
            }
            &Step::Return { from, words } => match self.calls.pop() {
                None => self.state = State::Done,
                Some(call) => {
                    if let Some(from) = from {
                        assert!(words == call.words);
                        let from = from as usize;
                        self.registers.copy_within(from..from + words as usize, call.to as usize);
                    }
                    next = call.back;
                }
            },
            &Step::Forget { offset, words } => {
                self.private[offset as usize..][..words as usize].fill(GARBAGE);
                self.defined[offset as usize..][..words as usize].fill(false);
            }
            &Step::Pick { to, from, index, words } => {
                let index = self.register(index);
                if index >= words {
                    return Err(format!("component {index} of {words} is out of bounds"));
                }
                self.set(to, self.register(from + index));
            }
            &Step::Wide { op, to, a, b } => {
                let (low, high) = arithmetic::wide(op, self.register(a), self.register(b));
                self.set(to, low);
                self.set(to + 1, high);
            }
            &Step::Field { op, to, operands: [base, insert, offset, count], words } => {
                let [base_step, insert_step] = [1, u32::from(op == Op::BitFieldInsert)];
                for word in 0..words {
                    let of = [base + base_step * word, insert + insert_step * word, offset, count];
                    let result = arithmetic::field(op, of.map(|register| self.register(register)))?;
                    self.set(to + word, result);
                }
            }
            &Step::Extended { op, to, operands, words } => {
                for word in 0..words {
                    let result = arithmetic::extended(op, operands.map(|register| self.register(register + word)))?;
                    self.set(to + word, result);
                }
            }
            &Step::Atomic { op, to, pointer, value, class, is_used } => {
                let value = self.register(value);
                let before = self.atomic(around, op, pointer, value, class, is_used)?;
                if op != Op::AtomicStore {
                    self.set(to, before);
                }
            }
            &Step::Fence { semantics } => {
                program.reach(self.at);
                if semantics & SEMANTICS_BUFFERS != 0 {
                    around.memory.fence(around.pending, self.who());
                    self.fresh = around.memory.now();
                }
            }
            Step::Collective(_) => {
                program.reach(self.at);
                self.state = State::Waits;
                return Ok(());
            }
            Step::Unreachable => return Err("a step is reached that is marked as unreachable".into()),
        }
        self.at = next;
        Ok(())
    }

    fn access(&mut self, to: u32, base: u32, class: Class, offset: u32, indices: &[Index]) -> Result<(), String> {
        let (mut first, mut last) = (self.register(base), 0);
        if matches!(class, Class::Buffer | Class::Address) {
            last = self.register(base + 1);
        }
        let mut offset = offset;
        for index in indices {
            let value = self.register(index.register);
            if index.length.is_some_and(|length| value >= length) {
                return Err(format!("index {value} is out of bounds: {index:?}"));
            }
            if index.descriptor {
                first += value;
            } else {
                let bytes = u64::from(value) * u64::from(index.stride) + u64::from(offset);
                offset = u32::try_from(bytes).map_err(|_| format!("index {value} is beyond 4 GiB"))?;
            }
        }
        match class {
            Class::Buffer => last = last.checked_add(offset).ok_or("an offset is beyond 4 GiB")?,
            Class::Address => {
                let (low, carry) = first.overflowing_add(offset);
                (first, last) = (low, last.wrapping_add(carry.into()));
            }
            _ => first += offset,
        }
        self.set(to, first);
        if matches!(class, Class::Buffer | Class::Address) {
            self.set(to + 1, last);
        }
        Ok(())
    }

    fn who(&self) -> Who {
        let Time { invocation, workgroup: barriers, .. } = self.time;
        let Invocation { number, fresh, buffer_barriers, .. } = *self;
        Who { invocation, number, fresh, barriers, buffer_barriers }
    }

    /// The scalar of this number behind a pointer into buffers.
    fn place(&self, memory: &Memory, pointer: u32, class: Class, scalar: u32, bytes: u32) -> Result<Place, String> {
        let (first, last) = (self.register(pointer), self.register(pointer + 1));
        match class {
            Class::Buffer => memory.in_descriptor(first, last + scalar * bytes, bytes),
            _ => {
                let (low, carry) = first.overflowing_add(scalar * bytes);
                memory.at_address(low, last.wrapping_add(carry.into()), bytes)
            }
        }
    }

    fn load(&mut self, around: &mut Surroundings<'_>, to: u32, pointer: u32, cells: Cells) -> Result<(), String> {
        let Cells { class, count, bytes, is_whole } = cells;
        let at = self.register(pointer);
        for scalar in 0..count {
            let value = match class {
                Class::Private => {
                    let at = (at + scalar) as usize;
                    if !self.defined[at] && !is_whole {
                        return Err(format!("word {at} of the variables is read before it is written"));
                    }
                    self.private[at]
                }
                Class::Shared => around.shared.access(at + scalar, Kind::Read, self.time, |value| value)?,
                Class::Input => self.input[(at + scalar) as usize],
                Class::Push => around.push[(at / 4 + scalar) as usize],
                Class::Buffer | Class::Address => {
                    let place = self.place(around.memory, pointer, class, scalar, bytes)?;
                    around.memory.load(around.pending, place, self.who(), false)?
                }
            };
            self.set(to + scalar, value);
        }
        Ok(())
    }

    fn store(&mut self, around: &mut Surroundings<'_>, pointer: u32, from: u32, cells: Cells) -> Result<(), String> {
        let Cells { class, count, bytes, .. } = cells;
        let at = self.register(pointer);
        for scalar in 0..count {
            let value = self.register(from + scalar);
            match class {
                Class::Private => {
                    self.private[(at + scalar) as usize] = value;
                    self.defined[(at + scalar) as usize] = true;
                }
                Class::Shared => {
                    let kind = if around.memory.may_collide { Kind::Overwrite } else { Kind::Write };
                    around.shared.access(at + scalar, kind, self.time, |_| value)?;
                }
                Class::Buffer | Class::Address => {
                    let place = self.place(around.memory, pointer, class, scalar, bytes)?;
                    around.memory.store(around.pending, place, self.who(), value, false)?;
                }
                Class::Input | Class::Push => return Err("input is read alone".into()),
            }
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        around: &mut Surroundings<'_>,
        op: Op,
        pointer: u32,
        value: u32,
        class: Class,
        is_used: bool,
    ) -> Result<u32, String> {
        if class == Class::Shared {
            let at = self.register(pointer);
            let kind = match op {
                Op::AtomicLoad => Kind::AtomicRead,
                Op::AtomicStore => Kind::AtomicWrite,
                _ => Kind::AtomicUpdate,
            };
            return around.shared.access(at, kind, self.time, |old| match op {
                Op::AtomicLoad => old,
                Op::AtomicStore => value,
                _ => arithmetic::atomic(op, old, value).0,
            });
        }
        let (who, place) = (self.who(), self.place(around.memory, pointer, class, 0, 4)?);
        match op {
            Op::AtomicLoad => around.memory.load(around.pending, place, who, true),
            Op::AtomicStore => around.memory.store(around.pending, place, who, value, true).map(|()| 0),
            _ => around.memory.update(around.pending, place, who, (op, value), is_used),
        }
    }
}

/// The bit of memory semantics for storage buffers.
pub const SEMANTICS_BUFFERS: u32 = 0x40;

/// The number of a descriptor.
pub fn descriptor(binding: u32, place: u32) -> u32 {
    binding * DESCRIPTORS + place
}
