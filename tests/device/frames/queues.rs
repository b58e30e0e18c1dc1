//! The sort on one queue, and what takes the result on another.

use ash::vk::{self, CommandBufferUsageFlags as Flags};
use vksort::AccessScope;
use vksort_testing::Failed;

use super::frame::{Bound, Job, Scratch, Slot, pairs, record_into, rng, small_blocks, sorter};
use super::vulkan::{Vulkan, roles};

const FRAMES: usize = 24;
/// Frames that the host has given to the device.
const IN_FLIGHT: usize = 3;
/// Sets of buffers on the device, which these frames use in turn: semaphores alone keep them apart.
const SETS: usize = 2;
/// Nothing: the other queue and the semaphore have the rest of an ownership transfer.
const OTHER_QUEUE: vk::AccessFlags = vk::AccessFlags::empty();

/// In how many families the two roles are, if the configuration says so.
pub fn expected_families() -> Option<String> {
    std::env::var("VKSORT_EXPECT_FAMILIES").ok()
}

/// What a control leaves out.
#[derive(Clone, Copy, PartialEq)]
enum LeftOut {
    Nothing,
    /// The wait of the consumer for the sort.
    Semaphore,
    /// The half of the ownership transfer on the queue that sorts.
    Release,
}

/// Two timelines: one counts sorted frames, the other one frames whose result was taken.
fn overlapping(vulkan: &Vulkan, left_out: LeftOut) -> Result<(), Failed> {
    let (capacity, mut rng) = (20_000, rng(4));
    let sorter = sorter(vulkan, &pairs(), &small_blocks(vulkan))?;
    let scratches: Vec<Scratch> =
        (0..SETS).map(|_| Scratch::filled(vulkan, &sorter, capacity)).collect::<Result<_, _>>()?;
    let bind = |scratch| Bound::new(vulkan, &sorter, scratch, capacity);
    let sets: Vec<Bound> = scratches.iter().map(bind).collect::<Result<_, _>>()?;
    let slot = |_| {
        let taking = vulkan.commands(vulkan.consuming, vk::CommandBufferLevel::PRIMARY)?;
        Ok::<_, Failed>((Slot::new(vulkan, vulkan.sorting, sets[0].layout.bytes)?, taking))
    };
    let mut slots: Vec<(Slot, vk::CommandBuffer)> = (0..IN_FLIGHT).map(slot).collect::<Result<_, _>>()?;
    let (sorted, taken) = (vulkan.timeline()?, vulkan.timeline()?);
    let hands_over = vulkan.sorting.family != vulkan.consuming.family;
    let _idle = vulkan.idle_on_drop();
    for frame in 0..FRAMES + IN_FLIGHT {
        let (slot, taking) = &mut slots[frame % IN_FLIGHT];
        if frame >= IN_FLIGHT {
            // The value after frame 0 is 1.
            let value = (frame - IN_FLIGHT + 1) as u64;
            vulkan.wait_until((taken, value))?;
            if left_out == LeftOut::Semaphore {
                // Then the result may be taken before the sort, whose commands are to be recorded anew.
                vulkan.wait_until((sorted, value))?;
            }
            slot.check()?;
        }
        if frame >= FRAMES {
            continue;
        }
        let set = &sets[frame % SETS];
        let job = Job::new(set.layout, &mut rng, capacity - frame as u32 % 7, frame % 2 == 0);
        let count = job.count;
        slot.give(job);
        slot.record(vulkan, Flags::ONE_TIME_SUBMIT, |commands| {
            set.upload(vulkan, commands, slot.host);
            set.record(commands, count)?;
            if hands_over && left_out != LeftOut::Release {
                let behind = AccessScope::new(vk::PipelineStageFlags::BOTTOM_OF_PIPE, OTHER_QUEUE);
                set.hand_over(vulkan, commands, Bound::SORTED, behind);
            }
            Ok(())
        })?;
        record_into(vulkan, *taking, Flags::ONE_TIME_SUBMIT, |commands| {
            if hands_over {
                let waited = AccessScope::new(vk::PipelineStageFlags::TRANSFER, OTHER_QUEUE);
                set.hand_over(vulkan, commands, waited, AccessScope::TRANSFER_READ);
            }
            set.download(vulkan, commands, slot.host);
            Ok(())
        })?;
        let value = frame as u64 + 1;
        // All bytes of the set are written anew, so it need not be handed back.
        let free = (frame >= SETS).then(|| (taken, value - SETS as u64));
        vulkan.submit_between(vulkan.sorting, slot.commands, free, (sorted, value))?;
        let behind_sort = (left_out != LeftOut::Semaphore).then_some((sorted, value));
        vulkan.submit_between(vulkan.consuming, *taking, behind_sort, (taken, value))?;
    }
    scratches.iter().try_for_each(|scratch| scratch.check(vulkan))
}

/// The sort of a frame runs while the result of the frame before is taken.
pub fn two(vulkan: &Vulkan) -> Result<String, Failed> {
    overlapping(vulkan, LeftOut::Nothing)?;
    let families = 1 + usize::from(vulkan.sorting.family != vulkan.consuming.family);
    if let Some(expected) = expected_families().filter(|expected| *expected != families.to_string()) {
        return Err(format!("the roles are in {families} families, expected are {expected}").into());
    }
    let queues = match vulkan.sorting {
        queue if queue == vulkan.consuming => "both roles on one queue, as the device has no other",
        queue if queue.family == vulkan.consuming.family => "two queues of a family",
        _ => "queues of two families, with ownership transfers",
    };
    Ok(format!("{FRAMES} frames, {queues}"))
}

/// The layer finds that the result is read too early if its consumer does not wait for the sort.
pub fn missing_semaphore(vulkan: &Vulkan) -> Result<String, Failed> {
    // The consumer may have taken something else.
    let _ = overlapping(vulkan, LeftOut::Semaphore);
    super::reported(vulkan, super::HAZARD)
}

/// The layer finds that the queue that sorts keeps the elements for its family. Layers do not agree to report that the other
/// family has not taken them, so there is no control of that half.
pub fn missing_release(vulkan: &Vulkan) -> Result<String, Failed> {
    overlapping(vulkan, LeftOut::Release)?;
    super::reported(vulkan, "no matching release")
}

/// The queues that devices of several kinds give the two roles.
pub fn roles_of_devices() -> Result<(), Failed> {
    let (both, compute, transfer) =
        (vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE, vk::QueueFlags::COMPUTE, vk::QueueFlags::TRANSFER);
    let family =
        |(queue_flags, queue_count)| vk::QueueFamilyProperties { queue_flags, queue_count, ..Default::default() };
    for (families, expected) in [
        (vec![(both, 1)], [(0, 0), (0, 0)]),
        (vec![(transfer, 2), (both, 16)], [(1, 0), (1, 1)]),
        (vec![(both, 16), (transfer, 2), (compute, 8)], [(2, 0), (0, 0)]),
        (vec![(vk::QueueFlags::GRAPHICS, 1), (compute, 1)], [(1, 0), (0, 0)]),
        (vec![(compute, 2)], [(0, 0), (0, 1)]),
    ] {
        let families: Vec<_> = families.into_iter().map(family).collect();
        assert_eq!(roles(&families)?, expected, "{families:?}");
    }
    assert!(roles(&[family((transfer, 1))]).is_err());
    Ok(())
}
