//! A dispatch: workgroups that start in any order, run a few at a time, and are interrupted at any step for any time.

use fastrand::Rng;

use super::memory::Memory;
use super::program::Program;
use super::workgroup::{Grid, Workgroup};

/// How a device runs a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Lanes of the subgroups.
    pub lanes: u32,
    /// Workgroups that run at the same time, at most.
    pub resident: usize,
    /// Whether invocations are lanes in an order of the device's choice.
    pub shuffles: bool,
    /// Words whose stores become visible when a workgroup has run for some time, at most.
    pub shows: usize,
    /// Instead of any order: workgroups run one after the other, but for the one that starts as this number. It sleeps behind its
    /// first barrier until all others have ended.
    pub late: Option<usize>,
}

/// Positions of the workgroups of a dispatch.
fn positions(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..size[2]).flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])))
}

/// Runs a dispatch; gives the number of steps.
pub fn run(
    program: &Program,
    device: &Device,
    size: [u32; 3],
    memory: &mut Memory,
    push: &[u32],
    rng: &mut Rng,
) -> Result<u64, String> {
    memory.begin_dispatch();
    let mut waiting: Vec<[u32; 3]> = positions(size).collect();
    // Now and then a device starts them backwards.
    if rng.u32(0..4) > 0 {
        rng.shuffle(&mut waiting);
    }
    let mut running: Vec<(Workgroup, bool)> = Vec::new();
    // Stores of workgroups that have ended.
    let mut left: Vec<Workgroup> = Vec::new();
    let mut ran = 0;
    loop {
        while running.len() < device.resident
            && let Some(index) = waiting.pop()
        {
            running.push((Workgroup::new(program, device, Grid { index, size }, rng), false));
        }
        if running.is_empty() {
            left.iter_mut().for_each(|workgroup| memory.show_all(workgroup.pending()));
            return Ok(ran);
        }
        // Now and then one that may be asleep wakes up.
        if rng.u32(0..64) == 0 {
            let index = rng.usize(..running.len());
            running[index].1 = false;
        }
        let awake: Vec<usize> = (0..running.len()).filter(|index| !running[*index].1).collect();
        let Some(&index) = rng.choice(&awake) else {
            // Others that wait for their turn come first.
            match waiting.pop() {
                Some(index) => {
                    let workgroup = Workgroup::new(program, device, Grid { index, size }, rng);
                    running.push((workgroup, false));
                }
                None => {
                    let index = rng.usize(..running.len());
                    running[index].1 = false;
                }
            }
            continue;
        };
        let (steps, has_stopped) = running[index].0.run(program, memory, push, rng)?;
        // A workgroup falls asleep anywhere, more often on its way between barriers, and perhaps until all others have ended.
        running[index].1 = rng.u32(0..if has_stopped { 4 } else { 16 }) == 0;
        ran += steps;
        if ran > MAX_STEPS {
            return Err(format!("a dispatch has not ended after {ran} steps"));
        }
        memory.show_some(running[index].0.pending(), rng.usize(0..=device.shows), rng);
        if running[index].0.is_done() {
            let mut ended = running.swap_remove(index).0;
            // If no workgroup saw another's stores, the work would grow with the square of the workgroups.
            match rng.bool() {
                true => memory.show_all(ended.pending()),
                false => left.push(ended),
            }
        }
        if let Some(workgroup) = rng.choice(&mut left) {
            memory.show_some(workgroup.pending(), rng.usize(0..=device.shows), rng);
        }
    }
}

/// Runs a dispatch one workgroup after the other, with the late one last; gives the bytes of elements that it has moved since it
/// woke up.
pub fn run_with_late(
    program: &Program,
    device: &Device,
    size: [u32; 3],
    memory: &mut Memory,
    push: &[u32],
    rng: &mut Rng,
) -> Result<u64, String> {
    memory.begin_dispatch();
    let mut asleep = None;
    for (number, index) in positions(size).enumerate() {
        let mut workgroup = Workgroup::new(program, device, Grid { index, size }, rng);
        let is_late = Some(number) == device.late;
        while !(workgroup.is_done() || is_late && workgroup.has_passed_a_barrier()) {
            workgroup.run(program, memory, push, rng)?;
        }
        memory.show_all(workgroup.pending());
        if is_late {
            asleep = Some(workgroup);
        }
    }
    memory.settle();
    let before = memory.moved;
    if let Some(mut workgroup) = asleep {
        while !workgroup.is_done() {
            workgroup.run(program, memory, push, rng)?;
        }
        memory.show_all(workgroup.pending());
    }
    Ok(memory.moved - before)
}

/// Steps of a dispatch, more than any of a small sort has: 20,000 keys of 128 bits in hostile rows, by emulated subgroups, take a few
/// more than 10^9.
const MAX_STEPS: u64 = 4_000_000_000;
