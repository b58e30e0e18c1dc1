//! Sorts whose descriptors are pushed, and what is known of buffers and counts before anything is recorded.

use ash::vk::{BufferUsageFlags as Usage, CommandBufferUsageFlags as Flags};
use libtest_mimic::Failed;
use vksort::__private::PushedSorter;
use vksort::{BufferRange, Count};

use super::frame::{Bound, Job, Layout, Scratch, Slot, pairs, rng, small_blocks, sorter};
use super::vulkan::Vulkan;
use vksort_testing::expect;

const MOST: u32 = 40_000;

/// Buffers come with each recording, with one scratch that serves all capacities. What a bound sort refuses of the same buffers,
/// `prepare` and `check_buffers` refuse too.
pub fn pushed(vulkan: &Vulkan) -> Result<String, Failed> {
    let Some(functions) = &vulkan.push else { return Ok("skipped: the device cannot push descriptors".into()) };
    let push = functions.fp().cmd_push_descriptor_set_khr;
    let mut rng = rng(10);
    let options = small_blocks(vulkan);
    let other = sorter(vulkan, &pairs(), &options)?;
    let pushed = vulkan!(PushedSorter::new(&vulkan.device, &vulkan.requirements, &pairs(), &options, push))?;
    assert_eq!(other.element_usage(), Usage::STORAGE_BUFFER);
    let scratch = Scratch::of(vulkan, pushed.scratch_size_up_to(MOST)?, other.scratch_usage())?;
    vulkan.at_once(|commands| scratch.fill(vulkan, commands))?;
    let mut slot = Slot::new(vulkan, vulkan.sorting, Layout::new(MOST).bytes)?;
    let mut steps = 0;
    for capacity in [MOST, 1, 100, 3_000, rng.u32(1..=MOST)] {
        assert_eq!(pushed.scratch_size(capacity)?, other.scratch_size(capacity)?);
        let bound = Bound::new(vulkan, &other, &scratch, capacity)?;
        other.check_buffers(&bound.buffers)?;
        refuse(&other, &pushed, &bound)?;
        for on_device in [false, true] {
            let job = Job::new(bound.layout, &mut rng, capacity, on_device);
            let (count, mut names) = (job.count, Vec::new());
            slot.give(job);
            slot.record(vulkan, Flags::ONE_TIME_SUBMIT, |commands| {
                bound.upload(vulkan, commands, slot.host);
                let sort = pushed.prepare(&bound.buffers, count)?;
                vulkan!(sort.record(commands, &mut |name| names.push(name)));
                bound.take(vulkan, commands, slot.host);
                Ok(())
            })?;
            vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)?;
            slot.finish(vulkan)?;
            // No dispatch is indirect here, so none needs arguments.
            let mut expected = bound.sort.step_names(count);
            expected.retain(|name| name.kernel != "arguments");
            assert_eq!(names, expected, "{capacity} elements");
            steps += names.len();
        }
        bound.destroy(vulkan);
    }
    scratch.check(vulkan)?;
    Ok(format!("{steps} steps of sorts with pushed descriptors"))
}

fn refuse(other: &vksort::Sorter, pushed: &PushedSorter, bound: &Bound) -> Result<(), Failed> {
    let (buffers, capacity) = (bound.buffers, bound.sort.capacity().elements);
    let keys = buffers.keys.ok_or("the sort has keys")?;
    let size = keys.size - 4;
    let short = buffers.keys(BufferRange::new(keys.buffer, size).offset(keys.offset).usage(keys.usage));
    let words = ["keys", &size.to_string(), &keys.size.to_string()];
    expect(other.check_buffers(&short), &words)?;
    expect(pushed.prepare(&short, Count::Device), &words)?;
    let words = ["count", &(capacity + 1).to_string(), &capacity.to_string()];
    expect(bound.sort.check_count(capacity + 1), &words)?;
    expect(pushed.prepare(&buffers, Count::Host(capacity + 1)), &words)?;
    let uncounted = buffers.count(None);
    expect(pushed.prepare(&uncounted, Count::Device), &["count", "absent", "present"])?;
    assert_eq!(bound.sort.check_count(capacity)?, Count::Host(capacity));
    assert_eq!(bound.sort.check_count(Count::Device)?, Count::Device);
    Ok(())
}
