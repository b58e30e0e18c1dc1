//! Sorts in secondary command buffers, and command buffers that are submitted again.

use ash::vk::{self, CommandBufferUsageFlags as Flags};
use vksort::{AccessScope, Count};
use vksort_testing::Failed;

use super::frame::{Bound, Job, Scratch, Slot, frames, pairs, record_into, rng, small_blocks, sorter};
use super::vulkan::Vulkan;

const CAPACITY: u32 = 20_000;
const FRAMES: usize = 24;
const IN_FLIGHT: usize = 3;

/// Begins secondary commands outside a render pass, has them recorded and ends them.
fn record_secondary(
    vulkan: &Vulkan,
    commands: vk::CommandBuffer,
    flags: Flags,
    record: impl FnOnce(vk::CommandBuffer) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let inherited = vk::CommandBufferInheritanceInfo::default();
    let info = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inherited);
    vulkan!(vulkan.device.begin_command_buffer(commands, &info))?;
    record(commands)?;
    Ok(vulkan!(vulkan.device.end_command_buffer(commands))?)
}

/// From the end of the frame before to the first write of this one, where frames share the elements.
fn after_last_frame(vulkan: &Vulkan, commands: vk::CommandBuffer) {
    vulkan.barrier(commands, AccessScope::TRANSFER_READ, AccessScope::TRANSFER_WRITE);
}

/// Secondary commands for each frame, recorded every time, with the barrier behind the sort in them. Each frame has its own
/// elements.
pub fn secondary(vulkan: &Vulkan) -> Result<String, Failed> {
    let mut rng = rng(5);
    let sorter = sorter(vulkan, &pairs(), &small_blocks(vulkan))?;
    let scratch = Scratch::filled(vulkan, &sorter, CAPACITY)?;
    let bind = |_| {
        let secondary = vulkan.commands(vulkan.sorting, vk::CommandBufferLevel::SECONDARY)?;
        Ok::<_, Failed>((Bound::new(vulkan, &sorter, &scratch, CAPACITY)?, secondary))
    };
    let bound: Vec<(Bound, vk::CommandBuffer)> = (0..IN_FLIGHT).map(bind).collect::<Result<_, _>>()?;
    let mut slots = Slot::several(vulkan, IN_FLIGHT, bound[0].0.layout.bytes)?;
    let _idle = vulkan.idle_on_drop();
    frames(vulkan, &mut slots, FRAMES, |frame, slot| {
        let (bound, secondary) = &bound[frame % IN_FLIGHT];
        let count = rng.u32(..=CAPACITY);
        let on_device = rng.bool();
        let job = Job::new(bound.layout, &mut rng, count, on_device);
        record_secondary(vulkan, *secondary, Flags::ONE_TIME_SUBMIT, |commands| {
            bound.record(commands, job.count)?;
            vulkan.barrier(commands, Bound::SORTED, AccessScope::TRANSFER_READ);
            Ok(())
        })?;
        slot.give(job);
        slot.record(vulkan, Flags::ONE_TIME_SUBMIT, |commands| {
            bound.upload(vulkan, commands, slot.host);
            vulkan!(vulkan.device.cmd_execute_commands(commands, &[*secondary]));
            bound.download(vulkan, commands, slot.host);
            Ok(())
        })?;
        vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)
    })?;
    scratch.check(vulkan)?;
    Ok(format!("{FRAMES} frames, {IN_FLIGHT} in flight"))
}

/// One secondary command buffer for all frames, recorded once: primary command buffers that execute it are pending together,
/// and every third one executes it twice.
pub fn secondary_simultaneous(vulkan: &Vulkan) -> Result<String, Failed> {
    let mut rng = rng(6);
    let sorter = sorter(vulkan, &pairs(), &small_blocks(vulkan))?;
    let scratch = Scratch::filled(vulkan, &sorter, CAPACITY)?;
    let bound = Bound::new(vulkan, &sorter, &scratch, CAPACITY)?;
    let secondary = vulkan.commands(vulkan.sorting, vk::CommandBufferLevel::SECONDARY)?;
    record_secondary(vulkan, secondary, Flags::SIMULTANEOUS_USE, |commands| bound.record(commands, Count::Device))?;
    let mut slots = Slot::several(vulkan, IN_FLIGHT, bound.layout.bytes)?;
    let _idle = vulkan.idle_on_drop();
    frames(vulkan, &mut slots, FRAMES, |frame, slot| {
        let count = rng.u32(..=CAPACITY);
        slot.give(Job::new(bound.layout, &mut rng, count, true));
        slot.record(vulkan, Flags::ONE_TIME_SUBMIT, |commands| {
            after_last_frame(vulkan, commands);
            bound.upload(vulkan, commands, slot.host);
            vulkan!(vulkan.device.cmd_execute_commands(commands, &[secondary]));
            if frame % 3 == 2 {
                // What is sorted stays as it is.
                vulkan.barrier(commands, vksort::BoundSort::OUTPUT_SCOPE, vksort::BoundSort::INPUT_SCOPE);
                vulkan!(vulkan.device.cmd_execute_commands(commands, &[secondary]));
            }
            bound.take(vulkan, commands, slot.host);
            Ok(())
        })?;
        vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)
    })?;
    scratch.check(vulkan)?;
    Ok(format!("{FRAMES} frames, {IN_FLIGHT} in flight, one recording"))
}

/// One command buffer for everything, recorded once and submitted again after it has ended, with other keys and another
/// count every time.
pub fn submitted_again(vulkan: &Vulkan) -> Result<String, Failed> {
    let mut rng = rng(7);
    let sorter = sorter(vulkan, &pairs(), &small_blocks(vulkan))?;
    let scratch = Scratch::filled(vulkan, &sorter, CAPACITY)?;
    let bound = Bound::new(vulkan, &sorter, &scratch, CAPACITY)?;
    let mut slots = [Slot::new(vulkan, vulkan.sorting, bound.layout.bytes)?];
    let host = slots[0].host;
    slots[0].record(vulkan, Flags::empty(), |commands| bound.sort_at_once(vulkan, commands, host, Count::Device))?;
    let _idle = vulkan.idle_on_drop();
    frames(vulkan, &mut slots, FRAMES, |frame, slot| {
        let counts = [0, 1, CAPACITY, u32::MAX, rng.u32(..=CAPACITY), rng.u32(..=CAPACITY / 10)];
        slot.give(Job::new(bound.layout, &mut rng, counts[frame % counts.len()], true));
        vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)
    })?;
    scratch.check(vulkan)?;
    Ok(format!("{FRAMES} submissions of one recording"))
}

/// The sort's command buffer is recorded once, and pending for several frames at the same time. Other command buffers before
/// and behind it bring the elements and take them away.
pub fn submitted_while_pending(vulkan: &Vulkan) -> Result<String, Failed> {
    let mut rng = rng(8);
    let sorter = sorter(vulkan, &pairs(), &small_blocks(vulkan))?;
    let scratch = Scratch::filled(vulkan, &sorter, CAPACITY)?;
    let bound = Bound::new(vulkan, &sorter, &scratch, CAPACITY)?;
    let sorting = vulkan.commands(vulkan.sorting, vk::CommandBufferLevel::PRIMARY)?;
    record_into(vulkan, sorting, Flags::SIMULTANEOUS_USE, |commands| bound.record(commands, Count::Device))?;
    let mut slots = Vec::new();
    for _ in 0..IN_FLIGHT {
        let slot = Slot::new(vulkan, vulkan.sorting, bound.layout.bytes)?;
        slot.record(vulkan, Flags::empty(), |commands| {
            after_last_frame(vulkan, commands);
            bound.upload(vulkan, commands, slot.host);
            Ok(())
        })?;
        slots.push(slot);
    }
    let taking: Vec<vk::CommandBuffer> = slots
        .iter()
        .map(|slot| {
            let taking = vulkan.commands(vulkan.sorting, vk::CommandBufferLevel::PRIMARY)?;
            record_into(vulkan, taking, Flags::empty(), |commands| {
                bound.take(vulkan, commands, slot.host);
                Ok(())
            })?;
            Ok(taking)
        })
        .collect::<Result<_, Failed>>()?;
    let _idle = vulkan.idle_on_drop();
    frames(vulkan, &mut slots, FRAMES, |frame, slot| {
        let count = rng.u32(..=CAPACITY + 10);
        slot.give(Job::new(bound.layout, &mut rng, count, true));
        vulkan.submit(vulkan.sorting, &[slot.commands, sorting, taking[frame % IN_FLIGHT]], slot.done)
    })?;
    scratch.check(vulkan)?;
    Ok(format!("{FRAMES} frames, {IN_FLIGHT} in flight, one recording"))
}
