//! Other buffers of other sizes after a change of scene, with the pipelines that are there.

use std::sync::Arc;

use ash::vk::CommandBufferUsageFlags as Flags;
use vksort::{AccessScope, Order, PipelineSet};
use vksort_testing::Failed;

use super::frame::{Bound, Job, Layout, Scratch, Slot, frames, pairs, rng, small_blocks, sorter};
use super::vulkan::Vulkan;

const SCENES: usize = 12;
const FRAMES: usize = 3;
const IN_FLIGHT: usize = 2;
const MOST: u32 = 40_000;

/// Each scene has buffers of its own, and is bound while a frame of the scene before is in flight. Elements of a scene are
/// destroyed when its last frame has ended. No pipeline is created for a scene.
pub fn other_buffers(vulkan: &Vulkan) -> Result<String, Failed> {
    let mut rng = rng(9);
    let pipelines = Arc::new(PipelineSet::default());
    let options = small_blocks(vulkan).pipelines(Arc::clone(&pipelines));
    let sorter_of_scenes = sorter(vulkan, &pairs(), &options)?;
    let created = vulkan.pipelines_created();
    assert!(created > 0 && created == pipelines.len(), "{created} pipelines, {} in the set", pipelines.len());
    let mut scenes: Vec<(Option<Bound>, Scratch)> = Vec::new();
    let mut slots = Slot::several(vulkan, IN_FLIGHT, Layout::new(MOST).bytes)?;
    // Dropped before the scenes, whichever way the test ends.
    let idle = vulkan.idle_on_drop();
    frames(vulkan, &mut slots, SCENES * FRAMES, |frame, slot| {
        let (scene, first) = (frame / FRAMES, frame % FRAMES == 0);
        if first {
            let capacity = [1, MOST, 100, 3_000, rng.u32(1..=MOST)][scene % 5];
            let scratch = Scratch::new(vulkan, &sorter_of_scenes, capacity)?;
            scenes.push((Some(Bound::new(vulkan, &sorter_of_scenes, &scratch, capacity)?), scratch));
        }
        // All but the IN_FLIGHT - 1 frames before this one have ended, so all frames of the scene before.
        let before = (frame % FRAMES == IN_FLIGHT - 1 && scene > 0).then(|| scenes[scene - 1].0.take());
        if let Some(bound) = before.flatten() {
            bound.destroy(vulkan);
        }
        let (bound, scratch) = &scenes[scene];
        let bound = bound.as_ref().ok_or("the scene has ended")?;
        let count = rng.u32(..=bound.sort.capacity().elements);
        let on_device = rng.bool();
        let job = Job::new(bound.layout, &mut rng, count, on_device);
        let count = job.count;
        slot.give(job);
        slot.record(vulkan, Flags::ONE_TIME_SUBMIT, |commands| {
            if first {
                scratch.fill(vulkan, commands);
            }
            vulkan.barrier(commands, AccessScope::TRANSFER_READ, AccessScope::TRANSFER_WRITE);
            bound.sort_at_once(vulkan, commands, slot.host, count)
        })?;
        vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)
    })?;
    drop(idle);
    scenes.iter().try_for_each(|(_, scratch)| scratch.check(vulkan))?;
    // A sorter of the same set that differs in the order needs none either; another one of its own does.
    let ascending = pairs().order(Order::Ascending);
    let _other = sorter(vulkan, &ascending, &options)?;
    let after = vulkan.pipelines_created();
    assert!(after == created, "{SCENES} scenes and a sorter have created {} pipelines", after - created);
    let _own = sorter(vulkan, &ascending, &small_blocks(vulkan))?;
    assert_eq!(vulkan.pipelines_created(), 2 * created, "pipelines of a sorter that shares none");
    Ok(format!("{SCENES} scenes of {FRAMES} frames, {created} pipelines before and after"))
}
