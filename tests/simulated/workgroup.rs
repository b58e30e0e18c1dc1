//! A workgroup: its invocations, and the steps that they take together.

use std::ops::Range;

use fastrand::Rng;
use rspirv::spirv::{BuiltIn, GroupOperation, Op};

use super::dispatch::Device;
use super::invocation::{Invocation, SEMANTICS_BUFFERS, State, Surroundings};
use super::memory::{Memory, Pending};
use super::program::{Collective, Program};
use super::shared::{Shared, Time};

/// A workgroup that has started.
#[derive(Debug)]
pub struct Workgroup {
    device: Device,
    /// Subgroup by subgroup.
    invocations: Vec<Invocation>,
    /// Subgroups with a lane that does not wait and is not done.
    running: Vec<usize>,
    shared: Shared,
    pending: Pending,
}

/// Position and size of a dispatch, in workgroups.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub index: [u32; 3],
    pub size: [u32; 3],
}

impl Workgroup {
    /// The workgroup of a position.
    pub fn new(program: &Program, device: &Device, grid: Grid, rng: &mut Rng) -> Workgroup {
        let (size, lanes) = (program.workgroup_size, device.lanes);
        let mut local: Vec<u32> = (0..size).collect();
        if device.shuffles {
            rng.shuffle(&mut local);
        }
        let first = (grid.index[1] * grid.size[0] + grid.index[0]) * size;
        let invocations = (0..size).map(|index| {
            let (subgroup, lane) = (index / lanes, index % lanes);
            let time = Time { workgroup: 1, in_subgroup: 0, subgroup, invocation: index };
            let mut invocation = Invocation::new(program, time, first + index);
            for &(built_in, offset) in &program.inputs {
                let mut put = |words: &[u32]| invocation.input[offset as usize..][..words.len()].copy_from_slice(words);
                match built_in {
                    BuiltIn::WorkgroupId => put(&grid.index),
                    BuiltIn::NumWorkgroups => put(&grid.size),
                    BuiltIn::LocalInvocationIndex => put(&[local[index as usize]]),
                    BuiltIn::LocalInvocationId => put(&[local[index as usize], 0, 0]),
                    BuiltIn::SubgroupId => put(&[subgroup]),
                    BuiltIn::SubgroupLocalInvocationId => put(&[lane]),
                    BuiltIn::SubgroupLtMask => put(&words_of((1 << lane) - 1)),
                    // Every lane beyond this one, of the subgroup or not.
                    BuiltIn::SubgroupGtMask => put(&words_of(u128::MAX.checked_shl(lane + 1).unwrap_or(0))),
                    other => panic!("kernels have no {other:?}"),
                }
            }
            invocation
        });
        let (invocations, running) = (invocations.collect(), (0..size.div_ceil(lanes) as usize).collect());
        let (shared, pending) = (Shared::new(program.shared_words), Pending::default());
        Workgroup { device: *device, invocations, running, shared, pending }
    }

    pub fn is_done(&self) -> bool {
        self.invocations.iter().all(|invocation| invocation.state == State::Done)
    }

    /// Whether all invocations have passed a barrier of the workgroup.
    pub fn has_passed_a_barrier(&self) -> bool {
        self.invocations.iter().all(|invocation| invocation.time.workgroup > 1)
    }

    /// Runs one subgroup, drawn among those that can run, for some time; gives the number of steps, and whether a lane has
    /// stopped on its way.
    pub fn run(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        push: &[u32],
        rng: &mut Rng,
    ) -> Result<(u64, bool), String> {
        let subgroup = *rng.choice(&self.running).expect("a barrier that some do not reach is an error");
        let most = if rng.u32(0..4) == 0 { rng.u64(1..400) } else { u64::MAX };
        let (mut ran, mut has_stopped) = (0, false);
        let mut lanes: Vec<usize> = self.of_subgroup(subgroup).collect();
        if rng.bool() {
            lanes.reverse();
        }
        for lane in lanes {
            let Workgroup { invocations, shared, pending, .. } = self;
            let mut around = Surroundings { program, memory, pending, shared, push };
            ran += invocations[lane].run(&mut around, most.min(ENDLESS))?;
            has_stopped |= invocations[lane].state == State::Runs;
        }
        self.meet(program, subgroup)?;
        Ok((ran, has_stopped))
    }

    /// The stores that others need not see yet.
    pub fn pending(&mut self) -> &mut Pending {
        &mut self.pending
    }

    /// The invocations of a subgroup. The last one may have fewer, where kernels require no full subgroups.
    fn of_subgroup(&self, subgroup: usize) -> Range<usize> {
        let (lanes, all) = (self.device.lanes as usize, self.invocations.len());
        subgroup * lanes..((subgroup + 1) * lanes).min(all)
    }

    /// Takes the collective step at which a subgroup waits, or the workgroup, once all are there.
    fn meet(&mut self, program: &Program, subgroup: usize) -> Result<(), String> {
        let of_subgroup = self.of_subgroup(subgroup);
        let of = &self.invocations[of_subgroup.clone()];
        if of.iter().any(|invocation| invocation.state == State::Runs) {
            return Ok(());
        }
        self.running.retain(|other| *other != subgroup);
        // Where ways have parted, the lanes that are behind take their step without the others.
        let waits = |invocation: &&Invocation| invocation.state == State::Waits;
        let Some(first) = of.iter().filter(waits).min_by_key(|invocation| invocation.position()) else { return Ok(()) };
        let is_there =
            |invocation: &Invocation| invocation.state == State::Waits && invocation.position() == first.position();
        let mut active: Vec<usize> = of_subgroup.clone().filter(|index| is_there(&self.invocations[*index])).collect();
        let collective = first.collective(program);
        if collective.op == Op::ControlBarrier {
            let all = if collective.workgroup { 0..self.invocations.len() } else { of_subgroup };
            if collective.workgroup && !self.running.is_empty() {
                return Ok(());
            }
            if let Some(other) = self.invocations[all.clone()].iter().find(|other| !is_there(other)) {
                let ids = [first.at, other.at].map(|at| program.ids[at as usize]);
                return Err(format!("not all invocations reach the barrier at %{}: one is at %{}", ids[0], ids[1]));
            }
            if collective.workgroup && collective.semantics & SEMANTICS_BUFFERS != 0 {
                self.pending.share();
                // What one sees, all see now.
                let fresh = self.invocations.iter().map(|invocation| invocation.fresh).max().unwrap_or(0);
                for invocation in &mut self.invocations {
                    invocation.fresh = fresh;
                    invocation.buffer_barriers += 1;
                }
            }
            active = all.collect();
            for index in &active {
                let time = &mut self.invocations[*index].time;
                *(if collective.workgroup { &mut time.workgroup } else { &mut time.in_subgroup }) += 1;
            }
        } else {
            self.take(&collective, &active)?;
        }
        for index in active {
            self.invocations[index].state = State::Runs;
            self.invocations[index].at += 1;
        }
        match collective.workgroup {
            true => self.running = (0..self.invocations.len().div_ceil(self.device.lanes as usize)).collect(),
            false => self.running.push(subgroup),
        }
        Ok(())
    }

    /// Takes a step of the active lanes of a subgroup.
    fn take(&mut self, collective: &Collective, active: &[usize]) -> Result<(), String> {
        let &Collective { op, to, value, lane, operation, .. } = collective;
        let lanes = self.device.lanes as usize;
        let given: Vec<(usize, u32)> =
            active.iter().map(|index| (index % lanes, self.invocations[*index].register(value))).collect();
        let ballot = |votes: &dyn Fn(u32) -> bool| {
            words_of(given.iter().fold(0, |mask, (lane, value)| mask | u128::from(votes(*value)) << lane))
        };
        let all = given.iter().fold(0u32, |sum, (_, value)| sum.wrapping_add(*value));
        let largest = given.iter().map(|(_, value)| *value).max().unwrap_or(0);
        let mut sum = 0u32;
        for (&index, &(_, own)) in active.iter().zip(&given) {
            let invocation = &mut self.invocations[index];
            let before = sum;
            sum = sum.wrapping_add(own);
            let mask = match op {
                Op::GroupNonUniformBallot => ballot(&|value| value != 0),
                Op::GroupNonUniformElect => [u32::from(index == active[0]); 4],
                Op::GroupNonUniformBroadcastFirst => [given[0].1; 4],
                Op::GroupNonUniformShuffle | Op::GroupNonUniformShuffleXor | Op::GroupNonUniformBroadcast => {
                    let named = invocation.register(lane) as usize;
                    let from = if op == Op::GroupNonUniformShuffleXor { (index % lanes) ^ named } else { named };
                    let Some((_, value)) = given.iter().find(|(lane, _)| *lane == from) else {
                        return Err(format!("a shuffle reads lane {from}, which is not active"));
                    };
                    [*value; 4]
                }
                Op::GroupNonUniformIAdd => match operation {
                    _ if operation == GroupOperation::Reduce as u32 => [all; 4],
                    _ if operation == GroupOperation::InclusiveScan as u32 => [sum; 4],
                    _ => [before; 4],
                },
                Op::GroupNonUniformUMax if operation == GroupOperation::Reduce as u32 => [largest; 4],
                other => return Err(format!("{other:?} is no step of a subgroup")),
            };
            let words = if op == Op::GroupNonUniformBallot { 4 } else { 1 };
            (to..).zip(mask).take(words).for_each(|(to, word)| invocation.set(to, word));
        }
        Ok(())
    }
}

/// Steps of an invocation between two collective ones, more than any kernel has.
const ENDLESS: u64 = 100_000_000;

fn words_of(mask: u128) -> [u32; 4] {
    std::array::from_fn(|word| (mask >> (32 * word)) as u32)
}
