//! Checks of what the device culled and sorted, against the CPU.

use anyhow::{Context, Result, bail, ensure};

use crate::vk::Drawn;
use vksort_programs::splats::Ordering;
use vksort_programs::splats::reference::{self, View};
use vksort_programs::splats::scene::Splat;

/// Checks that the device has drawn the splats that are seen, each once and in the order that was asked for.
pub fn frame(splats: &[Splat], view: View<'_>, ordering: Ordering, drawn: &Drawn) -> Result<()> {
    let mut is_drawn = vec![false; splats.len()];
    for (place, index) in drawn.order.iter().enumerate() {
        let twice = is_drawn.get_mut(*index as usize).map(|is_drawn| std::mem::replace(is_drawn, true));
        let twice = twice.with_context(|| format!("place {place} of the order holds splat {index}, which is none"))?;
        ensure!(!twice, "splat {index} is drawn twice");
    }
    for (index, (splat, is_drawn)) in splats.iter().zip(is_drawn).enumerate() {
        let needed = reference::is_seen(splat, view);
        ensure!(
            needed.is_none_or(|needed| needed == is_drawn),
            "splat {index}: drawn is {is_drawn}, needed is {}",
            !is_drawn
        );
        let (given, offset) = (drawn.depths[index], view.camera.view_exactly(splat.position));
        let (depth, rounded) = (offset.z, 1e-5 * offset.length());
        ensure!(
            !is_drawn || (f64::from(given) - depth).abs() <= rounded,
            "splat {index}: depth is {given}, needed is {depth}"
        );
    }

    let mut expected = drawn.order.clone();
    expected.sort_unstable();
    if ordering != Ordering::Unsorted {
        reference::back_to_front(&mut expected, &drawn.depths);
    }
    if let Some(place) = drawn.order.iter().zip(&expected).position(|(given, needed)| given != needed) {
        let (given, needed) = (drawn.order[place], expected[place]);
        let depth = drawn.depths[needed as usize];
        bail!("place {place} of the sorted order holds splat {given}, needed is splat {needed} with depth {depth}");
    }
    Ok(())
}
