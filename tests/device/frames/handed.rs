//! A device that exists already, handed over as programs with another binding than ash have it: by numbers and names.

use ash::vk::{CommandBufferUsageFlags as Flags, Handle, PhysicalDevice};
use vksort::{Requirements, Sorter};
use vksort_testing::Failed;

use super::frame::{Bound, Job, Scratch, Slot, frames, pairs, rng, small_blocks};
use super::vulkan::Vulkan;

const CAPACITY: u32 = 20_000;
const FRAMES: usize = 4;

/// Once with the names of all that was enabled, and once with none, as if nothing were known of the device.
pub fn handed_over(vulkan: &Vulkan) -> Result<String, Failed> {
    let (get, [instance, physical, device]) = vulkan.raw();
    let instance = vulkan!(vksort::instance_from_raw(get, instance))?;
    let queried = vulkan!(Requirements::query(&instance, PhysicalDevice::from_raw(physical)))?;
    let extensions: Vec<&str> =
        queried.device_extensions().iter().map(|name| name.to_str()).collect::<Result<_, _>>()?;
    let features: Vec<&str> = queried.feature_names().collect();
    let known = queried.clone().only_enabled_names(&extensions, &features);
    let none = queried.clone().only_enabled_names(&[], &[]);
    // What `Vulkan` enables is what its own requirements name.
    assert_eq!(known.profile(), vulkan.requirements.profile());
    assert_eq!(known.device_extensions(), vulkan.requirements.device_extensions());
    assert!(none.feature_names().next().is_none() && !none.profile().full_subgroups, "{none:?}");
    if let Some(name) = features.first() {
        let refused = queried.check_enabled_names(&extensions, &features[1..]).unwrap_err().to_string();
        assert!(refused.contains(name), "{refused}");
    }

    let device = vulkan!(vksort::device_from_raw(&instance, device))?;
    let mut rng = rng(10);
    for needed in [known, none] {
        let sorter = vulkan!(Sorter::new(&device, &needed, &pairs(), &small_blocks(vulkan)))?;
        let scratch = Scratch::filled(vulkan, &sorter, CAPACITY)?;
        let bound = Bound::new(vulkan, &sorter, &scratch, CAPACITY)?;
        let mut slots = [Slot::new(vulkan, vulkan.sorting, bound.layout.bytes)?];
        let _idle = vulkan.idle_on_drop();
        frames(vulkan, &mut slots, FRAMES, |frame, slot| {
            let job = Job::new(bound.layout, &mut rng, [CAPACITY, 1_000][frame % 2], frame >= 2);
            let count = job.count;
            slot.give(job);
            slot.record(vulkan, Flags::ONE_TIME_SUBMIT, |commands| {
                bound.sort_at_once(vulkan, commands, slot.host, count)
            })?;
            vulkan.submit(vulkan.sorting, &[slot.commands], slot.done)
        })?;
        scratch.check(vulkan)?;
    }
    Ok(format!("{FRAMES} sorts by {} features and by none", features.len()))
}
