//! Several frames in flight on one queue.

use ash::vk;
use fastrand::Rng;
use vksort::__private::Faults;
use vksort::{Algorithm, Count, SortRequest, SorterOptions};
use vksort_testing::{Failed, Level, level};

use super::frame::{Bound, Job, Scratch, Slot, frames, pairs, record_into, rng, small_blocks, sorter};
use super::vulkan::Vulkan;

const IN_FLIGHT: usize = 3;
const ONE_TIME: vk::CommandBufferUsageFlags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;

/// Frames with buffers of their own and no barrier between them. Returns what was done.
fn in_flight(
    vulkan: &Vulkan,
    (request, options): (&SortRequest, &SorterOptions),
    (capacity, scratches, count_of_frames): (u32, usize, usize),
    rng: &mut Rng,
    mut count: impl FnMut(&mut Rng, usize) -> u32,
) -> Result<(), Failed> {
    let sorter = sorter(vulkan, request, options)?;
    let scratches: Vec<Scratch> =
        (0..scratches).map(|_| Scratch::filled(vulkan, &sorter, capacity)).collect::<Result<_, _>>()?;
    let bind = |frame: usize| Bound::new(vulkan, &sorter, &scratches[frame % scratches.len()], capacity);
    let bound: Vec<Bound> = (0..IN_FLIGHT).map(bind).collect::<Result<_, _>>()?;
    let mut slots = Slot::several(vulkan, IN_FLIGHT, bound[0].layout.bytes)?;
    let _idle = vulkan.idle_on_drop();
    frames(vulkan, &mut slots, count_of_frames, |frame, slot| {
        let bound = &bound[frame % IN_FLIGHT];
        let elements = count(rng, frame);
        let on_device = elements > capacity || rng.bool();
        let job = Job::new(bound.layout, rng, elements, on_device);
        let recorded = job.count;
        slot.give(job);
        slot.record(vulkan, ONE_TIME, |commands| bound.sort_at_once(vulkan, commands, slot.host, recorded))?;
        vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)
    })?;
    scratches.iter().try_for_each(|scratch| scratch.check(vulkan))
}

fn by_every_algorithm(vulkan: &Vulkan, scratches: usize) -> Result<String, Failed> {
    let (capacity, count_of_frames) = (20_000, 9);
    let mut rng = rng(1);
    let algorithms = [None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan)];
    for algorithm in algorithms {
        let asked = (&pairs().algorithm(algorithm), &small_blocks(vulkan));
        // The first frames are full, so that they meet on the device.
        let count = |rng: &mut Rng, frame| if frame < IN_FLIGHT { capacity } else { rng.u32(..=capacity) };
        in_flight(vulkan, asked, (capacity, scratches, count_of_frames), &mut rng, count)?;
    }
    Ok(format!("{} frames, {IN_FLIGHT} in flight, scratch buffers {scratches}", algorithms.len() * count_of_frames))
}

/// One sorter, and a bound sort with its own scratch for each frame.
pub fn own_scratch(vulkan: &Vulkan) -> Result<String, Failed> {
    by_every_algorithm(vulkan, IN_FLIGHT)
}

/// One scratch for all frames: the sort's first barrier is all that protects it.
pub fn one_scratch(vulkan: &Vulkan) -> Result<String, Failed> {
    by_every_algorithm(vulkan, 1)
}

/// The layer finds that sorts of two submissions meet in their scratch if the sort's first barrier is left out.
pub fn missing_barrier(vulkan: &Vulkan) -> Result<String, Failed> {
    let (capacity, faults) = (20_000, Faults { skip_barrier: Some(0), ..Faults::default() });
    let request = pairs().algorithm(Algorithm::OneSweep);
    let sorter = sorter(vulkan, &request, &small_blocks(vulkan).faults(faults))?;
    let scratch = Scratch::filled(vulkan, &sorter, capacity)?;
    let bind = |_| Bound::new(vulkan, &sorter, &scratch, capacity);
    let bound: Vec<Bound> = (0..2).map(bind).collect::<Result<_, _>>()?;
    let _idle = vulkan.idle_on_drop();
    for bound in &bound {
        // Elements of any bytes: the order does not matter here.
        let commands = vulkan.commands(vulkan.sorting, vk::CommandBufferLevel::PRIMARY)?;
        record_into(vulkan, commands, ONE_TIME, |commands| bound.record(commands, Count::Host(capacity)))?;
        vulkan.submit(vulkan.sorting, &[commands], vk::Fence::null())?;
    }
    super::reported(vulkan, super::HAZARD)
}

/// Ten thousand frames, or fewer, whose count changes every time, with 0 and 1 among the counts, and counts above the capacity.
pub fn many(vulkan: &Vulkan) -> Result<String, Failed> {
    let (capacity, count_of_frames) = (2_000, if level() == Level::Full { 10_000 } else { 1_000 });
    let options = small_blocks(vulkan);
    let block = sorter(vulkan, &pairs(), &options)?.shape().tile.elements();
    let count = |rng: &mut Rng, _| match rng.u32(..16) {
        0 => 0,
        1 => 1,
        2 => (rng.u32(1..=3) * block + rng.u32(..=2)).saturating_sub(1).min(capacity),
        3 => capacity,
        4 => rng.u32(capacity + 1..),
        5 => rng.u32(..=capacity),
        _ => rng.u32(..=200),
    };
    let sizes = (capacity, 1, count_of_frames);
    in_flight(vulkan, (&pairs(), &options), sizes, &mut rng(3), count)?;
    Ok(format!("{count_of_frames} frames, {IN_FLIGHT} in flight, up to {capacity} elements"))
}
